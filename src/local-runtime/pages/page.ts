import {answer, HttpFailure} from '../answer.js';
import type {Call} from '../context.js';
import {Html, markup} from './html.js';

/** Where the pages are, besides `/`. */
export const pagesPath = '/-/';

/** The main navigation. */
const places = {Projects: '/', Requests: `${pagesPath}requests`, Faults: `${pagesPath}faults`} as const;

/** A page of the runtime. */
export interface Page {
  /** Names the page, in its tab and as its heading. */
  readonly title: string;
  /** Its entry in the main navigation. */
  readonly place?: keyof typeof places | undefined;
  /** The pages above it. */
  readonly parents?: readonly {readonly name: string; readonly path: string}[] | undefined;
  /** What happened last, in a sentence. Screen readers say it when it changes. */
  readonly news?: string | undefined;
  /** What follows the heading. Elements with `data-live` and an ID are kept up to date while the page is open. */
  readonly content: Html;
  /** @default 200 */
  readonly status?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Headers of every answer: nothing foreign is loaded or run, and no page is framed or cached. */
const securityHeaders = {
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
export function pageAnswer({title, place, parents = [], news, content, status = 200, headers = {}}: Page): Response {
  const current = (name: string) => (name === place ? markup` aria-current="true"` : undefined);
  const page = markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · local runtime</title>
<link rel="icon" href="${pagesPath}icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${pagesPath}style.css">
${content.text.includes(' data-live') ? scriptElement : undefined}
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="top">
<a class="brand" href="/"><img src="${pagesPath}icon.svg" alt="" width="20" height="20">Local runtime</a>
<nav aria-label="Main"><ul>
${Object.entries(places).map(([name, path]) => markup`<li><a href="${path}"${current(name)}>${name}</a></li>`)}
</ul></nav>
</header>
<main id="content" tabindex="-1">
${
  parents.length === 0
    ? undefined
    : markup`<nav class="parents" aria-label="Breadcrumb"><ol>
${parents.map(({name, path}) => markup`<li><a href="${path}"><bdi>${name}</bdi></a></li>`)}</ol></nav>`
}
<h1>${title}</h1>
<p id="news" role="status" data-live>${news}</p>
${content}
</main>
</body>
</html>
`;
  const type = 'text/html; charset=utf-8';
  return answer(status, page.text, {'content-type': type, ...securityHeaders, ...headers});
}

/** A note about what was done, or what went wrong. */
export function notice(text: string, kind: 'done' | 'problem' = 'done'): Html {
  return markup`<p class="notice${kind === 'problem' ? ' problem' : ''}">${text}</p>`;
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

/** A file that pages load. */
export function assetAnswer(type: string, body: string): Response {
  return answer(200, body, {'content-type': type, ...securityHeaders});
}
