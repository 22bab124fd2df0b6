/** The styles of all pages. */
export const stylesheet = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#fff, #14181d); --raised: light-dark(#f4f5f7, #1f252c);
  --ink: light-dark(#1c2128, #e6edf3); --soft: light-dark(#57606a, #9ba7b4);
  --line: light-dark(#d0d7de, #3a434d); --edge: light-dark(#6e7781, #8b96a3);
  --link: light-dark(#0a58ca, #79b8ff); --on-link: light-dark(#fff, #0d1117);
  --ok: light-dark(#1a6b35, #6fd08c); --bad: light-dark(#b3261e, #ff9d94);
  --busy: light-dark(#8a5300, #f0b860); --ssrOnly: light-dark(#b5442a, #e58a73);
  --shared: light-dark(#7a4bb3, #b99be3); --static: light-dark(#1f6f9f, #6fb6dd);
  --unknown: light-dark(#5c6670, #a3adb8); --mixed: light-dark(#4f5a34, #adb884);
}
* { box-sizing: border-box; }
body { margin: 0; min-width: 20rem; background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 76rem; margin: 0 auto; padding: 1.25rem 1rem 3rem; }
main:focus { outline: none; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .75rem; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2rem 0 .75rem; }
h3 { font-size: 1rem; margin: 1.25rem 0 .5rem; }
a { color: var(--link); }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
code, pre, .path { font-family: ui-monospace, monospace; font-size: .875em; overflow-wrap: anywhere; }
pre { background: var(--raised); padding: .75rem 1rem; overflow: auto; border-radius: .4rem; white-space: pre-wrap; }
nav :is(ul, ol) { list-style: none; display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; padding: 0; margin: 0; }
.skip { position: absolute; left: -999rem; }
.skip:focus { left: .5rem; background: var(--ground); }
.top { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem 1.75rem; padding: .5rem 1rem;
  border-bottom: 1px solid var(--line); background: var(--raised); }
.brand { display: inline-flex; align-items: center; gap: .5rem; font-weight: 600; color: var(--ink); text-decoration: none; }
.top nav a, .filters a { display: block; color: var(--ink); text-decoration: none; padding: .3rem .65rem; border-radius: .4rem; }
nav a[aria-current] { background: var(--ground); box-shadow: inset 0 0 0 1px var(--edge); font-weight: 600; }
.parents li { overflow-wrap: anywhere; }
.parents li::after { content: " /"; color: var(--soft); }
#news, .soft, .hint, caption, dt { color: var(--soft); }
.notice { padding: .6rem .9rem; border-left: .25rem solid var(--link); background: var(--raised); overflow-wrap: anywhere; }
.notice.problem { border-color: var(--bad); }
dl.facts { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; margin: 0; }
dl.headers { grid-template-columns: minmax(6rem, 16rem) 1fr; }
dd, dt { margin: 0; overflow-wrap: anywhere; min-width: 0; }
.scroll { overflow-x: auto; }
.scroll + .scroll { margin-top: 1.25rem; }
table { border-collapse: collapse; width: 100%; font-size: .9375rem; }
caption { text-align: left; padding-bottom: .35rem; }
th, td { text-align: left; vertical-align: top; padding: .35rem .75rem .35rem 0; border-bottom: 1px solid var(--line); }
thead th { white-space: nowrap; }
tbody th { font-weight: 400; min-width: 11rem; }
.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.message { overflow-wrap: anywhere; }
time, .state, .status { white-space: nowrap; }
.state, .status { font-weight: 600; }
.state::before { content: "● "; }
.live, .good { color: var(--ok); }
.failed, .bad { color: var(--bad); }
.queued, .in_progress, .odd { color: var(--busy); }
form.row { display: flex; flex-wrap: wrap; gap: .75rem 1rem; align-items: end; }
.field { display: grid; gap: .25rem; min-width: 0; flex: 1 1 18rem; }
label { font-weight: 600; font-size: .9375rem; }
input, select, button { font: inherit; color: inherit; background: var(--ground); border: 1px solid var(--edge); border-radius: .4rem;
  padding: .4rem .6rem; min-height: 2.25rem; min-width: 0; max-width: 100%; }
button { cursor: pointer; font-weight: 600; }
button.main { background: var(--link); border-color: var(--link); color: var(--on-link); }
.buttons { display: flex; flex-wrap: wrap; gap: .5rem; }
figure { margin: 0; }
.treemap { display: block; width: 100%; height: 34rem; background: var(--raised); }
.treemap rect { stroke: var(--ground); stroke-width: 1px; }
.treemap text { font: 12px system-ui, sans-serif; fill: var(--ground); }
.treemap .folder { fill: var(--raised); stroke: var(--line); }
.treemap .folder + text { fill: var(--ink); font-weight: 600; }
${['ssrOnly', 'shared', 'static', 'unknown', 'mixed'].map((kind) => `rect.${kind} { fill: var(--${kind}); } .swatch.${kind} { background: var(--${kind}); }`).join('\n')}
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; padding: 0; list-style: none; }
.swatch { display: inline-block; width: .9em; height: .9em; margin-right: .4em; }
@media (max-width: 40rem) {
  dl.facts { grid-template-columns: 1fr; }
  .treemap .small { display: none; }
}
`;

/** The icon of the pages. */
export const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 20">
<rect width="20" height="20" rx="5" fill="#0a58ca"/>
<path d="M6 5.5v9l8-4.5z" fill="#fff"/>
</svg>
`;

/**
 * The script of live pages: loads the page again each second, and replaces the parts that have changed. A field keeps
 * its focus and its choice. Without JavaScript, reloading shows the same.
 */
export const liveScript = `'use strict';
const news = document.getElementById('news');

function adopt(part, next) {
  if (!next || part.innerHTML === next.innerHTML) return;
  const [focused, chosen] = [document.activeElement.id, part.value];
  part.replaceChildren(...next.childNodes);
  if (chosen !== undefined) part.value = chosen;
  if (focused) document.getElementById(focused)?.focus();
}

async function read() {
  try {
    const answer = await fetch(location.href);
    const next = new DOMParser().parseFromString(await answer.text(), 'text/html');
    for (const part of document.querySelectorAll('[data-live]')) adopt(part, next.getElementById(part.id));
    document.body.dataset.live = 'yes';
  } catch {
    document.body.dataset.live = 'no';
    news.textContent = 'The runtime is not responding. This page may be out of date.';
  }
}

async function follow() {
  if (!document.hidden) await read();
  setTimeout(follow, 1000);
}
follow();
`;
