// The agents behind the runtimes: one entry for each, however many connections it has.

/** `{ id, title, runtimes, isDefault, isReady, isDemo }` of each agent, in the server's order. */
export function agentsOf(runtimes) {
  return [...Map.groupBy(runtimes, ({ agent }) => agent)].map(([id, own]) => ({
    id,
    title: own[0].title,
    runtimes: own,
    isDefault: own.some((runtime) => runtime.default),
    isReady: own.some(({ ready }) => ready),
    isDemo: own.every(({ capabilities }) => capabilities.demo),
  }));
}
