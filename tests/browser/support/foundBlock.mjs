// The block that somebody searched for. The page marks it for a few seconds only, so it is noted when that happens: a test that
// looks later still finds it.

/** Notes from now on, until the page is loaded again, which blocks are marked. */
export function noteFound(page) {
  return page.evaluate(() => {
    window.found = [];
    const note = (changes) => {
      const marked = changes.map(({ target }) => target).filter((element) => element.classList.contains("found-block"));
      window.found.push(...marked.map((element) => ({ element, hasFocus: element === document.activeElement })));
    };
    new MutationObserver(note).observe(document.body, { subtree: true, attributeFilter: ["class"] });
  });
}

/** Waits until a block with this text has been marked. Gives a handle of it, and whether it had the focus then. */
export async function foundBlock(page, text) {
  const found = await page.waitForFunction((text) => window.found.findLast(({ element }) => element.textContent.includes(text)), text);
  return { block: await found.evaluateHandle(({ element }) => element), hasFocus: await found.evaluate(({ hasFocus }) => hasFocus) };
}
