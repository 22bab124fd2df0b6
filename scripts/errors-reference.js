// Writes the tables of docs/reference/errors.md from the catalogue of errors, and the examples from what
// test/errors/messages.test.ts recorded. `npm run docs:generate` runs it.
import {readFileSync} from 'node:fs';
import {catalogue, exitCodeMeanings, exitCodes} from '../dist/errors/index.js';
import {fillPage} from './fill-page.js';

const codes = Object.entries(catalogue).map(
  ([code, {kind, summary}]) => `| \`${code}\` | ${exitCodes[kind]} | ${summary} |`,
);

const recorded = JSON.parse(readFileSync(new URL('../test/errors/messages.json', import.meta.url), 'utf8'));

const block = ({message, suggestions}) =>
  ['```', `Error: ${message}`, ...suggestions.map((line) => `  ${line}`), '```'].join('\n');
const examples = Object.entries(recorded).flatMap(([code, messages]) => [`### ${code}`, ...messages.map(block)]);

fillPage('errors.md', {
  examples: examples.join('\n\n'),
  'exit-codes': `
| exit code | meaning |
| --- | --- |
${exitCodeMeanings.map(([code, meaning]) => `| ${code} | ${meaning} |`).join('\n')}`,
  codes: `
| code | exit code | when |
| --- | --- | --- |
${codes.join('\n')}`,
});
