import {createHash} from 'node:crypto';
import {Html, markup} from './html.js';

/** The parts of a page. */
export interface PageParts {
  readonly title: string;
  /** The content of `<main>`, which begins with the only `<h1>`. */
  readonly content: Html;
  /** Styles besides those of every page. */
  readonly styles?: string | undefined;
}

/** Styles of every page. */
export const baseStyles = `
:root {
  color-scheme: light dark;
  --ground: #fff; --raised: #f4f5f7; --ink: #1c2128; --soft: #57606a; --line: #d0d7de; --link: #0a58ca;
}
@media (prefers-color-scheme: dark) {
  :root { --ground: #14181d; --raised: #1f252c; --ink: #e6edf3; --soft: #9ba7b4; --line: #3a434d; --link: #79b8ff; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 76rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 1rem; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.25rem 0 .75rem; }
h3 { font-size: 1rem; margin: 1.25rem 0 .5rem; }
a { color: var(--link); }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
code, pre, .path { font-family: ui-monospace, monospace; font-size: .875em; overflow-wrap: anywhere; }
pre { background: var(--raised); padding: .75rem 1rem; overflow: auto; border-radius: .4rem; white-space: pre-wrap; }
dl.facts { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; margin: 0; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; min-width: 0; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9375rem; }
caption { text-align: left; color: var(--soft); padding-bottom: .35rem; }
th, td { text-align: left; vertical-align: top; padding: .35rem .75rem .35rem 0; border-bottom: 1px solid var(--line); }
th { font-weight: 600; }
tbody th { font-weight: 400; }
tbody th:has(.path) { min-width: 11rem; }
.scroll + .scroll { margin-top: 1.25rem; }
.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
nav ul { list-style: none; display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; padding: 0; margin: 1.25rem 0 0; }
@media print {
  :root { --ground: #fff; --raised: #f4f5f7; --ink: #000; --soft: #444; --line: #bbb; --link: #000; }
  nav { display: none; }
  main { padding: 0; max-width: none; }
  tr, figure { break-inside: avoid; }
  h2, h3, caption { break-after: avoid; }
  .scroll { overflow: visible; }
}`;

/** A page that loads and runs nothing: its policy allows its own styles only. */
export function renderPage({title, content, styles = ''}: PageParts): string {
  const css = `${baseStyles}${styles}\n`;
  const digest = createHash('sha256').update(css).digest('base64');
  const policy = `default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'`;
  const {text} = markup`<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${new Html(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${new Html(css)}</style>
</head>
<body>
<main>
${content}
</main>
</body>
</html>
`;
  return `${pageStart}${text}`;
}

/** How each page begins. */
export const pageStart = '<!doctype html>\n<!-- Made by mycli. -->\n';

/** Makes a table. The first column heads each row. */
export function renderTable<Row>(
  caption: string,
  columns: readonly {readonly title: string; readonly isNumber?: boolean; cell(row: Row): Html | string}[],
  rows: readonly Row[],
): Html {
  const classOf = (isNumber = false) => (isNumber ? new Html(' class="number"') : undefined);
  return markup`<div class="scroll" role="region" aria-label="${caption}" tabindex="0">
    <table>
      <caption>
        ${caption}
      </caption>
      <thead>
        <tr>
          ${columns.map(({title, isNumber}) => markup`<th scope="col" ${classOf(isNumber)}>${title}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            markup`<tr>
              ${columns.map(({isNumber, cell}, at) =>
                at === 0
                  ? markup`<th scope="row" ${classOf(isNumber)}>${cell(row)}</th>`
                  : markup`<td${classOf(isNumber)}>${cell(row)}</td>`,
              )}
            </tr> `,
        )}
      </tbody>
    </table>
  </div>`;
}
