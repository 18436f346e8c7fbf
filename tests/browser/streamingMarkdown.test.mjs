// Markdown while it arrives: formatted, lossless, harmless, and cheap however much of it comes.

import assert from "node:assert/strict";
import { test } from "node:test";
import { useDeck } from "./support/index.mjs";

const deck = useDeck();

const DOCUMENT = `# Title with \`code\`

A paragraph with **strong**, *emphasis*, ~~strike~~ and a [link](https://example.com/ "title").
Its second line, with snake_case_words and 2 * 3 * 4.

- one
- [x] done
  - nested **deep**
1. first
2) second

> quoted
> twice

| a | b |
|---|--:|
| \`1\` | 2 |
| x \\| y |

\`\`\`rust
fn main() { "**not strong**" }

# not a heading
\`\`\`

---

The end, unfinished: **stro`;

const ODD = ["", "\n", "\n\n\n", "```", "```\n", "``", "`", "**", "****", "* ", "- ", "-", "1.", "|", "|\n|-|\n", "| a |\n|--", "> ", ">", "# ", "#", "![x](y)", "[a](b", "\\", "\\*", "~~~\nx\n~~~\ny", "a\r\nb", "\tindented", "<script>alert(1)</script>", "\u202E\u200B", "🦀 **🦀**", `${"x".repeat(9000)}\n**y**`, "```\n".repeat(50), "> > > a", "*a *a *a *a"];

/** A page with `stream(pieces)`: what the element of a streamed text looks like after these pieces. */
async function streamPage() {
  const page = await deck.openPage("/test.html");
  await page.evaluate(async () => {
    const { StreamingMarkdown } = await import("/session/streamingMarkdown.js");
    window.stream = async (pieces) => {
      const element = document.createElement("div");
      document.body.append(element);
      const markdown = new StreamingMarkdown(element);
      for (const piece of pieces) markdown.append(piece);
      const before = element.textContent;
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      return { before, text: element.textContent, html: element.innerHTML };
    };
  });
  return page;
}

test("formatted as it arrives, with every character of the source in its text", async () => {
  const page = await streamPage();
  const { before, text, html } = await page.evaluate((text) => window.stream([text]), DOCUMENT);
  assert.equal(before, DOCUMENT, "there at once, before it is formatted");
  assert.equal(text, DOCUMENT);
  for (const part of ["markdown-heading-1", "<strong>strong</strong>", "<em>emphasis</em>", "<s>strike</s>", '<span class="markdown-link">link</span>', "<blockquote>", "<table>", "<th>", "markdown-rule", "markdown-depth-1", 'data-sign="☑"', 'data-sign="2)"', "<strong>stro</strong>"]) {
    assert.ok(html.includes(part), `${part} in ${html}`);
  }
  assert.match(html, /<pre>[\s\S]*<code>fn main\(\) \{ "\*\*not strong\*\*" \}\n\n# not a heading\n<\/code>/);
  assert.ok(!html.includes("<a "), "a link leads somewhere only when the server has checked it");
});

test("however it is cut into pieces, it ends up the same", async () => {
  const page = await streamPage();
  const differences = await page.evaluate(
    async (texts) => {
      const wrong = [];
      for (const text of texts) {
        const whole = await window.stream([text]);
        for (const length of [1, 2, 7]) {
          const pieces = text.match(new RegExp(`[\\s\\S]{1,${length}}`, "g")) ?? [];
          // A frame in between now and then, so that what has been read is read on.
          const element = document.createElement("div");
          const { StreamingMarkdown } = await import("/session/streamingMarkdown.js");
          const markdown = new StreamingMarkdown(element);
          for (const [index, piece] of pieces.entries()) {
            markdown.append(piece);
            if (pieces.length < 400 && index % 5 === 0) await new Promise((resolve) => requestAnimationFrame(resolve));
          }
          await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
          if (element.textContent !== text) wrong.push(["text", text, element.textContent]);
          else if (text.length < 4000 && element.innerHTML !== whole.html) wrong.push(["html", whole.html, element.innerHTML]);
        }
      }
      return wrong;
    },
    [DOCUMENT, ...ODD],
  );
  assert.deepEqual(differences, []);
});

test("markup in it is text", async () => {
  const page = await streamPage();
  const seen = await page.evaluate(async () => {
    const hostile = "<img src=x onerror='window.hacked=1'> **<b onmouseover=window.hacked=2>** [x](javascript:window.hacked=3)\n\n| <svg onload=window.hacked=4> |\n|---|\n| x |\n\n```<script>\n</code><script>window.hacked=5</script>\n```\n# <iframe>\n- <style>";
    const { html, text } = await window.stream([hostile]);
    const place = document.createElement("template");
    place.innerHTML = html;
    return { same: text === hostile, tags: [...new Set([...place.content.querySelectorAll("*")].map((one) => one.localName))].sort(), attributes: [...new Set([...place.content.querySelectorAll("*")].flatMap((one) => one.getAttributeNames()))].sort(), hacked: window.hacked };
  });
  assert.ok(seen.same);
  assert.equal(seen.hacked, undefined);
  assert.deepEqual(seen.tags.filter((tag) => !["blockquote", "code", "div", "em", "p", "pre", "s", "span", "strong", "table", "tbody", "td", "th", "tr"].includes(tag)), []);
  assert.deepEqual(seen.attributes.filter((name) => !["class", "role", "data-sign"].includes(name)), []);
});

test("a hundred thousand pieces read little again, and the document stays small", async () => {
  const page = await streamPage();
  const seen = await page.evaluate(async () => {
    const { StreamingMarkdown } = await import("/session/streamingMarkdown.js");
    const element = document.createElement("div");
    document.body.append(element);
    const markdown = new StreamingMarkdown(element);
    let added = 0;
    const observer = new MutationObserver((changes) => changes.forEach(({ addedNodes }) => addedNodes.forEach((node) => (added += node.textContent.length))));
    observer.observe(element, { childList: true });
    let written = 0;
    for (let index = 0; index < 100_000; index += 1) {
      const piece = index % 40 === 39 ? "**end** of `line`\n" : "word ";
      written += piece.length;
      markdown.append(piece);
    }
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    return { written, added, length: element.textContent.length, elements: element.querySelectorAll("*").length, end: element.textContent.endsWith("**end** of `line`\n"), note: element.querySelector(".text-left-out")?.textContent };
  });
  assert.ok(seen.end);
  assert.ok(seen.length < 60_000, `${seen.length} characters in the document`);
  assert.ok(seen.elements < 5_000, `${seen.elements} elements`);
  // What is read again is a small part of a block each time, not all that has come so far.
  assert.ok(seen.added < 4 * seen.written, `${seen.added} characters shown for ${seen.written}`);
  assert.match(seen.note, /characters above; the full text is shown when it is complete/);
});
