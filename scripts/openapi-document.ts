import {toJsonSchema, toJsonSchemaDefs, type ConversionConfig} from '@valibot/to-json-schema';
import * as v from 'valibot';
import {operations, schemas, type NamedOperation} from '../src/wire/index.js';
import type {Half} from '../src/wire/operation.js';
import {pathParameters, range} from '../src/wire/parameters.js';
import {onlyHosted, type Part} from '../src/wire/schema.js';
import {token} from '../src/wire/token.js';

const description = `
The HTTP interface of the services that \`mycli\` pushes bundles to. Implement one of its two halves, **Api** or **legacy**, and mycli can use your server with the backend of that name. The local runtime (\`mycli runtime:start\`) implements both.

- **What to implement.** Uploads and lists of bundles are the minimum. Deployments and lists of deployments let clients deploy, and wait for the outcome.
- **Members.** Ignore members of a request that you don't know, unless its schema has \`additionalProperties: false\`. Answers may have more members than described. Those that are not required may be missing or null; fill in what you can.
- **Marks.** \`x-only-hosted\` marks what the local runtime never answers or sends, \`x-only-local\` what only the local runtime has. Everything else is tested against it.
- **Paths.** The paths of the legacy half end with a slash, those of the Api half do not. Serve both forms of each. Every part of a path is percent-encoded.
- **Methods.** GET implies HEAD. Answer an unknown path with 404, and a known path with another method with 405 and \`Allow\`, in the form of the other refusals.
- **Request headers.** \`User-Agent\` starts with \`mycli/VERSION\`, the semantic version of the client. Some clients send no \`Content-Type\`; assume that of the operation.
- **Answers.** Clients show the \`X-Request-Id\` of an answer in errors, for the support of the service.
- **Refusals.** Every status other than 2xx is a failure, whatever its body, and so is a redirect: clients follow none. If the body has the described form, clients show its text.
- **Repetitions.** After 429, clients wait and send the whole request again. They repeat no other request that uploads, deploys or deletes, because it may have been carried out.
- **Bundle IDs** are integers below 2^53.
`.trim();

