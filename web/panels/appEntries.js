// The entries of the menu that make an app of the pages: notifications to this browser, and installing.

import { make } from "../lib/dom.js";
import { canInstall, install } from "../lib/install.js";
import { disablePush, enablePush, pushState } from "../lib/push.js";

/** What was last known of pushed notifications, so that the menu opens at once. */
let push = { isPossible: false, isOn: false, problem: null };
let failure = null;

/** `entry` makes an entry of the menu, `show` shows the menu again. */
export function appEntries(entry, show) {
  refresh(show);
  return [pushEntry(entry, show), failure && make("p", { role: "alert", text: failure }), installEntry(entry)].filter(Boolean);
}

/** Learns what can be pushed before the menu is opened, which would otherwise change under the pointer. */
export function learnPushState() {
  // The menu asks again.
  refresh(() => {}).catch(() => {});
}

async function refresh(show) {
  const before = JSON.stringify(push);
  push = await pushState();
  if (JSON.stringify(push) !== before) show();
}

function pushEntry(entry, show) {
  if (!push.isPossible) return null;
  return entry({
    label: push.isOn ? "Notify this browser: on" : "Notify this browser even when no page is open",
    icon: push.isOn ? "bell" : "bellOff",
    stays: true,
    pressed: String(push.isOn),
    id: "push-entry",
    run: async () => {
      failure = null;
      try {
        await (push.isOn ? disablePush() : enablePush());
      } catch (problem) {
        failure = problem.message;
      }
      push = await pushState();
      show();
      document.getElementById("push-entry")?.focus();
    },
  });
}

function installEntry(entry) {
  return canInstall() ? entry({ label: "Install as an app", icon: "install", run: () => install() }) : null;
}
