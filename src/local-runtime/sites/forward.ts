import {request as httpRequest, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse} from 'node:http';
import {Readable} from 'node:stream';
import {pipeline} from 'node:stream/promises';
import {setTimeout as delay} from 'node:timers/promises';
import {alreadySent, HttpFailure} from '../answer.js';
import type {RequestBody} from '../request-body.js';
import type {AppProcess} from './app-process.js';

/** Headers of one connection (RFC 9110, 7.6.1), and the request ID, which this server has set already. */
const notForwarded: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade', 'expect', 'x-request-id'],
]);

/** What a `Connection` header cannot take away: without its length, a body could be taken for another request. */
const needed: ReadonlySet<string> = new Set(['content-length', 'host']);

/** How long after its connections break the end of a process may become known, in milliseconds. */
const endMs = 1000;

/** A request for the server of an app, as `Call` has it. */
export interface ForwardedRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: RequestBody;
  readonly path: string;
  readonly search: string;
  /** Empty if the host names the target, so that its path is not part of the app's. */
  readonly base?: string | undefined;
}

/**
 * Forwards a request to the server of an app, which sees the path below its target.
 * @param prefix The path of the target, without a final slash.
 * @throws AppFailure if the server ends or is stuck; HttpFailure 502 or 504 if it only does not answer.
 */
export async function forward(
  {request, response, body, path, search}: ForwardedRequest,
  app: AppProcess,
  {prefix, timeoutMs}: {readonly prefix: string; readonly timeoutMs: number},
): Promise<Response> {
  const [, , , ...rest] = path.split('/');
  const outgoing = httpRequest({
    host: '127.0.0.1',
    port: app.port,
    method: request.method,
    path: `${prefix === '' ? path : `/${rest.join('/')}`}${search}`,
    agent: false,
    headers: {
      ...withoutOwn(request.headers),
      // As the client sent it: chunks, or a number of bytes.
      ...(request.headers['transfer-encoding'] === undefined ? {} : {'transfer-encoding': 'chunked'}),
      'x-forwarded-for': request.socket.remoteAddress,
      'x-forwarded-host': request.headers.host,
      'x-forwarded-proto': 'http',
      ...(prefix !== '' && {'x-forwarded-prefix': prefix}),
    },
  });
  const {socket} = request;
  const end = (): void => void outgoing.destroy();
  socket.once('close', end);
  const late = new AbortController();
  const timer = setTimeout(() => {
    late.abort();
  }, timeoutMs);
  async function* progressing(): AsyncGenerator<Buffer> {
    for await (const chunk of body.read(Infinity)) {
      timer.refresh();
      yield chunk;
    }
  }
  let answer: IncomingMessage;
  try {
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      outgoing.once('response', resolve).on('error', reject).once('close', reject);
      late.signal.addEventListener('abort', reject, {once: true});
    });
    // A server may answer before it has read everything, and what goes wrong is an error of the answer, too.
    pipeline(Readable.from(progressing()), outgoing).catch(() => undefined);
    answer = await answered;
  } catch (error) {
    outgoing.destroy();
    if (body.isBroken) throw error;
    if (late.signal.aborted) {
      if (await app.isAlive())
        throw new HttpFailure(504, `The server of the app took longer than ${seconds(timeoutMs)}.`);
      app.kill(`did not answer within ${seconds(timeoutMs)} because its event loop was blocked, and was stopped`);
    }
    const reason = await Promise.race([app.ended, delay(endMs, undefined, {ref: false})]);
    if (reason !== undefined) throw app.failure(reason);
    throw new HttpFailure(502, 'The server of the app closed the connection without an answer.');
  } finally {
    clearTimeout(timer);
  }
  return sendAnswer(answer, response, prefix).finally(() => socket.off('close', end));
}

async function sendAnswer(answer: IncomingMessage, response: ServerResponse, prefix: string): Promise<Response> {
  const {statusCode: status = 502, headers} = answer;
  const moved = ['location', 'service-worker-allowed'].flatMap((name): [string, string][] => {
    const value = headers[name];
    return typeof value === 'string' ? [[name, below(prefix, value)]] : [];
  });
  response.writeHead(status, {...withoutOwn(headers), ...Object.fromEntries(moved)});
  // Its first bytes may be long in coming.
  response.flushHeaders();
  await pipeline(answer, response);
  return alreadySent;
}

/** A path of an app, which means one below its target, as one of this server. Other addresses stay as they are. */
function below(prefix: string, address: string): string {
  const isPath = /^\/(?![/\\])/.test(address);
  const isBelow = address.startsWith(prefix) && /^(?:[/?#]|$)/.test(address.slice(prefix.length));
  return isPath && !isBelow ? `${prefix}${address}` : address;
}

function withoutOwn(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const named = new Set((headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase()));
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || notForwarded.has(name) || (named.has(name) && !needed.has(name)) ? [] : [[name, value]],
    ),
  );
}

function seconds(milliseconds: number): string {
  return `${String(milliseconds / 1000)} s`;
}
