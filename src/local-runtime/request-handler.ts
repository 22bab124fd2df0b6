import {randomUUID} from 'node:crypto';
import {once} from 'node:events';
import {createReadStream} from 'node:fs';
import type {IncomingMessage, ServerResponse} from 'node:http';
import {pipeline as connect, type Readable} from 'node:stream';
import {pipeline} from 'node:stream/promises';
import {setTimeout as delay} from 'node:timers/promises';
import {createBrotliCompress, createGzip} from 'node:zlib';
import {systemCode} from '../errors/system-failure.js';
import {HttpFailure, type Answer, type FileBody, type StreamBody} from './answer.js';
import {isPage, pagesProtocol} from './pages/pages-protocol.js';
import type {Call, Protocol, RuntimeContext, Route} from './context.js';
import {faultText, type AnswerFault, type RouteName} from './faults.js';
import type {RequestRecord} from './options.js';
import {checkHost, checkOrigin} from './protocols/admission.js';
import {apiProtocol} from './protocols/api-protocol.js';
import {archiveProtocol} from './protocols/archive-protocol.js';
import {legacyProtocol} from './protocols/legacy-protocol.js';
import {brotliOptions} from './protocols/site-files.js';
import {openApiProtocol} from './protocols/openapi-protocol.js';
import {siteOfHost, sitePath} from './protocols/site-address.js';
import {faviconPath, siteProtocol} from './protocols/site-protocol.js';
import {frontProtocol} from './protocols/front-protocol.js';
import {tokenProtocol} from './protocols/token-protocol.js';
import {RequestBody} from './request-body.js';
import {excerptOf, maskedSearch, requestHeaders, responseHeaders} from './request-log.js';
import {asSentence} from '../errors/sentence.js';

/** What a server of a runtime serves: the API, or the deployed apps. */
export type ServerRole = 'api' | 'apps';

/** The protocols of each server: the first with a matching prefix is used, or the one for what is left. */
const served: Readonly<Record<ServerRole, {readonly protocols: readonly Protocol[]; readonly rest: Protocol}>> = {
  api: {
    protocols: [tokenProtocol, archiveProtocol, legacyProtocol, apiProtocol, openApiProtocol],
    rest: frontProtocol,
  },
  apps: {protocols: [], rest: siteProtocol},
};

/** What handling a request reveals about it, for its record. */
interface Findings {
  route?: RouteName;
  fault?: AnswerFault['action'] | 'latency';
  appliedFaults?: readonly string[];
  answer?: Answer;
}

/** A request to one of the servers, and its response. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly role: ServerRole;
}

/** Handles one request completely. Never rejects. */
export async function handleRequest(
  context: RuntimeContext,
  {request, response, role}: Exchange,
  onEnd: (record: RequestRecord) => void,
): Promise<void> {
  const findings: Findings = {};
  const requestId = randomUUID();
  const url = request.url ?? '/';
  const [sent = '/'] = url.split('?', 1);
  const search = url.slice(sent.length);
  const site = role === 'apps' ? siteOfHost(request.headers.host) : undefined;
  const path = site === undefined || sent === faviconPath ? sent : `${sitePath(site)}${sent}`;
  const body = new RequestBody(request, context.stallSeconds);
  const origin = `http://${request.headers.host ?? ''}`;
  const query = new URLSearchParams(search);
  const base = site === undefined ? undefined : '';
  const call: Call = {context, request, body, path, base, search, origin, query, params: {}};
  if (!isForPeople(role, path)) recordAtEnd(call, {request, response, role}, {requestId, findings, onEnd});
  response.setHeader('x-request-id', requestId);
  try {
    const {answer, fault} = await answerTo(call, {response, role}, findings);
    if (answer) findings.answer = answer;
    if (answer) await sendAnswer(call, response, {answer, fault});
  } catch {
    // The connection is gone, or broke during the response, so there is nobody to tell.
    response.destroy();
  }
}

/** Whether a path is only for people's browsers, not for clients: no fault applies to it, and it is not recorded. */
function isForPeople(role: ServerRole, path: string): boolean {
  return role === 'api' ? isPage(path) : path === faviconPath;
}

interface Outcome {
  /** Undefined if the request must not be answered. */
  readonly answer: Answer | undefined;
  readonly fault: AnswerFault | undefined;
}

