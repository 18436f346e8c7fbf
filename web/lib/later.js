// Modules that are not needed at first.

const ASK_AGAIN_AFTER = 1000;

/** Loads a module; retries if the server is briefly unreachable. */
export async function later(load) {
  for (;;) {
    try {
      return await load();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_AFTER));
    }
  }
}
