// What a job waits for: approved or rejected by a person who has seen what it is about.

import assert from "node:assert/strict";
import { test } from "node:test";
import { checkAccessibility, gate, job, JobsStub, REVIEW_CHART, useDeck, waitFor, waitForText, workState } from "./support/index.mjs";

const deck = useDeck();

/** Opens a job that waits, and waits until the cards can be answered. */
async function follow(details, settings) {
  const context = await deck.openContext(settings);
  const stub = await JobsStub.use(context, { jobs: [details] });
  const page = await context.newPage();
  await page.goto(`${deck.server.url}/jobTracking.html?jobName=review&jobId=job-1`);
  await page.locator("g.node").first().waitFor();
  if (details.waiting.length > 0) await page.locator(".gate-request:not(:has([aria-disabled]))").first().waitFor();
  return { page, stub };
}

const waits = (...waiting) => job({ waiting, works: [workState(6, "Waiting", [{ gate: { gateId: "gate-3", title: "Commit these changes?", prompt: "Look." } }])] });

test("a gate shows what it is about", async () => {
  const { page } = await follow(waits(gate()));
  const card = page.locator(".gate-request");
  await waitForText(card.locator(".request-title"), "Gate Commit these changes?");
  await waitForText(card.locator(".request-rendered"), /Check the summary[\s\S]*current branch/);
  assert.deepEqual(await card.locator(".gate-works li").allTextContents(), ["Succeeded final-review The reviewers agree.", "Succeeded apply-review"]);
  await waitForText(card.locator("summary"), "2 changed files +16 −1");
  assert.deepEqual(await card.locator(".gate-file").evaluateAll((all) => all.map((file) => [...file.children].map(({ textContent }) => textContent))), [["M", "src/greeting.mjs", "+2", "−1"], ["A", "check.mjs", "+14", ""]]);
  await waitForText(page.locator("#job-waiting-button"), "1 step needs your input");
  await waitForText(card.locator(".request-age"), "asked 2 min ago");
});

test("a gate is approved with a note, for exactly what was shown", async () => {
  const { page, stub } = await follow(waits(gate()));
  await page.locator(".gate-note-input").fill("  fine  ");
  stub.answers.set("POST jobs/job-1/approve", () => {
    stub.change("job-1", { waiting: [], works: [workState(6, "Succeeded", [{ gate: { gateId: "gate-3", title: "Commit these changes?", answer: { approved: true, note: "fine", by: "page", time: new Date().toISOString() } } }])] });
    return { json: {} };
  });
  await page.getByRole("button", { name: "Approve" }).click();
  await page.locator(".gate-request").waitFor({ state: "detached" });
  assert.deepEqual(stub.called("POST", "jobs/job-1/approve")[0].body, { waitingId: "gate-3", digest: "d1", note: "fine" });
  assert.ok(await page.locator("#job-waiting-button").isHidden());
  await page.locator('g.node[data-work-id="6"]').click();
  assert.deepEqual(await page.locator(".tab-container .tab-header-btn").allTextContents(), ["Gate"]);
  await waitForText(page.locator(".gate-answer"), /Approved in the browser[\s\S]*fine/);
});

test("keys answer only after Alt+A, and Enter never approves", async () => {
  const { page, stub } = await follow(waits(gate()));
  const answers = () => stub.calls.filter(({ path }) => /approve|reject/.test(path)).length;
  await page.keyboard.press("1");
  await page.getByRole("button", { name: "Approve" }).focus();
  await page.keyboard.press("Enter");
  await waitForText(page.locator(".gate-request .request-problem"), /Enter does not choose this/);
  await page.locator(".gate-note-input").focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("1");
  assert.equal(answers(), 0);
  stub.answers.set("POST jobs/job-1/reject", () => {
    stub.change("job-1", { waiting: [] });
    return { json: {} };
  });
  await page.keyboard.press("Alt+a");
  await page.keyboard.press("2");
  await page.locator(".gate-request").waitFor({ state: "detached" });
  assert.equal(stub.called("POST", "jobs/job-1/reject").length, 1);
});

