import {STATUS_CODES} from 'node:http';
import {toJsonSchema, toJsonSchemaDefs, type ConversionConfig, type JsonSchema} from '@valibot/to-json-schema';
import type * as v from 'valibot';
import {json} from '../answer.js';
import {apiProtocol} from './api.js';
import {archiveProtocol} from './archive.js';
import {legacyProtocol} from './legacy.js';
import {operation, type Operation, type WireProtocol} from './operation.js';
import {pathParameters, range, schemas} from './parameters.js';
import {always, refusals, refusalsOf, type RefusalKind, type RefusalName} from './refusals.js';
import {onlyHosted, onlyLocal, type Part} from './schemas.js';
import {tokenPath, tokenProtocol} from './token.js';

const description = `
The HTTP interface of the services that \`mycli\` pushes bundles to. Implement one of its two halves, **Api** or **legacy**, and mycli can use your server with the backend of that name. The local runtime (\`mycli runtime:start\`) implements both.

- **What to implement.** Uploads and lists of bundles are the minimum. Deployments and lists of deployments let clients deploy, and wait for the outcome.
- **Members.** Ignore members of a request that you don't know, unless its schema has \`additionalProperties: false\`. Answers may have more members than described. Those that are not required may be missing or null; fill in what you can.
- **Marks.** \`x-only-hosted\` marks what the local runtime never answers or sends, \`x-only-local\` what only the local runtime has. Everything else is tested against it.
- **Paths.** The paths of the legacy half end with a slash, those of the Api half do not. Serve both forms of each. Every part of a path is percent-encoded.
- **Methods.** GET implies HEAD. Answer an unknown path with 404, and a known path with another method with 405 and \`Allow\`, in the form of the other refusals.
- **Request headers.** \`User-Agent\` starts with \`mycli/VERSION\`, the semantic version of the client. Some clients send no \`Content-Type\`; assume that of the operation.
- **Refusals.** Every status other than 2xx is a failure, whatever its body, and so is a redirect: clients follow none. If the body has the described form, clients show its text.
- **Repetitions.** After 429, clients wait and send the whole request again. They repeat no other request that uploads, deploys or deletes, because it may have been carried out.
- **Bundle IDs** are integers below 2^53.
`.trim();

const securitySchemes = {
  oauth: {
    type: 'oauth2',
    description: 'An access token of the client credentials grant. The names of scopes are up to the service.',
    flows: {clientCredentials: {tokenUrl: tokenPath, scopes: {}}},
  },
  accessToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'An access token from elsewhere. Clients cannot renew it.',
  },
  client: {type: 'http', scheme: 'basic', description: 'The client ID as the user, the client secret as the password.'},
  apiKey: {type: 'http', scheme: 'bearer', description: 'The API key of a user.'},
  apiKeyOfUser: {type: 'http', scheme: 'basic', description: 'A user name, and the API key as the password.'},
};

const headers = {
  RequestId: ['ID of the request. Clients show it in errors, for the support of the service.', undefined],
  RetryAfter: ['Seconds to wait, or an HTTP date to wait for.', '2'],
  WwwAuthenticate: ['The scheme that is expected, and what is wrong.', 'Bearer error="invalid_token"'],
  ETag: [
    'A strong validator, in quotes. A download can only be resumed if there is one.',
    '"5d41402abc4b2a76b9719d911017c592"',
  ],
  AcceptRanges: ['`bytes`.', undefined],
  ContentRange: ['The part that follows, or after 416 the size of the archive.', 'bytes 1048576-4194303/4194304'],
} as const;

const refusalForms = {
  Legacy: {
    type: 'application/json',
    schema: 'LegacyError',
    example: ({example}: {readonly example: string}) => ({detail: example, message: example}),
  },
  Api: {
    type: 'application/problem+json',
    schema: 'Problem',
    example: ({status, example}: {readonly status: string; readonly example: string}) => ({
      ...{title: STATUS_CODES[status] ?? 'Internal Server Error', type: 'about:blank', detail: example},
    }),
  },
  OAuth: {
    type: 'application/json',
    schema: 'OAuthError',
    example: ({example}: {readonly example: string}) => ({error: 'invalid_request', error_description: example}),
  },
} as const;

