// The switch for notifications that reach this browser also while no page is open, with a test.

import { make, setText } from "../lib/dom.js";
import { disablePush, enablePush, pushChanges, pushState, testPush } from "../lib/push.js";
import { makeControl } from "./controls.js";

const ID = "push-switch";
const ABOUT = "The server sends them, encrypted, through this browser's push service, even when no Flightdeck page is open.";

export function pushSwitch() {
  return new PushSwitch().element;
}

class PushSwitch {
  element;
  #control = makeControl({ kind: "switch" });
  #test = make("button", { type: "button", id: "push-test", hidden: true, text: "Send test", on: { click: () => this.#sendTest() } });
  #said = make("span", { class: "setting-state", role: "status" });
  /** Why it is impossible here. */
  #problem = make("p", { class: "field-hint", id: `${ID}-problem`, hidden: true });
  /** What just went wrong. */
  #failure = make("p", { class: "field-problem", role: "alert", hidden: true });
  #isBusy = false;

  constructor() {
    const { input } = this.#control;
    input.id = ID;
    input.disabled = true;
    input.setAttribute("aria-describedby", this.#problem.id);
    this.#control.onInput = () => this.#run(this.#control.read() ? enablePush : disablePush);
    // The menu and other tabs turn them on and off too.
    pushChanges.addEventListener("change", () => this.#show());
    this.element = make(
      "div",
      { class: "setting", data: { key: ID } },
      make("div", { class: "setting-words" }, make("label", { for: ID, text: "Even when no page is open" }), make("p", { class: "setting-about", text: ABOUT })),
      make("div", { class: "setting-body" }, make("div", { class: "setting-control" }, input, this.#test, this.#said), this.#problem, this.#failure),
    );
    this.#show();
  }

  async #show() {
    const { isPossible, isOn, problem } = await pushState();
    this.#control.write(isOn);
    this.#control.disabled = this.#isBusy || !isPossible;
    this.#test.disabled = this.#isBusy;
    this.#test.hidden = !isOn;
    setText(this.#problem, problem);
  }

  #sendTest() {
    return this.#run(async () => {
      const problem = await testPush();
      if (problem) throw new Error(`The test was not delivered: ${problem}`);
      this.#said.textContent = "Test sent";
    });
  }

  /** One thing at a time; what had the focus has it again afterwards. */
  async #run(action) {
    const focused = document.activeElement;
    this.#said.textContent = "";
    setText(this.#failure, null);
    this.#isBusy = true;
    this.#control.disabled = true;
    this.#test.disabled = true;
    try {
      await action();
    } catch (failure) {
      setText(this.#failure, failure.message);
    }
    this.#isBusy = false;
    await this.#show();
    if (this.element.contains(focused) && document.activeElement === document.body) focused.focus();
  }
}