test("what has changed meanwhile is shown again, and says so", async () => {
  deck.expectConsoleErrors(/409/);
  const { page, stub } = await follow(waits(gate()));
  await page.locator(".gate-note-input").fill("looks good");
  stub.answers.set("POST jobs/job-1/approve", () => {
    const shown = { ...gate().shown, changes: { files: [{ path: "src/other.mjs", kind: "deleted", removed: 9 }], truncated: true } };
    stub.change("job-1", { waiting: [gate({ digest: "d2", shown })] });
    return { status: 409, json: { error: "GateChanged", message: "It has changed." } };
  });
  await page.getByRole("button", { name: "Approve" }).click();
  await waitForText(page.locator(".gate-changed"), /has changed since it was shown/);
  await waitForText(page.locator(".gate-request summary"), "1 changed file or more +0 −9");
  assert.equal(await page.locator(".gate-note-input").inputValue(), "looks good");
  stub.answers.set("POST jobs/job-1/approve", () => {
    stub.change("job-1", { waiting: [] });
    return { json: {} };
  });
  await page.locator(".gate-request:not(:has([aria-disabled]))").waitFor();
  await page.getByRole("button", { name: "Approve" }).click();
  await page.locator(".gate-request").waitFor({ state: "detached" });
  assert.equal(stub.called("POST", "jobs/job-1/approve")[1].body.digest, "d2");
});

test("a gate that somebody else has answered says by whom", async () => {
  deck.expectConsoleErrors(/409/);
  const { page, stub } = await follow(waits(gate()));
  stub.answers.set("POST jobs/job-1/reject", () => {
    stub.change("job-1", { waiting: [] });
    return { status: 409, json: { error: "GateClosed", message: "The command line has approved this gate." } };
  });
  await page.getByRole("button", { name: "Reject" }).click();
  await waitForText(page.locator('[data-banner="gate-closed"]'), /The command line has approved this gate\./);
  await page.locator(".gate-request").waitFor({ state: "detached" });
});

test("an answer that does not arrive can be given again", async () => {
  deck.expectConsoleErrors(/500/);
  const { page, stub } = await follow(waits(gate()));
  stub.answers.set("POST jobs/job-1/approve", () => ({ status: 500, json: { error: "Storage", message: "The disk is full." } }));
  await page.getByRole("button", { name: "Approve" }).click();
  await waitForText(page.locator(".gate-request .request-problem"), "The disk is full.");
  assert.ok(await page.getByRole("button", { name: "Approve" }).isEnabled());
});

test("an interrupted step is continued or failed", async () => {
  const { page, stub } = await follow(waits(gate({ waitingId: "interrupted-5", kind: "interrupted", title: "commit was interrupted", prompt: undefined, shown: { works: [] } }), gate()));
  const cards = page.locator(".gate-request");
  assert.equal(await cards.count(), 2);
  await waitForText(page.locator("#job-waiting-button"), "2 steps need your input");
  await waitForText(cards.nth(0), /Interrupted commit was interrupted[\s\S]*server was restarted/);
  stub.answers.set("POST jobs/job-1/approve", () => {
    stub.change("job-1", { waiting: [gate()] });
    return { json: {} };
  });
  await cards.nth(0).getByRole("button", { name: "Continue" }).click();
  await waitFor(async () => (await cards.count()) === 1, "one card left");
  assert.deepEqual(stub.called("POST", "jobs/job-1/approve")[0].body, { waitingId: "interrupted-5", digest: "d1" });
  assert.equal(await cards.getByRole("button", { name: "Fail" }).count(), 0);
});

test("a card that moves into the place of one that was answered takes no approval for a moment", async () => {
  const [first, second] = [gate(), gate({ waitingId: "gate-2", digest: "d2", title: "Second" })];
  const { page, stub } = await follow(waits(first, second));
  stub.answers.set("POST jobs/job-1/approve", () => {
    stub.change("job-1", { waiting: [second] });
    return { json: {} };
  });
  await page.locator(".gate-request:not(:has([aria-disabled]))").nth(1).waitFor();
  // As soon as the second card has moved, as a double click would.
  await page.evaluate(() => {
    window.held = new Promise((resolve) => {
      new MutationObserver(() => {
        const button = document.querySelector("#waiting-part .request-choice");
        resolve(button.getAttribute("aria-disabled"));
        button.click();
      }).observe(document.querySelector("#waiting-part"), { childList: true });
    });
  });
  await page.getByRole("button", { name: "Approve" }).first().click();
  assert.equal(await page.evaluate(() => window.held), "true");
  await page.locator(".gate-request:not(:has([aria-disabled]))").waitFor();
  assert.deepEqual(stub.called("POST", "jobs/job-1/approve").map(({ body }) => body.waitingId), [first.waitingId]);
});

