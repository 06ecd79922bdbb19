/**
 * What runs in a page of the site: search, light and dark, the list on a phone.
 *
 * @module
 */

/// <reference lib="dom" />

import MiniSearch from "minisearch";
import { type Found, searchOptions } from "./search_options.ts";

const script = document.querySelector<HTMLScriptElement>("script[data-root]")!;
const root = script.dataset["root"]!;
const input = document.querySelector<HTMLInputElement>("search input")!;
const results = document.querySelector<HTMLOListElement>("search ol")!;
const menu = document.querySelector<HTMLButtonElement>("#menu")!;
const RESULTS_MAX = 12;

let index: Promise<MiniSearch<Found>> | undefined;

/** Loaded when somebody begins to search. */
function loadIndex(): Promise<MiniSearch<Found>> {
  index ??= fetch(`${root}search.json`).then((answer) => answer.text())
    .then((text) => MiniSearch.loadJSON<Found>(text, searchOptions));
  return index;
}

async function search(): Promise<void> {
  const asked = input.value.trim();
  if (asked === "") return hide();
  const found = (await loadIndex()).search(asked).slice(0, RESULTS_MAX);
  if (input.value.trim() !== asked) return;
  results.replaceChildren(...found.map((one) => {
    const link = document.createElement("a");
    link.href = `${root}${one["path"]}`;
    const page = document.createElement("small");
    page.textContent = String(one["page"]);
    link.append(String(one["heading"]), page);
    const item = document.createElement("li");
    item.append(link);
    return item;
  }));
  if (found.length === 0) results.textContent = "Nothing found";
  results.hidden = false;
}

function hide(): void {
  results.hidden = true;
}

/** Moves through the results; -1 is up. */
function move(by: number): void {
  const links = [...results.querySelectorAll("a")];
  const at = links.indexOf(document.activeElement as HTMLAnchorElement);
  const next = at + by;
  if (next < 0) input.focus();
  else links[Math.min(next, links.length - 1)]?.focus();
}

input.addEventListener("focus", () => void loadIndex());
input.addEventListener("input", () => void search());
document.addEventListener("keydown", (event) => {
  const isTyping = document.activeElement === input;
  if (event.key === "/" && !isTyping) input.focus();
  else if (event.key === "Escape") hide();
  else if (results.hidden) return;
  else if (event.key === "ArrowDown") move(1);
  else if (event.key === "ArrowUp") move(-1);
  else if (event.key === "Enter" && isTyping) {
    results.querySelector("a")?.click();
  } else return;
  event.preventDefault();
});
document.addEventListener("click", ({ target }) => {
  if (!(target as Element).closest("search")) hide();
});

menu.addEventListener("click", () => {
  const isOpen = document.body.classList.toggle("menu");
  menu.setAttribute("aria-expanded", String(isOpen));
});

function isDark(): boolean {
  const chosen = document.documentElement.dataset["theme"];
  return chosen === undefined
    ? matchMedia("(prefers-color-scheme: dark)").matches
    : chosen === "dark";
}
const theme = localStorage.getItem("theme");
if (theme) document.documentElement.dataset["theme"] = theme;
document.querySelector("#theme")!.addEventListener("click", () => {
  const chosen = isDark() ? "light" : "dark";
  document.documentElement.dataset["theme"] = chosen;
  localStorage.setItem("theme", chosen);
});
document.querySelector("nav [aria-current]")?.scrollIntoView({
  block: "nearest",
});
