// Writes the tables of docs/reference/json.md and docs/reference/events.md from the schemas in dist.
// `npm run docs:generate` runs it.
import {readFileSync} from 'node:fs';
import {isOclifCommand} from '../dist/cli/command/command-line.js';
import {fillPage} from './fill-page.js';

const read = (path) => JSON.parse(readFileSync(new URL(`../${path}`, import.meta.url), 'utf8'));
const own = Object.keys(read('oclif.manifest.json').commands).filter((id) => !isOclifCommand(id));
const row = (what, name) =>
  `| ${what} | ${read(`dist/schemas/${name}.schema.json`).description} | \`${name}.schema.json\` |`;

fillPage('json.md', {
  documents: `
| command | document | schema |
| --- | --- | --- |
${own.map((id) => row(`\`mycli ${id}\``, id.replace(':', '-'))).join('\n')}
${row('the manifest of `bundle:build`', 'manifest')}
${row('any command that fails', 'error')}`,
});
fillPage('events.md', {
  types: `
| type | meaning | schema |
| --- | --- | --- |
${['step', 'progress', 'wait', 'warning', 'outcome'].map((type) => row(`\`${type}\``, `event-${type}`)).join('\n')}
${row('any', 'event')}`,
});
