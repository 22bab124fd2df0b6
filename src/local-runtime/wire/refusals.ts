import {onlyHosted, type Part} from './schemas.js';

/** A way to refuse a request. */
interface Refusal {
  readonly status: string;
  readonly description: string;
  /** The header that comes with it. */
  readonly header?: string;
  /** Its marks in the document. */
  readonly marks?: Part;
}

/** Every way to refuse a request, by its name in the document. */
export const refusals = {
  BadRequest: {status: '400', description: 'The path, the query or the body is invalid.'},
  Unauthorized: {
    status: '401',
    description: 'The credentials are missing, wrong or have expired.',
    header: 'WWW-Authenticate',
  },
  Forbidden: {
    status: '403',
    description:
      'The credentials are valid, but do not allow this. The local runtime also answers this to what browsers send for pages of other origins.',
  },
  NotFound: {status: '404', description: 'What the path or the body names does not exist.'},
  UnknownProject: {
    status: '404',
    description:
      'The project or target does not exist. In the local runtime, every one does: it is created by its first bundle or deployment, and its lists are empty until then.',
    marks: onlyHosted,
  },
  RequestTimeout: {status: '408', description: 'The body stopped arriving. Nothing of it was kept.'},
  Conflict: {status: '409', description: 'A deployment to the target is running, or the bundle is in use.'},
  TooLarge: {
    status: '413',
    description:
      'The body is too large. A server may say so before all of it has arrived, and should then read on for a moment, so that the client gets the answer.',
  },
  UnsupportedMediaType: {
    status: '415',
    description: 'The body has another content type. A request without one is accepted.',
  },
  Misdirected: {
    status: '421',
    description:
      'The `Host` header does not name this server. A server for development should check it: otherwise, web pages reach it through DNS rebinding.',
  },
  Unprocessable: {
    status: '422',
    description: 'The archive is damaged, unsafe or does not fit its configuration. Nothing of it was kept.',
  },
  RateLimited: {
    status: '429',
    description:
      'Too many requests. The client waits as long as `Retry-After` says, and longer each time if it says nothing. Then it sends the whole request again. The request must have had no effect.',
    header: 'Retry-After',
  },
  ServerError: {
    status: '5XX',
    description:
      'The server failed. Clients repeat requests that only read; they never repeat one that uploads, deploys or deletes, because it may have been carried out.',
  },
} as const satisfies Readonly<Record<string, Refusal>>;

/** The name of a refusal. */
export type RefusalName = keyof typeof refusals;

/** How every operation can refuse, and how one with a body can. */
export const always = ['Forbidden', 'Misdirected', 'RateLimited', 'ServerError'] as const;
export const ofBody = ['RequestTimeout', 'TooLarge', 'UnsupportedMediaType'] as const;
