// The pictures of the pages of jobs: the built-in jobs, and one like its `feature` that the demo agent does.

import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { Deck } from "./deck.mjs";
import { commitAll, gateCard, jobWhen, node, openJob, startJob } from "./realJobs.mjs";

const BUILT_IN = path.resolve(import.meta.dirname, "../../../src/jobs/entry/default_entry.json");
const INPUT = "Greet the world when nobody is named.";
/** What the demo agent does for each task; the rest is what the built-in entry says. */
const PROMPTS = { plan: "reason", implement: "edit", "build-and-test": "colours", "final-review": "markdown", "apply-review": "edit" };

/** The built-in entry with prompts for the demo agent, checks that hold, and a gate before the commit. */
async function playedEntry() {
  const entry = JSON.parse(await readFile(BUILT_IN, "utf8"));
  const holds = { command: { run: ["true"] }, failureAction: { retryTimes: 0 } };
  // The loop takes a second pass.
  const atSecond = { command: { run: ["sh", "-c", "test -e .git/reviewed || { touch .git/reviewed; exit 1; }"] }, failureAction: { retryTimes: 0 } };
  const played = (name, task) => ({ ...task, prompt: [task.requireUserInput && name !== "plan" ? "$user-input" : (PROMPTS[name] ?? "tool")], requireUserInput: task.requireUserInput && name !== "plan", criteria: name === "final-review" ? atSecond : holds });
  entry.tasks = Object.fromEntries(Object.entries(entry.tasks).map(([name, task]) => [name, played(name, task)]));
  entry.promptVariables = {};
  const { works } = entry.jobs.feature.work;
  works[1] = { ...works[1], title: "Commit these changes?", prompt: ["The reviewers agree. Approving commits the files below to `main`; a note goes to `revise-plan`."] };
  entry.jobs.feature.work.works = [works[0], ...works.slice(2, 7), works[1], works[7]];
  return entry;
}

async function makeProject(server) {
  const folder = path.join(server.workFolder, "greeter");
  await mkdir(path.join(folder, "src"), { recursive: true });
  await writeFile(path.join(folder, "src/greeting.mjs"), "export const greeting = (name) => `Hello, ${name}!`;\n");
  await writeFile(path.join(folder, "check.mjs"), "import { greeting } from \"./src/greeting.mjs\";\n");
  commitAll(folder);
  return folder;
}

/** What an agent would have changed. */
async function change(folder) {
  await writeFile(path.join(folder, "src/greeting.mjs"), "export function greeting(name) {\n  const whom = name.trim() || \"world\";\n  return `Hello, ${whom}!`;\n}\n");
  await writeFile(path.join(folder, "check.mjs"), "import assert from \"node:assert\";\nimport { greeting } from \"./src/greeting.mjs\";\n\nassert.equal(greeting(\"\"), \"Hello, world!\");\n");
  await writeFile(path.join(folder, "CHANGES.md"), "- An empty name is greeted as the world.\n");
}

async function onDeck(settings, work) {
  const deck = new Deck(settings);
  try {
    await deck.start();
    await work(deck, await makeProject(deck.server));
  } finally {
    await deck.endTest();
    await deck.end();
  }
}

/** Takes the pictures in each look; `picture(page, look, name)` saves one. */
export async function takeJobPictures(picture, looks) {
  await onDeck({ jobs: "built-in" }, async (deck, folder) => {
    for (const [look, context] of Object.entries(looks)) {
      const page = await deck.openPage(`/jobs.html?wb=${encodeURIComponent(folder)}`, context);
      await page.locator('.matrix-job-btn[data-job-name="feature"]').click();
      await page.locator("#user-input-textarea").fill(INPUT);
      await picture(page, look, "jobs");
    }
  });
  await onDeck({ jobs: await playedEntry() }, async (deck, workingDirectory) => {
    await change(workingDirectory);
    const jobId = await startJob(deck.server, "feature", { workingDirectory });
    const { chart } = await jobWhen(deck.server, jobId, ({ waiting }) => waiting.length > 0);
    for (const [look, context] of Object.entries(looks)) {
      const page = await openJob(deck, "feature", jobId, await deck.openContext(context));
      // A phone shows the chart or the details.
      const isPhone = await page.evaluate(() => matchMedia("(max-width: 760px)").matches);
      await gateCard(page).waitFor({ state: "attached" });
      if (isPhone) {
        await picture(page, look, "job");
        await page.locator("#job-waiting-button").click();
      }
      await gateCard(page).locator(".request-rendered").waitFor();
      await picture(page, look, "gate");
      if (isPhone) continue;
      await node(page, chart.find(({ label }) => label === "final-review").hint[1]).click();
      await page.locator(".message-block[data-type=Message] table").waitFor();
      await page.locator("#zoom-fit-button").click();
      await picture(page, look, "job");
    }
  });
}
