import {randomUUID} from 'node:crypto';
import {once} from 'node:events';
import type {IncomingMessage, Server, ServerResponse} from 'node:http';
import {setTimeout as delay} from 'node:timers/promises';
import {getRequestListener} from '@hono/node-server';
import {Hono} from 'hono';
import {asSentence} from '../errors/sentence.js';
import {systemCode} from '../errors/system-failure.js';
import {checkHost, checkOrigin} from './access.js';
import {alreadySent, HttpFailure} from './answer.js';
import {applyFault} from './apply-fault.js';
import type {Call, Protocol, Route, RuntimeContext} from './context.js';
import {faultText, type FaultRule, type RouteName} from './faults.js';
import {isPage, pagesProtocol} from './pages/routes.js';
import {RequestBody} from './request-body.js';
import {frontProtocol, isHome, serveSite, siteProtocol} from './sites/serve-site.js';
import {wireProtocols} from './wire/protocols.js';
import {checkPath} from './wire/parameters.js';

/** How long a connection may be idle. Longer than in clients, whose requests would fail if the server closed first. */
const keepAliveMilliseconds = 65_000;

/** What a server of a runtime serves: the API, or the deployed apps. */
type ServerRole = 'api' | 'apps';

/** A request while it is handled, and what that reveals for its record. */
interface Exchange {
  readonly call: Call;
  /** Whether it is only for people's browsers: no fault applies to it, and it is not recorded. */
  readonly isForPeople: boolean;
  route?: RouteName | undefined;
  fault?: FaultRule['action'];
  appliedFaults: string[];
}

/** The protocols of the API, those with the longer prefixes first. */
const protocols: readonly Protocol[] = [...wireProtocols, pagesProtocol];

/** Starts serving requests. Returns a function that stops the server. */
export function serve(server: Server, role: ServerRole, context: RuntimeContext): () => Promise<void> {
  // A large upload may take any time while it progresses.
  server.requestTimeout = 0;
  server.headersTimeout = Math.ceil(context.stallSeconds * 1000);
  server.keepAliveTimeout = keepAliveMilliseconds;
  const handle = role === 'api' ? createRouter() : handleSite;
  const underway = new Set<Promise<unknown>>();
  server.on('request', (request, response) => {
    const exchange = openExchange(context, role, request, response);
    const refusal = hostFailure(exchange, role);
    const listen = getRequestListener((asked) => refusal ?? handle(asked, exchange), {overrideGlobalObjects: false});
    // The library refuses what is no host name by itself.
    if (refusal) request.headers.host = 'localhost';
    const answering = listen(request, response).finally(() => underway.delete(answering));
    underway.add(answering);
  });
  return async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
    await Promise.all(underway);
  };
}

function openExchange(
  context: RuntimeContext,
  role: ServerRole,
  request: IncomingMessage,
  response: ServerResponse,
): Exchange {
  const url = request.url ?? '/';
  const [path = '/'] = url.split('?', 1);
  const search = url.slice(path.length);
  const body = new RequestBody(request, context.stallSeconds);
  const origin = `http://${request.headers.host ?? ''}`;
  const query = new URLSearchParams(search);
  const call: Call = {context, request, response, body, path, search, origin, query, params: {}};
  const isForPeople = role === 'api' && isPage(path);
  const exchange: Exchange = {call, isForPeople, appliedFaults: []};
  const requestId = randomUUID();
  response.setHeader('x-request-id', requestId);
  if (!isForPeople) recordAtEnd(exchange, requestId);
  return exchange;
}

function handleSite(_: Request, exchange: Exchange): Promise<Response> {
  const name = isHome(exchange.call) ? 'home' : 'site';
  return answerTo(exchange, {name, handle: serveSite}, siteProtocol);
}

function createRouter(): (request: Request, exchange: Exchange) => Response | Promise<Response> {
  const app = new Hono<{Bindings: Exchange}>({strict: false});
  for (const protocol of protocols) {
    for (const route of protocol.routes) {
      app.on(route.method, routerPath(route), ({env, req}) => {
        Object.assign(env.call.params, req.param());
        return answerTo(env, route, protocol);
      });
    }
  }
  app.notFound(({env, req}) => {
    const {path, request} = env.call;
    const protocol = protocolOf(env);
    const handle = (): never => {
      const served = req.path.replace(/(?<=.)\/$/, '');
      const allowed = methods.filter((method) => app.router.match(method, served)[0].length > 0);
      if (allowed.length === 0) throw new HttpFailure(404, `Nothing is served at ${path}.`);
      const [list, method] = [allowed.join(', '), String(request.method)];
      throw new HttpFailure(405, `${path} does not accept ${method}, only ${list}.`, {allow: list});
    };
    return answerTo(env, {handle}, {...protocol, admit: () => 'nobody'});
  });
  return (request, exchange) => app.fetch(request, exchange);
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
function hostFailure(exchange: Exchange, role: ServerRole): Promise<Response> | Response | undefined {
  const {request, context} = exchange.call;
  try {
    checkHost(request, context);
    return undefined;
  } catch (error) {
    return (role === 'apps' ? siteProtocol : protocolOf(exchange)).failure(asFailure(error));
  }
}

/** Answers a request whose route is known, unless a fault does. Never rejects. */
async function answerTo(
  exchange: Exchange,
  {name, handle}: Pick<Route, 'name' | 'handle'>,
  protocol: Protocol,
): Promise<Response> {
  const {call} = exchange;
  const {request, response, body} = call;
  exchange.route = name;
  try {
    if (protocol !== siteProtocol) checkOrigin(request);
    const instead = exchange.isForPeople ? undefined : await injectFaults(exchange, name, protocol);
    if (instead) return instead;
    decodePath(call.path);
    if (protocol !== pagesProtocol) checkPath(call.params);
    return await handle({...call, user: await protocol.admit(call)});
  } catch (error) {
    if (!body.isBroken && !response.closed && !response.headersSent) return protocol.failure(asFailure(error));
    // The connection is gone, or broke during the response, so there is nobody to tell.
    response.destroy();
    return alreadySent;
  }
}

/** Applies the faults for a route. Returns what one answers instead of the route. */
async function injectFaults(
  exchange: Exchange,
  name: RouteName | undefined,
  protocol: Protocol,
): Promise<Response | undefined> {
  const {context, response} = exchange.call;
  const note = (fault: FaultRule): void => {
    exchange.fault = fault.action;
    exchange.appliedFaults.push(faultText(fault));
  };
  const latency = context.faults.takeLatency(name);
  if (latency) {
    note(latency);
    const gone = new AbortController();
    response.once('close', () => {
      gone.abort();
    });
    await delay(latency.milliseconds, undefined, {signal: gone.signal});
  }
  const fault = context.faults.takeAnswerFault(name);
  if (!fault) return undefined;
  note(fault);
  return applyFault(exchange.call, fault, protocol);
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

function recordAtEnd(exchange: Exchange, requestId: string): void {
  const {context, request, response, body, path} = exchange.call;
  const started = performance.now();
  const at = new Date().toISOString();
  response.once('close', () => {
    context.log.add({
      method: request.method ?? 'GET',
      path,
      status: response.headersSent ? response.statusCode : 0,
      route: exchange.route,
      bytesReceived: body.bytes,
      durationMs: Math.round(performance.now() - started),
      fault: exchange.fault,
      userAgent: request.headers['user-agent'],
      requestId,
      at,
      appliedFaults: exchange.appliedFaults,
    });
  });
}
