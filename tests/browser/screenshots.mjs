// Takes the pictures of docs/screenshots: the real Copilot at work on a small project, with a scripted model; jobs are done
// by the demo agent.

import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { takeJobPictures } from "./support/jobPictures.mjs";
import { agentsFolder, blocks, Deck, send, shown, startModel, turn, waitFor } from "./support/index.mjs";

const PICTURES = path.resolve(import.meta.dirname, "../../docs/screenshots");
const DESKTOP = { width: 1280, height: 800 };
const PHONE = { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true };

const FIX = "The greeting for nobody in particular is wrong. Find out why and fix it.";
const PUBLISH = "Publish it";

const bash = (command, description) => ({ name: "bash", arguments: { command, description } });

/** What the model says to each prompt, one answer after each tool call. */
function answer(project) {
  const file = path.join(project, "src/greeting.mjs");
  const stories = {
    [FIX]: [
      { text: "I look at the code and run the checks first.", tool: { name: "view", arguments: { path: file } } },
      { tool: bash("node check.mjs", "Run the checks") },
      {
        text: "`greeting(\"\")` puts nothing where a name belongs. An empty name should fall back to `world`.",
        tool: { name: "edit", arguments: { path: file, old_str: "  return `Hello, ${name}!`;", new_str: "  const whom = name.trim() || \"world\";\n  return `Hello, ${whom}!`;" } },
      },
      { tool: bash("node check.mjs", "Run the checks again") },
      {
        text: `The greeting is fixed: an empty name is greeted as **world**.

| call | before | now |
|---|---|---|
| \`greeting("Ada")\` | Hello, Ada! | Hello, Ada! |
| \`greeting("")\` | Hello, ! | Hello, world! |

\`\`\`js
export function greeting(name) {
  const whom = name.trim() || "world";
  return \`Hello, \${whom}!\`;
}
\`\`\`

- [x] all checks pass
- [ ] the change is not committed yet
`,
      },
    ],
    [PUBLISH]: [{ text: "I commit the change and push it.", tool: bash('git commit --all --message "Greet the world when nobody is named" && git push origin main', "Commit and push") }, { text: "Done." }],
  };
  return (messages) => {
    const at = messages.findLastIndex(({ role }) => role === "user");
    const text = JSON.stringify(messages[at]?.content ?? "");
    const story = Object.entries(stories).find(([prompt]) => text.includes(prompt))?.[1] ?? [{ text: "Ready." }];
    const step = messages.slice(at).filter(({ role }) => role === "tool").length;
    return story[Math.min(step, story.length - 1)];
  };
}

async function makeProject() {
  const project = path.join(await realpath(await mkdtemp(path.join(os.tmpdir(), "flightdeck-"))), "greeter");
  await mkdir(path.join(project, "src"), { recursive: true });
  await writeFile(path.join(project, "src/greeting.mjs"), "/** Greets somebody by name. */\nexport function greeting(name) {\n  return `Hello, ${name}!`;\n}\n");
  await writeFile(
    path.join(project, "check.mjs"),
    `import { greeting } from "./src/greeting.mjs";
let failed = 0;
for (const [name, wanted] of [["Ada", "Hello, Ada!"], ["", "Hello, world!"]]) {
  const right = greeting(name) === wanted;
  failed += right ? 0 : 1;
  console.log(\`\${right ? "\\x1b[32mok\\x1b[0m    " : "\\x1b[1;31mFAILED\\x1b[0m"}  greeting(\${JSON.stringify(name)}) gives \${JSON.stringify(greeting(name))}\`);
}
process.exitCode = failed;
`,
  );
  const git = (...words) => execFileSync("git", ["-c", "user.name=Test", "-c", "user.email=test@example.com", ...words], { cwd: project, stdio: "pipe" });
  git("init", "--quiet", "--initial-branch=main");
  git("add", ".");
  git("commit", "--quiet", "--message=Greet people");
  return project;
}

const project = await makeProject();
const model = await startModel(answer(project));
const deck = new Deck({
  environment: {
    COPILOT_CLI_PATH: path.join(agentsFolder, "node_modules/@github/copilot-linux-x64/copilot"),
    COPILOT_CACHE_HOME: path.join(agentsFolder, "cache"),
    COPILOT_HOME: path.join(project, "../copilot"),
    COPILOT_PROVIDER_BASE_URL: model.url,
    COPILOT_PROVIDER_API_KEY: "sk-scripted",
    COPILOT_MODEL: "scripted-model",
    COPILOT_OFFLINE: "true",
    COPILOT_AUTO_UPDATE: "false",
  },
});

