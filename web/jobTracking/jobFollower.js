// Keeps the details of a job up to date: its stream of events says that something has changed, the details say what.

import { ask, Problem } from "../lib/api.js";
import { Connection } from "../lib/connection.js";
import { readEvents } from "../lib/eventStream.js";
import { inbox } from "../lib/inboxStream.js";
import { jobPath } from "../lib/jobs.js";

/** Events that come together are one change. */
const TOGETHER = 120;
/** A hidden tab holds no stream, because browsers allow few connections for all tabs together. */
const PAUSE_WHILE_HIDDEN = 20_000;

export class JobFollower {
  /** Called with the details whenever they may have changed. */
  onDetails = () => {};
  /** Called with null when the server answers, else with `{ problem, retryAt }`. */
  onConnection = () => {};
  /** The server does not know the job. */
  onMissing = () => {};
  #jobId;
  #last = null;
  #following = false;
  #scheduled = null;
  #refreshing = null;
  #isStale = false;
  #status = null;
  #connection = new Connection();

  constructor(jobId) {
    this.#jobId = jobId;
    this.#connection.onChange = (lost) => this.onConnection(lost);
    // A job that has ended may be retried from elsewhere.
    inbox.addEventListener("job", ({ detail: { job } }) => job.jobId === jobId && job.status === "Running" && this.#status !== null && this.follow());
  }

  /** Follows the job until it has ended. */
  async follow() {
    if (this.#following) return;
    this.#following = true;
    while (this.#following) {
      try {
        await this.refresh();
        this.#connection.succeeded();
        if (this.#status !== "Running") this.#following = false;
        else if (document.hidden) await this.#connection.pause(PAUSE_WHILE_HIDDEN);
        else await this.#read();
      } catch (problem) {
        if (!(problem instanceof Problem)) throw problem;
        if (problem.status === 404) {
          this.#following = false;
          this.onMissing(problem);
          return;
        }
        await this.#connection.failed(problem);
      }
    }
  }

  /** Ends a pause between attempts to reach the server. */
  now() {
    this.#connection.now();
  }

  /** Loads the details; what is asked for while they load is loaded once more. */
  async refresh() {
    if (this.#refreshing) {
      this.#isStale = true;
      return this.#refreshing;
    }
    this.#refreshing = this.#load();
    try {
      return await this.#refreshing;
    } finally {
      this.#refreshing = null;
    }
  }

  async #load() {
    let details;
    do {
      this.#isStale = false;
      details = await ask(jobPath(this.#jobId));
    } while (this.#isStale);
    this.#status = details.status;
    this.onDetails(details);
    return details;
  }

  /** Reads the stream until it ends. A stream that breaks off is opened again after the last event. */
  async #read() {
    const hidden = new AbortController();
    const look = () => document.hidden && hidden.abort();
    document.addEventListener("visibilitychange", look);
    let isClosed = false;
    try {
      await readEvents(jobPath(this.#jobId, `events${this.#last === null ? "" : `?after=${this.#last}`}`), {
        signal: hidden.signal,
        onOpen: () => {},
        onData: (_, { event, id }) => {
          if (id !== null) this.#last = id;
          if (event === "closed") isClosed = true;
          else this.#schedule();
        },
      });
    } catch (problem) {
      if (hidden.signal.aborted) return;
      if (problem instanceof Problem) throw problem;
      throw new Problem("The connection to the server was lost.");
    } finally {
      document.removeEventListener("visibilitychange", look);
      clearTimeout(this.#scheduled);
      this.#scheduled = null;
    }
    if (!isClosed) await this.#connection.pause();
  }

  #schedule() {
    this.#scheduled ??= setTimeout(() => {
      this.#scheduled = null;
      // A failure shows in the stream, too.
      this.refresh().catch(() => {});
    }, TOGETHER);
  }
}
