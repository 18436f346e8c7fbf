// Jobs as a test wants them: answers in place of the server's, and what the pages asked for.

const REAL = /\/api\/(jobs|copilot\/(job|task))(\/|\?|$)/;

export class JobsStub {
  /** Answer of `api/jobs/entry`. */
  entry;
  /** Answer of `api/copilot/job`. */
  definitions;
  /** Answer of `api/copilot/task`. */
  tasks = [];
  /** Answer of a dry run. */
  preview = null;
  /** Details by id. */
  jobs = new Map();
  /** Responses of a task's `live`, by id. */
  live = new Map();
  /** What the pages asked for: `{ method, path, query, body }`. */
  calls = [];
  /** Answers for single routes, by "METHOD path": a function of the body that gives `{ status, json }`. */
  answers = new Map();
  #waiting = [];
  /** How many changes there were. */
  #seq = 0;

  /** Answers the pages of a context. */
  static async use(context, { entry = ENTRY, definitions = DEFINITIONS, jobs = [], ...more } = {}) {
    const stub = new JobsStub();
    Object.assign(stub, { entry, definitions, ...more });
    for (const job of jobs) stub.jobs.set(job.jobId, job);
    await context.route(REAL, (route) => stub.#answer(route).catch(() => {}));
    return stub;
  }

  /** Changes a job; pages that follow it hear of it. */
  change(jobId, changes) {
    this.jobs.set(jobId, { ...this.jobs.get(jobId), ...changes });
    this.#seq += 1;
    for (const resume of this.#waiting.splice(0)) resume();
  }

  called(method, path) {
    return this.calls.filter((call) => call.method === method && call.path === path);
  }

  async #answer(route) {
    const request = route.request();
    const { pathname, searchParams } = new URL(request.url());
    const path = pathname.replace(/^\/api\//, "");
    const text = request.postData();
    const call = { method: request.method(), path, query: Object.fromEntries(searchParams), body: parsed(text) };
    this.calls.push(call);
    const own = this.answers.get(`${call.method} ${path}`);
    const { status = 200, json, body, contentType } = (own && (await own(call.body))) ?? (await this.#reply(call));
    await route.fulfill(body === undefined ? { status, json } : { status, body, contentType });
  }

  async #reply({ method, path, query, body }) {
    const [, jobId, below] = /^jobs\/(job-[^/]+)(?:\/(\w+))?$/.exec(path) ?? [];
    if (path === "jobs/entry") return { json: this.entry };
    if (path === "copilot/job") return { json: this.definitions };
    if (path === "copilot/task") return { json: { tasks: this.tasks } };
    if (path === "copilot/job/running") return { json: { jobs: [...this.jobs.values()].map(({ jobId: id, jobName, startTime, status }) => ({ jobId: id, jobName, startTime, status })) } };
    if (path === "jobs" && method === "POST") return body.dryRun ? { json: this.preview } : { status: 201, json: { jobId: "job-1" } };
    if (path.startsWith("copilot/task/start/")) return { json: { taskId: "task-1" } };
    if (path.includes("/live/")) return this.#live(path.split("/")[2]);
    if (/^jobs\/job-[^/]+\/gate\//.test(path)) return { contentType: "text/html", body: `<p>${escaped(this.#promptOf(path))}</p>` };
    if (!jobId) return { json: {} };
    const job = this.jobs.get(jobId);
    if (!job) return { status: 404, json: { error: "JobNotFound", message: "There is no such job." } };
    if (below === undefined) return { json: job };
    if (below === "events") return this.#events(jobId, Number(query.after ?? 0));
    return { json: {} };
  }

  #promptOf(path) {
    const [, jobId, , file] = path.split("/");
    return this.jobs.get(jobId)?.waiting.find(({ waitingId }) => file === `${waitingId}.html`)?.prompt ?? "";
  }

  /** One event about a change that the page has not heard of, as a stream that then breaks off. */
  async #events(jobId, after) {
    if (this.jobs.get(jobId).status === "Running" && this.#seq <= after) await new Promise((resolve) => this.#waiting.push(resolve));
    const end = this.jobs.get(jobId).status === "Running" ? "" : "event: closed\ndata: {}\n\n";
    return { contentType: "text/event-stream", body: `id: ${this.#seq}\ndata: {}\n\n${end}` };
  }

  #live(taskId) {
    const responses = this.live.get(taskId);
    this.live.delete(taskId);
    return { json: responses ? { responses, lastSeq: responses.length } : { error: "TaskClosed" } };
  }
}

function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The built-in entry is in force. */
export const ENTRY = { source: "default", hash: "0".repeat(64), trusted: true, problems: [], inForce: true };

/** No entry at all, as with `--test`. */
export const NO_ENTRY = { source: "none", trusted: false, problems: [], inForce: false };

/** A loop of three reviewers in parallel until a final review succeeds, then apply, then a gate, then commit. */
export const REVIEW_CHART = [
  { id: 0, hint: ["TaskNode", 0], label: "plan", arrows: [{ to: 1, loopBack: false }] },
  { id: 1, hint: "ParBegin", arrows: [2, 3, 4].map((to) => ({ to, loopBack: false })) },
  { id: 2, hint: ["TaskNode", 1], label: "review (reviewer-1)", arrows: [{ to: 5, loopBack: false }] },
  { id: 3, hint: ["TaskNode", 2], label: "review (reviewer-2)", arrows: [{ to: 5, loopBack: false }] },
  { id: 4, hint: ["TaskNode", 3], label: "review (reviewer-3)", arrows: [{ to: 5, loopBack: false }] },
  { id: 5, hint: "ParEnd", arrows: [{ to: 6, loopBack: false }] },
  { id: 6, hint: ["CondNode", 4], label: "final-review", arrows: [{ to: 1, loopBack: true, label: "false" }, { to: 7, loopBack: false, label: "true" }] },
  { id: 7, hint: "LoopEnd", arrows: [{ to: 8, loopBack: false }] },
  { id: 8, hint: ["TaskNode", 5], label: "apply-review", arrows: [{ to: 9, loopBack: false }] },
  { id: 9, hint: ["GateNode", 6], label: "Commit these changes?", arrows: [{ to: 10, loopBack: false }] },
  { id: 10, hint: ["TaskNode", 7], label: "commit" },
];

const work = { kind: "Seq", works: [{ kind: "Ref", workIdInJob: 0, taskId: "plan" }] };

/** Two rows with an empty cell; `review` needs input. */
export const DEFINITIONS = {
  grid: [
    { keyword: "ask", jobs: [{ name: "ask", jobName: "ask-job" }, null, { name: "code", jobName: "code-job" }] },
    { keyword: "review", jobs: [null, { name: "review all", jobName: "review" }] },
  ],
  jobs: { "ask-job": { requireUserInput: false, work }, "code-job": { requireUserInput: true, work }, review: { requireUserInput: true, work } },
  chart: { "ask-job": { nodes: [REVIEW_CHART[0]] }, "code-job": { nodes: [REVIEW_CHART[0]] }, review: { nodes: REVIEW_CHART } },
};

/** A job that runs, with `more` in place of what it says. */
export function job(more = {}) {
  return {
    jobId: "job-1",
    jobName: "review",
    status: "Running",
    workingDirectory: "/repos/greeter",
    userInput: "Fix the greeting",
    startTime: new Date(Date.now() - 83_000).toISOString(),
    waiting: [],
    origin: "page",
    chart: REVIEW_CHART,
    requireUserInput: true,
    work,
    works: [],
    ...more,
  };
}

/** A work of a job; `attempts` has a run for each of `runs`. */
export function workState(workId, status, runs = [{}]) {
  const start = Date.now() - 60_000;
  return {
    workId,
    taskName: REVIEW_CHART.find(({ hint }) => Array.isArray(hint) && hint[1] === workId)?.label ?? `task ${workId}`,
    status,
    attempts: runs.map((run, index) => ({
      taskId: `task-${workId}-${index}`,
      startTime: new Date(start).toISOString(),
      endTime: status === "Running" && index === runs.length - 1 ? undefined : new Date(start + 12_300).toISOString(),
      status: index === runs.length - 1 ? status : "Failed",
      sessions: [],
      decisions: [],
      usage: { inputTokens: 12_400, outputTokens: 830 },
      ...run,
    })),
  };
}

/** A gate that waits. */
export function gate(more = {}) {
  return {
    waitingId: "gate-3",
    kind: "gate",
    workId: 6,
    title: "Commit these changes?",
    prompt: "Check the summary of the review and the changed files.\nApproving commits them to the current branch.",
    digest: "d1",
    since: new Date(Date.now() - 125_000).toISOString(),
    shown: {
      works: [
        { workId: 4, taskName: "final-review", succeeded: true, lastDecision: "[CRITERIA] The reviewers agree." },
        { workId: 5, taskName: "apply-review", succeeded: true, lastDecision: "[TASK SUCCEEDED] All criteria hold." },
      ],
      changes: {
        files: [
          { path: "src/greeting.mjs", kind: "modified", added: 2, removed: 1 },
          { path: "check.mjs", kind: "added", added: 14 },
        ],
        truncated: false,
      },
    },
    ...more,
  };
}
