import {gzipSync} from 'node:zlib';
import {head, type Act, type HeaderLine, type SeenRequest} from './fault-server.js';
import {done, limited, once, repeated, unreached, type Outcome, type Wait} from './outcomes.js';

/** What a request is, as far as failures differ. */
export type RequestKind =
  /** A GET that is answered with JSON. */
  | 'read'
  /** An upload, a deployment, a deletion: it may have been carried out, and is never sent twice then. */
  | 'write'
  /** A POST for a token: nobody is harmed by one that was made and lost. */
  | 'token'
  /** The GET of an archive, from a presigned URL. */
  | 'archive';

/** An answer. */
export type Answer = Act & {readonly kind: 'answer'};

/** What goes wrong: with the connection, after it stands, or with the answer that would be right. */
export type Fault = ConnectionFault | Act | ((right: Answer, seen: SeenRequest) => Act);

/** No request arrives. */
export interface ConnectionFault {
  readonly kind: 'refused' | 'unknown-host' | 'untrusted' | 'no-handshake';
}

/** One line of the matrix. */
export interface FaultLine {
  readonly name: string;
  readonly fault: Fault;
  /** How each kind of request ends. A kind that is not here cannot meet the fault. */
  readonly ends: Readonly<Partial<Record<RequestKind, Outcome>>>;
  /** The time-out that ends it, if one does: it is short then. */
  readonly timeout?: 'connect' | 'idle' | 'request';
  /** `large`: only a body that does not fit into the buffers of a connection can meet it. */
  readonly body?: 'large';
  /** It is got over in the same way as another line: there is no cell in which it happens only once. */
  readonly isVariant?: boolean;
}

/** What a request is, and with what outcome, when all kinds end alike. */
function all(outcome: Outcome): FaultLine['ends'] {
  return {read: outcome, write: outcome, token: outcome, archive: outcome};
}

/** What changes nothing ends otherwise than what may have been carried out. */
function safe(outcome: Outcome, write: Outcome): FaultLine['ends'] {
  return {...all(outcome), write};
}

/** For what is wrong with JSON, and right for an archive as far as it goes. */
function withoutArchive({read, write, token}: FaultLine['ends']): FaultLine['ends'] {
  return {...(read && {read}), ...(write && {write}), ...(token && {token})};
}

const mebibyte = 1024 * 1024;
const json: HeaderLine = ['content-type', 'application/json'];
const page = '<!doctype html><title>Sign in to the network</title>';
const detail = '{"detail":"because"}';
/** Where redirects point to: nobody may go there. */
export const elsewhere = 'http://127.0.0.1:9/elsewhere';

/** Waits that the server asks for. The longest that is granted is 16 ms. */
const asked = {
  nothing: {least: 0, most: 0},
  oneSecond: {least: 16, most: 16, requested: [1000, 1000]},
  ages: {least: 16, most: 16, requested: [1e12, Infinity]},
  oneHour: {least: 16, most: 16, requested: [3_500_000, 3_600_000]},
} as const satisfies Record<string, Wait>;

const outcomeUnknown = once(10, 'ERR_OUTCOME_UNKNOWN');
const lostAnswer = safe(repeated(6, 'ERR_NETWORK'), outcomeUnknown);
const lateAnswer = safe(repeated(6, 'ERR_TIMEOUT'), outcomeUnknown);
const notAnAnswer = all(once(7, 'ERR_RESPONSE_INVALID'));
/** What breaks the rules of HTTP is no answer, and will be none the next time either. */
const notHttp = safe(once(7, 'ERR_RESPONSE_INVALID'), outcomeUnknown);

const connection: readonly FaultLine[] = [
  {
    name: 'refused',
    fault: {kind: 'refused'},
    ends: {...all(unreached(once(6, 'ERR_NETWORK'))), archive: unreached(limited(6, 'ERR_NETWORK'))},
  },
  {name: 'an unknown host', fault: {kind: 'unknown-host'}, ends: all(unreached(once(6, 'ERR_NETWORK')))},
  {
    name: 'a certificate that nobody trusts',
    fault: {kind: 'untrusted'},
    ends: all(unreached(once(6, 'ERR_TLS'))),
  },
  {
    name: 'a TLS handshake that never ends',
    fault: {kind: 'no-handshake'},
    timeout: 'connect',
    ends: safe(unreached(repeated(6, 'ERR_TIMEOUT')), unreached(once(6, 'ERR_TIMEOUT'))),
  },
];

