// Writes the table of docs/reference/json.md and a JSON Schema for the document of every command into
// docs/reference/json, from the types in src/cli/output/documents.ts and their docstrings. `npm run docs:generate` runs
// it.
import {mkdir, readFile, rm, writeFile} from 'node:fs/promises';
import {createGenerator} from 'ts-json-schema-generator';
import {isOclifCommand} from '../dist/cli/process/oclif-commands.js';
import {fillPage} from './fill-page.js';

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

const folder = new URL('json/', reference);
await rm(folder, {recursive: true, force: true});
await mkdir(folder, {recursive: true});
for (const {file, schema} of documents) {
  await writeFile(new URL(file, folder), `${JSON.stringify(schema, undefined, 2)}\n`);
}
fillPage('json.md', {
  documents: `
| command | document | schema |
| --- | --- | --- |
${documents.map(({file, name, schema}) => `| ${name} | ${schema.description} | [${file}](json/${file}) |`).join('\n')}`,
});
