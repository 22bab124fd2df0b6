// Writes a JSON Schema for the document of every command and for every type of event into dist/schemas, from the types in
// src/cli/output/documents.ts and src/operations/events.ts and their docstrings. `npm run build` runs it.
import {mkdir, readFile, writeFile} from 'node:fs/promises';
import {createGenerator} from 'ts-json-schema-generator';
import {isOclifCommand} from '../dist/cli/command/command-line.js';

const manifest = JSON.parse(await readFile('oclif.manifest.json', 'utf8'));

// The generator takes the whole path for a pattern.
const here = process.cwd().replaceAll(/[?*()[\]]/g, '[$&]');
const generator = createGenerator({
  path: `${here}/dist/{cli/output/documents,bundle/archive/manifest,operations/events}.d.ts`,
  tsconfig: 'tsconfig.json',
  // Each schema is complete in itself, and reads from top to bottom.
  expose: 'none',
  topRef: false,
  jsDoc: 'extended',
  additionalProperties: false,
  // The build has done it.
  skipTypeCheck: true,
});

const $schema = 'https://json-schema.org/draft/2020-12/schema';

function schemaOf(title, typeName) {
  const {$schema: draft, definitions, ...schema} = generator.createSchema(typeName);
  if (draft !== 'http://json-schema.org/draft-07/schema#' || Object.keys(definitions).length > 0) {
    throw new Error(`${typeName} does not become a schema that draft 2020-12 reads in the same way`);
  }
  return {$schema, title, ...schema};
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

const {properties: documents} = schemaOf('', 'Documents');
const eventTypes = ['step', 'progress', 'wait', 'warning', 'outcome'];
const schemas = {
  manifest: schemaOf('The manifest of an archive', 'BundleManifest'),
  error: printed(schemaOf('A failure', 'ErrorDocument')),
  event: schemaOf('An event', 'RuntimeEvent'),
};
for (const id of Object.keys(manifest.commands).filter((id) => !isOclifCommand(id))) {
  if (documents[id] === undefined) throw new Error(`${id} has no document.`);
  schemas[id.replace(':', '-')] = printed({$schema, title: `mycli ${id} --json`, ...documents[id]});
}
for (const type of eventTypes) {
  const typeName = `${type[0].toUpperCase()}${type.slice(1)}Event`;
  schemas[`event-${type}`] = schemaOf(`An event: ${type}`, typeName);
}

await mkdir('dist/schemas');
for (const [name, schema] of Object.entries(schemas)) {
  await writeFile(`dist/schemas/${name}.schema.json`, `${JSON.stringify(schema, undefined, 2)}\n`);
}
