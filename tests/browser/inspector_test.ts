import assert from "node:assert/strict";
import type * as InspectorPage from "./inspector_page.ts";
import { defineRules, defineSchema, field, rulesFor } from "../../mod.ts";
import { withServer } from "../server_place.ts";
import { browserTest } from "./kit/mod.ts";
import { entries as worker } from "./proof_place.ts";

const entries = { page: new URL("inspector_page.ts", import.meta.url) };

const Task = defineSchema("task", {
  title: field.string(),
  done: field.boolean().default(false),
});

/** The server's; the page has none, and learns of them by a refusal. */
const rules = defineRules({
  "team": {
    read: () => true,
    collections: [
      rulesFor(Task, {
        create: ({ after }) => after.title !== "bad" || "Nothing bad here",
      }),
    ],
  },
});

browserTest(
  "inspect() shows commits, live queries and latencies as they happen, and text as text",
  { entries },
  async (place) => {
    const tab = await place.open<typeof InspectorPage>("page");
    await tab.call("start");
    const { page } = tab;
    await page.getByRole("tab", { name: "Commits" }).click();
    await page.getByText("create task/").first().waitFor();
    const commits = await page.locator("sheaf-inspector li").allInnerTexts();
    assert.ok(commits.some((line) => line.includes("ann")), commits.join("\n"));
    assert.ok(commits.some((line) => line.includes("bob")));
    await place.screenshot(page, "inspector-commits");

    await page.getByRole("tab", { name: "Live queries" }).click();
    await tab.call("write", 30);
    const row = page.locator("tr", {
      hasText: "done = false, by title, limit 10",
    });
    await row.waitFor();
    await page.waitForFunction(() => {
      const host = document.querySelector("sheaf-inspector");
      return host?.shadowRoot?.textContent?.includes("30") === true;
    });
    await page.getByRole("tab", { name: "Latency" }).click();
    await page.getByText("● durable").waitFor();
    const figures = await page.locator("tr", { hasText: "write" }).last()
      .innerText();
    assert.match(figures, /µs|ms/);
    await place.screenshot(page, "inspector-latency");

    await page.keyboard.press("Alt+Shift+KeyS");
    assert.equal(await page.locator("sheaf-inspector section").count(), 0);
  },
);

browserTest(
  "inspect() edits items as far as rules allow it, by keyboard, and takes it back",
  { entries },
  async (place) => {
    const tab = await place.open<typeof InspectorPage>("page");
    await tab.call("startRuled");
    const { page } = tab;
    const { keyboard } = page;
    const form = page.locator("sheaf-inspector form");
    const verdict = form.getByRole("status");
    const said = page.locator("sheaf-inspector .said");

    // What is done may be neither changed nor deleted, whatever is pressed.
    await page.getByRole("button", { name: "shut" }).press("Enter");
    await form.getByLabel("title").fill("other");
    await verdict.getByText("What is done stays (rule team task.update)")
      .waitFor();
    await keyboard.press("Control+Enter");
    for (const name of ["Save", "Delete"]) {
      const button = form.getByRole("button", { name });
      assert.equal(await button.getAttribute("aria-disabled"), "true", name);
      await button.press("Enter");
    }
    await keyboard.press("Escape");
    await form.waitFor({ state: "detached" });
    assert.equal(await focused(), "shut");

    await page.getByRole("button", { name: "open", exact: true }).press(
      "Enter",
    );
    await keyboard.press("Control+A");
    await keyboard.type("typed");
    await tab.call("retitle", "open", "meanwhile");
    await form.getByText("Changed meanwhile: meanwhile").waitFor();
    await keyboard.press("Control+Enter");
    await said.getByText("Saved open").waitFor();
    await page.getByRole("cell", { name: "typed" }).waitFor();
    await page.getByRole("button", { name: "Undo" }).press("Enter");
    await page.getByRole("cell", { name: "meanwhile" }).waitFor();
    await page.getByRole("button", { name: "Redo" }).press("Enter");
    await page.getByRole("cell", { name: "typed" }).waitFor();

    // A new one is judged, too: by validation first, then by the rule.
    await page.getByRole("button", { name: "New" }).press("Enter");
    await verdict.getByText("expected a string").waitFor();
    await form.getByLabel("id").fill("new");
    await form.getByLabel("title").fill("mine");
    await verdict.getByText("Say who you are").waitFor();
    await form.getByLabel("title").fill("ann's");
    await form.getByRole("button", { name: "Save" }).click();
    await said.getByText("Created new").waitFor();
    await place.screenshot(page, "inspector-data");
    await form.getByRole("button", { name: "Delete" }).click();
    await said.getByText("Deleted new").waitFor();
    assert.deepEqual(await tab.call("known"), {
      tasks: { open: "typed", shut: "ann wrote" },
      heard: [],
    });

    function focused(): Promise<unknown> {
      return page.evaluate(() =>
        document.querySelector("sheaf-inspector")?.shadowRoot?.activeElement
          ?.textContent
      );
    }
  },
);

