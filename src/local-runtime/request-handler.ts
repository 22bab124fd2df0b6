import {randomUUID} from 'node:crypto';
import {once} from 'node:events';
import type {IncomingMessage, ServerResponse} from 'node:http';
import {setTimeout as delay} from 'node:timers/promises';
import {Hono} from 'hono';
import {asSentence} from '../errors/sentence.js';
import {systemCode} from '../errors/system-failure.js';
import {checkHost, checkOrigin} from './access.js';
import {alreadySent, HttpFailure} from './answer.js';
import type {Call, Protocol, Route, RuntimeContext} from './context.js';
import {faultText, type AnswerFault, type RouteName} from './faults.js';
import type {RequestRecord} from './options.js';
import {isPage, pagesProtocol} from './pages/routes.js';
import {RequestBody} from './request-body.js';
import {excerptOf, maskedSearch, requestHeaders, responseHeaders} from './request-log.js';
import {frontProtocol, isAppPath, isHome, redirectToApp, serveSite, siteProtocol} from './sites/serve-site.js';
import {wireProtocols} from './wire/openapi.js';
import {checkPath} from './wire/parameters.js';

/** What a server of a runtime serves: the API, or the deployed apps. */
export type ServerRole = 'api' | 'apps';

/** What handling a request reveals about it, for its record. */
interface Findings {
  route?: RouteName | undefined;
  fault?: AnswerFault['action'] | 'latency';
  appliedFaults: string[];
  answer?: string | undefined;
}

/** A request and its response, while it is handled. */
export interface Exchange {
  readonly call: Call;
  readonly findings: Findings;
  /** Whether it is only for people's browsers: no fault applies to it, and it is not recorded. */
  readonly isForPeople: boolean;
}

/** The protocols of the API, those with the longer prefixes first. */
const protocols: readonly Protocol[] = [...wireProtocols, pagesProtocol];

/** Begins to handle a request: gives it an ID, and records it when it has ended. */
export function openExchange(
  context: RuntimeContext,
  {request, response, role}: {readonly request: IncomingMessage; readonly response: ServerResponse; role: ServerRole},
  onEnd: (record: RequestRecord) => void,
): Exchange {
  const url = request.url ?? '/';
  const [path = '/'] = url.split('?', 1);
  const search = url.slice(path.length);
  const body = new RequestBody(request, context.stallSeconds);
  const origin = `http://${request.headers.host ?? ''}`;
  const query = new URLSearchParams(search);
  const call: Call = {context, request, response, body, path, search, origin, query, params: {}};
  const isForPeople = role === 'api' && isPage(path);
  const exchange: Exchange = {call, findings: {appliedFaults: []}, isForPeople};
  const requestId = randomUUID();
  response.setHeader('x-request-id', requestId);
  if (!isForPeople) recordAtEnd(exchange, {role, requestId, onEnd});
  return exchange;
}

/** Makes the function that answers requests of a server. */
export function createHandler(role: ServerRole): (request: Request, exchange: Exchange) => Promise<Response> {
  if (role === 'apps') {
    return (_, exchange) => {
      const name = isHome(exchange.call) ? 'home' : 'site';
      return answerTo(exchange, {name, handle: serveSite}, siteProtocol);
    };
  }
  const app = new Hono<{Bindings: Exchange}>({strict: false});
  for (const protocol of protocols) {
    for (const route of protocol.routes) {
      app.on(route.method, routerPath(route), ({env, req}) => {
        return answerTo({...env, call: {...env.call, params: req.param()}}, route, protocol);
      });
    }
  }
  app.notFound(({env, req}) => {
    const {path, request} = env.call;
    const protocol = protocolOf(env);
    if (protocol === frontProtocol && isAppPath(path)) {
      return answerTo(env, {name: 'site', handle: redirectToApp}, frontProtocol);
    }
    const handle = (): never => {
      const served = req.path.replace(/(?<=.)\/$/, '');
      const allowed = methods.filter((method) => app.router.match(method, served)[0].length > 0);
      if (allowed.length === 0) throw new HttpFailure(404, `Nothing is served at ${path}.`);
      const [list, method] = [allowed.join(', '), String(request.method)];
      throw new HttpFailure(405, `${path} does not accept ${method}, only ${list}.`, {allow: list});
    };
    return answerTo(env, {handle}, {...protocol, admit: () => 'nobody'});
  });
  return async (request, exchange) => app.fetch(request, exchange);
}

const methods = ['GET', 'POST', 'DELETE'] as const;

function routerPath({path}: Route): string {
  return path
    .replace('{bundleId}', ':bundleId{\\d+}')
    .replaceAll(/\{(\w+)\}/g, ':$1')
    .replace(/(?<=.)\/$/, '');
}

function protocolOf({call: {path}, isForPeople}: Exchange): Protocol {
  if (isForPeople) return pagesProtocol;
  return protocols.find(({prefix}) => path === prefix || path.startsWith(prefix.replace(/\/?$/, '/'))) ?? frontProtocol;
}

/** Refuses a request whose Host header is not of this server, as web pages with DNS rebinding send. */
export function hostFailure(exchange: Exchange, role: ServerRole): Promise<Response> | Response | undefined {
  const {request, context} = exchange.call;
  try {
    checkHost(request, context);
    return undefined;
  } catch (error) {
    return (role === 'apps' ? siteProtocol : protocolOf(exchange)).failure(asFailure(error));
  }
}

