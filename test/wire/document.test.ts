import {readFile} from 'node:fs/promises';
import {Validator} from '@seriousme/openapi-schema-validator';
import {describe, expect, test} from 'vitest';
import {openApiDocument} from '../../scripts/openapi-document.js';
import {
  answerShapes,
  refusalShapes,
  shapeOf,
  withMember,
  type AnswerShape,
  type Json,
} from '../backends/answer-shapes.js';
import {sendRaw} from '../local-runtime/client.js';
import {startRuntime} from '../local-runtime/with-runtime.js';
import {answerOf, departures, document, operationAt, operations} from './contract.js';

test('the document is valid OpenAPI 3.1', async () => {
  const validator = new Validator();
  const {valid, errors} = await validator.validate(JSON.parse(JSON.stringify(openApiDocument())));
  expect({valid, errors, version: validator.version}).toEqual({valid: true, errors: undefined, version: '3.1'});
});

test('docs/reference/openapi.json is the document', async () => {
  const published = await readFile(new URL('../../docs/reference/openapi.json', import.meta.url), 'utf8');
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

/** A path that a pattern of the published answers stands for. */
function pathOf(name: string, {path}: AnswerShape): string {
  if (name === 'token') return '/api/oauth2/token';
  const literal = path.source.replaceAll('\\/', '/').replaceAll('[^/]+', 'x').replaceAll(/[\^$]/g, '');
  const storefront = literal.startsWith('/environments/') ? '/storefronts/x' : '';
  return `${name.startsWith('Api') ? '/storefront/deployments/v1/organizations/acme' : ''}${storefront}${literal}`;
}

describe('the answers of hosted services', () => {
  const shapes = (Object.keys(answerShapes) as (keyof typeof answerShapes)[]).map(
    (name) => [name, shapeOf(name)] as const,
  );

  test.each(shapes)('%s: has the documented statuses', (name, shape) => {
    const found = operationAt(shape.method, pathOf(name, shape));
    const successes = Object.keys(found?.operation.answers ?? {}).filter((status) => status.startsWith('2'));
    expect(successes).toEqual([shape.status, ...(shape.alsoStatus ?? [])].map(String).sort());
  });

  test.each(shapes)('%s: fits its schema, also without each optional member', (name, shape) => {
    const found = operationAt(shape.method, pathOf(name, shape));
    const [, {content = {}} = {}] = (found && answerOf(found.operation, shape.status)) ?? [];
    const [{schema} = {schema: undefined}] = Object.values(content);
    const {answer, optional} = shape;
    if (answer === undefined) {
      expect(schema).toBeUndefined();
      return;
    }
    if (schema === undefined) throw new Error('it has no schema');
    const filled = JSON.parse(JSON.stringify(answer).replaceAll('{origin}', 'http://runtime.example')) as Json;
    // Every member is documented, whoever sends it.
    expect(departures(schema, filled, 'request')).toEqual([]);
    for (const path of optional) {
      for (const member of [null, undefined]) {
        expect([path, departures(schema, withMember(filled, path.split('.'), member), 'open')]).toEqual([path, []]);
      }
    }
  });

  test('refusals fit their schemas', () => {
    const {LegacyError = {}, Problem = {}} = document.components.schemas;
    expect(departures(LegacyError, refusalShapes['legacy refusal'].answer, 'request')).toEqual([]);
    expect(departures(Problem, refusalShapes['Api refusal'].answer, 'request')).toEqual([]);
  });
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