async function answerTo(
  call: Call,
  {response, role}: Pick<Exchange, 'response' | 'role'>,
  findings: Findings,
): Promise<Outcome> {
  const {context, request, body, path} = call;
  const {protocols, rest} = served[role];
  const isUnaffected = isForPeople(role, path);
  const protocol =
    role === 'api' && isUnaffected ? pagesProtocol : (protocols.find(({prefix}) => isBelow(path, prefix)) ?? rest);
  let fault: AnswerFault | undefined;
  try {
    checkHost(request, context);
    if (role === 'api') checkOrigin(request);
    const match = tryMatch(protocol, call);
    const route = match instanceof HttpFailure ? undefined : match.route.name;
    if (route !== undefined) findings.route = route;
    const latency = isUnaffected ? undefined : context.faults.takeLatency(route);
    if (latency) {
      findings.fault = 'latency';
      findings.appliedFaults = [faultText(latency)];
      await wait(latency.milliseconds, response);
    }
    fault = isUnaffected ? undefined : context.faults.takeAnswerFault(route);
    if (fault) {
      findings.fault = fault.action;
      findings.appliedFaults = [...(findings.appliedFaults ?? []), faultText(fault)];
    }
    switch (fault?.action) {
      case 'status':
        await body.discard(fault.after ?? Infinity);
        return {answer: protocol.failure(statusFailure(fault)), fault};
      case 'reset':
      case 'hang':
        await body.discard(fault.after ?? Infinity);
        if (fault.action === 'reset') request.socket.resetAndDestroy();
        if (!response.closed) await once(response, 'close');
        return {answer: undefined, fault};
      case 'truncate':
      case 'drop':
      case undefined:
    }
    if (match instanceof HttpFailure) throw match;
    const admitted = {...call, params: match.params};
    return {answer: await match.route.handle({...admitted, user: protocol.admit(admitted)}), fault};
  } catch (error) {
    if (body.isBroken || response.closed) throw error;
    return {answer: protocol.failure(asFailure(error)), fault};
  }
}

/** Whether a path is a prefix or below it. */
function isBelow(path: string, prefix: string): boolean {
  return path === prefix || path.startsWith(prefix.endsWith('/') ? prefix : `${prefix}/`);
}

/** Waits while the client is connected. */
async function wait(milliseconds: number, response: ServerResponse): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => {
    gone.abort();
  });
  await delay(milliseconds, undefined, {signal: gone.signal});
}

function tryMatch(protocol: Protocol, {request, path}: Call): RouteMatch | HttpFailure {
  try {
    return matchRoute(protocol, request.method ?? 'GET', path);
  } catch (error) {
    if (error instanceof HttpFailure) return error;
    throw error;
  }
}

function statusFailure(fault: Extract<AnswerFault, {readonly action: 'status'}>): HttpFailure {
  const {status, retryAfter, location} = fault;
  return new HttpFailure(status, `Injected fault: ${String(status)}.`, {
    ...(retryAfter === undefined ? {} : {'retry-after': retryAfter}),
    ...(location === undefined ? {} : {location}),
  });
}

function asFailure(error: unknown): HttpFailure {
  if (error instanceof HttpFailure) return error;
  const code = systemCode(error);
  if (code === 'ENOSPC' || code === 'EDQUOT') return new HttpFailure(507, 'The disk of the local runtime is full.');
  return new HttpFailure(
    500,
    asSentence(`The local runtime failed: ${error instanceof Error ? error.message : String(error)}`),
  );
}

function recordAtEnd(
  {context, body, path, search}: Call,
  {request, response, role}: Exchange,
  {
    requestId,
    findings,
    onEnd,
  }: {readonly requestId: string; readonly findings: Findings; readonly onEnd: (record: RequestRecord) => void},
): void {
  const started = performance.now();
  const {socket} = request;
  const [at, sentBefore] = [new Date().toISOString(), socket.bytesWritten];
  response.once('close', () => {
    const record: RequestRecord = {
      method: request.method ?? 'GET',
      path,
      status: response.headersSent ? response.statusCode : 0,
      route: findings.route,
      bytesReceived: body.bytes,
      durationMs: Math.round(performance.now() - started),
      fault: findings.fault,
      userAgent: request.headers['user-agent'],
      requestId,
    };
    const {answer, appliedFaults = []} = findings;
    context.log.add({
      ...record,
      at,
      isForApp: role === 'apps',
      search: maskedSearch(search),
      requestHeaders: requestHeaders(request),
      requestBody: body.excerpt,
      requestParts: body.parts,
      responseHeaders: response.headersSent ? responseHeaders(response.getHeaders()) : [],
      responseBody: typeof answer?.body === 'string' ? excerptOf(answer.body) : undefined,
      bytesSent: socket.bytesWritten - sentBefore,
      appliedFaults,
    });
    onEnd(record);
    context.feed.publish('requests');
  });
}

