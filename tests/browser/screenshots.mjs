// Takes the pictures of docs/screenshots: every screen in light, dark and on a phone. The real Copilot works on a small project,
// with a scripted model; the other sessions and the jobs are the demo agent's. `cargo xtask screenshots` runs it.

import { mkdir, rm } from "node:fs/promises";
import path from "node:path";
import { takeJobPictures } from "./support/jobPictures.mjs";
import { blocks, Deck, send, shown, startModel, waitFor } from "./support/index.mjs";
import { answer, copilotEnvironment, FIX, makeProject, PUBLISH } from "./support/pictureStory.mjs";

const PICTURES = path.resolve(import.meta.dirname, "../../docs/screenshots");
const DESKTOP = { viewport: { width: 1440, height: 900 } };
const LOOKS = {
  light: DESKTOP,
  dark: { ...DESKTOP, colorScheme: "dark" },
  phone: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
};

const project = await makeProject();
const model = await startModel(answer(project));
const deck = new Deck({ environment: copilotEnvironment(project, model) });

async function picture(page, look, name) {
  // Fonts, pictures and what the server renders are there.
  await page.evaluate(() => document.fonts.ready);
  await waitFor(async () => (await page.locator(".message-block.rendering").count()) === 0, "the rendering");
  await page.screenshot({ path: path.join(PICTURES, look, `${name}.png`) });
  console.log(`docs/screenshots/${look}/${name}.png`);
}

/** A request cannot be allowed in its first moment, and its buttons show that. */
async function answerable(page) {
  await page.locator(".request-choice").first().waitFor();
  await page.locator('.request-choice[aria-disabled="true"]').first().waitFor({ state: "detached" });
}

/** Sessions of an ordinary morning, in three folders. */
async function makeSessions(server) {
  const demo = async (folder, title, more = {}) => {
    const workingDirectory = path.join(project, "..", folder);
    await mkdir(workingDirectory, { recursive: true });
    return server.session({ runtime: "demo", workingDirectory, title, ...more });
  };
  const prompt = (id, text) => server.call("POST", `copilot/session/${id}/prompt`, { text });
  const closed = await demo("website", "Explain how the build caches its layers");
  await server.turn(closed, "hello");
  await server.call("POST", `copilot/session/${closed}/stop`);
  await prompt(await demo("website", "Choose colours for the diagram"), "question");
  await server.turn(await demo("parser", "Move the settings into one file"), "reason");
  await prompt(await demo("website", "Upgrade the database driver"), "error the registry did not respond");
  await prompt(await demo("parser", "Rename the modules of the parser", { model: "demo-slow" }), "many 100000 5 40");
  const copilot = (more) => server.session({ workingDirectory: project, model: "scripted-model", ...more });
  const fix = await copilot({ permissionMode: "allow-all" });
  await server.turn(fix, FIX);
  const publish = await copilot({ title: "Publish the fix" });
  // Whoever sent it is still there.
  const page = await openSession(publish, "light");
  await send(page, PUBLISH);
  await answerable(page);
  return { fix, publish };
}

async function openSession(id, look) {
  const page = await deck.openPage(`/?session=${id}`, LOOKS[look]);
  await shown(page);
  return page;
}

async function settingsSection(look, section) {
  const page = await deck.openPage(`/settings.html#${section}`, LOOKS[look]);
  await page.locator(`#section-${section} .setting`).first().waitFor();
  return page;
}

