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
  const added = found.flatMap(({added: text}) => (text === undefined ? [] : `with ${text}`));
  return `${[versions.join(', '), ...(variants.length > 0 ? [variants.join(', ')] : []), ...added].join('; ')} (${last})`;
}

const rows = frameworks.map(({id, name, variant, buildDirectory, public: folders = [], lists, needs}) => {
  const title = variant === undefined ? name : `${name}, ${/`/.test(variant) ? variant : code(variant)}`;
  const patterns = lists?.ssrShared ?? folders.map((folder) => `${folder}/**`);
  // The whole list of the longest row would make the table unreadable.
  const published = list(patterns.slice(0, 4)) + (patterns.length > 4 ? ' ...' : '') || 'everything';
  return `| ${[title, code(buildDirectory), published, needs ?? '', triedWith(id)].join(' | ')} |`;
});

const others = Object.values(seen)
  .filter(({framework}) => framework === undefined)
  .map(({name, variant, does, version, date}) => {
    const title = variant === undefined ? name : `${name}, ${variant}`;
    return `| ${[title, does, `${version} (${date.slice(0, 10)})`].join(' | ')} |`;
  });

await fillFormatted('guides/frameworks.md', {
  others: `
| Framework | What a push does | Tried with |
| --- | --- | --- |
${others.join('\n')}`,
  table: `
| Framework | Builds into | Public files | Needs | Tried with |
| --- | --- | --- | --- | --- |
${rows.join('\n')}`,
});
