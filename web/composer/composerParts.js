// Everything around the text of the request that can wait until the session is shown.

import { ask } from "../lib/api.js";
import { byId } from "../lib/dom.js";
import { commandSource } from "./commandSource.js";
import { Completion } from "./completion.js";
import { ComposerMenu } from "./composerMenu.js";
import { fileSource } from "./fileSource.js";
import { Meters } from "./meters.js";
import { QueueList } from "./queueList.js";
import { Switches } from "./switches.js";
import { Templates } from "./templates.js";

export class ComposerParts {
  #view;
  #templates = new Templates();

  constructor(view) {
    this.#view = view;
    const switches = new Switches(view);
    new Meters(view);
    new QueueList(view);
    new ComposerMenu(view, this.#templates, switches);
    const completion = new Completion([fileSource(view.sessionId), commandSource((signal) => this.#loadCommands(signal))]);
    view.composer.setCompletion(completion, (text) => this.#templates.expand(text, (name) => this.#isCommand(name)));
    this.#learnCapabilities(switches);
    this.#templates.load({ signal: view.signal }).catch(() => {});
  }

  async #learnCapabilities(switches) {
    try {
      const { runtimes } = await ask("api/runtimes", { signal: this.#view.signal });
      const { capabilities } = runtimes.find(({ name }) => name === this.#view.details.runtime) ?? {};
      this.#view.composer.setCanSteer(capabilities?.steering === true);
      switches.setRuntimes(runtimes);
      byId("session-part").classList.toggle("can-fork", capabilities?.fork === true);
    } catch {
      // Steering stays off, and so do the switches that the agent may not have; requests are queued.
    }
  }

  #isCommand(name) {
    return (this.#view.details?.commands ?? []).some((command) => command.name === name);
  }

  /** Both may have changed elsewhere: read each time somebody types a slash. What cannot be read is left out. */
  async #loadCommands(signal) {
    await Promise.allSettled([this.#view.refresh(), this.#templates.load({ signal })]);
    return { commands: this.#view.details?.commands ?? [], templates: this.#templates.all };
  }
}
