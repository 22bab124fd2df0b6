import {readFile} from 'node:fs/promises';
import {Validator} from '@seriousme/openapi-schema-validator';
import {expect, test} from 'vitest';
import {openApiDocument} from '../../scripts/openapi-document.js';
import {sendRaw} from '../local-runtime/client.js';
import {startRuntime} from '../local-runtime/with-runtime.js';
import {document, operations} from './contract.js';

test('the document is valid OpenAPI 3.1', async () => {
  const validator = new Validator();
  const {valid, errors} = await validator.validate(JSON.parse(JSON.stringify(openApiDocument())));
  expect({valid, errors, version: validator.version}).toEqual({valid: true, errors: undefined, version: '3.1'});
});

test('the package has the document', async () => {
  const published = await readFile(new URL('../../dist/openapi.json', import.meta.url), 'utf8');
  expect(JSON.parse(published)).toEqual(document);
});

test('each operation has a name of its own', () => {
  expect(new Set(operations.map(({id}) => id)).size).toBe(operations.length);
});

test('every schema is used, or is that of the file in an archive', () => {
  const text = JSON.stringify(document);
  const unused = Object.entries(document.components).flatMap(([kind, parts]) =>
    kind === 'securitySchemes'
      ? []
      : Object.keys(parts).filter((name) => !text.includes(`"#/components/${kind}/${name}"`)),
  );
  expect(unused).toEqual(['BundleConfig']);
});

test('the local runtime serves the document, with its own address, to everyone', async () => {
  const {runtime} = await startRuntime();
  const {status, headers, body} = await sendRaw(`${runtime.origin}/openapi.json`);
  expect({status, type: headers['content-type']}).toEqual({status: 200, type: 'application/json'});
  const {servers, ...rest} = JSON.parse(body) as {readonly servers: readonly {readonly url: string}[]};
  expect(servers).toEqual([{url: runtime.origin, description: 'This local runtime.'}]);
  const {servers: _, ...published} = openApiDocument();
  expect(rest).toEqual(JSON.parse(JSON.stringify(published)));
});
