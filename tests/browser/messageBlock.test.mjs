// `MessageBlock` by itself, as other pages and people's scripts use it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { useDeck } from "./support/index.mjs";

const deck = useDeck();

/** A page with `blocks(...)` that makes blocks in it. */
async function blockPage() {
  const page = await deck.openPage("/test.html");
  await page.evaluate(async () => {
    for (const name of ["theme.css", "messageBlock.css"]) {
      const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href: name });
      await new Promise((resolve) => {
        link.onload = resolve;
        document.head.append(link);
      });
    }
    window.messageBlock = await import("/messageBlock.js");
    window.add = (type) => {
      const block = new window.messageBlock.MessageBlock(type);
      document.body.append(block.divElement);
      return block;
    };
  });
  return page;
}

test("the header says type, title and that data is coming", async () => {
  const page = await blockPage();
  const headers = await page.evaluate(() => {
    const block = window.add("Tool");
    const header = () => block.divElement.querySelector(".message-block-header-text").textContent;
    const seen = [header()];
    block.title = "shell";
    seen.push(header(), block.title);
    block.complete();
    seen.push(header());
    const untitled = window.add("Message");
    untitled.complete();
    seen.push(untitled.divElement.querySelector(".message-block-header-text").textContent);
    return seen;
  });
  assert.deepEqual(headers, ["Tool [receiving...]", "Tool (shell) [receiving...]", "shell", "Tool (shell)", "Message"]);
});

test("while receiving it is at most 150 pixels high, follows its end, and its header does nothing", async () => {
  const page = await blockPage();
  const seen = await page.evaluate(async () => {
    const block = window.add("Message");
    for (let line = 0; line < 200; line += 1) block.appendData(`line ${line}\n`);
    const body = block.divElement.querySelector(".message-block-body");
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    block.divElement.querySelector(".message-block-header").click();
    return {
      height: body.getBoundingClientRect().height,
      atEnd: body.scrollHeight - body.scrollTop - body.clientHeight < 2,
      classes: [...block.divElement.classList],
      text: body.textContent,
    };
  });
  assert.equal(seen.height, 150);
  assert.ok(seen.atEnd);
  assert.deepEqual(seen.classes.toSorted(), ["message-block", "receiving"]);
  assert.ok(seen.text.startsWith("line 0\n") && seen.text.endsWith("line 199\n"));
});

for (const type of ["Message", "Tool"]) {
  test(`text that comes before the page hears of its own scrolling does not end following, in a ${type}`, async () => {
    const page = await blockPage();
    const gaps = await page.evaluate(async (type) => {
      const block = window.add(type);
      const body = block.divElement.querySelector(".message-block-body");
      const gaps = [];
      for (let time = 0; time < 5; time += 1) {
        block.appendData("line\n".repeat(40));
        // After the block's own frame: it has scrolled, and the event for that comes with the next frame.
        await new Promise((resolve) => requestAnimationFrame(resolve));
        block.appendData("line\n".repeat(40));
        await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
        gaps.push(body.scrollHeight - body.scrollTop - body.clientHeight);
      }
      return gaps;
    }, type);
    assert.ok(gaps.every((gap) => gap < 2), String(gaps));
  });
}

test("a receiving block stays where the reader scrolls to, also in small steps, and follows again from its end", async () => {
  const page = await blockPage();
  await page.evaluate(async () => {
    window.block = window.add("Tool");
    window.body = window.block.divElement.querySelector(".message-block-body");
    window.atEnd = () => window.body.scrollHeight - window.body.scrollTop - window.body.clientHeight < 2;
    window.more = async () => {
      window.block.appendData("line\n".repeat(50));
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    };
    await window.more();
    await window.more();
  });
  const body = page.locator(".message-block-body");
  /** Returns where the box is once it has moved and stands still. */
  const wheel = async (pixels) => {
    await body.hover();
    await page.evaluate(() => {
      const before = window.body.scrollTop;
      window.moved = new Promise((resolve) => window.body.addEventListener("scrollend", () => window.body.scrollTop !== before && resolve(window.body.scrollTop)));
    });
    await page.mouse.wheel(0, pixels);
    return page.evaluate(() => window.moved);
  };
  for (const pixels of [-5, -200]) {
    const end = await body.evaluate((element) => element.scrollTop);
    const top = await wheel(pixels);
    assert.ok(top < end, `${top} is above ${end}`);
    await page.evaluate(() => window.more());
    assert.equal(await body.evaluate((element) => element.scrollTop), top, "the reader's place");
    await wheel(100_000);
    await page.evaluate(() => window.more());
    assert.ok(await page.evaluate(() => window.atEnd()), "the end is followed again");
  }
});

