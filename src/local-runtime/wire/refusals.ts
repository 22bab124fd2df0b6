import {onlyHosted, type Part} from './schemas.js';

const header = (name: string): Part => ({headers: {[name]: {schema: {type: 'string'}}}});

/** Every way to refuse a request, by its name in the document: its status, when it is, and more parts of it. */
export const refusals = {
  BadRequest: ['400', 'The path, the query or the body is invalid.'],
  Unauthorized: ['401', 'The credentials are missing, wrong or have expired.', header('WWW-Authenticate')],
  Forbidden: [
    '403',
    'The credentials are valid, but do not allow this. The local runtime also answers this to what browsers send for pages of other origins.',
  ],
  NotFound: ['404', 'What the path or the body names does not exist.'],
  UnknownProject: [
    '404',
    'The project or target does not exist. In the local runtime, every one does: it is created by its first bundle or deployment, and its lists are empty until then.',
    onlyHosted,
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

export type RefusalName = keyof typeof refusals;

/** How every operation can refuse, and how one with a body can. */
export const always = ['Forbidden', 'Misdirected', 'RateLimited', 'ServerError'] as const;
export const ofBody = ['RequestTimeout', 'TooLarge', 'UnsupportedMediaType'] as const;
