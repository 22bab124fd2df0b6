import {STATUS_CODES} from 'node:http';

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
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), Buffer.from(body)]);
}

/** What a request asks for, in the words of the model. */
export type RequestName =
  | 'token'
  | 'upload'
  | 'deploy'
  | 'delete'
  | 'list'
  | 'targets'
  /** The newest deployments, before one is requested. */
  | 'look'
  | 'history'
  | 'poll'
  | 'download'
  | 'archive'
  | 'site'
  | 'other';

const patterns: readonly (readonly [RequestName, RegExp])[] = [
  ['token', /^POST \/token$/],
  ['upload', /^POST .*(?:\/bundles\/?|\/builds\/(?:[^/]+\/)?)$/],
  ['deploy', /^POST .*(?:\/deploy\/|\/deployments)$/],
  ['delete', /^DELETE .*\/bundles\/\d+\/$/],
  ['list', /^GET .*\/bundles\/?\?/],
  ['targets', /^GET .*\/target\/\?/],
  ['look', /^GET .*\/deploy\/\?limit=2&/],
  ['history', /^GET .*(?:\/deploy\/|\/deployments)\?/],
  ['poll', /^GET .*\/deployments\/[^/]+$/],
  ['download', /^GET .*\/download\/$/],
  ['archive', /^GET \/archive\//],
  ['site', /^GET \/site\//],
];

/** Names a request. */
export function nameOf(method: string, url: string): RequestName {
  return patterns.find(([, pattern]) => pattern.test(`${method} ${url}`))?.[0] ?? 'other';
}

/** Whether a request changes something, so that it must not be sent twice. */
export function isWrite(name: RequestName): boolean {
  return name === 'upload' || name === 'deploy' || name === 'delete';
}