browserTest(
  "inspect() answers queries that are written as code, and follows them",
  { entries },
  async (place) => {
    const tab = await place.open<typeof InspectorPage>("page");
    await tab.call("start");
    const { page } = tab;
    await page.getByRole("tab", { name: "Query", exact: true }).click();
    const query = page.getByRole("textbox", { name: "Query" });
    const said = page.locator("sheaf-inspector .explained");
    const rows = page.locator("sheaf-inspector .query th[scope=row]");

    await query.fill(
      'where({ done: true, title: { prefix: "ann" } }).orderBy("title", "desc")',
    );
    await query.press("Enter");
    await said.getByText("4 rows", { exact: true }).waitFor();
    const text = await said.innerText();
    assert.match(text, /µs|ms/);
    assert.match(text, /plan: .*sort/);
    assert.match(text, /12 scanned, 4 returned/);
    assert.match(
      text,
      /an index on \[done, title\] would read 4 rows instead of 12/,
    );
    assert.equal(await rows.count(), 4);

    // What is no query is said, and nothing of it is run.
    await query.fill("where({ done: alert(1) })");
    await query.press("Enter");
    await said.getByText("Expected a string, a number").waitFor();
    assert.equal(await rows.count(), 0);
    await query.fill("where({ nope: 1 })");
    await query.press("Enter");
    await said.getByText("is not a field. The fields are").waitFor();

    await page.getByRole("checkbox", { name: "live" }).check();
    await query.fill('where({ title: { prefix: "seen" } })');
    await query.press("Enter");
    await said.getByText("0 rows", { exact: true }).waitFor();
    await tab.call("write", 3);
    await said.getByText("3 rows", { exact: true }).waitFor();
    await said.getByText("changed 3 times").waitFor();
    assert.equal(await rows.count(), 3);
    await place.screenshot(page, "inspector-query");
  },
);

browserTest(
  "inspect() tries rules as anybody, and writes nothing",
  { entries },
  async (place) => {
    const tab = await place.open<typeof InspectorPage>("page");
    await tab.call("startRuled");
    const { page } = tab;
    await page.getByRole("tab", { name: "Rules" }).click();
    const panel = page.locator("sheaf-inspector .rules");
    const decision = panel.getByRole("status");
    const says = (text: string) => decision.getByText(text).waitFor();
    const choose = (what: string, one: string) =>
      panel.getByLabel(what, { exact: true }).selectOption(one);
    const type = (what: string, text: string) =>
      panel.getByLabel(what, { exact: true }).fill(text);

    // It begins with who is here.
    assert.equal(await panel.getByLabel("User").inputValue(), "ann");
    await choose("Action", "read");
    await says("Only the team");
    await type("Claims", '{"team":true}');
    await says("Allowed");
    await type("Claims", "[]");
    await says("Claims are a JSON object");
    await type("Claims", "{}");

    await type("User", "bob");
    await choose("Action", "create");
    await says("expected a string");
    await type("title", "ann's");
    await says("Denied: Say who you are (rule team task.create)");
    await type("title", "bob's");
    await says("Allowed");
    await choose("Action", "update");
    await type("Item", "shut");
    await says("asks no rule");
    await type("title", "other");
    await says("Denied: What is done stays (rule team task.update)");
    await place.screenshot(page, "inspector-rules");
    await type("Item", "open");
    await type("title", "other");
    await says("Allowed");
    await choose("Action", "delete");
    await says("Allowed");
    await type("Item", "shut");
    await says("Denied: What is done stays (rule team task.delete)");
    await type("Item", "none");
    await says("it is not there");
    assert.deepEqual(await tab.call("known"), {
      tasks: { open: "ann writes", shut: "ann wrote" },
      heard: [],
    });
  },
);

browserTest(
  "inspect() shows the order of acceptance, what waits, and what was refused and why",
  { entries: { ...entries, worker: worker.worker } },
  (place) =>
    withServer(
      { origins: ["*"], schemas: [Task], rules },
      async ({ server }) => {
        const tab = await place.open<typeof InspectorPage>("page");
        const rootKey = server.rootKey.toHex();
        await tab.call("startConnected", rootKey, server.url);
        const { page } = tab;
        await page.getByRole("tab", { name: "Order" }).click();
        const lines = page.locator("sheaf-inspector .order li");
        const line = (text: string) => lines.filter({ hasText: text });

        const repository = await server.database.repository("team");
        await repository.collection(Task).create({ id: "theirs", title: "a" });
        await line("task/theirs").filter({ hasText: /accepted \d/ }).waitFor();
        await tab.call("create", "mine", "b");
        await line("task/mine").filter({ hasText: /accepted \d/ }).waitFor();
        await tab.call("create", "refused", "bad");
        const refused = line("task/refused");
        await refused.filter({
          hasText: "denied by rule team task.create: Nothing bad here",
        }).waitFor();
        assert.match(await refused.innerText(), /^void/);
        await tab.call("disconnect");
        await tab.call("create", "late", "c");
        await line("task/late").filter({ hasText: "waiting" }).waitFor();
        // Newest first: what waits, then in the order of the server.
        const texts = await lines.allInnerTexts();
        const at = (id: string) =>
          texts.findIndex((text) => text.includes(`task/${id}`));
        assert.deepEqual(
          [at("late"), at("mine") < at("theirs")],
          [0, true],
          texts.join("\n"),
        );
        await place.screenshot(page, "inspector-order");
        await repository.close();
      },
    ),
);
