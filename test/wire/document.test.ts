import {readFile} from 'node:fs/promises';
import {Validator} from '@seriousme/openapi-schema-validator';
import {describe, expect, test} from 'vitest';
import {openApiDocument, wireProtocols} from '../../src/local-runtime/wire/openapi.js';
import {answerShapes, refusalShapes, type AnswerShape, type Json} from '../backends/answer-shapes.js';
import {sendRaw} from '../local-runtime/client.js';
import {startRuntime} from '../local-runtime/with-runtime.js';
import {answerOf, departures, document, operationAt, operations} from './contract.js';
import {answerProblems, requestProblems, type Exchange} from './exchange.js';

test('the document is valid OpenAPI 3.1', async () => {
  const validator = new Validator();
  const {valid, errors} = await validator.validate(JSON.parse(JSON.stringify(openApiDocument())));
  expect({valid, errors, version: validator.version}).toEqual({valid: true, errors: undefined, version: '3.1'});
});

test('docs/reference/openapi.json is the document', async () => {
  const published = await readFile(new URL('../../docs/reference/openapi.json', import.meta.url), 'utf8');
  expect(JSON.parse(published)).toEqual(document);
});

test('each operation has a name of its own, and each route an operation', () => {
  const routes = wireProtocols.flatMap(({routes}) => routes.map(({method, path}) => `${method} ${path}`));
  expect(operations.map(({method, path}) => `${method} ${path}`).sort()).toEqual(routes.sort());
  expect(new Set(operations.map(({id}) => id)).size).toBe(operations.length);
});

test('the parameters in a path are described', () => {
  const described = operations.map(({id, path, parameters}) => ({
    id,
    names: parameters.filter((parameter) => parameter.in === 'path').map(({name}) => `{${name}}`),
    path: path.match(/\{\w+\}/g) ?? [],
  }));
  expect(described).toEqual(described.map(({id, path}) => ({id, names: path, path})));
});

