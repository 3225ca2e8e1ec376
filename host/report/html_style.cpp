// SPDX-License-Identifier: Apache-2.0
#include "report/html_style.hpp"

namespace kymo::report {

const char* const kHtmlStyle = R"css(
:root {
  color-scheme: light dark;
  --page: #ffffff; --raised: #f6f8fa; --ink: #1f2328; --muted: #5c6670; --rule: #d8dee4; --accent: #0b62b0;
  --caution: #fff6e0; --caution-rule: #d9a400; --stripe: #fafbfc;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #16191d; --raised: #1e2227; --ink: #e6e9ec; --muted: #9aa4af; --rule: #343b43; --accent: #6cb3f2;
    --caution: #2e2711; --caution-rule: #c99a1a; --stripe: #1a1e23;
  }
}
* { box-sizing: border-box; }
html { scroll-behavior: smooth; scroll-padding-top: 1rem; }
body {
  margin: 0; background: var(--page); color: var(--ink); font: 16px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, Helvetica, Arial, sans-serif;
  text-rendering: optimizeLegibility;
}
.layout { display: grid; grid-template-columns: 13rem minmax(0, 66rem); gap: 2.5rem; max-width: 86rem; margin: 0 auto; padding: 2.5rem 1.5rem 4rem; }
nav { position: sticky; top: 2rem; align-self: start; max-height: calc(100vh - 4rem); overflow: auto; font-size: .9rem; }
nav h2 { font-size: .75rem; letter-spacing: .08em; text-transform: uppercase; color: var(--muted); margin: .4rem 0 .6rem; border: 0; padding: 0; }
nav ol { list-style: none; margin: 0; padding: 0; border-left: 2px solid var(--rule); }
nav a { display: block; padding: .22rem .9rem; margin-left: -2px; border-left: 2px solid transparent; color: var(--muted); text-decoration: none; }
nav a:hover { color: var(--accent); border-left-color: var(--accent); }
nav .sub a { padding-left: 1.8rem; }
h1 { font-size: 2rem; line-height: 1.25; letter-spacing: -.015em; margin: 0 0 .8rem; overflow-wrap: anywhere; }
h2 { font-size: 1.4rem; line-height: 1.3; margin: 3rem 0 .8rem; padding-top: 1.2rem; border-top: 1px solid var(--rule); overflow-wrap: anywhere; }
h3 { font-size: 1.12rem; margin: 2.2rem 0 .6rem; overflow-wrap: anywhere; }
p, ul { margin: .7rem 0; max-width: 46rem; overflow-wrap: anywhere; }
code { font: .88em/1.4 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; background: var(--raised); padding: .1em .32em; border-radius: 4px; overflow-wrap: anywhere; }
.notice { border-left: 4px solid var(--rule); background: var(--raised); border-radius: 0 6px 6px 0; padding: .5rem 1.1rem; margin: 1.2rem 0; max-width: 52rem; }
.notice.caution { border-color: var(--caution-rule); background: var(--caution); }
.notice.empty { color: var(--muted); }
.notice p, .notice ul { margin: .35rem 0; }
figure { margin: 1.8rem 0 2.2rem; }
figcaption { font-size: .92rem; color: var(--muted); margin: 0 0 .55rem; max-width: 50rem; overflow-wrap: anywhere; }
figcaption b { color: var(--ink); }
.chart figcaption { margin: .5rem 0 0; }
.kymo-chart { display: block; width: 100%; max-width: 48rem; height: auto; }
.kymo-picture { overflow-x: auto; }
.kymo-awake .kymo-picture { display: none; }
.kymo-live { font-size: .85rem; }
.kymo-stage { position: relative; border: 1px solid var(--rule); border-radius: 8px; padding: 0; margin: .4rem 0; }
.kymo-stage canvas { display: block; width: 100%; border-radius: 8px; touch-action: pan-y; outline: none; }
.kymo-stage:focus-within { outline: 2px solid var(--accent); outline-offset: 2px; }
.kymo-bar { display: flex; flex-wrap: wrap; align-items: center; gap: .35rem; }
.kymo-gap { flex: 1; }
.kymo-zoom { display: inline-flex; gap: .35rem; }
.kymo-bar button, .kymo-bar input, .kymo-legend button { font: inherit; color: var(--ink); background: var(--page); border: 1px solid var(--rule); border-radius: 6px; padding: .18rem .6rem; min-height: 1.9rem; }
.kymo-bar input[type=search] { width: 13rem; max-width: 60vw; }
.kymo-bar input[type=range] { width: 8rem; padding: 0; vertical-align: middle; accent-color: var(--accent); border: 0; }
.kymo-bar button, .kymo-legend button { cursor: pointer; }
.kymo-bar button:hover, .kymo-legend button:hover { background: var(--raised); border-color: var(--accent); }
.kymo-bar :focus-visible, .kymo-legend :focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
.kymo-count, .kymo-slider { color: var(--muted); font-variant-numeric: tabular-nums; white-space: nowrap; }
.kymo-count { min-width: 5.5rem; }
.kymo-legend { display: flex; flex-wrap: wrap; gap: .3rem .5rem; margin: .5rem 0; }
.kymo-legend span { padding: .1rem .4rem; color: var(--muted); }
.kymo-legend button { border-color: transparent; min-height: 0; padding: .1rem .4rem; overflow-wrap: anywhere; text-align: left; }
.kymo-legend button[aria-pressed=true] { border-color: var(--accent); background: var(--raised); }
.kymo-legend i { display: inline-block; width: .8em; height: .8em; border-radius: 2px; margin-right: .45em; vertical-align: -.05em; }
.kymo-help { color: var(--muted); margin: .3rem 0; max-width: none; }
.kymo-tip { position: absolute; z-index: 5; max-width: min(26rem, 90%); pointer-events: none; background: var(--page); border: 1px solid var(--rule); border-radius: 6px; box-shadow: 0 3px 14px rgb(0 0 0 / .18); padding: .4rem .65rem; font-size: .8rem; line-height: 1.45; overflow-wrap: anywhere; max-height: 22rem; overflow: auto; }
.kymo-tip.pinned { pointer-events: auto; border-color: var(--ink); }
.kymo-tip span { color: var(--muted); }
.kymo-tip-title { font-weight: 600; }
.scroll { overflow: auto; max-height: 92vh; border: 1px solid var(--rule); border-radius: 8px; }
.scroll:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
table { border-collapse: separate; border-spacing: 0; width: 100%; font-size: .9rem; line-height: 1.45; font-variant-numeric: tabular-nums; }
th { position: sticky; top: 0; z-index: 1; background: var(--raised); text-align: left; font-weight: 600; vertical-align: bottom; }
th, td { padding: .4rem .7rem; border-bottom: 1px solid var(--rule); unicode-bidi: isolate; }
td { vertical-align: top; overflow-wrap: break-word; max-width: 24rem; }
tr:last-child td { border-bottom: 0; }
tbody tr:nth-child(even) td { background: var(--stripe); }
tbody tr:hover td { background: var(--raised); }
td.num, td.short { white-space: nowrap; }
.num { text-align: right; }
td:not(.num):not(.short) { min-width: 13rem; }
td code { overflow-wrap: break-word; }
th .unit { display: block; font-weight: 400; color: var(--muted); }
.pm { color: var(--muted); }
.pad { visibility: hidden; user-select: none; }
.state { display: inline-block; border: 1px solid var(--caution-rule); border-radius: 4px; padding: 0 .4em; font-size: .85em; white-space: normal; }
.absent { color: var(--muted); }
.note { font-size: .85rem; color: var(--muted); margin: .4rem 0 0; }
details { font-size: .85rem; margin-top: .45rem; }
summary { cursor: pointer; color: var(--muted); width: fit-content; }
summary:hover { color: var(--accent); }
pre { background: var(--raised); border-radius: 8px; padding: .8rem 1rem; overflow: auto; font: .82rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
footer { margin-top: 3.5rem; padding-top: 1rem; border-top: 1px solid var(--rule); font-size: .85rem; color: var(--muted); overflow-wrap: anywhere; }
@media (max-width: 62rem) {
  .layout { grid-template-columns: minmax(0, 1fr); gap: 1rem; padding: 1.5rem 1rem 3rem; }
  nav { position: static; max-height: none; border-bottom: 1px solid var(--rule); padding-bottom: 1rem; }
  h1 { font-size: 1.6rem; }
}
@media print {
  nav, details, .kymo-live { display: none; }
  .kymo-awake .kymo-picture { display: block; }
  .layout { display: block; padding: 0; }
  .scroll { overflow: visible; max-height: none; border: 0; }
  th { position: static; }
  figure { break-inside: avoid; }
}
)css";

}  // namespace kymo::report
