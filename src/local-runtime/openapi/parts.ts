import {apiIdentifier} from '../protocols/admission.js';
import {defaultLimit, maxLimit} from '../protocols/requested-records.js';
import {onlyHosted, ref, type Part} from './schema-parts.js';

/** How a group of operations says no. */
export type Refusals = 'Legacy' | 'Api' | 'OAuth';

const refusalBodies: Readonly<Record<Refusals, {readonly type: string; readonly schema: string}>> = {
  Legacy: {type: 'application/json', schema: 'LegacyError'},
  Api: {type: 'application/problem+json', schema: 'Problem'},
  OAuth: {type: 'application/json', schema: 'OAuthError'},
};

const refusalExamples: Readonly<Record<Refusals, (detail: string, title: string) => unknown>> = {
  Legacy: (detail) => ({detail, message: detail}),
  Api: (detail, title) => ({title, type: 'about:blank', detail}),
  OAuth: (detail) => ({error: 'invalid_request', error_description: detail}),
};

interface Refusal {
  readonly name: string;
  readonly status: string;
  readonly title: string;
  readonly description: string;
  readonly example: string;
  readonly headers?: Part;
  readonly hosted?: boolean;
}

const refusals = {
  badRequest: {
    name: 'BadRequest',
    status: '400',
    title: 'Bad Request',
    description: 'The path, the query or the body is invalid.',
    example: 'The query is invalid at "limit": must be at most 200.',
  },
  unauthorized: {
    name: 'Unauthorized',
    status: '401',
    title: 'Unauthorized',
    description: 'The credentials are missing, wrong or have expired.',
    example: 'The API key is wrong.',
    headers: {'WWW-Authenticate': ref('headers', 'WwwAuthenticate')},
  },
  forbidden: {
    name: 'Forbidden',
    status: '403',
    title: 'Forbidden',
    description:
      'The credentials are valid, but do not allow this. The local runtime also answers this to what browsers send for pages of other origins.',
    example: 'The credentials do not allow this.',
  },
  notFound: {
    name: 'NotFound',
    status: '404',
    title: 'Not Found',
    description: 'What the path or the body names does not exist.',
    example: 'The project "shop" has no bundle 42.',
  },
  unknownProject: {
    name: 'UnknownProject',
    status: '404',
    title: 'Not Found',
    description:
      'The project or target does not exist. In the local runtime, every one does: it is created by its first bundle or deployment, and its lists are empty until then.',
    example: 'The project "shop" does not exist.',
    hosted: true,
  },
  timeout: {
    name: 'RequestTimeout',
    status: '408',
    title: 'Request Timeout',
    description: 'The body stopped arriving. Nothing of it was kept.',
    example: 'The upload stalled and was aborted.',
  },
  conflict: {
    name: 'Conflict',
    status: '409',
    title: 'Conflict',
    description: 'A deployment to the target is running, or the bundle is in use.',
    example: 'Bundle 41 has been deploying to "staging" since 2026-01-02T03:04:05.000Z.',
  },
  tooLarge: {
    name: 'TooLarge',
    status: '413',
    title: 'Payload Too Large',
    description:
      'The body is too large. A server may say so before all of it has arrived, and should then read on for a moment, so that the client gets the answer.',
    example: 'The body is larger than the limit of 419430400 bytes.',
  },
  unsupported: {
    name: 'UnsupportedMediaType',
    status: '415',
    title: 'Unsupported Media Type',
    description: 'The body has another content type. A request without one is accepted.',
    example: 'The content type must be application/json, not "text/plain".',
  },
  misdirected: {
    name: 'Misdirected',
    status: '421',
    title: 'Misdirected Request',
    description:
      'The `Host` header does not name this server. A server for development should check it: otherwise, web pages reach it through DNS rebinding.',
    example: 'This server does not answer requests for the host "evil.example".',
  },
  unprocessable: {
    name: 'Unprocessable',
    status: '422',
    title: 'Unprocessable Entity',
    description: 'The archive is damaged, unsafe or does not fit its configuration. Nothing of it was kept.',
    example: 'The archive contains no configuration file "bld/.runtime/config.json".',
  },
  rateLimited: {
    name: 'RateLimited',
    status: '429',
    title: 'Too Many Requests',
    description:
      'Too many requests. The client waits as long as `Retry-After` says, and longer each time if it says nothing. Then it sends the whole request again. The request must have had no effect.',
    example: 'Too many requests.',
    headers: {'Retry-After': ref('headers', 'RetryAfter')},
  },
  serverError: {
    name: 'ServerError',
    status: '5XX',
    title: 'Internal Server Error',
    description:
      'The server failed. Clients repeat requests that only read; they never repeat one that uploads, deploys or deletes, because it may have been carried out.',
    example: 'The disk is full.',
  },
} as const satisfies Readonly<Record<string, Refusal>>;

/** The name of a refusal. */
type RefusalName = keyof typeof refusals;

/** How an upload is refused. */
export const uploadRefusals = [
  ...(['badRequest', 'unauthorized', 'unknownProject', 'timeout'] as const),
  ...(['tooLarge', 'unsupported', 'unprocessable'] as const),
] as const satisfies readonly RefusalName[];

/** How a deployment is refused. */
export const deployRefusals = [
  ...(['badRequest', 'unauthorized', 'notFound', 'timeout'] as const),
  ...(['conflict', 'tooLarge', 'unsupported'] as const),
] as const satisfies readonly RefusalName[];

