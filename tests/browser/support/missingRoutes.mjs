// Routes that the pages use and that a server may not have yet are answered here, as the API describes them.

const answers = [
  {
    probe: "models",
    pattern: /\/api\/models(\?|$)/,
    answer: async (server) => {
      const { models } = await server.call("GET", "copilot/models");
      return { models: models.map((model) => ({ ...model, runtime: "demo", listedId: model.id })), notes: [] };
    },
  },
];

/** Puts answers in front of the routes that `server` does not know. */
export async function answerMissingRoutes(context, server) {
  for (const { probe, pattern, answer } of answers) {
    if ((await server.api("GET", probe)).status !== 404) continue;
    await context.route(pattern, async (route) => route.fulfill({ json: await answer(server) }));
  }
}
