// The pictures of the pages of jobs: the built-in jobs, and one like its `feature`, which the real Copilot does with a scripted model.

import { readFile, rm } from "node:fs/promises";
import path from "node:path";
import { Deck } from "./deck.mjs";
import { startModel } from "./model.mjs";
import { answer, copilotEnvironment, FIX, makeProject, STEPS } from "./pictureStory.mjs";
import { gateCard, jobWhen, node, openJob, startJob } from "./realJobs.mjs";

const BUILT_IN = path.resolve(import.meta.dirname, "../../../src/jobs/entry/default_entry.json");
const INPUT = "Greet the world when nobody is named.";
/** What each task asks for; those that are not named here review. */
const PROMPTS = { plan: STEPS.plan, implement: FIX, "build-and-test": STEPS.check, "final-review": STEPS.verdict, "apply-review": STEPS.check };

/** The built-in entry with these prompts, checks that hold, and a gate before the commit. */
async function playedEntry() {
  const entry = JSON.parse(await readFile(BUILT_IN, "utf8"));
  const holds = { command: { run: ["true"] }, failureAction: { retryTimes: 0 } };
  // The loop takes a second pass.
  const atSecond = { command: { run: ["sh", "-c", "test -e .git/reviewed || { touch .git/reviewed; exit 1; }"] }, failureAction: { retryTimes: 0 } };
  const permissions = { rules: [{ tool: "shell", decision: "allow", prefix: "node check.mjs" }] };
  const played = (name, task) => ({ ...task, permissions, prompt: [PROMPTS[name] ?? STEPS.review], requireUserInput: false, criteria: name === "final-review" ? atSecond : holds });
  entry.tasks = Object.fromEntries(Object.entries(entry.tasks).map(([name, task]) => [name, played(name, task)]));
  entry.promptVariables = {};
  const { works } = entry.jobs.feature.work;
  works[1] = { ...works[1], title: "Commit these changes?", prompt: ["The reviewers agree. Approving commits the files below to `main`; a note goes to `revise-plan`."] };
  entry.jobs.feature.work.works = [works[0], ...works.slice(2, 7), works[1], works[7]];
  return entry;
}

async function onDeck(jobs, work) {
  const project = await makeProject();
  const model = await startModel(answer(project));
  const deck = new Deck({ jobs, environment: copilotEnvironment(project, model) });
  try {
    await deck.start();
    await work(deck, project);
  } finally {
    await deck.endTest();
    await deck.end();
    model.close();
    await rm(path.dirname(project), { recursive: true, force: true });
  }
}

/** Takes the pictures in each look; `picture(page, look, name)` saves one. */
export async function takeJobPictures(picture, looks) {
  await onDeck("built-in", async (deck, folder) => {
    for (const [look, context] of Object.entries(looks)) {
      const page = await deck.openPage(`/jobs.html?wb=${encodeURIComponent(folder)}`, context);
      await page.locator('.matrix-job-btn[data-job-name="feature"]').click();
      await page.locator("#user-input-textarea").fill(INPUT);
      await picture(page, look, "jobs");
    }
  });
  await onDeck(await playedEntry(), async (deck, workingDirectory) => {
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
