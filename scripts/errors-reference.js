// Writes docs/reference/errors.md from the catalogue of errors. `npm run docs:generate` runs it.
import {writeFile} from 'node:fs/promises';
import {catalogue, exitCodeMeanings, exitCodes} from '../dist/errors/index.js';

const page = `# Errors and exit codes

<!-- Written by scripts/errors-reference.js from src/errors/catalogue.ts. -->

An error has a stable \`code\`, a one-sentence message and suggestions. With \`--json\`, it is printed to stdout as
\`{"schemaVersion": 1, "error": {"code", "message", "exitCode", "status"?, "suggestions", "details"?}}\`.

## Exit codes

| exit code | meaning |
| --- | --- |
${exitCodeMeanings.map(([code, meaning]) => `| ${code} | ${meaning} |`).join('\n')}

The server's answer decides: 4, 5 or 7. Without an answer, the code is 6 if the request was not fully sent, and 10 if it was.
8 means that the deployment was accepted and then failed. A refused deployment request keeps its own code. An unsupported
version of Node.js is 3, with one sentence on stderr, even with \`--json\`.

## Codes

| code | exit code | when |
| --- | --- | --- |
${Object.entries(catalogue)
  .map(([code, {kind, summary}]) => `| \`${code}\` | ${exitCodes[kind]} | ${summary} |`)
  .join('\n')}
| \`ERR_UNEXPECTED\` | 1 | A bug. |
`;

await writeFile(new URL('../docs/reference/errors.md', import.meta.url), page);
