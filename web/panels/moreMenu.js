// The menu behind the last button of the top bar.

import { byId, make } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { notifications } from "../lib/notifications.js";
import { appEntries, learnPushState } from "./appEntries.js";
import { currentTheme, nextTheme, setTheme } from "../lib/theme.js";

/** `entries` are `{ label, key, icon, run }`, put after the menu's own. */
export function useMoreMenu(entries) {
  const menu = byId("more-menu");
  const show = () => {
    const hadFocus = menu.contains(document.activeElement);
    menu.replaceChildren(notificationEntry(show), notificationHint() ?? "", ...appEntries(entry, show), themeEntry(show), ...entries.map((one) => entry(one)));
    if (hadFocus) menu.querySelector("button")?.focus();
  };
  learnPushState();
  menu.addEventListener("beforetoggle", (event) => event.newState === "open" && show());
  menu.addEventListener("toggle", (event) => event.newState === "open" && menu.querySelector("button")?.focus());
  menu.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const buttons = [...menu.querySelectorAll("button:not(:disabled)")];
    buttons[(buttons.indexOf(document.activeElement) + step + buttons.length) % buttons.length].focus();
  });
}

function entry({ label, key, icon: picture, run, stays = false, disabled = false, pressed = null, id = null }) {
  const button = make("button", { type: "button", id, disabled, "aria-pressed": pressed }, icon(picture), make("span", { text: label }), key && make("kbd", { text: key }));
  button.addEventListener("click", () => {
    if (!stays) byId("more-menu").hidePopover();
    run();
  });
  return button;
}

function notificationEntry(show) {
  const { isOn, isPossible } = notifications;
  return entry({
    label: isOn ? "Notifications: on" : "Notify me when a session needs input or finishes",
    icon: isOn ? "bell" : "bellOff",
    stays: true,
    disabled: !isPossible,
    pressed: String(isOn),
    run: async () => {
      await notifications.toggle();
      show();
      byId("more-menu").querySelector("button")?.focus();
    },
  });
}

function notificationHint() {
  const { problem } = notifications;
  return problem ? make("p", { text: problem }) : null;
}

function themeEntry(show) {
  const theme = currentTheme();
  return entry({
    label: { system: "Theme: system", light: "Theme: light", dark: "Theme: dark" }[theme],
    icon: "light",
    id: "theme-entry",
    stays: true,
    run: () => {
      setTheme(nextTheme());
      show();
      byId("theme-entry").focus();
    },
  });
}
