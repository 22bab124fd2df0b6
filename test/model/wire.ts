import {STATUS_CODES} from 'node:http';
import {operations} from '../../src/wire/index.js';
import type {WireRoute} from '../../src/wire/routes.js';

/** An answer of a server, before it is written. */
export interface Answer {
  readonly status: number;
  readonly type?: string;
  readonly headers?: readonly (readonly [string, string])[];
  readonly body: string | Buffer;
}

/** The bytes of an answer that is in order. */
export function encode({status, type, headers = [], body}: Answer): Buffer {
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Odd'}`,
    ...(type === undefined ? [] : [`content-type: ${type}`]),
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(status === 204 || status === 304 ? [] : [`content-length: ${Buffer.byteLength(body)}`]),
  ];
  return Buffer.concat([
    Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'),
    typeof body === 'string' ? Buffer.from(body) : body,
  ]);
}

/** What a request is for: as in the wire, a look at the newest deployments before one is requested, or a site. */
export type RequestName = WireRoute | 'look' | 'site' | 'other';

/** Where the model has what may be anywhere. */
const elsewhere: readonly (readonly [RequestName, RegExp])[] = [
  ['token', /^POST \/token$/],
  ['archive', /^GET \/archive\//],
  ['site', /^GET \/site\//],
];

const served = operations.map(({method, path, route}): readonly [RequestName, RegExp] => {
  const pattern = path.replaceAll(/:\w+\{(.*?)\}/g, '$1').replaceAll(/:\w+/g, '[^/]+');
  return [route, new RegExp(`^${method} ${pattern}$`)];
});

/** Names a request. */
export function nameOf(method: string, url: string): RequestName {
  const [path = '', query = ''] = url.split('?');
  const name = [...elsewhere, ...served].find(([, pattern]) => pattern.test(`${method} ${path}`))?.[0] ?? 'other';
  return name === 'history' && query.startsWith('limit=2&') ? 'look' : name;
}

const writes = new Set<RequestName>(
  operations.filter(({method, route}) => method !== 'GET' && route !== 'token').map(({route}) => route),
);

/** Whether a request changes something, so that it must not be sent twice. */
export function isWrite(name: RequestName): boolean {
  return writes.has(name);
}