test('the examples fit their schemas', () => {
  const {schemas, parameters} = document.components;
  const misfits = [
    ...Object.entries(schemas).flatMap(([name, schema]) =>
      [...((schema['examples'] ?? []) as readonly unknown[])].flatMap((example) =>
        departures({$ref: `#/components/schemas/${name}`}, example, 'open').map((misfit) => `${name}: ${misfit}`),
      ),
    ),
    ...Object.values(parameters).flatMap(({name, schema, example}) =>
      example === undefined ? [] : departures(schema, example, 'open').map((misfit) => `${name}: ${misfit}`),
    ),
    ...operations.flatMap(({id, answers}) =>
      Object.entries(answers).flatMap(([status, {content = {}}]) =>
        Object.values(content).flatMap(({schema, example}) =>
          example === undefined
            ? []
            : departures(schema, example, 'open').map((misfit) => `${id} ${status}: ${misfit}`),
        ),
      ),
    ),
  ];
  expect(misfits).toEqual([]);
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

/** A copy without a member, or with null in its place. */
function without(value: Json, [key, ...rest]: readonly string[], member: null | undefined): Json {
  if (typeof value !== 'object' || value === null || key === undefined) return value;
  const changed = Object.entries(value as Readonly<Record<string, Json>>).flatMap(([name, old]) => {
    if (name !== key) return [[name, old] as const];
    if (rest.length > 0) return [[name, without(old, rest, member)] as const];
    return member === null ? [[name, null] as const] : [];
  });
  return Array.isArray(value) ? changed.map(([, item]) => item) : Object.fromEntries(changed);
}

describe('the answers of hosted services', () => {
  const shapes: readonly (readonly [string, AnswerShape])[] = Object.entries(answerShapes);

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
        expect([path, departures(schema, without(filled, path.split('.'), member), 'open')]).toEqual([path, []]);
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

const row = {
  id: 1,
  message: '',
  status: 1,
  deletion_status: 'ACTIVE',
  user: 'a',
  created_at: '2026-01-02T03:04:05.000Z',
  updated_at: '2026-01-02T03:04:05.000Z',
  in_use_by: [],
};
const listed: Exchange = {
  method: 'GET',
  url: '/api/projects/shop/bundles/?limit=1',
  headers: {authorization: 'Bearer key'},
  body: Buffer.alloc(0),
  status: 200,
  answerHeaders: {'content-type': 'application/json', 'x-request-id': 'r'},
  answerBody: Buffer.from(JSON.stringify({count: 1, next: null, previous: null, results: [row]})),
};
const json = (value: unknown) => Buffer.from(JSON.stringify(value));
const deployed: Exchange = {
  ...listed,
  method: 'POST',
  url: '/api/projects/shop/target/staging/deploy/',
  headers: {authorization: 'Bearer key', 'content-type': 'application/json'},
  body: json({bundle_id: 1}),
};

describe('a departure from the document is found:', () => {
  const {created_at: createdAt, ...rest} = row;
  const page = {count: 1, next: null, previous: null};

  test.each<readonly [string, Partial<Exchange>, string]>([
    [
      'a member with another name',
      {answerBody: json({...page, results: [{...rest, createdAt}]})},
      '/results/0 must NOT have additional properties: createdAt',
    ],
    [
      'a missing member',
      {answerBody: json({...page, results: [rest]})},
      "/results/0 must have required property 'created_at'",
    ],
    [
      'a member of another type',
      {answerBody: json({...page, results: [{...row, id: '1'}]})},
      '/results/0/id must be integer',
    ],
    [
      'a time in another form',
      {answerBody: json({...page, results: [{...row, created_at: 'now'}]})},
      '/results/0/created_at must match format "date-time"',
    ],
    ['a status', {status: 206}, 'the status 206 is not documented'],
    [
      'a status of hosted services',
      {method: 'DELETE', url: '/api/projects/shop/bundles/1/', status: 204, answerBody: Buffer.alloc(0)},
      'the status 204 is documented as one of hosted services only',
    ],
    [
      'a content type',
      {answerHeaders: {...listed.answerHeaders, 'content-type': 'text/html'}},
      'its content type is text/html, not application/json',
    ],
    ['a missing header', {answerHeaders: {'content-type': 'application/json'}}, 'it has no header X-Request-Id'],
    [
      'a route',
      {url: '/api/projects/shop/secrets/'},
      'GET /api/projects/shop/secrets/ is not documented, and was answered with 200',
    ],
    [
      'the form of a refusal of what is not served',
      {
        url: '/storefront/secrets',
        status: 404,
        answerBody: json({detail: 'Nothing is served at /storefront/secrets.'}),
      },
      'its content type is application/json, not application/problem+json',
    ],
  ])('in an answer: %s', (_, change, problem) => {
    expect(answerProblems(listed)).toEqual([]);
    expect(answerProblems({...listed, ...change})).toContain(problem);
  });

  test.each<readonly [string, Partial<Exchange>, string]>([
    ['a member with another name', {body: json({bundleId: 1})}, "it must have required property 'bundle_id'"],
    ['an unknown member', {body: json({bundle_id: 1, force: true})}, 'it must NOT have additional properties: force'],
    [
      'a content type',
      {headers: {...deployed.headers, 'content-type': 'text/plain'}},
      'its content type is text/plain, not application/json',
    ],
    ['no credentials', {headers: {'content-type': 'application/json'}}, 'its credentials are not Bearer or Basic'],
    ['an unknown query parameter', {url: `${deployed.url}?force=1`}, 'the query parameter force is not documented'],
    ['a route', {url: '/api/projects/shop/secrets/'}, 'POST /api/projects/shop/secrets/ is not documented'],
  ])('in a request: %s', (_, change, problem) => {
    expect(requestProblems(deployed)).toEqual([]);
    expect(requestProblems({...deployed, ...change})).toContain(problem);
  });

  test('in a request: credentials for a presigned URL', () => {
    const url = '/api/archives/shop/1?expires=1&signature=x';
    expect(requestProblems({...listed, url})).toEqual(['it has credentials, which it does not need']);
  });

  test('in a request: the parts of a form', () => {
    const upload = (...parts: readonly string[]): Exchange => ({
      ...listed,
      method: 'POST',
      url: '/api/v2/projects/shop/bundles/',
      headers: {authorization: 'Bearer key', 'content-type': 'multipart/form-data; boundary=b'},
      body: Buffer.from(
        `${parts.map((part) => `--b\r\ncontent-disposition: form-data; ${part}\r\n`).join('')}--b--\r\n`,
      ),
    });
    const bundle = 'name="bundle"; filename="bundle.tar.gz"\r\ncontent-type: application/octet-stream\r\n\r\n...';
    expect(requestProblems(upload(bundle, 'name="matchMode"\r\n\r\nstrict'))).toEqual([]);
    expect(requestProblems(upload('name="message"\r\n\r\nhello'))).toEqual(["it must have required property 'bundle'"]);
    expect(
      requestProblems(upload(bundle, 'name="matchMode"\r\n\r\nlax', 'name="rootDir"\r\n\r\n../x', 'name="x"\r\n\r\n')),
    ).toEqual([
      'it must NOT have additional properties: x',
      expect.stringContaining('/rootDir must match pattern'),
      '/matchMode must be equal to one of the allowed values',
    ]);
  });
});
