// Writes the tables of docs/reference/errors.md from the catalogue of errors. `npm run docs:generate` runs it.
import {catalogue, exitCodeMeanings, exitCodes} from '../dist/errors/index.js';
import {fillPage} from './fill-page.js';

const codes = Object.entries(catalogue).map(
  ([code, {kind, summary}]) => `| \`${code}\` | ${exitCodes[kind]} | ${summary} |`,
);

fillPage('errors.md', {
  'exit-codes': `
| exit code | meaning |
| --- | --- |
${exitCodeMeanings.map(([code, meaning]) => `| ${code} | ${meaning} |`).join('\n')}`,
  codes: `
| code | exit code | when |
| --- | --- | --- |
${codes.join('\n')}
| \`ERR_UNEXPECTED\` | 1 | A bug. |`,
});
