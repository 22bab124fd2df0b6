// Writes the table of docs/guides/frameworks.md from the rows of src/frameworks, and from what was seen when their
// projects were built, pushed and opened (test/frameworks/seen.json). `npm run docs:generate` runs it.
import {readFileSync, writeFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {format, resolveConfig} from 'prettier';
import {frameworks} from '../dist/frameworks/frameworks.js';
import {fillPage} from './fill-page.js';

const seen = JSON.parse(readFileSync(new URL('../test/frameworks/seen.json', import.meta.url), 'utf8'));

const code = (text) => `\`${text}\``;
const list = (patterns = []) => patterns.map(code).join(' ');

const rows = frameworks.map(({id, name, variant, buildDirectory, static: isStatic, ssrOnly, needs}) => {
  const title = variant === undefined ? name : `${name}, ${code(variant)}`;
  const {version, date, seen: how} = seen[id] ?? {};
  const tried = version === undefined ? '' : `${version}: ${how} (${date})`;
  // The whole list of the longest row would make the table unreadable.
  const serverFiles = isStatic ? 'none' : list(ssrOnly.slice(0, 5)) + (ssrOnly.length > 5 ? ' ...' : '');
  return `| ${[title, code(buildDirectory), serverFiles, needs ?? '', tried].join(' | ')} |`;
});

const page = new URL('../docs/guides/frameworks.md', import.meta.url);
fillPage('../guides/frameworks.md', {
  table: `
| Framework | Builds into | Server-only files | Needs | Tried with |
| --- | --- | --- | --- | --- |
${rows.join('\n')}`,
});
const options = await resolveConfig(fileURLToPath(page));
writeFileSync(page, await format(readFileSync(page, 'utf8'), {...options, parser: 'markdown'}));
