// Routes that the pages use and that a server may not have yet are answered here, as the API describes them.

const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;");

const answers = [
  {
    probe: "models",
    pattern: /\/api\/models(\?|$)/,
    answer: async (server) => {
      const { models } = await server.call("GET", "copilot/models");
      const { runtimes } = await server.call("GET", "runtimes");
      const usual = runtimes.find((runtime) => runtime.default)?.name ?? "demo";
      const listed = ({ id }) => (id.includes("/") ? id.split("/") : [usual, id]);
      return { json: { models: models.map((model) => ({ ...model, runtime: listed(model)[0], id: listed(model)[1], listedId: model.id })), notes: [] } };
    },
  },
  {
    probe: "copilot/session/session-0/block/1.html",
    pattern: /\/block\/\d+\.html/,
    answer: async (server, url) => {
      const [, id, seq] = /session\/([^/]+)\/block\/(\d+)/.exec(url);
      const { events } = await server.call("GET", `copilot/session/${id}/log?after=${seq - 1}&limit=1`);
      const { completeContent, text, result, error } = events[0].response;
      const said = completeContent ?? text ?? result?.detailedContent ?? result?.content ?? error?.message ?? "";
      return { contentType: "text/html", body: `<p>${escaped(said)}</p>` };
    },
  },
];

/** Puts answers in front of the routes that `server` does not know. */
export async function answerMissingRoutes(context, server) {
  for (const { probe, pattern, answer } of answers) {
    const { json } = await server.api("GET", probe);
    if (json?.error !== "Unknown API endpoint") continue;
    await context.route(pattern, async (route) => route.fulfill(await answer(server, route.request().url())));
  }
}