/** Each makes a page that shows a screen. */
const SCREENS = {
  home: async (look) => {
    const page = await deck.openPage("/", LOOKS[look]);
    await waitFor(() => page.locator("#start-button").isEnabled(), "the start button");
    await page.locator(".session-row").nth(5).waitFor();
    await page.locator("#working-dir").fill(project);
    return page;
  },
  search: async (look) => {
    const page = await SCREENS.home(look);
    await page.locator("#session-search").fill("greeting");
    await page.locator("#search-results mark").first().waitFor();
    return page;
  },
  session: async (look, { fix }) => {
    const page = await openSession(fix, look);
    await blocks(page, "Message").last().locator(".code-block").waitFor();
    await waitFor(async () => (await blocks(page, "Tool").count()) === 4, "four tool calls");
    return page;
  },
  tools: async (look, { fix }) => {
    const page = await SCREENS.session(look, { fix });
    await page.locator("#session-part").evaluate((part) => part.scrollTo({ top: 0 }));
    await blocks(page, "Tool").nth(1).locator(".message-block-header").click();
    await page.locator(".terminal").first().waitFor();
    return page;
  },
  changes: async (look, { fix }) => {
    const page = await SCREENS.session(look, { fix });
    await page.locator("#changes-button").click();
    await page.locator(".changes-file").first().click();
    await page.locator(".changes-diff .diff-added").first().waitFor();
    return page;
  },
  permission: async (look, { publish }) => {
    const page = await openSession(publish, look);
    await answerable(page);
    await page.locator("#session-part").evaluate((part) => part.scrollTo({ top: part.scrollHeight }));
    return page;
  },
  inbox: async (look) => {
    const page = await SCREENS.home(look);
    await page.locator("#inbox-button").click();
    await page.locator("#side-panel .request-choice").first().waitFor();
    await page.locator('#side-panel .request-choice[aria-disabled="true"]').first().waitFor({ state: "detached" });
    return page;
  },
  switcher: async (look, { fix }) => {
    const page = await SCREENS.session(look, { fix });
    await page.keyboard.press("Control+k");
    await page.keyboard.type("the");
    await page.locator(".switcher-option").nth(3).waitFor();
    return page;
  },
  "start-options": async (look) => {
    const page = await SCREENS.home(look);
    await page.locator("#more-options-button").click();
    await page.locator("#start-options .option").first().waitFor();
    return page;
  },
  agents: async (look) => {
    const page = await SCREENS.home(look);
    await page.locator("#agents summary").click();
    await page.locator("#runtime-list > *").first().waitFor();
    await page.locator("#agents").evaluate((section) => section.scrollIntoView());
    return page;
  },
  "sidebar-by-folder": async (look, { fix }) => {
    const page = await SCREENS.session(look, { fix });
    if (await page.locator("#sidebar").isHidden()) await page.keyboard.press("Alt+l");
    await page.locator("#sidebar").getByRole("button", { name: "Group by folder" }).click();
    await page.locator("#sidebar .sidebar-row").nth(3).waitFor();
    return page;
  },
  details: async (look, { fix }) => {
    const page = await SCREENS.session(look, { fix });
    await page.locator("#details-button").click();
    await page.locator("#details-mode").waitFor();
    return page;
  },
  outline: async (look, { fix }) => {
    const page = await SCREENS.session(look, { fix });
    await page.keyboard.press("Alt+o");
    await page.locator(".outline-list li").first().waitFor();
    return page;
  },
  keys: async (look) => {
    const page = await SCREENS.home(look);
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press("?");
    await page.locator("#side-panel .key-list").first().waitFor();
    return page;
  },
  "side-by-side": async (look, { fix }) => {
    const page = await SCREENS.changes(look, { fix });
    const button = page.locator("#side-panel").getByRole("button", { name: "Side by side" });
    // A phone has no room for two columns.
    if (await button.isVisible()) await button.click();
    return page;
  },
  "system-check": async (look) => {
    const page = await SCREENS.home(look);
    await page.locator("#more-button").click();
    await page.locator("#more-menu button", { hasText: "System check" }).click();
    await page.locator("#side-panel .check-list li").first().waitFor();
    return page;
  },
  settings: (look) => settingsSection(look, "agents"),
  "settings-permissions": (look) => settingsSection(look, "permissions"),
  "settings-notifications": (look) => settingsSection(look, "notifications"),
  "settings-appearance": (look) => settingsSection(look, "appearance"),
  usage: async (look) => {
    const page = await SCREENS.home(look);
    await page.locator("#more-button").click();
    await page.locator("#more-menu button", { hasText: "Usage" }).click();
    await page.locator("#side-panel table").first().waitFor();
    return page;
  },
  login: async (look) => {
    const page = await (await deck.openStrangersContext(LOOKS[look])).newPage();
    deck.expectConsoleErrors(/401/);
    await page.goto(deck.server.url);
    await page.locator("input[name=token]").waitFor();
    return page;
  },
  api: async (look) => {
    const page = await deck.openPage("/api/docs", LOOKS[look]);
    await page.locator("main details, main section").first().waitFor();
    return page;
  },
};

try {
  for (const look of Object.keys(LOOKS)) await mkdir(path.join(PICTURES, look), { recursive: true });
  await deck.start();
  const sessions = await makeSessions(deck.server);
  for (const look of Object.keys(LOOKS)) {
    for (const [name, show] of Object.entries(SCREENS)) {
      const page = await show(look, sessions);
      await picture(page, look, name);
      await page.context().close();
    }
  }
  await takeJobPictures(picture, LOOKS);
} finally {
  await deck.endTest().catch((error) => console.error(error.message));
  await deck.end();
  model.close();
  await rm(path.dirname(project), { recursive: true, force: true });
}