test("while receiving, an answer and reasoning are seen formatted, and the output of a tool as it is", async () => {
  const page = await blockPage();
  const seen = await page.evaluate(async (text) => {
    const added = ["Message", "Reasoning", "Tool"].map((type) => window.add(type));
    for (const block of added) block.appendData(text);
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    return added.map((block) => {
      const body = block.divElement.querySelector(".message-block-body");
      return { words: body.innerText.split(/\s+/), parts: ["strong", "th", "td", "pre code"].map((name) => body.querySelector(name)?.innerText.trim() ?? null) };
    });
  }, "**Strong**\n\n| name | size |\n|---|---:|\n| one | 1 |\n\n```rust\nfn main() {}\n");
  const [message, reasoning, tool] = seen;
  for (const { words, parts } of [message, reasoning]) {
    assert.deepEqual(words.filter((word) => /[*|`]/.test(word)), [], "no marks of the source");
    assert.deepEqual(parts, ["Strong", "name", "one", "fn main() {}"]);
  }
  for (const mark of ["**Strong**", "|---|---:|", "```rust"]) assert.ok(tool.words.includes(mark), mark);
  assert.deepEqual(tool.parts, [null, null, null, null]);
});

test("completed, User and Message are open, Reasoning and Tool closed, and a click on the header toggles", async () => {
  const page = await blockPage();
  for (const [type, open] of [["User", true], ["Message", true], ["Reasoning", false], ["Tool", false]]) {
    const seen = await page.evaluate((type) => {
      const block = window.add(type);
      block.appendData("x\n".repeat(300));
      const { divElement } = block;
      const header = divElement.querySelector(".message-block-header");
      const body = divElement.querySelector(".message-block-body");
      const state = () => [divElement.classList.contains("collapsed"), body.getBoundingClientRect().height];
      block.complete();
      const seen = [state()];
      header.click();
      seen.push(state());
      header.click();
      seen.push(state());
      return { seen, completed: block.isCompleted, classes: [divElement.classList.contains("completed"), divElement.classList.contains("receiving")] };
    }, type);
    assert.ok(seen.completed);
    assert.deepEqual(seen.classes, [true, false], type);
    const collapsed = seen.seen.map(([value]) => value);
    assert.deepEqual(collapsed, [!open, open, !open], type);
    for (const [isCollapsed, height] of seen.seen) {
      if (isCollapsed) assert.equal(height, 0, type);
      else assert.ok(height > 1000, `${type}: no limit of height, but ${height}`);
    }
  }
});

test("completing one leaves the others alone, data can be replaced, and the element knows its block", async () => {
  const page = await blockPage();
  const seen = await page.evaluate(() => {
    const [one, other] = [window.add("Reasoning"), window.add("Message")];
    one.appendData("first");
    other.appendData("second");
    one.complete();
    const receiving = other.divElement.classList.contains("receiving");
    other.replaceData("third");
    const text = other.divElement.querySelector(".message-block-body").textContent;
    return {
      receiving,
      text,
      same: window.messageBlock.getMessageBlock(one.divElement) === one && one.divElement.__copilotMessageBlock === one,
      none: window.messageBlock.getMessageBlock(document.body) === undefined,
    };
  });
  assert.deepEqual(seen, { receiving: true, text: "third", same: true, none: true });
});

test("a million characters arrive without filling the document, and all of them can be shown", async () => {
  const page = await blockPage();
  const piece = `${"0123456789".repeat(9)}\n`;
  const seen = await page.evaluate((piece) => {
    const block = window.add("Message");
    for (let index = 0; index < 11_000; index += 1) block.appendData(piece);
    const body = block.divElement.querySelector(".message-block-body");
    const whileReceiving = body.textContent.length;
    block.complete();
    const completed = body.textContent.length;
    body.querySelector(".show-all-text").click();
    return { whileReceiving, completed, all: body.textContent.length, end: body.textContent.endsWith(piece) };
  }, piece);
  assert.ok(seen.whileReceiving < 60_000, String(seen.whileReceiving));
  assert.ok(seen.completed < 300_000, String(seen.completed));
  assert.equal(seen.all, 11_000 * piece.length);
  assert.ok(seen.end);
});
