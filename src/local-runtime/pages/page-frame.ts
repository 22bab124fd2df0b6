import {bundleStyles} from '../../html/bundle-page.js';
import {Html, markup} from '../../html/html.js';
import {baseStyles, pageStart} from '../../html/page.js';
import {answer, HttpFailure} from '../answer.js';
import type {Call} from '../context.js';
import type {Topic} from './live-feed.js';

/** Where the pages are, besides `/`. */
export const pagesPath = '/-/';

/** The main navigation. */
const places = [
  {name: 'Projects', path: '/'},
  {name: 'Requests', path: `${pagesPath}requests`},
  {name: 'Faults', path: `${pagesPath}faults`},
] as const;

/** A page of the runtime. */
export interface RuntimePage {
  /** Names the page, in its tab and as its heading. */
  readonly title: string;
  /** Its entry in the main navigation. */
  readonly place?: (typeof places)[number]['name'] | undefined;
  /** The pages above it. */
  readonly parents?: readonly {readonly name: string; readonly path: string}[] | undefined;
  /** What follows the heading. */
  readonly content: Html;
  /** What changes the parts that have `data-live`. @default it never changes */
  readonly topics?: readonly Topic[] | undefined;
  /** @default 200 */
  readonly status?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Headers of every answer: nothing foreign is loaded or run, and no page is framed or cached. */
export const securityHeaders = {
  'content-security-policy': [
    "default-src 'none'",
    ...['style-src', 'script-src', 'img-src', 'connect-src', 'form-action'].map((name) => `${name} 'self'`),
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  // With no-referrer, browsers would not say where a form comes from either.
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
} as const;

/** No tagged template: bundlers make a call of one that contains the end of a script. */
const scriptElement = new Html(`<script src="${pagesPath}live.js" defer></script>`);

/** Answers with a page. */
export function pageAnswer({
  title,
  place,
  parents = [],
  content,
  topics = [],
  status = 200,
  headers = {},
}: RuntimePage): Response {
  const {text} = markup`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · local runtime</title>
<link rel="icon" href="${pagesPath}icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${pagesPath}style.css">
${topics.length === 0 ? undefined : scriptElement}
</head>
<body${topics.length === 0 ? undefined : markup` data-topics="${topics.join(' ')}"`}>
<a class="skip" href="#content">Skip to the content</a>
<header class="top">
<a class="brand" href="/"><img src="${pagesPath}icon.svg" alt="" width="20" height="20">Local runtime</a>
<nav aria-label="Main">
<ul>
${places.map(
  ({name, path}) =>
    markup`<li><a href="${path}"${name === place ? markup` aria-current="true"` : undefined}>${name}</a></li>`,
)}
</ul>
</nav>
</header>
<main id="content" tabindex="-1">
${
  parents.length === 0
    ? undefined
    : markup`<nav class="parents" aria-label="Breadcrumb">
<ol>
${parents.map(({name, path}) => markup`<li><a href="${path}"><bdi>${name}</bdi></a></li>`)}
</ol>
</nav>`
}
<h1>${title}</h1>
<p id="news" role="status"></p>
${content}
</main>
</body>
</html>
`;
  return answer(status, `${pageStart}${text}`, {
    'content-type': 'text/html; charset=utf-8',
    ...securityHeaders,
    ...headers,
  });
}

/** Reads a form. @throws HttpFailure 403 if no page of this runtime has sent it; 415 for another type. */
export async function readForm({request: {headers}, body}: Call): Promise<URLSearchParams> {
  body.refuseOtherTypes('application/x-www-form-urlencoded');
  const form = new URLSearchParams(await body.text());
  // Browsers say with each form where it comes from. Apps have other origins.
  if (headers.origin !== `http://${headers.host ?? ''}`) {
    throw new HttpFailure(403, 'Only pages of this runtime can do that. Open the page there and try again.');
  }
  return form;
}

/** Redirects to a page that shows the result, so that reloading it does not repeat the action. */
export function seeOther(location: string): Response {
  return answer(303, '', {location, ...securityHeaders});
}

/** A file that pages load. */
export function assetAnswer(type: string, body: string): Response {
  return answer(200, body, {'content-type': type, ...securityHeaders});
}

/** The styles of all pages. */
export const stylesheet = `${baseStyles}${bundleStyles}
:root { --ok: #1a6b35; --bad: #b3261e; --busy: #8a5300; --accent: #0a58ca; --on-accent: #fff; --edge: #6e7781; }
@media (prefers-color-scheme: dark) {
  :root { --ok: #6fd08c; --bad: #ff9d94; --busy: #f0b860; --accent: #79b8ff; --on-accent: #0d1117; --edge: #8b96a3; }
}
html { scroll-padding-top: 1rem; }
body { min-width: 20rem; }
main { padding-top: 1.25rem; }
main:focus { outline: none; }
.skip { position: absolute; left: -999rem; top: .5rem; background: var(--ground); padding: .5rem .75rem; z-index: 1; }
.skip:focus { left: .5rem; }
.top { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem 1.75rem; padding: .5rem max(1rem, calc((100% - 74rem) / 2));
  border-bottom: 1px solid var(--line); background: var(--raised); }
.brand { display: inline-flex; align-items: center; gap: .5rem; font-weight: 600; color: var(--ink); text-decoration: none; padding: .25rem 0; }
.top nav ul { margin: 0; gap: .25rem; }
.top nav a { display: block; color: var(--ink); text-decoration: none; padding: .3rem .65rem; border-radius: .4rem; }
.top nav a:hover { background: var(--line); }
.top nav a[aria-current] { background: var(--ground); box-shadow: inset 0 0 0 1px var(--line); font-weight: 600; }
.parents ol { display: flex; flex-wrap: wrap; list-style: none; padding: 0; margin: 0 0 .35rem; font-size: .9375rem; }
.parents li { overflow-wrap: anywhere; }
.parents li::after { content: "/"; color: var(--soft); padding: 0 .5rem; }
h1 { margin-bottom: .75rem; }
h2 { margin-top: 2rem; }
#news { margin: 0; color: var(--soft); font-size: .9375rem; }
#news:not(:empty) { margin-bottom: .75rem; }
.notice { margin: 0 0 1rem; padding: .6rem .9rem; border-left: .25rem solid var(--accent); background: var(--raised); border-radius: .25rem; overflow-wrap: anywhere; }
.notice.problem { border-color: var(--bad); }
.soft { color: var(--soft); }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 21rem), 1fr)); gap: 1rem; padding: 0; margin: 0; list-style: none; }
.card { border: 1px solid var(--line); border-radius: .6rem; padding: .9rem 1rem; min-width: 0; }
.card h3 { margin: 0 0 .5rem; font-size: 1.05rem; overflow-wrap: anywhere; }
.card ul { list-style: none; margin: 0; padding: 0; }
.card li { padding: .45rem 0; border-top: 1px solid var(--line); display: grid; grid-template-columns: 1fr auto; gap: .1rem .75rem; }
.card li > * { min-width: 0; overflow-wrap: anywhere; }
.card li .wide { grid-column: 1 / -1; }
.card p { margin: 0; }
.message { overflow-wrap: anywhere; }
table .message { overflow-wrap: break-word; }
:is(th, td):has(> a + .message) { min-width: 11rem; }
thead th { white-space: nowrap; }
[data-live] caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.scroll { position: relative; }
.number + th:not(.number), .number + td:not(.number) { padding-left: .75rem; }
.treemap { height: 34rem; }
tbody th:has(> code) { min-width: 9rem; }
.state { white-space: nowrap; font-weight: 600; }
.state::before { content: ""; display: inline-block; width: .6em; height: .6em; border-radius: 50%; background: currentColor; margin-right: .45em; }
.state.live { color: var(--ok); }
.state.finished { color: var(--soft); }
.state.failed, .status.bad { color: var(--bad); }
.state.queued, .state.in_progress, .status.odd { color: var(--busy); }
.state.in_progress::before { animation: pulse 1.2s ease-in-out infinite; }
@keyframes pulse { 50% { opacity: .3; } }
.status { font-weight: 600; font-variant-numeric: tabular-nums; white-space: nowrap; }
.status.good { color: var(--ok); }
time { white-space: nowrap; font-variant-numeric: tabular-nums; }
form.row { display: flex; flex-wrap: wrap; gap: .75rem 1rem; align-items: end; margin: 0; }
form.inline { display: inline; margin: 0; }
.field { display: grid; gap: .25rem; min-width: 0; flex: 0 1 18rem; }
.field.long { flex: 1 1 22rem; }
label { font-weight: 600; font-size: .9375rem; }
input, select, button { font: inherit; color: inherit; }
input, select { width: 100%; min-width: 0; background: var(--ground); border: 1px solid var(--edge); border-radius: .4rem; padding: .4rem .6rem; min-height: 2.5rem; }
button { background: var(--ground); border: 1px solid var(--edge); border-radius: .4rem; padding: .4rem .9rem; min-height: 2.5rem; cursor: pointer; font-weight: 600; }
button:hover { background: var(--raised); }
button.main { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
button.main:hover { filter: brightness(1.1); }
td button, li button { min-height: 2rem; padding: .15rem .65rem; font-size: .9375rem; }
.buttons { display: flex; flex-wrap: wrap; gap: .5rem; }
.hint { color: var(--soft); font-size: .9375rem; margin: .25rem 0 0; }
.filters ul { margin: 0 0 1rem; gap: .25rem; }
.filters a { display: block; padding: .25rem .7rem; border: 1px solid var(--line); border-radius: 1rem; color: var(--ink); text-decoration: none; }
.filters a[aria-current] { background: var(--ink); border-color: var(--ink); color: var(--ground); }
.steps { padding-left: 1.25rem; }
.steps li { margin-bottom: .75rem; }
.steps pre { margin: .4rem 0 0; }
td .path, th .path { white-space: normal; }
.wire td, .wire th { white-space: nowrap; }
.wire .path { overflow-wrap: normal; white-space: nowrap; }
.headers { grid-template-columns: minmax(6rem, max-content) 1fr; }
.headers dt { overflow-wrap: anywhere; }
@media (max-width: 40rem) {
  h1 { font-size: 1.35rem; }
  .scroll { background: no-repeat 0 / 2rem 100% linear-gradient(to right, var(--ground) 40%, transparent) local,
    no-repeat 100% / 2rem 100% linear-gradient(to left, var(--ground) 40%, transparent) local,
    no-repeat 0 / .5rem 100% linear-gradient(to right, var(--line), transparent),
    no-repeat 100% / .5rem 100% linear-gradient(to left, var(--line), transparent); }
  dl.facts { grid-template-columns: 1fr; gap: 0; }
  dl.facts dd { margin-bottom: .5rem; }
  .field, .field.long { flex: 1 1 100%; }
  .wire tbody th { white-space: normal; min-width: 15rem; }
  .wire .path { white-space: normal; }
  .wire .path .message { overflow-wrap: anywhere; }
}
@media (prefers-reduced-motion: reduce) { * { animation: none !important; transition: none !important; } }
@media (forced-colors: active) { .state::before { background: CanvasText; } }
`;

/** The icon of the pages. */
export const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 20">
<rect width="20" height="20" rx="5" fill="#0a58ca"/>
<path d="M6 5.5v9l8-4.5z" fill="#fff"/>
</svg>
`;

/**
 * The script of live pages: when the runtime reports a change, it loads the page again and patches what differs, which
 * keeps focus, selections and open details. Without JavaScript, reloading shows the same.
 */
export const liveScript = `'use strict';
const news = document.getElementById('news');
let source;
let reading = false;
let again = false;

function key(node) {
  return node.nodeType === Node.ELEMENT_NODE && node.id ? node.id : undefined;
}

function adopt(old, next) {
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.nodeValue !== next.nodeValue) old.nodeValue = next.nodeValue;
    return;
  }
  for (const {name} of [...old.attributes]) {
    if (!next.hasAttribute(name) && name !== 'open') old.removeAttribute(name);
  }
  for (const {name, value} of next.attributes) {
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  const chosen = old.localName === 'select' ? old.value : undefined;
  adoptChildren(old, next);
  // In the new page, the first option is selected.
  if (chosen !== undefined && [...old.options].some(({value}) => value === chosen)) old.value = chosen;
}

function adoptChildren(old, next) {
  const keyed = new Map([...old.children].filter(key).map((child) => [key(child), child]));
  let at = old.firstChild;
  for (const child of [...next.childNodes]) {
    const same = keyed.get(key(child));
    if (same && same.parentNode === old) {
      if (same === at) at = at.nextSibling;
      else old.insertBefore(same, at);
      adopt(same, child);
    } else if (at && at.nodeName === child.nodeName && !key(at) && !key(child)) {
      adopt(at, child);
      at = at.nextSibling;
    } else {
      old.insertBefore(child, at);
    }
  }
  while (at) {
    const rest = at;
    at = at.nextSibling;
    rest.remove();
  }
}

async function readAgain() {
  again = true;
  if (reading) return;
  reading = true;
  try {
    while (again) {
      again = false;
      const answer = await fetch(location.pathname + location.search);
      if (!answer.ok) return;
      const next = new DOMParser().parseFromString(await answer.text(), 'text/html');
      for (const part of document.querySelectorAll('[data-live]')) {
        const other = next.getElementById(part.id);
        if (other) adopt(part, other);
      }
    }
  } catch {
    // The runtime was stopped. The event stream notices when it is back.
  } finally {
    reading = false;
  }
}

function connect() {
  let wasLost = false;
  source = new EventSource('${pagesPath}events?topics=' + encodeURIComponent(document.body.dataset.topics));
  source.addEventListener('open', () => {
    document.body.dataset.live = 'yes';
    if (wasLost) news.textContent = '';
    wasLost = false;
    readAgain();
  });
  source.addEventListener('error', () => {
    wasLost = true;
    document.body.dataset.live = 'no';
    news.textContent = 'The runtime is not responding. This page may be out of date.';
  });
  source.addEventListener('change', ({data}) => {
    const {sentences} = JSON.parse(data);
    if (sentences.length > 0) news.textContent = sentences.join(' ');
    readAgain();
  });
}

// Browsers limit the connections to a server, so a hidden tab closes its own.
document.addEventListener('visibilitychange', () => {
  if (document.hidden) source?.close();
  else connect();
});
if (!document.hidden) connect();
`;
