/** How the inspector looks: quiet, dense, in the page's light or dark. */

export const style = `
:host { all: initial; position: fixed; inset: auto 0 0 0; z-index: 2147483000;
  font: 12px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
  --ground: light-dark(#fbfbfa, #191b1e); --ink: light-dark(#23262b, #e4e3df);
  --quiet: light-dark(#60656d, #a1a5ac); --line: light-dark(#dcdbd6, #363a40); --edge: light-dark(#85847d, #7c8188);
  --mark: light-dark(#1f5fbf, #8ab4ff); color-scheme: inherit; color: var(--ink); }
section { background: var(--ground); border-top: 1px solid var(--line); height: min(42vh, 420px);
  display: flex; flex-direction: column; box-shadow: 0 -8px 24px #0002; }
header, [role="tablist"] { display: flex; flex-wrap: wrap; gap: 4px; align-items: center; }
header { padding: 4px 8px; border-bottom: 1px solid var(--line); }
header strong { margin-right: 8px; }
button, select, input, textarea { font: inherit; color: inherit; background: none; border: 1px solid transparent;
  border-radius: 4px; padding: 2px 8px; min-height: 28px; box-sizing: border-box; }
button, select { cursor: pointer; }
select, input, textarea { border-color: var(--edge); background: var(--ground); }
textarea { field-sizing: content; max-height: 12em; padding: 4px 8px; resize: vertical; }
:is(input, textarea)::placeholder { color: var(--quiet); opacity: 1; }
button:disabled, [aria-disabled="true"] { opacity: .55; cursor: default; }
header select { margin-left: auto; }
button[aria-selected="true"] { color: var(--mark); border-color: currentColor; }
:focus-visible { outline: 2px solid var(--mark); outline-offset: 1px; }
[role="tabpanel"] { overflow: auto; flex: 1; padding: 8px; }
p { margin: 0 0 6px; color: var(--quiet); }
ol { list-style: none; margin: 0; padding: 0; }
li { display: flex; gap: 10px; white-space: nowrap; align-items: center; }
time, code, li span:last-child { color: var(--quiet); font: inherit; }
.commits time { min-width: 13ch; }
.what { overflow: hidden; text-overflow: ellipsis; flex: 1; }
.commits { position: relative; }
.commits svg { position: absolute; left: 0; top: 0; }
.commits path { fill: none; stroke-width: 1.5; opacity: .7; }
${
  [210, 145, 28, 285, 350, 180, 55, 240].map((hue, i) =>
    `.lane${i} { stroke: hsl(${hue} 60% 50%); fill: hsl(${hue} 60% 50%); }
