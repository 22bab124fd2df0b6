import {randomUUID} from 'node:crypto';
import {once} from 'node:events';
import type {IncomingMessage, Server, ServerResponse} from 'node:http';
import {getRequestListener} from '@hono/node-server';
import {Hono} from 'hono';
import {decoded} from '../text/percent-encoding.js';
import {asSentence} from '../text/sentence.js';
import {messageOf, systemCode} from '../errors/system-failure.js';
import {checkHost, checkOrigin} from './access.js';
import {alreadySent, HttpFailure} from './answer.js';
import {applyFaults} from './apply-faults.js';
import {recordRequest, type Call, type Protocol, type Route, type RuntimeContext} from './runtime-context.js';
import {pagesProtocol} from './pages/pages-protocol.js';
import {RequestBody} from './request-body.js';
import {siteProtocol} from './sites/serve-site.js';
import {apiProtocol} from './endpoints/api.js';
import {legacyProtocol} from './endpoints/legacy.js';
import {archiveProtocol, openApiProtocol} from './endpoints/local.js';
import {serveLogs} from './endpoints/logs-socket.js';
import {checkPath} from './endpoints/serve.js';
import {tokenProtocol} from './endpoints/token.js';

/** How long a connection may be idle. Longer than in clients, whose requests would fail if the server closed first. */
const keepAliveMilliseconds = 65_000;

/** What a server of a runtime serves, those with the longer prefixes first. */
const roles = {
  api: [pagesProtocol, tokenProtocol, archiveProtocol, legacyProtocol, apiProtocol, openApiProtocol],
  apps: [siteProtocol],
} as const;

/** Starts serving requests. Returns a function that stops the server. */
export function serve(server: Server, role: keyof typeof roles, context: RuntimeContext): () => Promise<void> {
  // A large upload may take any time while it progresses.
  server.requestTimeout = 0;
  server.headersTimeout = Math.ceil(context.stallSeconds * 1000);
  server.keepAliveTimeout = keepAliveMilliseconds;
  const app = createApp(roles[role]);
  const underway = new Set<Promise<unknown>>();
  server.on('request', (request, response) => {
    const call = openCall(request, response, context);
    const listen = getRequestListener((webRequest) => app.fetch(webRequest, call), {overrideGlobalObjects: false});
    const answering = listen(request, response).finally(() => underway.delete(answering));
    underway.add(answering);
  });
  const endLogs = role === 'api' ? serveLogs(server, context) : undefined;
  return async () => {
    const closed = once(server, 'close');
    server.close();
    endLogs?.();
    server.closeAllConnections();
    await closed;
    await Promise.all(underway);
  };
}

function openCall(request: IncomingMessage, response: ServerResponse, context: RuntimeContext): Call {
  const {url = '/', headers} = request;
  const [path = '/'] = url.split('?', 1);
  const search = url.slice(path.length);
  return {
    context,
    request,
    response,
    path,
    search,
    query: new URLSearchParams(search),
    body: new RequestBody(request, context.stallSeconds),
    origin: `http://${headers.host ?? ''}`,
    params: {},
    route: undefined,
    fault: undefined,
    user: 'nobody',
  };
}

function createApp(protocols: readonly Protocol[]): Hono<{Bindings: Call}> {
  const app = new Hono<{Bindings: Call}>({strict: false});
  for (const protocol of protocols) {
    for (const route of protocol.routes) {
      app.on(route.method, withoutSlash(route.path), ({env, req}) => {
        env.params = req.param();
        return answerTo(env, route, protocol);
      });
    }
  }
  app.notFound(({env, req}) => {
    const {path, request} = env;
    // Most requests to unknown paths were meant for the API.
    const protocol = protocols.find(({prefix}) => `${path}/`.startsWith(prefix)) ?? legacyProtocol;
    const handle = (): never => {
      const allowed = methods.filter((method) => app.router.match(method, withoutSlash(req.path))[0].length > 0);
      if (allowed.length === 0) throw new HttpFailure(404, `Nothing is served at ${path}.`);
      const [list, method] = [allowed.join(', '), String(request.method)];
      throw new HttpFailure(405, `${path} does not accept ${method}, only ${list}.`, {allow: list});
    };
    return answerTo(env, {handle}, {...protocol, admit: () => 'nobody'});
  });
  return app;
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

function withoutSlash(path: string): string {
  return path.replace(/(?<=.)\/$/, '');
}

/** Answers a request, unless a fault does. Never rejects. */
async function answerTo(call: Call, {name, handle}: Pick<Route, 'name' | 'handle'>, protocol: Protocol) {
  const {request, response, path, params} = call;
  const isPage = protocol.prefix === pagesProtocol.prefix;
  call.route = name;
  if (!isPage) recordAtEnd(call);
  try {
    checkHost(call);
    if (protocol !== siteProtocol) checkOrigin(request);
    const instead = isPage ? undefined : await applyFaults(call, protocol);
    if (instead) return instead;
    if (decoded(path) === undefined) throw new HttpFailure(400, 'The path cannot be decoded.');
    checkPath(params);
    call.user = await protocol.admit(call);
    return await handle(call);
  } catch (error) {
    const isHeard = request.errored === null && !response.closed && !response.headersSent;
    if (isHeard) return protocol.failure(asFailure(error));
    response.destroy();
    return alreadySent;
  }
}

function asFailure(error: unknown): HttpFailure {
  if (error instanceof HttpFailure) return error;
  const code = systemCode(error);
  if (code === 'ENOSPC' || code === 'EDQUOT') return new HttpFailure(507, 'The disk of the local runtime is full.');
  const reason = messageOf(error);
  return new HttpFailure(500, asSentence(`The local runtime failed: ${reason}`));
}

/** Gives a request an ID, and records it when it has ended. */
function recordAtEnd(call: Call): void {
  const {context, request, response, body} = call;
  const requestId = randomUUID();
  response.setHeader('x-request-id', requestId);
  const started = performance.now();
  response.once('close', () => {
    const status = response.headersSent ? response.statusCode : 0;
    const durationMs = Math.round(performance.now() - started);
    const outcome = {status, route: call.route, bytesReceived: body.bytes, durationMs, fault: call.fault, requestId};
    recordRequest(request, outcome, context);
  });
}
