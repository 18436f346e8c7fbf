// A session whose log is longer than what its agent wrote: for events that no agent of the tests can be made to write.

export class LogStub {
  events;
  #details = {};
  #waiting = [];

  /** Shows pages of `context` the session `id` with these responses behind its own. */
  static async use({ deck, context, id, responses = [], details = {} }) {
    const stub = new LogStub();
    stub.#details = details;
    stub.events = await deck.server.log(id);
    stub.add(...responses);
    const session = new RegExp(`/api/copilot/session/${id}`);
    await context.route(new RegExp(`${session.source}$`), async (route) => {
      if (route.request().method() !== "GET") return route.fallback();
      const answer = await route.fetch();
      return route.fulfill({ json: { ...(await answer.json()), ...stub.#details } });
    });
    await context.route(new RegExp(`${session.source}/log`), (route) => route.fulfill({ json: stub.#page(new URL(route.request().url()).searchParams) }));
    await context.route(new RegExp(`${session.source}/live/`), (route) => stub.#live(route));
    return stub;
  }

  /** Adds responses to the end of the log. */
  add(...responses) {
    for (const response of responses) this.events.push({ seq: (this.events.at(-1)?.seq ?? 0) + 1, time: new Date().toISOString(), response });
    for (const resume of this.#waiting.splice(0)) resume();
  }

  /** What the session's details say from now on. */
  setDetails(details) {
    this.#details = details;
  }

  #page(query) {
    const limit = Number(query.get("limit"));
    const before = query.get("before");
    if (before === null) {
      const found = this.events.filter(({ seq }) => seq > Number(query.get("after")));
      return { events: found.slice(0, limit), next: found.length > limit ? found[limit - 1].seq : undefined };
    }
    const found = this.events.filter(({ seq }) => seq < Number(before));
    const events = found.slice(-limit);
    return { events, next: found.length > limit ? events[0].seq : undefined };
  }

  /** Waits as the server does while there is nothing new. */
  async #live(route) {
    const after = Number(new URL(route.request().url()).searchParams.get("after"));
    const found = () => this.events.filter(({ seq }) => seq > after);
    while (found().length === 0) await new Promise((resolve) => this.#waiting.push(resolve));
    const events = found();
    // The page may have gone meanwhile.
    await route.fulfill({ json: { responses: events.map(({ response }) => response), lastSeq: events.at(-1).seq } }).catch(() => {});
  }
}
