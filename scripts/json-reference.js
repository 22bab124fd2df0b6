// Writes docs/reference/json.md and a JSON Schema for the document of every command into docs/reference/json, from the types
// in src/cli/output/documents.ts and their docstrings. `npm run docs:generate` runs it.
import {mkdir, readFile, rm, writeFile} from 'node:fs/promises';
import {createGenerator} from 'ts-json-schema-generator';

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

const pascal = (id) => id.replace(/(^|:)(\w)/g, (_, __, letter) => letter.toUpperCase());
const documents = [
  ...Object.keys(manifest.commands).map((id) => ({
    file: `${id.replace(':', '-')}.schema.json`,
    name: `\`mycli ${id}\``,
    schema: schemaOf(`mycli ${id} --json`, `${pascal(id)}Document`),
  })),
  {file: 'error.schema.json', name: 'any of them, when it fails', schema: schemaOf('A failure', 'ErrorDocument')},
];

const page = `# JSON documents

<!-- Written by scripts/json-reference.js from src/cli/output/documents.ts. -->

With \`--json\` a command of mycli prints one JSON document on stdout and nothing else there, whatever plugins and configuration files
print; what people read goes to stderr. When a command fails, or is no command at all, the document is an error and the exit
code says the same ([errors](errors.md)). Each document has a JSON Schema (draft 2020-12):

| document of | what it is | schema |
| --- | --- | --- |
${documents.map(({file, name, schema}) => `| ${name} | ${schema.description} | [${file}](json/${file}) |`).join('\n')}

\`bundle:build --output -\` writes the archive to stdout and does not go with \`--json\`. \`runtime:start\` prints its document, one line,
when it is ready, and goes on. \`help\`, \`plugins\`, \`autocomplete\` and \`version\` are oclif's own commands: what they print with \`--json\` is not ours
to promise, and of their failures only the error document is.

## What \`"schemaVersion": 1\` promises

As long as it is 1, a key that is there keeps its name, its type and its meaning, and a key that is required stays. A new version
of mycli may add keys, error codes, and values to what is an \`enum\` here: ignore what you do not know. The schemas are
those of this version, to the last key, so that a test can tell what has changed; to check documents of other versions, take
the schemas of those, or lift \`additionalProperties\`.

Some things are open, because others decide what is in them: \`raw\` and \`matches\` are what the server sent, \`deployment\` is for the backend that
made it, \`config\` may have keys of your own, and \`details\` of an error depend on its \`code\`. Ids are numbers or strings, whatever the
backend has. Secrets are masked as \`***\`, but for the credentials of \`runtime:start\`, which are made for development and for you.
`;

const folder = new URL('json/', reference);
await rm(folder, {recursive: true, force: true});
await mkdir(folder, {recursive: true});
for (const {file, schema} of documents) {
  await writeFile(new URL(file, folder), `${JSON.stringify(schema, undefined, 2)}\n`);
}
await writeFile(new URL('json.md', reference), page);