const whileSending: readonly FaultLine[] = [
  {
    name: 'a reset before the body',
    fault: {kind: 'reset', when: 'head'},
    body: 'large',
    ends: {write: {...once(6, 'ERR_NETWORK'), body: 'part'}},
  },
  {
    name: 'a reset in the middle of the body',
    fault: {kind: 'reset', when: 'half'},
    body: 'large',
    ends: {write: {...once(6, 'ERR_NETWORK'), body: 'part'}},
  },
  {
    name: 'a server that stops reading',
    fault: {kind: 'stop-reading'},
    body: 'large',
    timeout: 'idle',
    ends: {write: {...once(6, 'ERR_TIMEOUT'), body: 'part'}},
  },
  ...[401, 403, 404, 413, 429, 500, 503].map((status): FaultLine => ({
    name: `${status} and a close in the middle of the body`,
    fault: {kind: 'answer', status, headers: [json], body: detail, early: mebibyte},
    body: 'large',
    ends: {write: {...(refusals(status).write ?? done), body: 'part'}},
  })),
];

const whileAnswering: readonly FaultLine[] = [
  {name: 'a reset after the body', fault: {kind: 'reset', when: 'whole'}, ends: lostAnswer},
  {name: 'a close after the body', fault: {kind: 'raw', bytes: '', then: 'close'}, ends: lostAnswer},
  {name: 'no answer', fault: {kind: 'raw', bytes: '', then: 'silence'}, timeout: 'request', ends: lateAnswer},
  {
    name: 'half of a head, then nothing',
    fault: {kind: 'raw', bytes: 'HTTP/1.1 200 OK\r\nx-half: ', then: 'silence'},
    timeout: 'request',
    ends: lateAnswer,
  },
  {
    name: 'a head that drips',
    fault: {kind: 'stream', head: 'HTTP/1.1 200 OK\r\nx-drip: ', piece: 'x', everyMs: 20},
    timeout: 'request',
    ends: lateAnswer,
  },
  {
    name: '103 Early Hints without end',
    fault: {kind: 'stream', head: '', piece: 'HTTP/1.1 103 Early Hints\r\n\r\n', everyMs: 20},
    timeout: 'request',
    ends: lateAnswer,
  },
  {
    name: 'JSON that drips without end',
    fault: {kind: 'stream', head: head(200, [json]), piece: ' ', everyMs: 20},
    timeout: 'request',
    ends: withoutArchive(lateAnswer),
  },
  {
    name: '403 that drips without end',
    fault: {kind: 'stream', head: head(403, [json]), piece: ' ', everyMs: 20},
    timeout: 'request',
    ends: refusals(403),
  },
  {
    name: 'an answer that stops in the middle',
    fault: {kind: 'raw', bytes: `${head(200, [json, ['content-length', '100']])}{"id":`, then: 'silence'},
    timeout: 'idle',
    ends: withoutArchive(lateAnswer),
  },
  {
    name: 'an answer that is cut in the middle',
    fault: {kind: 'answer', status: 201, headers: [json], body: '{"id":', length: 100},
    ends: withoutArchive(lostAnswer),
  },
  {
    name: 'a chunked answer that is cut in the middle',
    fault: {
      kind: 'raw',
      bytes: `${head(200, [json, ['transfer-encoding', 'chunked']])}6\r\n{"id":\r\n`,
      then: 'close',
    },
    ends: withoutArchive(lostAnswer),
  },
  ...[401, 404, 429, 500].map((status): FaultLine => ({
    name: `${status} that is cut in the middle`,
    fault: {kind: 'answer', status, headers: [json], body: '{"detail":', length: 100},
    ends: refusals(status),
  })),
  {
    name: 'a Content-Length that is too small',
    fault: {kind: 'answer', status: 200, headers: [json], body: `{"detail":"${'x'.repeat(99)}"}`, length: 9},
    ends: notHttp,
  },
  {
    name: 'two Content-Lengths that differ',
    fault: {kind: 'answer', status: 200, headers: [json, ['content-length', '2']], body: '{"a":1}'},
    ends: notHttp,
  },
  {
    name: 'a Content-Length that is no number',
    fault: {kind: 'answer', status: 200, headers: [json, ['content-length', 'many']], body: '{}', length: 'none'},
    ends: notHttp,
  },
  {name: 'no HTTP', fault: {kind: 'raw', bytes: 'SSH-2.0-OpenSSH_9.6\r\n', then: 'close'}, ends: notHttp},
  {
    name: 'another protocol (101)',
    fault: {
      kind: 'raw',
      bytes: 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
      then: 'silence',
    },
    ends: notHttp,
  },
  {name: 'HTTP/2', fault: {kind: 'raw', bytes: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', then: 'close'}, ends: notHttp},
  {name: 'HTTP/0.9', fault: {kind: 'raw', bytes: '{"id":7}', then: 'close'}, ends: notHttp},
  {
    name: '100,000 headers',
    fault: {
      kind: 'answer',
      status: 200,
      headers: Array.from({length: 100_000}, (_, index): HeaderLine => [`x-${index}`, 'x']),
    },
    ends: notHttp,
  },
  {
    name: 'a chunk of no size',
    fault: {
      kind: 'raw',
      bytes: `${head(200, [json, ['transfer-encoding', 'chunked']])}zz\r\n{}\r\n0\r\n\r\n`,
      then: 'close',
    },
    ends: withoutArchive(notHttp),
  },
  {
    name: 'trailers without end',
    fault: {
      kind: 'stream',
      head: `${head(200, [json, ['transfer-encoding', 'chunked']])}0\r\n`,
      piece: 'x-trailer: x\r\n'.repeat(1000),
    },
    ends: withoutArchive(notHttp),
  },
  {
    name: 'a head without end',
    fault: {kind: 'stream', head: 'HTTP/1.1 200 OK\r\nx-long: ', piece: 'x'.repeat(1000)},
    ends: notHttp,
  },
];

const odd: readonly FaultLine[] = [
  {name: '204', fault: {kind: 'answer', status: 204, length: 'none'}, ends: notAnAnswer},
  {name: 'an empty 200', fault: {kind: 'answer', status: 200, headers: [json]}, ends: notAnAnswer},
  {
    name: 'a web page',
    fault: {kind: 'answer', status: 200, headers: [['content-type', 'text/html']], body: page},
    ends: notAnAnswer,
  },
  {
    name: 'JSON that says something else',
    fault: {kind: 'answer', status: 200, headers: [json], body: '{"message":"maintenance"}'},
    ends: withoutArchive(notAnAnswer),
  },
  {
    name: 'an empty JSON array',
    fault: {kind: 'answer', status: 200, headers: [json], body: '[]'},
    ends: withoutArchive(notAnAnswer),
  },
  {
    name: 'JSON in Latin-1',
    fault: {kind: 'answer', status: 200, headers: [json], body: Buffer.from('{"é', 'latin1')},
    ends: notAnAnswer,
  },
  {
    name: 'JSON in UTF-16',
    fault: {kind: 'answer', status: 200, headers: [json], body: Buffer.from('\ufeff{"id":7}', 'utf16le')},
    ends: notAnAnswer,
  },
  {
    name: 'compressed JSON',
    fault: {
      kind: 'answer',
      status: 200,
      headers: [json, ['content-encoding', 'gzip']],
      body: gzipSync('{"id":7}'),
    },
    // What is gzip may well be an archive.
    ends: withoutArchive(notAnAnswer),
  },
  {
    name: 'a status below 100',
    fault: {kind: 'raw', bytes: 'HTTP/1.1 099 Odd\r\ncontent-length: 0\r\n\r\n', then: 'close'},
    ends: notAnAnswer,
  },
  {
    name: '100 MB of JSON',
    fault: {kind: 'stream', head: head(200, [json]), piece: ' '.repeat(mebibyte), bytes: 100 * mebibyte},
    // An archive may be as long as it likes.
    ends: withoutArchive(notAnAnswer),
  },
  {
    name: '403 with 100 MB of JSON',
    fault: {kind: 'stream', head: head(403, [json]), piece: ' '.repeat(mebibyte), bytes: 100 * mebibyte},
    ends: refusals(403),
  },
  {
    name: 'JSON a million levels deep',
    fault: {kind: 'answer', status: 200, headers: [json], body: `${'['.repeat(1e6)}${']'.repeat(1e6)}`},
    ends: notAnAnswer,
  },
  {
    name: '403 that says why in JSON a million levels deep',
    fault: {kind: 'answer', status: 403, headers: [json], body: `{"detail":${'['.repeat(1e6)}${']'.repeat(1e6)}}`},
    ends: refusals(403),
  },
];

/**
 * What a server can repeat of what it was sent, and characters that a terminal obeys, wherever an answer has a place
 * for them: of neither anything is said.
 */
const repeating =
  (status: number): Fault =>
  (_, {authorization = ''}) => {
    const [, credentials = ''] = authorization.split(' ');
    const echo = `${authorization} ${Buffer.from(credentials, 'base64')
      .toString('latin1')
      .replaceAll(/[^\w:-]/g, '')} \x9b31m\x85`;
    const location = `location: ${elsewhere}/${echo}\r\n`;
    const lines = `HTTP/1.1 ${status} ${echo}\r\nx-request-id: ${echo}\r\n${status === 302 ? location : ''}`;
    const bytes = Buffer.from(`${lines}connection: close\r\n\r\n{"detail":"${echo}"}`, 'latin1');
    return {kind: 'raw', bytes, then: 'close'};
  };

const echoes = [302, 403, 429, 500].map((status): FaultLine => ({
  name: `${status} that repeats the credentials, in its phrase and headers too`,
  fault: repeating(status),
  ends: status === 302 ? notAnAnswer : refusals(status),
  isVariant: true,
}));

const redirects = [300, 301, 302, 303, 304, 307, 308].map((status): FaultLine => ({
  name: `${status} to another origin`,
  fault: {kind: 'answer', status, headers: [['location', elsewhere]], length: status === 304 ? 'none' : 0},
  ends: notAnAnswer,
}));

const statuses = [
  ...[400, 401, 403, 404, 405, 406, 407, 408, 409, 413, 415, 416, 422, 451, 499],
  ...[500, 501, 502, 503, 504, 599, 999],
].map((status): FaultLine => ({
  name: String(status),
  fault: {kind: 'answer', status, headers: [json], body: detail},
  ends: refusals(status),
  isVariant: status !== 503,
}));

const retryAfter = (name: string, values: readonly (string | (() => string))[], wait?: Wait): FaultLine => {
  const headers = () => values.map((value): HeaderLine => ['retry-after', typeof value === 'string' ? value : value()]);
  return {
    name: `429, Retry-After ${name}`,
    fault: () => ({kind: 'answer', status: 429, headers: [json, ...headers()], body: detail}),
    ends: all(limited(5, 'ERR_RATE_LIMITED', wait)),
    isVariant: values.length > 0,
  };
};

/** Of the answer, not of the time at which this file was loaded. */
const inAnHour = () => new Date(Date.now() + 3_600_000).toUTCString();

const limits: readonly FaultLine[] = [
  retryAfter('absent', []),
  retryAfter('in seconds', ['1'], asked.oneSecond),
  retryAfter('0', ['0'], asked.nothing),
  retryAfter('a date', [inAnHour], asked.oneHour),
  retryAfter('a date gone by', ['Wed, 21 Oct 2015 07:28:00 GMT'], asked.nothing),
  retryAfter('garbage', ['soon']),
  retryAfter('empty', ['']),
  retryAfter('negative', ['-5']),
  retryAfter('a fraction', ['1.5']),
  retryAfter('huge', ['9'.repeat(18)], asked.ages),
  retryAfter('an exponent', ['1e400']),
  retryAfter('a date far away', ['Fri, 31 Dec 9999 23:59:59 GMT'], asked.ages),
  retryAfter('longer than a number', ['9'.repeat(400)], asked.ages),
  retryAfter('twice: the first counts', ['0', '1'], asked.nothing),
];

/**
 * "An answer decides": 4, 5 or 7. What changes nothing is repeated after 5xx; what the token endpoint refuses is
 * OAuth's.
 */
function refusals(status: number): FaultLine['ends'] {
  if (status === 429) return all(limited(5, 'ERR_RATE_LIMITED'));
  const unclear = once(10, 'ERR_OUTCOME_UNKNOWN');
  if (status === 408) return {...safe(once(7, 'ERR_REJECTED'), unclear), token: once(4, 'ERR_OAUTH')};
  if (status === 502 || status === 504) return safe(repeated(7, 'ERR_SERVER'), unclear);
  if (status >= 500) return safe(repeated(7, 'ERR_SERVER'), once(7, 'ERR_SERVER'));
  const codes: Readonly<Record<number, Outcome>> = {401: once(4, 'ERR_UNAUTHORIZED'), 403: once(4, 'ERR_FORBIDDEN')};
  return {...all(codes[status] ?? once(7, 'ERR_REJECTED')), token: once(4, 'ERR_OAUTH')};
}

const slow: readonly FaultLine[] = [
  {name: 'a slow answer', fault: (right) => ({...right, after: 100}), ends: all(done)},
  {name: 'an answer that drips to its end', fault: (right) => ({...right, everyMs: 10}), ends: all(done)},
];

const archives: readonly FaultLine[] = [
  {
    name: 'an archive that is cut in the middle',
    fault: (right) => ({...right, body: half(right), length: sizeOf(right)}),
    ends: {archive: {...limited(6, 'ERR_NETWORK'), left: 'part'}},
  },
  {
    name: 'an archive without a validator that is cut in the middle',
    fault: (right) => ({...right, headers: [], body: half(right), length: sizeOf(right)}),
    ends: {archive: limited(6, 'ERR_NETWORK')},
  },
  {
    name: 'an archive that is cut, and of no known length',
    fault: (right) => ({...right, body: half(right), length: 'none'}),
    ends: {archive: once(7, 'ERR_RESPONSE_INVALID')},
  },
  {
    name: 'an archive that stops in the middle',
    fault: (right) => ({...right, body: half(right), length: sizeOf(right), then: 'silence'}),
    timeout: 'idle',
    ends: {archive: {...limited(6, 'ERR_TIMEOUT'), left: 'part'}},
  },
  {
    name: 'an archive of which only the frame goes on',
    fault: {
      kind: 'stream',
      head: head(200, [['transfer-encoding', 'chunked']]),
      piece: '0',
      everyMs: 20,
    },
    timeout: 'idle',
    // No byte of it came, so there is nothing to go on with.
    ends: {archive: once(6, 'ERR_TIMEOUT')},
  },
  {
    name: 'a part of the archive that nobody asked for',
    fault: (right) => ({...right, status: 206, headers: [['content-range', 'bytes 5-9/100']]}),
    ends: {archive: once(7, 'ERR_RESPONSE_INVALID')},
  },
];

function half({body = ''}: Answer): Buffer {
  return Buffer.from(body).subarray(0, sizeOf({kind: 'answer', status: 200, body}) / 2);
}

function sizeOf({body = ''}: Answer): number {
  return Buffer.byteLength(body);
}

/**
 * The matrix: every fault, and how each kind of request ends that meets it. What is no answer to one request is tested
 * elsewhere: proxies in test/http/proxy.test.ts, the clock in clock.test.ts, DEBUG and what is printed in
 * test/cli/output/masking.test.ts, files that change in test/bundle, disks and processes in disk/, archives and other
 * input in input/, and faults of several requests, such as a token that expires during an upload or an ignored offset,
 * in test/http/auth.test.ts and test/operations.
 */
export const faultLines: readonly FaultLine[] = [
  ...connection,
  ...whileSending,
  ...whileAnswering,
  ...odd,
  ...redirects,
  ...echoes,
  ...statuses,
  ...limits,
  ...slow,
  ...archives,
];
