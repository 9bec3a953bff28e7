"""The style and the script of a page that shows a compiled function."""

from __future__ import annotations

POLICY = (
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
    "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">"
)

STYLE = """
:root { color-scheme: light dark; --dim: #6e7781; --line: #d0d7de; --hot: #fff3b0; --new: #1a7f37; --warn: #b35900;
  --nest: #0550ae; --call: #8250df; --bar: #dbeafe; }
@media (prefers-color-scheme: dark) {
  :root { --dim: #8b949e; --line: #30363d; --hot: #544a12; --new: #3fb950; --warn: #d29922; --nest: #58a6ff;
    --call: #bc8cff; --bar: #172b4d; }
}
body { font: 14px/1.45 system-ui, sans-serif; margin: 0 1.2em 2em; }
h1 { font-size: 1.05rem; font-weight: 600; overflow-wrap: anywhere; }
h2 { font-size: 1rem; margin: 1.4em 0 .4em; }
h3 { font-size: .9rem; margin: .8em 0 .2em; color: var(--dim); font-weight: 500; }
main { display: grid; grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); gap: 1.6em; }
.right { position: sticky; top: 0; align-self: start; max-height: 100vh; overflow: auto; }
@media (max-width: 60em) {
  main { display: block; }
  .right { position: static; max-height: none; }
}
code { font: 12.5px/1.5 ui-monospace, monospace; white-space: pre; }
nav button { font: inherit; border: 1px solid var(--line); background: none; color: inherit; padding: .2em .7em;
  border-radius: 1em; margin: 0 .3em .3em 0; cursor: pointer; }
nav button.on { background: #0550ae; color: white; border-color: #0550ae; }
nav small { margin-left: .4em; opacity: .75; }
ol { list-style: none; margin: 0; padding: .4em 0; overflow-x: auto; border: 1px solid var(--line);
  border-radius: 6px; }
li[data-line], tr[data-line] { cursor: pointer; }
.graph li { display: grid; grid-template-columns: minmax(0, 1fr) auto 8em; gap: 1.2em; padding: 0 .7em;
  border-left: 3px solid transparent; }
.graph code { white-space: pre-wrap; }
.graph i, .graph u { color: var(--dim); font-style: normal; font-size: .85em; text-decoration: none; }
.graph i { white-space: nowrap; }
.graph u { overflow-wrap: anywhere; }
.graph .requires { grid-template-columns: auto 0 minmax(0, 1fr); }
.graph .new { border-left-color: var(--new); }
.graph .goes code { color: var(--warn); }
.source li { padding: 0 .7em; display: flex; }
.source li::before { content: attr(value); color: var(--dim); flex: 0 0 3.2em; font: 12px ui-monospace, monospace; }
.source .gap { border-top: 1px dashed var(--line); }
li.hot, tr.hot, tr.hot td:first-child { background: var(--hot); }
table { border-collapse: collapse; width: 100%; }
th { text-align: left; font-weight: 500; color: var(--dim); }
th, td { padding: .25em .6em; border-bottom: 1px solid var(--line); vertical-align: top;
  font-variant-numeric: tabular-nums; }
td { white-space: nowrap; }
td:first-child { background: linear-gradient(var(--bar), var(--bar)) no-repeat 0 / calc(var(--share, 0) * 100%) 100%; }
td.what { white-space: normal; color: var(--dim); font-size: .88em; }
.kind { color: var(--nest); }
.call .kind { color: var(--call); }
.loop .kind, .branch .kind { color: var(--warn); }
.mark { border: 1px solid var(--warn); color: var(--warn); border-radius: 1em; padding: 0 .5em; font-size: .8em; }
.legend { color: var(--dim); font-size: .85em; margin: .3em 0; }
.legend b { color: var(--new); font-weight: 500; }
.legend em { color: var(--warn); font-style: normal; }
details { margin: .5em 0; color: var(--dim); }
ul { margin: .3em 0; }
"""

SCRIPT = """
const all = (query, of = document) => [...of.querySelectorAll(query)];
for (const button of all("nav button")) button.onclick = () => {
  const program = button.parentElement.dataset.program, pass = button.dataset.pass;
  for (const each of all("button", button.parentElement)) each.classList.toggle("on", each === button);
  for (const each of all(`section[data-program="${program}"]`)) each.hidden = each.dataset.pass !== pass;
};
const placed = all("[data-line]");
const mark = (line) => { for (const each of placed) each.classList.toggle("hot", each.dataset.line === line); };
let pinned = null;
for (const each of placed) {
  each.onmouseenter = () => mark(each.dataset.line);
  each.onmouseleave = () => mark(pinned);
  each.onclick = () => {
    pinned = pinned === each.dataset.line ? null : each.dataset.line;
    mark(pinned);
    if (pinned) all(".source .hot")[0]?.scrollIntoView({ block: "nearest" });
  };
}
"""