/** Answers a request whose route is known, unless a fault does, and keeps a short answer for its record. */
async function answerTo(
  exchange: Exchange,
  route: Pick<Route, 'name' | 'handle'>,
  protocol: Protocol,
): Promise<Response> {
  const answer = await tryAnswer(exchange, route, protocol);
  const isShort = /\bjson\b|^text\/plain/.test(answer.headers.get('content-type') ?? '');
  if (isShort) exchange.findings.answer = excerptOf(await answer.clone().text());
  return answer;
}

/** Never rejects. */
async function tryAnswer(
  {call, findings, isForPeople}: Exchange,
  {name, handle}: Pick<Route, 'name' | 'handle'>,
  protocol: Protocol,
): Promise<Response> {
  const {context, request, response, body} = call;
  findings.route = name;
  try {
    if (protocol !== siteProtocol) checkOrigin(request);
    const latency = isForPeople ? undefined : context.faults.takeLatency(name);
    if (latency) {
      findings.fault = 'latency';
      findings.appliedFaults.push(faultText(latency));
      await wait(latency.milliseconds, response);
    }
    const fault = isForPeople ? undefined : context.faults.takeAnswerFault(name);
    if (fault) {
      findings.fault = fault.action;
      findings.appliedFaults.push(faultText(fault));
      if (fault.action === 'truncate') truncate(response, fault.after);
      else if (fault.action === 'drop') dropInstead(response);
      else return await fail(call, fault, protocol);
    }
    decodePath(call.path);
    if (protocol !== pagesProtocol) checkPath(call.params);
    return await handle({...call, user: protocol.admit(call)});
  } catch (error) {
    if (!body.isBroken && !response.closed && !response.headersSent) return protocol.failure(asFailure(error));
    // The connection is gone, or broke during the response, so there is nobody to tell.
    response.destroy();
    return alreadySent;
  }
}

/** What a fault does instead of an answer, after the client has sent as much as it says. */
async function fail(
  {request, response, body}: Call,
  fault: Extract<AnswerFault, {readonly action: 'status' | 'reset' | 'hang'}>,
  protocol: Protocol,
): Promise<Response> {
  await body.discard(fault.after ?? Infinity);
  if (fault.action === 'status') {
    const {status, retryAfter, location} = fault;
    const headers = {
      ...(retryAfter === undefined ? {} : {'retry-after': retryAfter}),
      ...(location === undefined ? {} : {location}),
    };
    return protocol.failure(new HttpFailure(status, `Injected fault: ${String(status)}.`, headers));
  }
  if (fault.action === 'reset') request.socket.resetAndDestroy();
  if (!response.closed) await once(response, 'close');
  return alreadySent;
}

/** Lets a response end its connection after some bytes of its body, by default half of them. */
function truncate(response: ServerResponse, after: number | undefined): void {
  const write = response.write.bind(response) as (chunk: Uint8Array) => boolean;
  let left = after;
  const send = (chunk: unknown): boolean => {
    left ??= Math.floor(Number(response.getHeader('content-length') ?? 0) / 2);
    const part = Buffer.from(chunk as Uint8Array).subarray(0, left);
    left -= part.length;
    const isAccepted = write(part);
    if (left === 0) response.socket?.destroySoon();
    return isAccepted;
  };
  response.write = send as typeof response.write;
  response.end = ((chunk?: unknown) => {
    send(chunk instanceof Uint8Array || typeof chunk === 'string' ? chunk : '');
    response.socket?.destroySoon();
    return response;
  }) as typeof response.end;
}

/** Resets the connection as soon as anything is to be sent. */
function dropInstead(response: ServerResponse): void {
  const drop = (): ServerResponse => {
    response.socket?.resetAndDestroy();
    return response;
  };
  response.writeHead = drop;
  response.write = () => false;
  response.end = drop;
}

/** Waits while the client is connected. */
async function wait(milliseconds: number, response: ServerResponse): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => {
    gone.abort();
  });
  await delay(milliseconds, undefined, {signal: gone.signal});
}

function decodePath(path: string): void {
  try {
    decodeURIComponent(path);
  } catch {
    throw new HttpFailure(400, `The path cannot be decoded: ${path}.`);
  }
}

function asFailure(error: unknown): HttpFailure {
  if (error instanceof HttpFailure) return error;
  const code = systemCode(error);
  if (code === 'ENOSPC' || code === 'EDQUOT') return new HttpFailure(507, 'The disk of the local runtime is full.');
  const reason = error instanceof Error ? error.message : String(error);
  return new HttpFailure(500, asSentence(`The local runtime failed: ${reason}`));
}

function recordAtEnd(
  {call: {context, request, response, body, path, search}, findings}: Exchange,
  {
    role,
    requestId,
    onEnd,
  }: {readonly role: ServerRole; readonly requestId: string; readonly onEnd: (record: RequestRecord) => void},
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
    context.log.add({
      ...record,
      at,
      isForApp: role === 'apps',
      search: maskedSearch(search),
      requestHeaders: requestHeaders(request),
      requestBody: body.excerpt,
      requestParts: body.parts,
      responseHeaders: response.headersSent ? responseHeaders(response.getHeaders()) : [],
      responseBody: findings.answer,
      bytesSent: socket.bytesWritten - sentBefore,
      appliedFaults: findings.appliedFaults,
    });
    onEnd(record);
  });
}
