// What this browser keeps for itself: how the pages look, and notifications.

import { make, setText } from "../lib/dom.js";
import { isExact, setExactTimes } from "../lib/format.js";
import { notifications } from "../lib/notifications.js";
import { keep, kept } from "../lib/storage.js";
import { THEMES, currentTheme, setTheme } from "../lib/theme.js";
import { makeControl } from "./controls.js";
import { pushSwitch } from "./pushSwitch.js";
import { group } from "./settingGroup.js";

const FULL_HEIGHT = "flightdeck.fullHeight";
const FORGOTTEN = "This browser can't save it: it lasts until you leave the page.";

export function appearanceSection() {
  return [
    group("This browser", "These choices are saved in this browser, not in your settings file.", theme(), times(), fullHeight()),
    group("Notifications in this browser", null, browserNotifications(), pushSwitch()),
  ];
}

/** A row as those of settings: `control` on the right, `change(value)` returns whether the browser keeps it. */
function row({ id, label, about, control, value, change }) {
  const state = make("span", { class: "setting-state", role: "status" });
  control.input.id = id;
  control.write(value);
  control.onInput = () => {
    state.textContent = change(control.read()) ? "Saved" : FORGOTTEN;
  };
  return make("div", { class: "setting", data: { key: id } }, make("div", { class: "setting-words" }, make("label", { for: id, text: label }), make("p", { class: "setting-about", text: about })), make("div", { class: "setting-body" }, make("div", { class: "setting-control" }, control.element, state)));
}

function theme() {
  const names = { system: "System", light: "Light", dark: "Dark" };
  const control = makeControl({ kind: "choice", choices: THEMES.map((one) => [one, names[one]]) });
  return row({ id: "theme-select", label: "Theme", about: "Light, dark, or the same as the system.", control, value: currentTheme(), change: setTheme });
}

function times() {
  const control = makeControl({ kind: "choice", choices: [["relative", "Relative: 3 min ago"], ["exact", "Exact: date and time"]] });
  return row({ id: "times-select", label: "Times", about: "How times are shown. Point at a relative time to see the exact one.", control, value: isExact() ? "exact" : "relative", change: (value) => setExactTimes(value === "exact") });
}

function fullHeight() {
  const control = makeControl({ kind: "switch" });
  return row({ id: "full-height-switch", label: "Full height while streaming", about: "Blocks use their full height while the agent writes, instead of a few lines.", control, value: kept(FULL_HEIGHT) === "true", change: (value) => keep(FULL_HEIGHT, String(value)) });
}

function browserNotifications() {
  const control = makeControl({ kind: "switch" });
  const problem = make("p", { class: "field-hint", hidden: true });
  const show = () => {
    control.write(notifications.isOn);
    control.disabled = !notifications.isPossible;
    setText(problem, notifications.problem);
  };
  control.input.id = "notify-switch";
  control.onInput = async () => {
    await notifications.toggle();
    show();
  };
  show();
  return make("div", { class: "setting", data: { key: "notify-switch" } }, make("div", { class: "setting-words" }, make("label", { for: "notify-switch", text: "Notify me" }), make("p", { class: "setting-about", text: "When a session or a job needs input or finishes, while a Flightdeck page is open." })), make("div", { class: "setting-body" }, make("div", { class: "setting-control" }, control.element), problem));
}
