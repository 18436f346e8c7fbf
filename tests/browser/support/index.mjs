// The harness of the browser tests.

export { Deck, launchChromium, useDeck } from "./deck.mjs";
export { agentsFolder } from "./environment.mjs";
export { Server } from "./server.mjs";
export { waitFor, waitForText } from "./waiting.mjs";
