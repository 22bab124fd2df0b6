export const stylesheet = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#fff, #14181d); --raised: light-dark(#f4f5f7, #1f252c); --ink: light-dark(#1c2128, #e6edf3);
  --soft: light-dark(#57606a, #9ba7b4); --line: light-dark(#d0d7de, #3a434d); --edge: light-dark(#6e7781, #8b96a3);
  --link: light-dark(#0a58ca, #79b8ff); --on-link: light-dark(#fff, #0d1117);
  --ok: light-dark(#1a6b35, #6fd08c); --bad: light-dark(#b3261e, #ff9d94); --busy: light-dark(#8a5300, #f0b860);
}
* { box-sizing: border-box; }
body { margin: 0; min-width: 20rem; background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
header { border-bottom: 1px solid var(--line); background: var(--raised);
  padding: .75rem max(1rem, calc((100% - 76rem) / 2 + 1rem)); }
header, nav, .brand, .place { display: flex; align-items: center; }
header, .place { flex-wrap: wrap; justify-content: space-between; gap: .25rem 1rem; }
.brand { gap: .6rem; color: var(--ink); font-weight: 600; }
nav { gap: 1.25rem; }
.brand, nav a { text-decoration: none; }
.brand:hover, nav a:hover { text-decoration: underline; }
main { max-width: 76rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; overflow-wrap: anywhere; }
#news:empty { display: none; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(20rem, 100%), 1fr)); gap: 1rem;
  align-items: start; margin: 0; padding: 0; list-style: none; }
.card { padding: 1rem; border: 1px solid var(--line); border-radius: .6rem; background: var(--raised); }
.card p { margin: .15rem 0; }
.card .place { margin: 0 0 .5rem; }
.address { font-weight: 600; }
.soft { color: var(--soft); font-size: .875rem; }
.card .next { margin-top: .75rem; padding-top: .6rem; border-top: 1px solid var(--line); }
h1 { font-size: 1.5rem; margin: 0 0 .75rem; }
h2 { font-size: 1.2rem; margin: 2rem 0 .75rem; }
a { color: var(--link); }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
code, pre { font-family: ui-monospace, monospace; font-size: .875em; }
pre { background: var(--raised); padding: .75rem 1rem; overflow: auto; white-space: pre-wrap; }
.notice { padding: .6rem .9rem; border-left: .25rem solid var(--link); background: var(--raised); }
.notice.problem { border-color: var(--bad); }
dl { display: grid; grid-template-columns: minmax(6rem, max-content) 1fr; gap: .25rem 1rem; margin: 0; }
dd, dt { margin: 0; min-width: 0; }
dt { color: var(--soft); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9375rem; }
th, td { text-align: left; vertical-align: top; padding: .35rem .75rem .35rem 0; border-bottom: 1px solid var(--line); }
tbody th { font-weight: 400; min-width: 11rem; }
time, .state, .whole, thead th, td button, summary { white-space: nowrap; }
thead th { color: var(--soft); font-weight: 400; }
.state { font-weight: 600; }
.state::before { content: ''; display: inline-block; width: .55em; height: .55em; margin-right: .4em;
  border-radius: 50%; background: currentcolor; }
.live { color: var(--ok); }
.failed { color: var(--bad); }
.queued, .in_progress { color: var(--busy); }
form { display: flex; flex-wrap: wrap; gap: .5rem .75rem; align-items: center; }
input, select, button { font: inherit; color: inherit; background: var(--ground); border: 1px solid var(--edge);
  border-radius: .4rem; padding: .4rem .6rem; min-width: 0; max-width: 100%; }
button { cursor: pointer; font-weight: 600; }
button.main { background: var(--link); border-color: var(--link); color: var(--on-link); }
@media (max-width: 60rem) {
  dl { grid-template-columns: 1fr; }
  thead { display: none; }
  tr, tbody th, td { display: block; }
  tr { padding: .5rem 0; border-bottom: 1px solid var(--line); }
  th, td { padding: .1rem 0; border: 0; }
  td::before { content: attr(data-column) ': '; color: var(--soft); }
}
`;

export const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 20">
<rect width="20" height="20" rx="5" fill="#0a58ca"/>
<path d="M6 5.5v9l8-4.5z" fill="#fff"/>
</svg>
`;

/** Loads the page again each second, and replaces what has changed. What has the focus or was opened keeps that. */
export const liveScript = `'use strict';
const news = document.getElementById('news');

function nameOf(element) {
  return element.getAttribute('aria-label') ?? element.href;
}

function adopt(part, next) {
  for (const {id} of part.querySelectorAll('details[open]')) next?.ownerDocument.getElementById(id)?.setAttribute('open', '');
  if (!next || part.innerHTML === next.innerHTML) return;
  const [focused, chosen] = [part.contains(document.activeElement) && nameOf(document.activeElement), part.value];
  part.replaceChildren(...next.childNodes);
  if (chosen !== undefined) part.value = chosen;
  if (focused) [...part.querySelectorAll('*')].find((one) => nameOf(one) === focused)?.focus({preventScroll: true});
}

async function follow() {
  let text = '';
  try {
    const answer = document.hidden ? undefined : await fetch(location.href);
    const next = new DOMParser().parseFromString((await answer?.text()) ?? '', 'text/html');
    for (const part of document.querySelectorAll('[data-live]')) adopt(part, next.getElementById(part.id));
    if (answer?.status === 404) text = 'What this page shows was deleted.';
    document.body.dataset.live = 'yes';
  } catch {
    text = 'The runtime is not responding. This page may be out of date.';
  }
  if (news.textContent !== text) news.textContent = text;
  setTimeout(follow, 1000);
}
if (document.querySelector('[data-live]')) follow();
`;
