/// <reference lib="dom" />

import assert from "node:assert/strict";
import type * as TextPage from "./text_page.ts";
import { browserTest, eventually, type Tab } from "./kit/mod.ts";

const entries = { page: new URL("text_page.ts", import.meta.url) };

type Page = Tab<typeof TextPage>;

/** What the four editors show. */
function shown({ page }: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll("section")].flatMap((section) => [
      section.querySelector("textarea")!.value,
      [...section.querySelectorAll(".cm-line")].map((line) => {
        const copy = line.cloneNode(true) as typeof line;
        for (const caret of copy.querySelectorAll(".sheaf-caret")) {
          caret.remove();
        }
        return copy.textContent;
      }).join("\n"),
    ])
  );
}

/** Waits until all four editors and both devices have one text. */
async function until(tab: Page, text: string): Promise<void> {
  await eventually(async () => {
    const { ann, bob } = await tab.call("state");
    const all = [...await shown(tab), ann.body, bob.body];
    assert.deepEqual(all, all.map(() => text));
  });
}

browserTest(
  "a textarea and CodeMirror of two devices show one text, whoever types where",
  { entries },
  async (place) => {
    const tab: Page = await place.open<typeof TextPage>("page");
    await tab.call("start");
    const { page } = tab;
    await page.locator("#ann textarea").pressSequentially("Hello world");
    await until(tab, "Hello world");
    await page.locator("#bob .cm-content").click();
    await page.keyboard.press("Control+End");
    await page.keyboard.type("!\nSecond line");
    await until(tab, "Hello world!\nSecond line");
    await page.keyboard.press("Control+A");
    await page.keyboard.type("Both");
    await until(tab, "Both");
  },
);

browserTest(
  "what two people type offline in one place merges without a character lost, and selections stay",
  { entries },
  async (place) => {
    const tab: Page = await place.open<typeof TextPage>("page");
    await tab.call("start");
    const { page } = tab;
    await page.locator("#ann textarea").pressSequentially("one three");
    await until(tab, "one three");
    await tab.call("disconnect");
    await page.locator("#ann textarea").focus();
    await page.evaluate(() => {
      document.querySelector<HTMLTextAreaElement>("#ann textarea")!
        .setSelectionRange(4, 4);
    });
    await page.keyboard.type("two ");
    await page.locator("#bob .cm-content").click();
    await page.keyboard.press("Control+Home");
    await page.keyboard.type("zero ");
    await page.locator("#ann textarea").focus();
    await page.evaluate(() => {
      document.querySelector<HTMLTextAreaElement>("#ann textarea")!
        .setSelectionRange(8, 13);
    });
    await tab.call("connect");
    await until(tab, "zero one two three");
    const selected = await page.evaluate(() => {
      const area = document.querySelector<HTMLTextAreaElement>(
        "#ann textarea",
      )!;
      return area.value.slice(area.selectionStart, area.selectionEnd);
    });
    assert.equal(selected, "three");
  },
);

browserTest(
  "cursors of others stand where they are, with a name, and go when they leave",
  { entries },
  async (place) => {
    const tab: Page = await place.open<typeof TextPage>("page");
    await tab.call("start");
    const { page } = tab;
    await page.locator("#ann textarea").pressSequentially("Hello world");
    await until(tab, "Hello world");
    await page.keyboard.press("Home");
    for (let i = 0; i < 5; i++) await page.keyboard.press("Shift+ArrowRight");
    const caret = page.locator("#bob .sheaf-caret-name");
    await caret.waitFor();
    assert.equal(await caret.textContent(), "ann");
    await page.locator("#bob .cm-line span[style*='background']", {
      hasText: /^Hello$/,
    }).first().waitFor();
    await place.screenshot(page, "text-cursors");
    await page.locator("#bob .cm-content").click();
    await page.keyboard.press("Control+Home");
    await caret.waitFor({ state: "detached" });
    await page.waitForFunction(() =>
      document.querySelector("#ann .sheaf-caret-name")?.textContent === "bob"
    );
    await page.keyboard.type(">> ");
    await until(tab, ">> Hello world");
    const { ann } = await tab.call("state");
    assert.equal(ann.cursors, "bob@3");
  },
);

browserTest(
  "a character that is being composed is left in peace, and others' typing comes after it",
  { entries },
  async (place) => {
    const tab: Page = await place.open<typeof TextPage>("page");
    await tab.call("start");
    const { page } = tab;
    await page.locator("#ann textarea").pressSequentially("ab");
    await until(tab, "ab");
    const session = await tab.cdp();
    await session.send("Input.imeSetComposition", {
      text: "に",
      selectionStart: 1,
      selectionEnd: 1,
    });
    await page.evaluate(() => {
      const editor = document.querySelector("#bob .cm-content")!;
      const { view } = (editor as unknown as {
        cmTile?: { view: { dispatch(spec: object): void } };
        cmView?: { view: { dispatch(spec: object): void } };
      }).cmTile ??
        (editor as unknown as {
          cmView: { view: { dispatch(spec: object): void } };
        }).cmView;
      view.dispatch({ changes: { from: 0, insert: "x" } });
    });
    await page.waitForFunction(() =>
      document.querySelector("#bob textarea") !== null &&
      document.querySelector<HTMLTextAreaElement>("#bob textarea")!.value ===
        "xab"
    );
    assert.equal((await shown(tab))[0], "abに");
    await session.send("Input.insertText", { text: "日本" });
    await until(tab, "xab日本");
  },
);
