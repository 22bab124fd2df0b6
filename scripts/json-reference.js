// Writes the tables of docs/reference/json.md and docs/reference/events.md, and a JSON Schema for the document of every
// command and for every type of event into docs/reference/json, from the types in src/cli/output/documents.ts and
// src/operations/events.ts and their docstrings. `npm run docs:generate` runs it.
import {mkdir, readFile, rm, writeFile} from 'node:fs/promises';
import {createGenerator} from 'ts-json-schema-generator';
import {isOclifCommand} from '../dist/cli/command/command-line.js';
import {fillPage} from './fill-page.js';

const reference = new URL('../docs/reference/', import.meta.url);
const manifest = JSON.parse(await readFile(new URL('../oclif.manifest.json', import.meta.url), 'utf8'));

const generator = createGenerator({
  path: 'dist/{cli/output/documents,bundle/archive/manifest,operations/events}.d.ts',
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

/** What the output adds to every document. */
const added = {
  schemaVersion: {
    type: 'number',
    const: 1,
    description: 'Increased when a key is removed or changes meaning. New keys do not increase it.',
  },
  warnings: {type: 'array', items: {type: 'string'}, description: 'The warnings printed to stderr.'},
};

/** The schema of a document, or of each of its alternatives, as it is printed. */
function printed(schema) {
  const {anyOf, properties, required = []} = schema;
  if (anyOf !== undefined) return {...schema, anyOf: anyOf.map(printed)};
  return {...schema, properties: {...properties, ...added}, required: [...required, 'schemaVersion']};
}

const ownIds = Object.keys(manifest.commands).filter((id) => !isOclifCommand(id));
const pascal = (id) => id.replace(/(^|:)(\w)/g, (_, __, letter) => letter.toUpperCase());
const documents = [
  ...ownIds.map((id) => ({
    file: `${id.replace(':', '-')}.schema.json`,
    name: `\`mycli ${id}\``,
    schema: printed(schemaOf(`mycli ${id} --json`, `${pascal(id)}Document`)),
  })),
  {
    file: 'manifest.schema.json',
    name: 'the manifest of `bundle:build`',
    schema: schemaOf('The manifest of an archive', 'BundleManifest'),
  },
  {
    file: 'error.schema.json',
    name: 'any command that fails',
    schema: printed(schemaOf('A failure', 'ErrorDocument')),
  },
];

const events = ['step', 'progress', 'wait', 'warning', 'outcome'].map((type) => ({
  file: `event-${type}.schema.json`,
  name: `\`${type}\``,
  schema: schemaOf(`An event: ${type}`, `${pascal(type)}Event`),
}));
const anyEvent = {file: 'event.schema.json', name: 'any', schema: schemaOf('An event', 'RuntimeEvent')};

const folder = new URL('json/', reference);
await rm(folder, {recursive: true, force: true});
await mkdir(folder, {recursive: true});
for (const {file, schema} of [...documents, ...events, anyEvent]) {
  await writeFile(new URL(file, folder), `${JSON.stringify(schema, undefined, 2)}\n`);
}
const rows = (list) =>
  list.map(({file, name, schema}) => `| ${name} | ${schema.description} | [${file}](json/${file}) |`).join('\n');
fillPage('json.md', {
  documents: `
| command | document | schema |
| --- | --- | --- |
${rows(documents)}`,
});
fillPage('events.md', {
  types: `
| type | meaning | schema |
| --- | --- | --- |
${rows([...events, anyEvent])}`,
});
