// Writes the tables of docs/reference/errors.md from the catalogue of errors, and the examples from what
// test/errors/messages.test.ts recorded. `npm run docs:generate` runs it.
import {readFileSync} from 'node:fs';
import {catalogue, exitCodes, signalExitCodes} from '../dist/errors/index.js';
import {fillPage} from './fill-page.js';

const exitCodeMeanings = [
  [0, 'done'],
  [exitCodes.unexpected, 'unexpected error: a bug, please report it'],
  [exitCodes.usage, 'invalid flag or argument, or a question answered with no'],
  [exitCodes.input, 'invalid configuration or input'],
  [exitCodes.credentials, 'credentials refused (401, 403)'],
  [exitCodes['rate-limit'], 'rate-limited, retries used up'],
  [exitCodes.network, 'network failure: nothing was carried out'],
  [exitCodes.rejected, 'rejected by the server (4xx, 5xx)'],
  [exitCodes['deployment-failed'], 'deployment failed'],
  [exitCodes['wait-timeout'], 'deployment did not finish before the timeout'],
  [exitCodes['outcome-unknown'], 'outcome unknown: the request may have been carried out'],
  [exitCodes.unhealthy, 'deployed, but a check failed'],
  [exitCodes['rolled-back'], 'deployment or check failed, and the target was rolled back'],
  [exitCodes.mismatch, 'bundles or targets differ (`--exit-code` of `bundle:diff` and `target:diff`)'],
  [exitCodes['not-rolled-back'], 'deployment or check failed, and the target could not be rolled back'],
  [signalExitCodes.SIGHUP, 'interrupted by SIGHUP'],
  [signalExitCodes.SIGINT, 'interrupted by SIGINT'],
  [signalExitCodes.SIGTERM, 'interrupted by SIGTERM'],
];

const codes = Object.entries(catalogue).map(
  ([code, {kind, summary}]) => `| \`${code}\` | ${exitCodes[kind]} | ${summary} |`,
);

const recorded = JSON.parse(readFileSync(new URL('../test/errors/messages.json', import.meta.url), 'utf8'));

const block = ({message, suggestions}) =>
  ['```', `Error: ${message}`, ...suggestions.map((line) => `  ${line}`), '```'].join('\n');
const examples = Object.entries(recorded).flatMap(([code, messages]) => [
  `### ${code}`,
  ...new Set(messages.map(block)),
]);

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