test("a card that has just appeared takes no approval", async () => {
  const { page, stub } = await follow(job({ waiting: [] }));
  await page.evaluate(() => {
    window.first = new Promise((resolve) => {
      const place = document.querySelector("#waiting-part");
      new MutationObserver(() => resolve([...place.querySelectorAll(".request-choice")].map((button) => button.getAttribute("aria-disabled")))).observe(place, { childList: true });
    });
  });
  stub.change("job-1", { waiting: [gate()] });
  assert.deepEqual(await page.evaluate(() => window.first), ["true", null], "a rejection can be given at once");
  await page.locator(".gate-request:not(:has([aria-disabled]))").waitFor();
});

const EVIL = `<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>\u202E`;

test("markup in every field of a job is text", async () => {
  const chart = REVIEW_CHART.map((node) => (node.label ? { ...node, label: EVIL, arrows: node.arrows?.map((arrow) => ({ ...arrow, label: EVIL })) } : node));
  const shown = { works: [{ workId: 0, taskName: EVIL, succeeded: false, lastDecision: EVIL }], changes: { files: [{ path: EVIL, kind: EVIL, added: 1 }], truncated: false }, note: EVIL };
  const decisions = [{ time: new Date().toISOString(), reason: EVIL }, { time: new Date().toISOString(), reason: `[CRITERIA] ${EVIL}\n${EVIL}` }];
  const sessions = [{ sessionId: EVIL, isDriving: true, model: EVIL, startTime: new Date().toISOString() }];
  const details = job({ chart, workingDirectory: EVIL, error: EVIL, works: [workState(0, "Failed", [{ decisions, sessions }]), workState(6, "Failed", [{ gate: { gateId: "g", title: EVIL, prompt: EVIL, answer: { approved: false, note: EVIL, by: EVIL, time: new Date().toISOString() } } }])], waiting: [gate({ title: EVIL, prompt: EVIL, shown })] });
  deck.expectConsoleErrors(/404|400/);
  const { page } = await follow(details);
  for (const workId of [0, 6]) {
    await page.locator(`g.node[data-work-id="${workId}"]`).click();
    await page.locator(".tab-container").waitFor();
    assert.deepEqual(await page.evaluate(() => [window.pwned, document.querySelectorAll("img, body script").length]), [undefined, 0]);
  }
  assert.match(await page.locator(".gate-request .request-title").textContent(), /<img src=x.*U\+202E/s);
});

for (const colorScheme of ["light", "dark"]) {
  test(`axe finds nothing serious: a job, ${colorScheme}`, async () => {
    const id = await deck.server.session();
    await deck.server.turn(id, "edit");
    const works = [workState(0, "Succeeded"), workState(1, "Failed"), workState(2, "Running", [{}, { sessions: [{ sessionId: id, isDriving: true, model: "demo", startTime: new Date().toISOString() }], decisions: [{ time: new Date().toISOString(), reason: "[CRITERIA] no" }, { time: new Date().toISOString(), reason: "[TASK FAILED] no\nmore" }] }]), workState(6, "Waiting", [{ gate: { gateId: "g", title: "t", answer: { approved: true, note: "n", by: "b", time: new Date().toISOString() } } }])];
    const { page } = await follow({ ...job({ works, waiting: [gate()] }) }, { colorScheme });
    await checkAccessibility(page, "a job that waits");
    for (const workId of [2, 6, 7]) {
      await page.locator(`g.node[data-work-id="${workId}"]`).click();
      await page.locator(".tab-container").waitFor();
      if (workId === 2) await page.locator(".message-block[data-type=Tool]").waitFor();
      await checkAccessibility(page, `work ${workId}`);
    }
    await page.keyboard.press("Alt+a");
    await checkAccessibility(page, "a gate with keys");
  });
}
