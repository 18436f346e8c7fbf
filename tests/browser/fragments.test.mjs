// What the server makes of an agent's and a person's words, put into a page as the pages do it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { useDeck } from "./support/index.mjs";

const deck = useDeck();

const HOSTILE = [
  "<script>window.hacked = 1</script>",
  "<img src=x onerror='window.hacked = 2'>",
  "<svg onload='window.hacked = 3'></svg>",
  "<iframe srcdoc='<script>parent.hacked = 4</script>'></iframe>",
  "[a](javascript:window.hacked=5) [b](data:text/html,<script>parent.hacked=6</script>) <javascript:window.hacked=7>",
  "![c](x\"onerror=\"window.hacked=8) ![d](https://evil.example/pixel.png)",
  "```\"><script>window.hacked = 9</script>\n</code></pre><script>window.hacked = 10</script>\n```",
  "| <b onmouseover=window.hacked=11>x</b> |\n|---|\n| </td></table><script>window.hacked = 12</script> |",
  "<style>body { display: none }</style> <link rel=stylesheet href=https://evil.example/x.css> <base href=https://evil.example/>",
  "<form action=/api/stop method=post><input type=submit id=start-button></form>",
  "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=x onerror=window.hacked=13&gt;'>",
  "[e]: https://example.com/'onmouseover='window.hacked=14\n\n[e] https://example.com/\"onmouseover=\"window.hacked=15",
].join("\n\n");

/** Puts a block of a session into the page and gives what it has become. */
async function show(page, sessionId, seq) {
  return page.evaluate(
    async ([id, number]) => {
      const { askHtml } = await import("/lib/api.js");
      const place = document.createElement("div");
      place.innerHTML = await askHtml(`/api/copilot/session/${id}/block/${number}.html`);
      document.body.append(place);
      const elements = [...place.querySelectorAll("*")];
      elements.forEach((element) => element.dispatchEvent(new MouseEvent("mouseover", { bubbles: true })));
      return {
        tags: [...new Set(elements.map((element) => element.localName))].sort(),
        attributes: [...new Set(elements.flatMap((element) => element.getAttributeNames()))].sort(),
        links: elements.filter((element) => element.hasAttribute("href")).map((element) => element.getAttribute("href")),
        text: place.textContent,
      };
    },
    [sessionId, seq],
  );
}

test("hostile words run nothing, load nothing and look like what they are", async () => {
  const id = await deck.server.session();
  await deck.server.turn(id, HOSTILE);
  const prompt = (await deck.server.log(id)).find(({ response }) => response.callback === "onUserPrompt");
  const page = await deck.openPage("/");
  const shown = await show(page, id, prompt.seq);
  for (const tag of ["script", "img", "svg", "iframe", "style", "link", "base", "form", "math"]) {
    assert.ok(!shown.tags.includes(tag), `${tag} in ${shown.tags}`);
  }
  assert.deepEqual(
    shown.attributes.filter((name) => name.startsWith("on") || ["style", "id", "name", "src", "srcdoc"].includes(name)),
    [],
  );
  assert.ok(shown.links.every((link) => /^https?:\/\//.test(link)), shown.links.join(" "));
  assert.match(shown.text, /<script>window\.hacked = 1<\/script>/);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  // And no problem in the console: the harness looks after that.
});

test("a diff, a command and Markdown have the elements that the pages style", async () => {
  const id = await deck.server.session();
  await deck.server.turn(id, "edit");
  await deck.server.turn(id, "tool");
  await deck.server.turn(id, "markdown");
  const page = await deck.openPage("/");
  const ends = (await deck.server.log(id)).filter(({ response }) => /^onEnd(Tool|Message)/.test(response.callback));
  for (const { seq } of ends) await show(page, id, seq);
  for (const [selector, count] of [
    ["section.tool-part.tool-output > div.diff > table.diff-lines tr.diff-line.diff-added > td.diff-text", 1],
    ["section.tool-part.tool-arguments > div.code-block[data-language=bash] > pre > code.highlight", 1],
    ["section.tool-part.tool-output > pre.terminal", 1],
    ["div.code-block[data-language=rust] button.copy-button[type=button]", 1],
    ["input[type=checkbox][disabled]", 2],
    ["a[target=_blank][rel='noopener noreferrer nofollow']", 1],
  ]) {
    assert.equal(await page.locator(selector).count(), count, selector);
  }
});

test("a fragment opened by itself is inert", async () => {
  const id = await deck.server.session();
  await deck.server.turn(id, "markdown");
  const end = (await deck.server.log(id)).find(({ response }) => response.callback === "onEndMessage");
  // A page without an origin is not even given an icon.
  deck.expectConsoleErrors(/favicon\.ico/);
  const { address } = await deck.server.call("POST", "ticket", { path: `/api/copilot/session/${id}/block/${end.seq}.html` });
  const page = await deck.openPage(address);
  assert.equal(await page.evaluate(() => window.origin), "null");
  assert.match(await page.textContent("body"), /Demo of Markdown/);
});
