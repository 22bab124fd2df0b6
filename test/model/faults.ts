import {gzipSync} from 'node:zlib';
import {encode, type Answer} from './wire.js';

/** What a server sends, and what it does with the connection then. */
export interface Reply {
  readonly bytes: Buffer | string;
  /** @default 'close' */
  readonly then?: 'keep' | 'close' | 'reset' | 'silence';
  /** Milliseconds before it is sent. */
  readonly after?: number;
  /** Sent after that, again and again, until the client leaves. */
  readonly piece?: string;
}

/** One thing that goes wrong with one request. */
export interface Fault {
  readonly name: string;
  /** Whether the service carries out the request first. */
  readonly effect: boolean;
  /**
   * When it happens, as far as the request has arrived. After `stop`, the service reads no more of it.
   * @default 'whole'
   */
  readonly when?: 'head' | 'half' | 'stop';
  /** Exit code of a call whose read or write meets it each time. */
  readonly ends: readonly [read: number, write: number];
  /** Whether a read is tried again after it, so that once is no harm. */
  readonly retried: boolean;
  /** The status, if the service refuses the request: then it has not been carried out unless `effect` says so. */
  readonly status?: number;
  reply(right: Answer, authorization: string): Reply;
}

type Ends = Fault['ends'];
const lost: Ends = [6, 10];
const invalid: Ends = [7, 7];
const fine: Ends = [0, 0];
const elsewhere: readonly [string, string] = ['location', 'http://127.0.0.1:9/elsewhere'];
const ok = 'HTTP/1.1 200 OK\r\n';
const json = 'content-type: application/json\r\n';

function endsOf(status: number): Ends {
  if (status === 401 || status === 403) return [4, 4];
  // What a gateway says when it does not know whether the service did the work.
  if (status === 408 || status === 502 || status === 504) return [7, 10];
  return status === 429 ? [5, 5] : invalid;
}

/** A refusal, with or without what was asked for having been done. */
function refusal(
  status: number,
  effect = false,
  {headers = [], body = '{"detail":"because"}'}: Partial<Answer> = {},
): Fault {
  const given = headers.map(([name, value]) => `, ${name}: ${value.slice(0, 40)}`).join('');
  const shown = body === '{"detail":"because"}' ? '' : `, ${body.slice(0, 24).toString()}`;
  return {
    name: `${status}${given}${shown}${effect ? ', done all the same' : ''}`,
    effect,
    ends: endsOf(status),
    retried: status === 429 || status >= 500,
    status,
    reply: () => ({bytes: encode({status, type: 'application/json', headers, body}), then: 'keep'}),
  };
}

/** An answer that says success, after what was asked for was done. */
function odd(name: string, change: (right: Answer) => Partial<Answer>, ends = invalid): Fault {
  const reply = (right: Answer): Reply => ({bytes: encode({...right, ...change(right)}), then: 'keep'});
  return {name, effect: true, ends, retried: false, reply};
}

/** The same, with a member of the document changed wherever it is. */
function member(name: string, pattern: RegExp, value: string, ends = invalid): Fault {
  return odd(
    name,
    ({type, body}) => ({body: type === undefined ? body : String(body).replaceAll(pattern, value)}),
    ends,
  );
}

/** A connection that fails. */
function cut(
  name: string,
  effect: boolean,
  ends: Ends,
  reply: Fault['reply'] | Reply,
  when?: Exclude<Fault['when'], undefined>,
): Fault {
  const made = typeof reply === 'function' ? reply : () => reply;
  return {name, effect, ends, retried: ends[0] === 6, reply: made, ...(when && {when})};
}

/** Bytes that are no answer. They come after the work, as a broken proxy sends them. */
function noise(name: string, bytes: string, piece?: string): Fault {
  return {...cut(name, true, [7, 10], {bytes, ...(piece !== undefined && {piece})}), retried: false};
}

