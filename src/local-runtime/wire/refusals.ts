/** How a group of operations refuses: the form of its answers. */
export type RefusalKind = 'Legacy' | 'Api' | 'OAuth';

/** A way to refuse a request. */
interface Refusal {
  readonly status: string;
  readonly description: string;
  readonly example: string;
  readonly header?: 'WwwAuthenticate' | 'RetryAfter';
  /** Whether only hosted services refuse this way. */
  readonly isHosted?: boolean;
}

/** Every way to refuse a request, by its name in the document. */
export const refusals = {
  BadRequest: {
    status: '400',
    description: 'The path, the query or the body is invalid.',
    example: 'The query is invalid at "limit": must be a whole number from 1 to 200.',
  },
  Unauthorized: {
    status: '401',
    description: 'The credentials are missing, wrong or have expired.',
    example: 'The API key is wrong.',
    header: 'WwwAuthenticate',
  },
  Forbidden: {
    status: '403',
    description:
      'The credentials are valid, but do not allow this. The local runtime also answers this to what browsers send for pages of other origins.',
    example: 'The credentials do not allow this.',
  },
  NotFound: {
    status: '404',
    description: 'What the path or the body names does not exist.',
    example: 'The project "shop" has no bundle 42.',
  },
  UnknownProject: {
    status: '404',
    description:
      'The project or target does not exist. In the local runtime, every one does: it is created by its first bundle or deployment, and its lists are empty until then.',
    example: 'The project "shop" does not exist.',
    isHosted: true,
  },
  RequestTimeout: {
    status: '408',
    description: 'The body stopped arriving. Nothing of it was kept.',
    example: 'The upload stalled and was aborted.',
  },
  Conflict: {
    status: '409',
    description: 'A deployment to the target is running, or the bundle is in use.',
    example: 'Bundle 41 has been deploying to "staging" since 2026-01-02T03:04:05.000Z.',
  },
  TooLarge: {
    status: '413',
    description:
      'The body is too large. A server may say so before all of it has arrived, and should then read on for a moment, so that the client gets the answer.',
    example: 'The body is larger than the limit of 419430400 bytes.',
  },
  UnsupportedMediaType: {
    status: '415',
    description: 'The body has another content type. A request without one is accepted.',
    example: 'The content type must be application/json, not "text/plain".',
  },
  Misdirected: {
    status: '421',
    description:
      'The `Host` header does not name this server. A server for development should check it: otherwise, web pages reach it through DNS rebinding.',
    example: 'This server does not answer requests for the host "evil.example".',
  },
  Unprocessable: {
    status: '422',
    description: 'The archive is damaged, unsafe or does not fit its configuration. Nothing of it was kept.',
    example: 'The archive contains no configuration file "bld/.runtime/config.json".',
  },
  RateLimited: {
    status: '429',
    description:
      'Too many requests. The client waits as long as `Retry-After` says, and longer each time if it says nothing. Then it sends the whole request again. The request must have had no effect.',
    example: 'Too many requests.',
    header: 'RetryAfter',
  },
  ServerError: {
    status: '5XX',
    description:
      'The server failed. Clients repeat requests that only read; they never repeat one that uploads, deploys or deletes, because it may have been carried out.',
    example: 'The disk is full.',
  },
} as const satisfies Readonly<Record<string, Refusal>>;

/** The name of a refusal. */
export type RefusalName = keyof typeof refusals;

/** How every operation can refuse. */
export const always = ['Forbidden', 'Misdirected', 'RateLimited', 'ServerError'] as const;

/** How a body is refused. */
const body = ['BadRequest', 'Unauthorized', 'RequestTimeout', 'TooLarge', 'UnsupportedMediaType'] as const;

/** How the kinds of operations refuse, besides the ways of all. */
export const refusalsOf = {
  token: body,
  upload: [...body, 'UnknownProject', 'Unprocessable'],
  uploadAndDeploy: [...body, 'UnknownProject', 'Unprocessable', 'Conflict'],
  deploy: [...body, 'NotFound', 'Conflict'],
  deleteSeveral: [...body, 'UnknownProject'],
  delete: ['BadRequest', 'Unauthorized', 'NotFound', 'Conflict'],
  list: ['BadRequest', 'Unauthorized', 'UnknownProject'],
  listOfAll: ['BadRequest', 'Unauthorized'],
  get: ['BadRequest', 'Unauthorized', 'NotFound'],
  archive: ['BadRequest', 'NotFound'],
  document: [],
} as const satisfies Readonly<Record<string, readonly RefusalName[]>>;
