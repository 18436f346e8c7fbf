// The newest jobs, kept up to date by the inbox stream.

import { ask } from "./api.js";
import { inbox } from "./inboxStream.js";

const PAGE = 50;
/** Messages that come together are one change. */
const TOGETHER = 150;

class JobList extends EventTarget {
  /** As `GET /api/jobs` has them, with `waiting` as a count. */
  jobs = [];
  #isLoaded = false;
  #wasLost = false;
  #scheduled = null;

  constructor() {
    super();
    inbox.addEventListener("job", ({ detail: { job } }) => this.#hear(job));
    inbox.addEventListener("connection", () => {
      if (inbox.isConnected && this.#wasLost && this.#isLoaded) this.load();
      this.#wasLost = inbox.isConnected === false;
    });
  }

  /** Loads the newest jobs. A failure leaves what is known. */
  async load() {
    try {
      const { jobs = [] } = await ask(`api/jobs?limit=${PAGE}`);
      this.#isLoaded = true;
      this.jobs = jobs.map((job) => ({ ...job, waiting: inbox.jobs.get(job.jobId)?.waiting.length ?? job.waiting?.length ?? 0 }));
      this.dispatchEvent(new Event("change"));
    } catch {
      // The next message about a job tries again.
    }
  }

  /** The stream has neither folder nor times, so a job that began or ended is read again. */
  #hear({ jobId, status, waiting }) {
    if (!this.#isLoaded) return;
    const known = this.jobs.find((job) => job.jobId === jobId);
    if (known?.status === status) {
      this.jobs = this.jobs.map((job) => (job === known ? { ...job, waiting: waiting.length } : job));
      this.dispatchEvent(new Event("change"));
      return;
    }
    this.#scheduled ??= setTimeout(() => {
      this.#scheduled = null;
      this.load();
    }, TOGETHER);
  }
}

export const jobList = new JobList();
