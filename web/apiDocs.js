// The page that shows the API: every operation of the OpenAPI document, grouped, with a filter.

import { ask } from "./lib/api.js";
import { byId, prose, setText } from "./lib/dom.js";
import { icon } from "./lib/icons.js";
import { ApiDocument } from "./apiDocs/document.js";
import { OperationList } from "./apiDocs/operationList.js";

/** The file needs the secret of the login, which a link cannot send, so it is saved from memory. */
function useFileLink(link, description) {
  link.href = URL.createObjectURL(new Blob([JSON.stringify(description, null, 2)], { type: "application/json" }));
  link.download = "openapi.json";
}

async function open() {
  byId("home-link").append(icon("back"));
  let description;
  try {
    description = await ask("/api/openapi.json");
  } catch (problem) {
    setText(byId("api-problem"), `Could not load the API: ${problem.message}`);
    return;
  }
  const api = new ApiDocument(description);
  byId("api-version").textContent = api.version;
  byId("api-about").append(...prose(api.description));
  useFileLink(byId("api-file"), description);
  const list = new OperationList(api, { groups: byId("api-groups"), operations: byId("api-operations"), count: byId("api-count") });
  const filter = byId("api-filter");
  filter.addEventListener("input", () => list.filter(filter.value));
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target === filter || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    filter.select();
  });
  addEventListener("hashchange", () => list.show(location.hash.slice(1)));
  list.filter("");
  list.show(location.hash.slice(1));
}

open();