async function picture(page, name) {
  // Fonts, pictures and what the server renders are there.
  await page.evaluate(() => document.fonts.ready);
  await waitFor(async () => (await page.locator(".message-block.rendering").count()) === 0, "the rendering");
  await page.screenshot({ path: path.join(PICTURES, `${name}.png`) });
  console.log(`docs/screenshots/${name}.png`);
}

/** A request cannot be allowed in its first moment, and its buttons show that. */
async function answerable(page) {
  await page.locator(".request-choice").first().waitFor();
  await page.locator('.request-choice[aria-disabled="true"]').first().waitFor({ state: "detached" });
}

async function open(address, context = {}) {
  return deck.openPage(address, { viewport: DESKTOP, ...context });
}

async function openSession(id, context) {
  const page = await open(`/?session=${id}`, context);
  await shown(page);
  return page;
}

try {
  await mkdir(PICTURES, { recursive: true });
  await deck.start();
  const { server } = deck;
  const session = (settings) => server.session({ workingDirectory: project, ...settings });

  // Others, so that the list has something to show.
  const closed = await server.session({ runtime: "demo", title: "Explain how the build caches its layers" });
  await server.turn(closed, "hello");
  await server.call("POST", `copilot/session/${closed}/stop`);
  const asking = await server.session({ runtime: "demo", title: "Choose colours for the diagram" });
  await server.call("POST", `copilot/session/${asking}/prompt`, { text: "question" });
  await server.session({ runtime: "demo", title: "Move the settings into one file" }).then((id) => server.turn(id, "reason"));
  const busy = await server.session({ runtime: "demo", title: "Rename the modules of the parser", model: "demo-slow" });
  await server.call("POST", `copilot/session/${busy}/prompt`, { text: "many 100000 5 40" });

  const fix = await session({ model: "scripted-model", permissionMode: "allow-all" });
  const working = await openSession(fix);
  await turn(working, FIX);
  await waitFor(async () => (await blocks(working, "Tool").count()) === 4, "four tool calls");
  await blocks(working, "Message").last().locator(".code-block").waitFor();
  await working.locator("#resize-bar").press("ArrowDown");
  for (let step = 0; step < 6; step += 1) await working.locator("#resize-bar").press("ArrowDown");
  await working.locator("#session-part").evaluate((part) => part.scrollTo({ top: 0 }));
  await blocks(working, "Tool").nth(1).locator(".message-block-header").click();
  await working.locator(".terminal").first().waitFor();
  await working.locator("#request-textarea").fill("Thank you. Now write a check for a name that is only blanks.");
  await picture(working, "session");

  await blocks(working, "Tool").nth(1).locator(".message-block-header").click();
  await blocks(working, "Tool").nth(2).locator(".message-block-header").click();
  await working.locator(".diff-added").first().waitFor();
  await working.locator("#changes-button").click();
  await working.locator(".changes-file").first().click();
  await working.locator(".changes-diff .diff-added").first().waitFor();
  await picture(working, "diff");

  const dark = await openSession(fix, { colorScheme: "dark" });
  await blocks(dark, "Message").last().locator(".code-block").waitFor();
  for (let step = 0; step < 7; step += 1) await dark.locator("#resize-bar").press("ArrowDown");
  await picture(dark, "dark");

  const publish = await session({ model: "scripted-model", title: "Publish the fix" });
  const asked = await openSession(publish);
  await send(asked, PUBLISH);
  await answerable(asked);
  await asked.locator("#inbox-count").waitFor();
  await picture(asked, "permission");

  const phone = await openSession(publish, PHONE);
  await answerable(phone);
  await phone.locator("#inbox-count").waitFor();
  await phone.locator("#session-part").evaluate((part) => part.scrollTo({ top: part.scrollHeight }));
  await picture(phone, "phone");

  // Up to the agents, whose rows show where their programs are on this machine.
  const setup = await open("/", { viewport: { ...DESKTOP, height: 710 } });
  await waitFor(() => setup.locator("#start-button").isEnabled(), "the start button");
  await setup.locator("#working-dir").fill(project);
  await setup.locator(".session-row").nth(5).waitFor();
  await setup.locator('.runtime-row[data-runtime="copilot"]').waitFor({ state: "attached" });
  await picture(setup, "setup");

  await takeJobPictures(picture, { viewport: DESKTOP });
} finally {
  await deck.endTest().catch((error) => console.error(error.message));
  await deck.end();
  model.close();
  await rm(path.dirname(project), { recursive: true, force: true });
}