/** A route, and the values of its pattern's names. */
interface RouteMatch {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

/**
 * The route of a protocol for a request.
 * @throws HttpFailure 404 when nothing is served at the path, 405 when it is served for other methods.
 */
function matchRoute(protocol: Protocol, method: string, path: string): RouteMatch {
  // Decoded part by part: "%2F" is not a separator, and "%2E%2E" is a name for the handler to refuse.
  const parts = path.slice(protocol.prefix.length).split('/').map(decodePart);
  const segments = (list: readonly string[]): readonly string[] =>
    protocol.anyFinalSlash && list.length > 1 && list.at(-1) === '' ? list.slice(0, -1) : list;
  const candidates = protocol.routes.flatMap((route) => {
    const params = matchPattern(segments(route.pattern.split('/')), segments(parts));
    return params === undefined ? [] : [{route, params}];
  });
  const match = candidates.find(
    ({route}) => route.method === '*' || route.method === method || (method === 'HEAD' && route.method === 'GET'),
  );
  if (match) return match;
  if (candidates.length === 0) throw new HttpFailure(404, `Nothing is served at ${path}.`);
  const allowed = candidates.map(({route}) => route.method).join(', ');
  throw new HttpFailure(405, `${path} does not accept ${method}, only ${allowed}.`, {allow: allowed});
}

function matchPattern(
  pattern: readonly string[],
  parts: readonly string[],
): Readonly<Record<string, string>> | undefined {
  const params: Record<string, string> = {};
  for (const [index, expected] of pattern.entries()) {
    const [, name, rest] = /^\{(\w+)(\*)?\}$/.exec(expected) ?? [];
    const part = parts[index];
    if (part === undefined || (name === undefined && part !== expected)) return undefined;
    if (name === undefined) continue;
    // Encoded again, so that "%2F" does not become a separator.
    if (rest !== undefined) return {...params, [name]: parts.slice(index).map(encodeURIComponent).join('/')};
    if (part === '') return undefined;
    params[name] = part;
  }
  return pattern.length === parts.length ? params : undefined;
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new HttpFailure(400, `The path has a segment that cannot be decoded: ${part}.`);
  }
}

/**
 * Sends a response. If the request's body is still arriving, this closes the connection: after the client has had time
 * to read the response, or at once if `fault` is an early status.
 */
async function sendAnswer(
  {context, request, body: requestBody}: Pick<Call, 'context' | 'request' | 'body'>,
  response: ServerResponse,
  {answer, fault}: {readonly answer: Answer; readonly fault: AnswerFault | undefined},
): Promise<void> {
  const {status, headers} = answer;
  const body = typeof answer.body === 'string' ? Buffer.from(answer.body) : answer.body;
  const file = body !== undefined && 'file' in body ? body : undefined;
  try {
    if (fault?.action === 'drop') {
      request.socket.resetAndDestroy();
      return;
    }
    const isEarly = !requestBody.isComplete;
    const length = lengthOf(body);
    const isStreamed = (body !== undefined && 'stream' in body) || file?.compression !== undefined;
    // A client that reads nothing would keep the file open.
    if (file) response.setTimeout(context.stallSeconds * 1000);
    response.writeHead(status, {
      ...headers,
      ...(status === 204 || status === 304 || isStreamed ? {} : {'content-length': length}),
      ...(isEarly ? {connection: 'close'} : {}),
    });
    if (fault?.action === 'truncate') {
      await sendPart(response, body, Math.min(fault.after ?? Math.floor(length / 2), length));
      return;
    }
    if (request.method !== 'HEAD' && body !== undefined) await sendBody(response, body);
    response.flushHeaders();
    if (isEarly && fault?.action !== 'status') await requestBody.linger();
    response.end();
  } finally {
    await file?.file.close();
    if (body !== undefined && 'stream' in body) body.stream.destroy();
  }
}

/** Bytes, before any compression while they are sent. */
function lengthOf(body: SentBody | undefined): number {
  return body === undefined || 'stream' in body ? 0 : body.length;
}

type SentBody = Buffer | FileBody | StreamBody;

async function sendBody(response: ServerResponse, body: SentBody): Promise<void> {
  if (Buffer.isBuffer(body)) response.write(body);
  else if ('stream' in body) {
    // Its first bytes may be long in coming.
    response.flushHeaders();
    await pipeline(body.stream, response, {end: false});
  } else if (body.length > 0) await pipeline(read(body), response, {end: false});
}

/** Sends the first bytes of a body, counted before any compression while they are sent, then closes the connection. */
async function sendPart(response: ServerResponse, body: SentBody | undefined, length: number): Promise<void> {
  response.flushHeaders();
  if (Buffer.isBuffer(body)) response.write(body.subarray(0, length));
  else if (body && 'file' in body && length > 0) await sendBody(response, {...body, length});
  response.socket?.destroySoon();
  if (!response.closed) await once(response, 'close');
}

/** The part of a file, compressed if it is to be. */
function read({file, start, length, compression}: FileBody): Readable {
  const source = createReadStream('', {fd: file, start, end: start + length - 1, autoClose: false});
  if (compression === undefined) return source;
  const compressor = compression === 'br' ? createBrotliCompress(brotliOptions) : createGzip();
  // An error of the file becomes one of the compressor, whose reader deals with it.
  return connect(source, compressor, () => undefined);
}