const securitySchemes = {
  oauth: {
    type: 'oauth2',
    description: 'An access token of the client credentials grant. The names of scopes are up to the service.',
    flows: {clientCredentials: {tokenUrl: token.operations.requestToken.path, scopes: {}}},
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

const header = (name: string): Part => ({headers: {[name]: {schema: {type: 'string'}}}});

/** Every way to refuse a request, by its name in the document: its status, when it is, and more parts of it. */
const refusals = {
  BadRequest: ['400', 'The path, the query or the body is invalid.'],
  Unauthorized: ['401', 'The credentials are missing, wrong or have expired.', header('WWW-Authenticate')],
  Forbidden: [
    '403',
    'The credentials are valid, but do not allow this. The local runtime also answers this to what browsers send for pages of other origins.',
  ],
  NotFound: [
    '404',
    'What the path or the body names does not exist. In the local runtime, every project and target does: it is created by its first bundle or deployment, and its lists are empty until then.',
  ],
  RequestTimeout: ['408', 'The body stopped arriving. Nothing of it was kept.'],
  Conflict: ['409', 'A deployment to the target is running, or the bundle is in use.'],
  TooLarge: [
    '413',
    'The body is too large. A server may say so before all of it has arrived, and should then read on for a moment, so that the client gets the answer.',
  ],
  UnsupportedMediaType: ['415', 'The body has another content type. A request without one is accepted.'],
  Misdirected: [
    '421',
    'The `Host` header does not name this server. A server for development should check it: otherwise, web pages reach it through DNS rebinding.',
  ],
  Unprocessable: ['422', 'The archive is damaged, unsafe or does not fit its configuration. Nothing of it was kept.'],
  RateLimited: [
    '429',
    'Too many requests. The client waits as long as `Retry-After` says, and longer each time if it says nothing. Then it sends the whole request again. The request must have had no effect.',
    header('Retry-After'),
  ],
  ServerError: [
    '5XX',
    'The server failed. Clients repeat requests that only read; they never repeat one that uploads, deploys or deletes, because it may have been carried out.',
  ],
} as const satisfies Readonly<Record<string, readonly [status: string, description: string, more?: Part]>>;

type RefusalName = keyof typeof refusals;

/** How every operation can refuse, and how one with a body can. */
const always = ['Forbidden', 'Misdirected', 'RateLimited', 'ServerError'] as const;
const ofBody = ['RequestTimeout', 'TooLarge', 'UnsupportedMediaType'] as const;

/** The media type and the schema of refusals. */
const refusalForms = {
  Legacy: ['application/json', 'LegacyError'],
  Api: ['application/problem+json', 'Problem'],
  OAuth: ['application/json', 'OAuthError'],
} as const;

const ref = (kind: string, name: string): Part => ({$ref: `#/components/${kind}/${name}`});

/** How valibot's schemas become JSON Schema: with null as one of several types. */
const conversion: ConversionConfig = {
  target: 'draft-2020-12',
  typeMode: 'input',
  errorMode: 'ignore',
  overrideRef: ({referenceId}) => `#/components/schemas/${referenceId}`,
  overrideSchema({valibotSchema, jsonSchema}) {
    const [inner] = jsonSchema.anyOf ?? [];
    if (valibotSchema.type !== 'nullable' || typeof inner !== 'object' || typeof inner.type !== 'string')
      return jsonSchema;
    const words = inner.enum && {enum: [...inner.enum, null]};
    return {...inner, type: [inner.type, 'null'], ...words};
  },
};

/** A media type with a schema, by its name if it has one. */
function content(type: string, schema: v.GenericSchema): Part {
  const [name] = Object.entries(schemas).find(([, known]) => known === schema) ?? [];
  return {[type]: {schema: name === undefined ? toJsonSchema(schema, conversion) : ref('schemas', name)}};
}

function parameterParts(place: 'path' | 'query', parameters: Readonly<Record<string, v.GenericSchema>>): Part {
  const parts = Object.entries(parameters).map(([name, schema]): [string, Part] => {
    const {$schema: _, description: text, ...rest} = toJsonSchema(schema, conversion);
    return [name, {name, in: place, required: place === 'path', description: text, schema: rest}];
  });
  return Object.fromEntries(parts);
}

function refusalNames({half, path, route, json: body, stream, query, mayConflict}: NamedOperation) {
  const hasBody = body !== undefined || stream !== undefined;
  const isNamed = path.includes(':');
  const names: RefusalName[] = [...always];
  if (hasBody) names.push(...ofBody);
  if (route === 'upload') names.push('Unprocessable');
  if (mayConflict === true) names.push('Conflict');
  if (isNamed) names.push('NotFound');
  if (hasBody || query || isNamed) names.push('BadRequest');
  if (half.security.length > 0) names.push('Unauthorized');
  return names;
}

function refusalPart(kind: Half['kind'], name: RefusalName): Part {
  const [, text, more = {}]: readonly [string, string, Part?] = refusals[name];
  const [type, schema] = refusalForms[kind];
  return {description: text, content: {[type]: {schema: ref('schemas', schema)}}, ...more};
}

function operationPart(operation: NamedOperation): Part {
  const {half, id, summary, description: text, marks, json: schema, query, answer, statuses = [200]} = operation;
  const [status, ...also] = statuses;
  const body = operation.stream ?? (schema && {type: 'application/json', schema});
  const accepted = (code: number): Part => ({
    description: (answer && v.getDescription(answer)) ?? 'Done.',
    ...(answer && code !== 204 && {content: content('application/json', answer)}),
  });
  return {
    operationId: id,
    tags: [half.kind === 'Legacy' ? 'legacy' : 'Api'],
    // An assertion in the body is none of OpenAPI's schemes.
    security: half.security.map((name) => (name === 'assertion' ? {} : {[name]: []})),
    summary,
    ...(text !== undefined && {description: text}),
    ...(query && {parameters: Object.keys(range.entries).map((name) => ref('parameters', name))}),
    ...marks,
    ...(body && {requestBody: {required: true, content: content(body.type, body.schema)}}),
    responses: {
      ...Object.fromEntries(also.map((code) => [code, {...accepted(code), ...onlyHosted}])),
      ...(operation.responses ?? {[status]: accepted(status)}),
      ...Object.fromEntries(
        refusalNames(operation).map((name) => [refusals[name][0], ref('responses', `${half.kind}${name}`)]),
      ),
    },
  };
}

/** The OpenAPI document of all protocols, made of their operations. */
export function openApiDocument() {
  const paths: Record<string, Part> = {};
  const responses: Record<string, Part> = {};
  for (const operation of operations) {
    const path = operation.path.replaceAll(/:(\w+)(?:\{[^}]*\})?/g, '{$1}');
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ref('parameters', name));
    const parameters = names.length > 0 && {parameters: names};
    const part = {[operation.method.toLowerCase()]: operationPart(operation)};
    paths[path] = {...parameters, ...paths[path], ...part};
    for (const name of refusalNames(operation)) {
      responses[`${operation.half.kind}${name}`] = refusalPart(operation.half.kind, name);
    }
  }
  const local = {
    url: 'http://127.0.0.1:{port}',
    description: 'A local runtime. A hosted service may have a path before those below.',
    variables: {port: {default: '8080'}},
  };
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
    servers: [local],
    tags: [
      {name: 'Api', description: 'Runtime (OAuth): v2 bundles.'},
      {name: 'legacy', description: 'Runtime (API key): v1 and v2 bundles.'},
    ],
    paths,
    components: {
      securitySchemes,
      parameters: {...parameterParts('path', pathParameters), ...parameterParts('query', range.entries)},
      responses,
      schemas: toJsonSchemaDefs(schemas, conversion),
    },
  };
}
