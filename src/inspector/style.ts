/** How the inspector looks: quiet, dense, in the page's light or dark. */

export const style = `
:host { all: initial; position: fixed; inset: auto 0 0 0; z-index: 2147483000;
  font: 12px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
  --ground: light-dark(#fbfbfa, #191b1e); --ink: light-dark(#23262b, #e4e3df);
  --quiet: light-dark(#60656d, #a1a5ac); --line: light-dark(#dcdbd6, #363a40);
  --mark: light-dark(#1f5fbf, #8ab4ff); color-scheme: inherit; color: var(--ink); }
section { background: var(--ground); border-top: 1px solid var(--line); height: min(42vh, 420px);
  display: flex; flex-direction: column; box-shadow: 0 -8px 24px #0002; }
header, [role="tablist"] { display: flex; flex-wrap: wrap; gap: 4px; align-items: center; }
header { padding: 4px 8px; border-bottom: 1px solid var(--line); }
header strong { margin-right: 8px; }
button, select { font: inherit; color: inherit; background: none; border: 1px solid transparent;
  border-radius: 4px; padding: 2px 8px; min-height: 28px; cursor: pointer; }
select { border-color: var(--line); margin-left: auto; background: var(--ground); }
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
@media (max-width: 640px) { .commits code, header strong { display: none; }
  .what { flex: none; overflow: visible; } }
@media (pointer: coarse) { button, select { min-height: 44px; min-width: 44px; padding: 2px 12px; } }
@media (forced-colors: active) { button[aria-selected="true"] { forced-color-adjust: none;
  background: Highlight; color: HighlightText; border-color: Highlight; }
  .commits path, .commits circle, .latency circle { forced-color-adjust: none; } }
.in b { color: light-dark(#1d7a52, #57cf9b); } .out b { color: var(--mark); }
`;
