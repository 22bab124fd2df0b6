// Writes the table of docs/guides/frameworks.md from the rows of src/frameworks, and from what `npm run test:suite zoo` has seen
// (test/frameworks/zoo/seen.json). `npm run docs:generate` runs it.
import {readFileSync} from 'node:fs';
import {frameworks} from '../dist/frameworks/frameworks.js';
import {fillFormatted} from './fill-page.js';

const seen = JSON.parse(readFileSync(new URL('../test/frameworks/zoo/seen.json', import.meta.url), 'utf8'));

const code = (text) => `\`${text}\``;
const list = (patterns = []) => patterns.map(code).join(' ');

/** Versions, newest first, each with the ways of building it that were tried, and when. */
function triedWith(id) {
  const found = Object.values(seen).filter(({framework}) => framework === id);
  const last = found
    .map(({date}) => date.slice(0, 10))
    .toSorted()
    .at(-1);
  if (last === undefined) return 'untested';
  const versions = [...new Set(found.map(({version}) => version))];
  const variants = found.flatMap(({variant}) => variant ?? []);
  return `${versions.join(', ')}${variants.length > 0 ? `; ${variants.join(', ')}` : ''} (${last})`;
}

const rows = frameworks.map(({id, name, variant, buildDirectory, public: folders = [], lists, needs}) => {
  const title = variant === undefined ? name : `${name}, ${/`/.test(variant) ? variant : code(variant)}`;
  const patterns = lists?.ssrShared ?? folders.map((folder) => `${folder}/**`);
  // The whole list of the longest row would make the table unreadable.
  const published = list(patterns.slice(0, 4)) + (patterns.length > 4 ? ' ...' : '') || 'everything';
  return `| ${[title, code(buildDirectory), published, needs ?? '', triedWith(id)].join(' | ')} |`;
});

await fillFormatted('guides/frameworks.md', {
  table: `
| Framework | Builds into | Public files | Needs | Tried with |
| --- | --- | --- | --- | --- |
${rows.join('\n')}`,
});
