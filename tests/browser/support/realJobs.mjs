// Jobs on a real server, done by the demo agent.

import { execFileSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { waitFor } from "./waiting.mjs";

const ref = (taskId) => ({ kind: "Ref", taskId });
const seq = (...works) => ({ kind: "Seq", works });
const task = (prompt, more = {}) => ({ model: { category: "driving" }, prompt: [prompt], requireUserInput: prompt.includes("$user-input"), ...more });
/** Holds from the second time on. */
const secondTime = (file) => ({ run: ["sh", "-c", `test -e ${file} || { touch ${file}; exit 1; }`] });
const commitGate = { kind: "Gate", title: "Commit these changes?", prompt: ["Look at the *changed files*."] };

/** Jobs that wait where a test wants to look: at a permission, at a gate. */
export const ENTRY = {
  models: { driving: "demo", writing: "demo" },
  drivingSessionRetries: [{ modelId: "demo", retries: 1 }],
  promptVariables: {},
  tasks: {
    plan: task("$user-input", { model: { category: "writing" } }),
    greet: task("hello"),
    "ask-first": task("permission", { permissions: { mode: "ask" } }),
    review: task("reason"),
    "final-review": task("markdown", { criteria: { command: secondTime("reviewed"), failureAction: { retryTimes: 0 } } }),
    "two-attempts": task("tool", { criteria: { command: secondTime("attempted"), runConditionInSameSession: false, failureAction: { retryTimes: 2, additionalPrompt: ["Again."] } } }),
    "needs-file": task("hello", { criteria: { command: { run: ["test", "-e", "ready"] }, failureAction: { retryTimes: 0 } } }),
    revise: task("The note was: $gate-note"),
    careful: task("many 100000 20", { onInterrupted: "ask" }),
  },
  jobs: {
    feature: {
      work: seq(
        ref("plan"),
        ref("ask-first"),
        { kind: "Loop", body: { kind: "Par", works: [ref("review"), { ...ref("review"), modelOverride: { category: "writing" } }] }, postCondition: [false, ref("final-review")], maxPasses: 3 },
        { ...commitGate, onReject: ref("revise") },
        ref("greet"),
      ),
    },
    attempts: { work: ref("two-attempts") },
    permission: { work: seq(ref("ask-first"), ref("greet")) },
    gate: { work: seq(ref("greet"), commitGate, ref("greet")) },
    strict: { work: seq(ref("greet"), ref("needs-file"), ref("greet")) },
    careful: { work: ref("careful") },
    plan: { work: ref("plan") },
  },
  grid: [
    { keyword: "Change", jobs: [{ name: "Feature", jobName: "feature" }, null, { name: "Plan", jobName: "plan" }] },
    { keyword: "Small", jobs: [{ name: "Permission", jobName: "permission" }, { name: "Gate", jobName: "gate" }] },
  ],
};

let folders = 0;

/** A folder of its own for a job, with these files; with `git` a repository in which they are committed. */
export async function makeFolder(server, { files = {}, git = false } = {}) {
  folders += 1;
  const folder = path.join(server.workFolder, `project-${folders}`);
  await mkdir(folder);
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), text);
  }
  if (git) commitAll(folder);
  return folder;
}

/** Makes a folder a git repository with one commit. */
export function commitAll(folder) {
  const run = (...words) => execFileSync("git", ["-c", "user.name=Test", "-c", "user.email=test@example.com", ...words], { cwd: folder, stdio: "pipe" });
  run("init", "--quiet", "--initial-branch=main");
  run("add", ".");
  run("commit", "--quiet", "--allow-empty", "--message=First");
}

/** Starts a job and gives its id. */
export async function startJob(server, jobName, { workingDirectory, ...more }) {
  return (await server.call("POST", "jobs", { jobName, workingDirectory, ...more })).jobId;
}

/** Waits until the details of a job are as wanted, and gives them. */
export function jobWhen(server, jobId, isWanted) {
  return waitFor(async () => {
    const details = await server.call("GET", `jobs/${jobId}`);
    return isWanted(details) && details;
  }, `job ${jobId}`);
}

/** Opens the page of a job and waits for its chart. */
export async function openJob(deck, jobName, jobId, context) {
  const page = await (context?.newPage ? context : await deck.openContext(context)).newPage();
  await page.goto(`${deck.server.url}/jobTracking.html?${new URLSearchParams({ jobName, jobId })}`);
  await page.locator("#job-part svg g.node").first().waitFor();
  return page;
}

/** The node of a work. */
export const node = (page, workId) => page.locator(`g.node[data-work-id="${workId}"]`);

/** Waits until the node of a work says so to a screen reader. */
export function nodeSays(page, workId, words) {
  return page.locator(`g.node[data-work-id="${workId}"][aria-label="${words}"]`).waitFor();
}

/** The card of a gate, once it can be answered. */
export const gateCard = (page) => page.locator(".gate-request:not(:has([aria-disabled]))");