/** More than a client reads of an answer, made once. */
const tooMuch = {spaces: Buffer.alloc(9_000_000, ' '), letters: Buffer.alloc(9_000_000, 'a')};

const part = (right: Answer, share: number): Buffer => {
  const bytes = encode(right);
  return bytes.subarray(0, Math.floor(bytes.length * share));
};

const ids = /"(?:bundleId|id|bundle_id|deploymentId)":("[^"]*"|\d+)/g;

/** Everything that can happen to one request. */
export const faults: readonly Fault[] = [
  ...[400, 401, 403, 404, 405, 406, 408, 409, 410, 413, 415, 422, 429, 451].map((status) => refusal(status)),
  ...[500, 501, 502, 503, 504, 507, 520, 599].map((status) => refusal(status)),
  ...[408, 500, 502, 503, 504, 520].map((status) => refusal(status, true)),
  ...[
    '0',
    '1',
    '1.5',
    '-5',
    'soon',
    '9'.repeat(400),
    'Wed, 21 Oct 2015 07:28:00 GMT',
    'Fri, 31 Dec 9999 23:59:59 GMT',
  ].map((value) => refusal(429, false, {headers: [['retry-after', value]]})),
  ...[300, 301, 302, 303, 304, 307, 308].map((status) => refusal(status, false, {headers: [elsewhere], body: ''})),
  refusal(400, false, {body: '{"error":"invalid_scope"}'}),
  refusal(403, false, {body: `{"detail":${'['.repeat(5000)}`}),
  refusal(403, false, {body: tooMuch.letters}),
  refusal(503, false, {headers: [['x-mrt-read-only', 'true']]}),
  {...refusal(403, false, {headers: [['cf-mitigated', 'challenge']]}), ends: [6, 6]},
  ...[302, 403, 429, 500].map((status): Fault => ({
    ...refusal(status),
    name: `${status} that repeats the credentials, and colours the terminal`,
    reply: (_, authorization) => {
      const echo = `${authorization} \x9b31m\x85 ${Buffer.from(authorization.slice(6), 'base64')
        .toString('latin1')
        .replaceAll(/[^\w:-]/g, '')}`;
      const head = `HTTP/1.1 ${status} ${echo}\r\nx-request-id: ${echo}\r\nlocation: http://127.0.0.1:9/${echo}\r\n`;
      return {bytes: Buffer.from(`${head}${json}connection: close\r\n\r\n{"detail":"${echo}"}`, 'latin1')};
    },
  })),

  odd('an empty 204', () => ({status: 204, body: ''})),
  odd('an empty 200', () => ({status: 200, body: ''})),
  odd('a web page', () => ({status: 200, type: 'text/html', body: '<!doctype html><title>Sign in</title>'})),
  ...[
    '{}',
    '[]',
    'null',
    '"done"',
    '{"message":"maintenance"}',
    '{"error":"internal"}',
    '{"results":null,"data":null}',
    '{"results":[{}],"data":[{}],"count":-3,"total":-3}',
  ].map((body) => odd(`200 with ${body}`, () => ({status: 200, body}))),
  odd('JSON that ends early', ({body}) => ({body: Buffer.from(body).subarray(0, body.length / 2)})),
  odd('JSON in UTF-16', ({body}) => ({body: Buffer.from(`\ufeff${String(body)}`, 'utf16le')})),
  odd('compressed JSON', ({body}) => ({headers: [['content-encoding', 'gzip']], body: gzipSync(body)})),
  odd('JSON a million levels deep', () => ({status: 200, body: '['.repeat(1e6)})),
  odd('9 MB of JSON', ({body}) => ({body: Buffer.concat([tooMuch.spaces, Buffer.from(body)])})),
  odd('JSON as plain text', () => ({type: 'text/plain'}), fine),
  member('IDs that are null', ids, '"id":null'),
  member('IDs that are too large', ids, '"bundleId":9007199254740993,"id":9007199254740993,"deploymentId":".."'),
  member('IDs that are fractions', ids, '"bundleId":1.5,"id":1.5,"bundle_id":1.5,"deploymentId":1.5'),
  member('IDs that are missing', new RegExp(`${ids.source},?`, 'g'), ''),
  member('a status that nobody knows', /"status":("[^"]*"|\d+)/g, '"status":"reticulating"'),
  member(
    'control characters in every text',
    /"(message|description|user)":"/g,
    String.raw`"$1":"\u001b]0;x\u0007\u202e`,
    fine,
  ),
  member('a download URL that is no URL', /"download_url":"http/g, '"download_url":"file'),

  cut('a reset before the body', false, lost, {bytes: '', then: 'reset'}, 'head'),
  cut('a close before the body', false, lost, {bytes: ''}, 'head'),
  cut('a reset at half of the body', false, lost, {bytes: '', then: 'reset'}, 'half'),
  cut('a reset while the body is sent', false, lost, {bytes: '', then: 'reset'}, 'stop'),
  cut('a stall while the body is sent', false, lost, {bytes: '', piece: 'HTTP/1.1 102 Processing\r\n\r\n'}, 'stop'),
  ...[408, 413, 500, 502, 503, 504].map((status): Fault => {
    const fault = refusal(status);
    const reply: Fault['reply'] = (...given) => ({...fault.reply(...given), then: 'close'});
    return {...fault, name: `${status} while the body is sent`, when: 'stop', reply};
  }),
  cut('a close after the request, which was not carried out', false, lost, {bytes: ''}),
  cut('a close after the request', true, lost, {bytes: ''}),
  cut('a reset after the request', true, lost, {bytes: '', then: 'reset'}),
  cut('no answer', true, lost, {bytes: '', then: 'silence'}),
  cut('half of a head, then a close', true, lost, {bytes: `${ok}x-half: `}),
  cut('half of a head, then nothing', true, lost, {bytes: `${ok}x-half: `, then: 'silence'}),
  cut('a head that never ends', true, lost, {bytes: `${ok}x-drip: `, piece: 'x'}),
  cut('interim answers without end', true, lost, {bytes: '', piece: 'HTTP/1.1 103 Early Hints\r\n\r\n'}),
  cut('half of the answer, then a close', true, lost, (right) => ({bytes: part(right, 0.9)})),
  cut('half of the answer, then a reset', true, lost, (right) => ({bytes: part(right, 0.9), then: 'reset'})),
  cut('half of the answer, then nothing', true, lost, (right) => ({bytes: part(right, 0.9), then: 'silence'})),
  cut('a chunked answer that is cut', true, lost, {bytes: `${ok}${json}transfer-encoding: chunked\r\n\r\n8\r\n{"id":`}),
  noise('no HTTP', 'SSH-2.0-OpenSSH_9.6\r\n'),
  noise('HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  noise('another protocol', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
  noise('a chunk of no size', `${ok}${json}transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`),
  noise('a head of a megabyte', `${ok}x-long: ${'x'.repeat(1_000_000)}`),
  {...noise('a status below 100', 'HTTP/1.1 099 Odd\r\ncontent-length: 0\r\n\r\n'), ends: invalid},
  {...cut('a slow answer', true, fine, (right) => ({bytes: encode(right), then: 'keep', after: 30})), retried: true},
  {
    ...cut('an answer, then a reset', true, fine, (right) => ({bytes: encode(right), then: 'reset', after: 0})),
    retried: true,
  },
  {
    ...cut('a right answer after interim ones', true, fine, (right) => ({
      bytes: Buffer.concat([Buffer.from('HTTP/1.1 102 Processing\r\n\r\n'), encode(right)]),
      then: 'keep',
    })),
    retried: true,
  },
];

/** Finds a fault by its name. */
export function faultNamed(name: string): Fault {
  const found = faults.find((fault) => fault.name === name);
  if (found === undefined) throw new Error(`no fault is called "${name}"`);
  return found;
}
