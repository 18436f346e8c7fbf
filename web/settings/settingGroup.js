// A heading and the settings below it.

import { make } from "../lib/dom.js";
import { SettingField } from "./settingField.js";

/** The parts of a section: a heading, a sentence, and what belongs to it. */
export function group(title, about, ...children) {
  return make("section", { class: "setting-group" }, make("h3", { text: title }), about ? make("p", { class: "group-about", text: about }) : null, ...children);
}

/** A group of the catalogue, with a field for each setting that the server has. `fields` gets each by its key. */
export function settingGroup(store, { title, about, settings }, fields = new Map()) {
  const there = settings.filter(({ key }) => store.get(key));
  const made = there.map((spec) => new SettingField(store, spec));
  for (const field of made) fields.set(field.key, field);
  return group(title, about, ...made.map(({ element }) => element));
}
