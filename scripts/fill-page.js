import {readFileSync, writeFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {formatted} from './formatted.js';

/**
 * Writes what is generated into a Markdown page, whose prose stands there: each part between `<!-- begin: NAME -->` and
 * `<!-- end: NAME -->`. Fails when the page has no place for a part, or a place for none.
 * @param page Below docs/reference.
 * @param parts Lines, by the name of the part.
 */
export function fillPage(page, parts) {
  const path = new URL(`../docs/reference/${page}`, import.meta.url);
  const text = readFileSync(path, 'utf8');
  const missing = new Set(Object.keys(parts));
  const filled = text.replaceAll(/(<!-- begin: ([\w-]+) -->\n)[^]*?(<!-- end: \2 -->)/g, (_, begin, name, end) => {
    if (!missing.delete(name)) throw new Error(`${page} has a place for ${name}, which is not made, or two.`);
    return `${begin}\n${parts[name].trim()}\n\n${end}`;
  });
  if (missing.size > 0) throw new Error(`${page} has no place for ${[...missing].join(', ')}.`);
  writeFileSync(path, filled);
}

/** As `fillPage`, for a page below docs that is formatted. */
export async function fillFormatted(name, parts) {
  fillPage(`../${name}`, parts);
  const page = fileURLToPath(new URL(`../docs/${name}`, import.meta.url));
  writeFileSync(page, await formatted(page, readFileSync(page, 'utf8')));
}