const ref = (kind: string, name: string): Part => ({$ref: `#/components/${kind}/${name}`});
const requestId = {'X-Request-Id': ref('headers', 'RequestId')};
const headerNames = {WwwAuthenticate: 'WWW-Authenticate', RetryAfter: 'Retry-After'} as const;

/** How valibot's schemas become JSON Schema: with null as one of several types. */
const conversion: ConversionConfig = {
  target: 'draft-2020-12',
  typeMode: 'input',
  errorMode: 'ignore',
  overrideRef: ({referenceId}) => `#/components/schemas/${referenceId}`,
  overrideSchema({valibotSchema, jsonSchema}) {
    const [inner] = jsonSchema.anyOf ?? [];
    if (valibotSchema.type !== 'nullish' || typeof inner !== 'object' || typeof inner.type !== 'string')
      return jsonSchema;
    const words = inner.enum && {enum: [...inner.enum, null]};
    return {...inner, type: [inner.type, 'null'], ...words};
  },
};

/** A schema of the document, by its name if it has one. */
function schemaPart(schema: v.GenericSchema): Part {
  const [name] = Object.entries(schemas).find(([, known]) => known === schema) ?? [];
  return name === undefined ? partOf(toJsonSchema(schema, conversion)) : ref('schemas', name);
}

function partOf({$schema: _, ...schema}: JsonSchema): Part {
  return schema;
}

/** A parameter, whose description and example are its own and not its schema's. */
function parameterPart(name: string, place: 'path' | 'query', schema: v.GenericSchema): Part {
  const {description: text, examples, ...rest} = partOf(toJsonSchema(schema, conversion));
  const example = Array.isArray(examples) ? {example: examples[0] as unknown} : {};
  return {name, in: place, ...(place === 'path' && {required: true}), description: text, schema: rest, ...example};
}

function operationPart(protocol: WireProtocol, route: Operation): Part {
  const {id, summary, description: text, marks, stream, json: schema, query, answer, refuses} = route;
  const body = stream ?? (schema && {type: 'application/json', schema});
  const sent = Object.entries(answer.headers ?? {}).map(([name, value]) => {
    const title = name.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase());
    return [title, {required: true, schema: {type: 'string', const: value}}];
  });
  const accepted = (words: string, more: Part = {}, hasBody = true): Part => ({
    description: words,
    headers: {...requestId, ...Object.fromEntries(sent)},
    ...(answer.schema && hasBody && {content: {'application/json': {schema: schemaPart(answer.schema)}}}),
    ...more,
  });
  const also = Object.entries(answer.also ?? {}).map(([status, words]) => [
    ...[status, accepted(words, onlyHosted, status !== '204')],
  ]);
  const names: readonly RefusalName[] = [...refusalsOf[refuses], ...always];
  return {
    operationId: id,
    tags: [protocol.tag],
    security: protocol.security.map((name) => ({[name]: []})),
    summary,
    ...(text !== undefined && {description: text}),
    ...(query && {parameters: Object.keys(range.entries).map((name) => ref('parameters', name))}),
    ...marks,
    ...(body && {requestBody: {required: true, content: {[body.type]: {schema: schemaPart(body.schema)}}}}),
    responses: {
      ...Object.fromEntries(also),
      ...(answer.others ?? {[answer.status]: accepted(answer.description)}),
      ...Object.fromEntries(names.map((name) => [refusals[name].status, ref('responses', `${protocol.kind}${name}`)])),
    },
  };
}

