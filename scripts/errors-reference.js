// Writes docs/reference/errors.md from the catalogue of errors. `npm run docs:generate` runs it.
import {writeFile} from 'node:fs/promises';
import {catalogue, exitCodeMeanings, exitCodes} from '../dist/errors/index.js';

const page = `# Errors and exit codes

<!-- Written by scripts/errors-reference.js from src/errors/catalogue.ts. -->

An error has a stable \`code\`, one sentence that says what happened, and suggestions. With \`--json\` it is printed on stdout as
\`{"schemaVersion": 1, "error": {"code", "message", "exitCode", "status"?, "suggestions", "details"?}}\`.

## Exit codes

| exit code | meaning |
| --- | --- |
${exitCodeMeanings.map(([code, meaning]) => `| ${code} | ${meaning} |`).join('\n')}

An answer of the server decides: 4, 5 or 7. Without an answer it is 6 before the last byte of the request was sent, 10 after it.
8 is a deployment that was accepted and then failed; a refused request to deploy keeps its own code.
A Node.js that is too old is 3, told in one sentence on stderr, also with \`--json\`.

## Codes

| code | exit code | when |
| --- | --- | --- |
${Object.entries(catalogue)
  .map(([code, {kind, summary}]) => `| \`${code}\` | ${exitCodes[kind]} | ${summary} |`)
  .join('\n')}
| \`ERR_UNEXPECTED\` | 1 | A bug. |
`;

await writeFile(new URL('../docs/reference/errors.md', import.meta.url), page);