/** How a list is refused. */
export const listRefusals = ['badRequest', 'unauthorized', 'unknownProject'] as const satisfies readonly RefusalName[];

function refusalsOf(kind: Refusals, unused: readonly RefusalName[] = []): Part {
  const {type, schema} = refusalBodies[kind];
  const used = Object.entries<Refusal>(refusals).filter(([key]) => !unused.some((name) => name === key));
  const parts = used.map(([, {name, title, description, example, headers, hosted}]) => {
    const response = {
      description,
      headers: {...requestId, ...headers},
      content: {[type]: {schema: ref('schemas', schema), example: refusalExamples[kind](example, title)}},
      ...(hosted === true ? onlyHosted : {}),
    };
    return [`${kind}${name}`, response] as const;
  });
  return Object.fromEntries(parts);
}

const requestId = {'X-Request-Id': ref('headers', 'RequestId')};

/** Refusals of an operation, in the order of their statuses. Those that every operation can answer are added. */
export function refuse(kind: Refusals, ...names: readonly RefusalName[]): Part {
  const all = [...names, 'forbidden', 'misdirected', 'rateLimited', 'serverError'] as const;
  const rows = all.map((name) => refusals[name]).toSorted((a, b) => a.status.localeCompare(b.status));
  return Object.fromEntries(rows.map(({status, name}) => [status, ref('responses', `${kind}${name}`)]));
}

/** An answer with a JSON body. */
export function answer(description: string, schema: string, example: unknown, headers: Part = {}): Part {
  return {
    description,
    headers: {...requestId, ...headers},
    content: {'application/json': {schema: ref('schemas', schema), example}},
  };
}

/** An answer without a body. */
export function emptyAnswer(description: string): Part {
  return {description, headers: requestId};
}

/** The same answer as another one, with a status that only hosted services use. */
export function alternative(response: Part, description: string): Part {
  return {...response, description, ...onlyHosted};
}

/** A required JSON body. */
export function jsonBody(schema: string, example: unknown): Part {
  return {required: true, content: {'application/json': {schema: ref('schemas', schema), example}}};
}

/** The multipart body of a v2 upload. */
export const bundleForm: Part = {
  required: true,
  content: {
    'multipart/form-data': {
      schema: ref('schemas', 'BundleForm'),
      encoding: {bundle: {contentType: 'application/octet-stream'}},
      example: {
        bundle: '(the archive)',
        message: 'main: 1a2b3c4',
        rootDir: 'bld',
        configPath: '.runtime/config.json',
        matchMode: 'strict',
      },
    },
  },
};

const pathParameter = (name: string, description: string, example: unknown, schema: Part): Part => ({
  name,
  in: 'path',
  required: true,
  description,
  schema,
  example,
});
const identifier = {type: 'string', pattern: apiIdentifier.source};
const slug = {type: 'string', minLength: 1};
const wholeNumber = {type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER};

const parameters: Part = {
  organizationId: pathParameter('organizationId', 'The organization of the client.', 'acme', {
    type: 'string',
    minLength: 1,
    maxLength: 32,
  }),
  storefrontId: pathParameter('storefrontId', 'The project.', 'shop', identifier),
  environmentId: pathParameter('environmentId', 'The target.', 'staging', identifier),
  deploymentId: pathParameter('deploymentId', 'The deployment.', '0b9f6a1e-3f43-4b5e-9d0c-5a1f6f6d2c11', slug),
  projectSlug: pathParameter('projectSlug', 'The project.', 'shop', slug),
  targetSlug: pathParameter('targetSlug', 'The target.', 'staging', slug),
  bundleId: pathParameter('bundleId', 'The bundle.', 42, wholeNumber),
  limit: {
    name: 'limit',
    in: 'query',
    description: 'How many rows to return at most.',
    schema: {type: 'integer', minimum: 1, maximum: maxLimit, default: defaultLimit},
  },
  offset: {
    name: 'offset',
    in: 'query',
    description: 'How many rows to skip.',
    schema: {...wholeNumber, default: 0},
  },
};

/** References to parameters. */
export const parameterRefs = (...names: readonly string[]): readonly Part[] =>
  names.map((name) => ref('parameters', name));

/** The components that are not schemas. */
export const components: Part = {
  parameters,
  headers: {
    RequestId: {
      description: 'ID of the request. Clients show it in errors, for the support of the service.',
      schema: {type: 'string'},
    },
    RetryAfter: {
      description: 'Seconds to wait, or an HTTP date to wait for.',
      schema: {type: 'string'},
      example: '2',
    },
    WwwAuthenticate: {
      description: 'The scheme that is expected, and what is wrong.',
      schema: {type: 'string'},
      example: 'Bearer error="invalid_token"',
    },
    ETag: {
      description: 'A strong validator, in quotes. A download can only be resumed if there is one.',
      schema: {type: 'string'},
      example: '"5d41402abc4b2a76b9719d911017c592"',
    },
    AcceptRanges: {description: '`bytes`.', schema: {type: 'string'}},
    ContentRange: {
      description: 'The part that follows, or after 416 the size of the archive.',
      schema: {type: 'string'},
      example: 'bytes 1048576-4194303/4194304',
    },
  },
  responses: {
    ...refusalsOf('Legacy'),
    ...refusalsOf('Api'),
    ...refusalsOf('OAuth', ['notFound', 'unknownProject', 'conflict', 'unprocessable']),
  },
};
