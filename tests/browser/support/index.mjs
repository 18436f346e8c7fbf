// The harness of the browser tests.

export { checkAccessibility } from "./accessibility.mjs";
export { Deck, launchChromium, useDeck } from "./deck.mjs";
export { agentsFolder, axeScript } from "./environment.mjs";
export { Server } from "./server.mjs";
export { waitFor, waitForText } from "./waiting.mjs";
export { blocks, choose, folderKnown, openSession, openSetup, painted, reconnect, rendered, send, shown, taken, turn, watchCalls } from "./pages.mjs";
export { DEFINITIONS, ENTRY, JobsStub, NO_ENTRY, REVIEW_CHART, gate, job, workState } from "./jobsStub.mjs";
export { LogStub } from "./logStub.mjs";
export { startModel } from "./model.mjs";
