// Writes docs/reference/json.md and a JSON Schema for the document of every command into docs/reference/json, from the types
// in src/cli/output/documents.ts and their docstrings. `npm run docs:generate` runs it.
import {mkdir, readFile, rm, writeFile} from 'node:fs/promises';
import {createGenerator} from 'ts-json-schema-generator';
import {isOclifCommand} from '../dist/cli/process/oclif-commands.js';

const reference = new URL('../docs/reference/', import.meta.url);
const manifest = JSON.parse(await readFile(new URL('../oclif.manifest.json', import.meta.url), 'utf8'));

const generator = createGenerator({
  path: 'dist/cli/output/documents.d.ts',
  tsconfig: 'tsconfig.json',
  // Each schema is complete in itself, and reads from top to bottom.
  expose: 'none',
  topRef: false,
  jsDoc: 'extended',
  additionalProperties: false,
  // The build has done it.
  skipTypeCheck: true,
});

/** Throws when there is no such type: every command has a document. */
function schemaOf(title, typeName) {
  const {$schema, definitions, ...schema} = generator.createSchema(typeName);
  if ($schema !== 'http://json-schema.org/draft-07/schema#' || Object.keys(definitions).length > 0) {
    throw new Error(`${typeName} does not become a schema that draft 2020-12 reads in the same way`);
  }
  return {$schema: 'https://json-schema.org/draft/2020-12/schema', title, ...schema};
}

const ownIds = Object.keys(manifest.commands).filter((id) => !isOclifCommand(id));
const pascal = (id) => id.replace(/(^|:)(\w)/g, (_, __, letter) => letter.toUpperCase());
const documents = [
  ...ownIds.map((id) => ({
    file: `${id.replace(':', '-')}.schema.json`,
    name: `\`mycli ${id}\``,
    schema: schemaOf(`mycli ${id} --json`, `${pascal(id)}Document`),
  })),
  {file: 'error.schema.json', name: 'any command that fails', schema: schemaOf('A failure', 'ErrorDocument')},
];

const page = `# JSON documents

<!-- Written by scripts/json-reference.js from src/cli/output/documents.ts. -->

With \`--json\`, a mycli command prints one JSON document to stdout and nothing else, regardless of what plugins and
configuration files print. Text for people goes to stderr. If a command fails or does not exist, the document is an error
and the exit code matches it ([errors](errors.md)). Each document has a JSON Schema (draft 2020-12):

| command | document | schema |
| --- | --- | --- |
${documents.map(({file, name, schema}) => `| ${name} | ${schema.description} | [${file}](json/${file}) |`).join('\n')}

\`bundle:build --output -\` writes the archive to stdout and can't be combined with \`--json\`. \`runtime:start\` prints its
document on one line when it is ready, and keeps running. \`help\`, \`plugins\`, \`autocomplete\` and \`version\` are oclif's
own commands: mycli guarantees the error document of their failures, but not their other \`--json\` output.

## What \`"schemaVersion": 1\` promises

As long as it is 1, every existing key keeps its name, type and meaning, and required keys stay required. New versions of
mycli can add keys, error codes and \`enum\` values: ignore the ones you don't know. The schemas describe exactly this
version, so that a test can detect changes. To validate documents of another version, use the schemas of that version or
relax \`additionalProperties\`.

Some values have no fixed shape: \`raw\` and \`matches\` come from the server, \`deployment\` belongs to the backend that
created it, \`config\` can contain your own keys, and the \`details\` of an error depend on its \`code\`. Ids are numbers or
strings, depending on the backend. Secrets are masked as \`***\`, except the credentials of \`runtime:start\`, which are
generated for development and meant to be used.
`;

const folder = new URL('json/', reference);
await rm(folder, {recursive: true, force: true});
await mkdir(folder, {recursive: true});
for (const {file, schema} of documents) {
  await writeFile(new URL(file, folder), `${JSON.stringify(schema, undefined, 2)}\n`);
}
await writeFile(new URL('json.md', reference), page);
