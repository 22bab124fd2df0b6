// Writes the table of docs/guides/frameworks.md from the rows of src/frameworks, and from what was seen when their
// projects were built, pushed and opened (test/frameworks/seen.json). `npm run docs:generate` runs it.
import {readFileSync} from 'node:fs';
import {frameworks} from '../dist/frameworks/frameworks.js';
import {fillFormatted} from './fill-page.js';

const seen = JSON.parse(readFileSync(new URL('../test/frameworks/seen.json', import.meta.url), 'utf8'));

const code = (text) => `\`${text}\``;
const list = (patterns = []) => patterns.map(code).join(' ');

const rows = frameworks.map(({id, name, variant, buildDirectory, public: folders = [], lists, needs}) => {
  const title = variant === undefined ? name : `${name}, ${code(variant)}`;
  const {version, date, seen: how} = seen[id] ?? {};
  const tried = version === undefined ? '' : `${version}: ${how} (${date})`;
  const patterns = lists?.ssrShared ?? folders.map((folder) => `${folder}/**`);
  // The whole list of the longest row would make the table unreadable.
  const published = list(patterns.slice(0, 4)) + (patterns.length > 4 ? ' ...' : '') || 'everything';
  return `| ${[title, code(buildDirectory), published, needs ?? '', tried].join(' | ')} |`;
});

await fillFormatted('guides/frameworks.md', {
  table: `
| Framework | Builds into | Public files | Needs | Tried with |
| --- | --- | --- | --- | --- |
${rows.join('\n')}`,
});
