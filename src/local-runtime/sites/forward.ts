import {randomUUID} from 'node:crypto';
import {request as httpRequest, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse} from 'node:http';
import {Readable} from 'node:stream';
import {pipeline} from 'node:stream/promises';
import {alreadySent, HttpFailure} from '../answer.js';
import type {RequestBody} from '../request-body.js';

/** Headers of one connection (RFC 9110, 7.6.1), and the request ID, which this server has set already. */
const notForwarded: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection'],
  ...['te', 'trailer', 'upgrade', 'expect', 'x-request-id'],
]);

export interface ForwardedRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: RequestBody;
  readonly path: string;
  readonly search: string;
  /** The path of the target, without a final slash. Empty if the host names the target. */
  readonly base: string;
}

/** Forwards a request to the server of an app, which sees the path below its target. */
export async function forward(
  {request, response, body, path, search, base}: ForwardedRequest,
  {port, timeoutMs}: {readonly port: number; readonly timeoutMs: number},
): Promise<Response> {
  const outgoing = httpRequest({
    host: '127.0.0.1',
    port,
    method: request.method,
    path: `${base === '' ? path : `/${path.split('/').slice(3).join('/')}`}${search}`,
    agent: false,
    headers: {
      ...forwardable(request.headers),
      // Servers may rely on it, because the Runtime sends one.
      'x-correlation-id': request.headers['x-correlation-id'] ?? randomUUID(),
      'x-forwarded-for': request.socket.remoteAddress,
      'x-forwarded-host': request.headers.host,
      'x-forwarded-proto': 'http',
      ...(base !== '' && {'x-forwarded-prefix': base}),
    },
  });
  outgoing.setTimeout(timeoutMs, () => {
    const seconds = String(timeoutMs / 1000);
    outgoing.destroy(new HttpFailure(504, `The server of the app took longer than ${seconds} s.`));
  });
  const stop = (): void => void outgoing.destroy();
  response.once('close', stop);
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve).on('error', reject).once('close', reject);
  });
  // A server may answer before it has read everything, and what goes wrong is an error of the answer, too.
  pipeline(Readable.from(body.read(Infinity)), outgoing).catch(() => undefined);
  const answer = await answered;
  outgoing.setTimeout(0);
  const headers = forwardable(answer.headers);
  if (answer.headers.location !== undefined) headers['location'] = below(base, answer.headers.location);
  if (answer.headers['set-cookie'] !== undefined) headers['set-cookie'] = answer.headers['set-cookie'].map(localCookie);
  response.writeHead(answer.statusCode ?? 502, headers);
  // Its first bytes may be long in coming.
  response.flushHeaders();
  // Now the pipeline does that, and adds so many listeners that Node warns of more than ten.
  response.off('close', stop);
  await pipeline(answer, response);
  return alreadySent;
}

/** A path of an app, which means one below its target, as one of this server. Other addresses stay as they are. */
function below(base: string, address: string): string {
  const isPath = /^\/(?![/\\])/.test(address);
  const isBelow = address.startsWith(base) && /^(?:[/?#]|$)/.test(address.slice(base.length));
  return isPath && !isBelow ? `${base}${address}` : address;
}

/** A cookie as a browser keeps it here: without a domain, and without TLS unless its name or SameSite needs it. */
function localCookie(cookie: string): string {
  const withoutDomain = cookie.replaceAll(/;\s*domain=[^;]*/gi, '');
  const needsTls = /^\s*__(?:secure|host)-/i.test(cookie) || /;\s*(?:samesite=none|partitioned)\b/i.test(cookie);
  return needsTls ? withoutDomain : withoutDomain.replaceAll(/;\s*secure(?=\s*(?:;|$))/gi, '');
}

function forwardable(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !notForwarded.has(name)));
}
