// Messages among the tabs of one browser.

/** A channel of that name; null in browsers that refuse channels, as some do where they refuse storage. */
export function openChannel(name) {
  try {
    return new BroadcastChannel(name);
  } catch {
    return null;
  }
}
