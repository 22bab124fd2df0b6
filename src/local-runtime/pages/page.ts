import {html, raw} from 'hono/html';
import prettyBytes from 'pretty-bytes';
import {describeAge} from '../../text/age.js';
import {withoutEscapeSequences} from '../../text/escape-sequences.js';
import {answer, HttpFailure, type Headers} from '../answer.js';
import type {Call} from '../runtime-context.js';

/** Where the pages are, besides `/`. */
export const pagesPath = '/-/';

/** Markup whose values are escaped. */
export type Html = ReturnType<typeof html>;

interface Page {
  /** Names the page, in its tab and as its heading. */
  readonly title: string;
  /** What follows the heading. Elements with `data-live` and an ID are kept up to date while the page is open. */
  readonly content: Html;
  readonly status?: number;
  readonly headers?: Headers;
}

/** Headers of every answer: nothing foreign is loaded or run, and no page is framed or cached. */
const securityHeaders = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; " +
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  // With no-referrer, browsers would not say where a form comes from either.
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
} as const;

/** In a template, bundlers would make a call of it, because it contains the end of a script. */
const script = raw(`<script src="${pagesPath}live.js" defer></script>`);

export async function pageAnswer({title, content, status = 200, headers = {}}: Page): Promise<Response> {
  const page = await html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · local runtime</title>
<link rel="icon" href="${pagesPath}icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${pagesPath}style.css">
${script}
</head>
<body>
<header>
<a class="brand" href="/"><img src="${pagesPath}icon.svg" alt="" width="24" height="24">Local runtime</a>
<nav aria-label="Main"><a href="/">Overview</a><a href="${pagesPath}faults">Faults</a></nav>
</header>
<main>
<h1><bdi>${title}</bdi></h1>
<p id="news" role="status"></p>
${content}
</main>
</body>
</html>
`;
  const type = 'text/html; charset=utf-8';
  return answer(status, page.toString(), {'content-type': type, ...securityHeaders, ...headers});
}

export function notice(text: string, kind: 'done' | 'problem' = 'done'): Html {
  return html`<p class="notice ${kind}" role="${kind === 'done' ? 'status' : 'alert'}">${text}</p>`;
}

/** Text from outside, in whatever direction it is written. A long one loses its middle; a short word never breaks. */
export function foreign(text: string, longest = 120): Html {
  const half = Math.floor((longest - 1) / 2);
  const all = Array.from(text);
  const shown = all.length <= longest ? text : [...all.slice(0, half), '…', ...all.slice(-half)].join('');
  return /^\S{1,30}$/.test(text) ? html`<bdi class="whole">${shown}</bdi>` : html`<bdi>${shown}</bdi>`;
}

const timeFormat = new Intl.DateTimeFormat('en-GB', {dateStyle: 'medium', timeStyle: 'long'});

/** A time, in the time zone of the runtime, which is that of its user. */
export function timeText(iso: string): Html {
  return html`<time datetime="${iso}">${timeFormat.format(new Date(iso))}</time>`;
}

export function sizeText(bytes: number): Html {
  return html`<span class="whole">${prettyBytes(bytes)}</span>`;
}

/** How long ago a time was: `2 hours ago`. The time itself is its tooltip. */
export function ageText(iso: string, now: Date): Html {
  const isRecent = now.getTime() - Date.parse(iso) < 60_000;
  const age = isRecent ? 'just now' : describeAge(iso, now.getTime());
  return html`<time datetime="${iso}" title="${timeFormat.format(new Date(iso))}">${age}</time>`;
}

type Cell = Html | string | number;

/** Rows of cells, of which the first is the heading of its row. */
interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
  /** A sentence in its place if there are no rows. */
  readonly empty?: string;
}

export function table(label: string, {columns, rows, empty = ''}: Table): Html {
  if (rows.length === 0) return html`<p>${empty}</p>`;
  const body = rows.map(([head, ...cells]) => {
    return html`<tr><th scope="row">${head}</th>${cells.map((cell, at) => html`<td data-column="${columns[at + 1]}">${cell}</td>`)}</tr>\n`;
  });
  return html`<div class="scroll" role="region" aria-label="${label}" tabindex="0"><table>
<thead><tr>${columns.map((title) => html`<th scope="col">${title}</th>`)}</tr></thead>
<tbody>${body}</tbody></table></div>`;
}

/** A part of a page that is kept up to date while the page is open. */
export function liveSection(title: string, content: Html): Html {
  return livePart(title.toLowerCase().replaceAll(' ', '-'), html`<h2>${title}</h2>${content}`);
}

/** As `liveSection`, right below the heading of the page. */
export function livePart(id: string, content: Html): Html {
  return html`<section id="${id}" data-live>${content}</section>`;
}

/** Text as it is, without colors of a terminal, which may be longer than the page. */
export function textBlock(label: string, text: string): Html {
  return html`<pre tabindex="0" role="region" aria-label="${label}">${withoutEscapeSequences(text)}</pre>`;
}

/** Reads a form. @throws HttpFailure 403 if no page of this runtime has sent it; 415 for another type. */
export async function readForm({request: {headers}, body}: Call): Promise<URLSearchParams> {
  const form = await body.form();
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

export function assetAnswer(type: string, body: string): Response {
  return answer(200, body, {'content-type': type, ...securityHeaders});
}