function refusalParts(kind: RefusalKind, names: ReadonlySet<string>): readonly (readonly [string, Part])[] {
  const {type, schema, example} = refusalForms[kind];
  return Object.entries(refusals).flatMap(([name, refusal]) => {
    if (!names.has(name)) return [];
    const header = 'header' in refusal ? {[headerNames[refusal.header]]: ref('headers', refusal.header)} : {};
    const part = {
      description: refusal.description,
      headers: {...requestId, ...header},
      content: {[type]: {schema: ref('schemas', schema), example: example(refusal)}},
      ...('isHosted' in refusal ? onlyHosted : {}),
    };
    return [[`${kind}${name}`, part] as const];
  });
}

/** The description of the protocols, which needs no credentials. */
export const openApiProtocol: WireProtocol = {
  ...({prefix: '/openapi.json', kind: 'Legacy', tag: 'local', security: [], admit: () => 'reader'} as const),
  failure: ({status, message, headers: more}) => json(status, {detail: message, message}, more),
  routes: [
    operation({
      ...({method: 'GET', path: '/openapi.json', name: 'openapi', refuses: 'document', id: 'getOpenApi'} as const),
      summary: 'This document',
      description: 'The server in it is the one that was asked.',
      marks: onlyLocal,
      answer: {status: 200, description: 'The document.', schema: schemas.OpenApiDocument},
      handle: ({origin}) => openApiDocument(origin),
    }),
  ],
};

/** Every protocol of the wire. */
export const wireProtocols: readonly WireProtocol[] = [
  tokenProtocol,
  archiveProtocol,
  legacyProtocol,
  apiProtocol,
  openApiProtocol,
];

/** The parts that are made of the values of an object. */
function mapped<Value>(values: Readonly<Record<string, Value>>, part: (value: Value, name: string) => Part): Part {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, part(value, name)]));
}

/**
 * The OpenAPI document of all protocols, made of their operations.
 * @param origin of the server. @default the local runtime's address with its port left open
 */
export function openApiDocument(origin?: string) {
  const paths: Record<string, Part> = {};
  for (const protocol of wireProtocols) {
    for (const route of protocol.routes) {
      const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ref('parameters', name));
      paths[route.path] = {
        ...(names.length > 0 && {parameters: names}),
        ...paths[route.path],
        [route.method.toLowerCase()]: operationPart(protocol, route),
      };
    }
  }
  const responses = (['Legacy', 'Api', 'OAuth'] as const).flatMap((kind) => {
    const routes = wireProtocols.filter((protocol) => protocol.kind === kind).flatMap(({routes: own}) => own);
    return refusalParts(kind, new Set([...always, ...routes.flatMap(({refuses}) => refusalsOf[refuses])]));
  });
  const server =
    origin === undefined
      ? {
          url: 'http://127.0.0.1:{port}',
          description: 'A local runtime. A hosted service may have a path before those below.',
          variables: {port: {default: '8080'}},
        }
      : {url: origin, description: 'This local runtime.'};
  return {
    openapi: '3.1.1',
    info: {
      title: 'Runtime',
      version: '1.0.0',
      summary: 'The wire between mycli and a hosting service.',
      description,
      license: {name: 'Apache-2.0', identifier: 'Apache-2.0'},
    },
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    servers: [server],
    tags: [
      {name: 'Api', description: 'The Api backend: OAuth, v2 bundles.'},
      {name: 'legacy', description: 'The legacy backend: API key, v1 and v2 bundles.'},
      {name: 'local', description: 'What only the local runtime serves.'},
    ],
    paths,
    components: {
      securitySchemes,
      parameters: {
        ...mapped(pathParameters, (schema, name) => parameterPart(name, 'path', schema)),
        ...mapped(range.entries, (schema, name) => parameterPart(name, 'query', schema)),
      },
      headers: mapped(headers, ([text, example]) => ({
        ...{description: text, schema: {type: 'string'}, ...(example !== undefined && {example})},
      })),
      responses: Object.fromEntries(responses),
      schemas: toJsonSchemaDefs(schemas, conversion),
    },
  };
}