b.lane${i} { stroke: none; color: light-dark(hsl(${hue} 75% 26%), hsl(${hue} 70% 75%)); }`
  ).join("\n")
}
.data { display: flex; flex-direction: column; gap: 6px; height: 100%; }
.bar { display: flex; flex-wrap: wrap; gap: 4px; align-items: center; }
.bar button, footer button { border-color: var(--line); }
.count { min-width: 15ch; text-align: center; color: var(--quiet); }
.said { margin: 0; min-height: 1.5em; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.split { display: flex; gap: 12px; flex: 1; min-height: 0; }
.rows { flex: 1; min-width: 0; overflow: auto; }
.place { overflow: auto; scroll-padding-bottom: 6em; }
.place:not(:empty) { flex: 0 1 46ch; border-left: 1px solid var(--line); padding: 0 4px 0 12px; }
form:not(.bar) { display: flex; flex-direction: column; gap: 6px; }
.bar textarea { flex: 1 1 30ch; min-width: 0; }
label.check { display: flex; gap: 4px; align-items: center; min-height: 28px; padding: 0 8px; }
[type="checkbox"] { min-height: 0; margin: 0; accent-color: var(--mark); }
.query p { margin: 0; }
.state { min-width: 17ch; } .waiting .state { color: light-dark(#935b06, #f0b354); }
.void .state { color: light-dark(#a3341f, #ff9d87); } .what:has(+ .why) { text-decoration: line-through; }
.why { white-space: normal; flex: 2; }
.rules .split { overflow: auto; }
.rules .who, .fields { flex: 1 1 24ch; min-width: 0; display: flex; flex-direction: column; gap: 6px; padding: 3px; }
.rules .decision { margin: 0; min-height: 3em; font-weight: bold; }
.yes { color: light-dark(#1d7a52, #57cf9b); }
.explained { display: flex; flex-wrap: wrap; gap: 0 24px; min-height: 1.5em; color: inherit; }
h2 { font: inherit; font-weight: bold; margin: 0; overflow-wrap: anywhere; }
label { display: grid; grid-template-columns: auto 1fr; gap: 0 8px; align-items: baseline; }
label > :is(input, select, textarea), label > .hint:last-child { grid-column: 1 / -1; }
.hint { color: var(--quiet); overflow-wrap: anywhere; }
form footer { position: sticky; bottom: 0; display: flex; flex-wrap: wrap; gap: 4px; align-items: center; padding: 4px 0;
  background: var(--ground); border-top: 1px solid var(--line); }
.verdict { flex: 1 1 16ch; margin: 0; height: 4.5em; overflow: auto; }
.no { color: light-dark(#a3341f, #ff9d87); }
.items th, .items td { text-align: left; max-width: 32ch; overflow: hidden; text-overflow: ellipsis; }
.items button { color: var(--mark); padding: 0 4px; min-height: 24px; }
.items [aria-current="true"] { border-color: currentColor; }
table { border-collapse: collapse; margin-bottom: 8px; }
th, td { text-align: right; padding: 1px 10px 1px 0; font-weight: normal; white-space: nowrap; }
th:first-child, th:nth-child(2), .asks { text-align: left; }
.latency th:nth-child(2) { text-align: right; }
.asks { max-width: 60ch; overflow: hidden; text-overflow: ellipsis; }
th[scope="col"] { color: var(--quiet); }
.latency { display: flex; flex-wrap: wrap; gap: 8px 24px; align-items: start; }
.latency svg { flex: 1 1 320px; min-width: 0; max-height: 300px; }
.latency line { stroke: var(--line); }
.latency text { fill: var(--quiet); font-size: 9px; }
.write { fill: #2f9e6e; } .durable { fill: #d08a1d; } .synced { fill: #5b7fe0; }
th.write { color: light-dark(#1d7a52, #57cf9b); } th.durable { color: light-dark(#935b06, #f0b354); }
th.synced { color: light-dark(#3656b8, #9db5ff); }
@media (max-width: 640px) { .place:not(:empty) { flex: 1; border: none; padding: 0; }
  .split:has(.place form) .rows { display: none; }
  section { height: min(72vh, 560px); }
  .rules .split { display: block; }
  .order li:has(.why) { flex-wrap: wrap; } .why { flex-basis: 100%; }
  .data:has(.place form) .bar { display: none; } .place { scroll-padding-bottom: 8em; }
  header { flex-wrap: wrap-reverse; } [role="tablist"] { flex: 1 0 100%; flex-wrap: nowrap; overflow-x: auto; }
  [role="tab"] { flex: none; } header strong, .commits code { display: none; }
  .what { flex: none; overflow: visible; } }
@media (pointer: coarse) { label.check { min-height: 44px; } [type="checkbox"] { width: 24px; height: 24px; }
  button, select, input:not([type="checkbox"]), textarea, .items button { min-height: 44px; min-width: 44px;
  padding: 2px 12px; } }
@media (forced-colors: active) { button[aria-selected="true"] { forced-color-adjust: none;
  background: Highlight; color: HighlightText; border-color: Highlight; }
  .commits path, .commits circle, .latency circle { forced-color-adjust: none; } }
.in b { color: light-dark(#1d7a52, #57cf9b); } .out b { color: var(--mark); }
`;
