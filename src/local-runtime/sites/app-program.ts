// The program of an app's server, which runs in a process of its own: it imports the entry that it is given, and tells
// the parent the port of the server that the entry starts, or that is made of what it exports. scripts/bundle.js emits
// it as a file, because nothing of the runtime belongs into that process.
import {subscribe} from 'node:diagnostics_channel';
import {createServer, type IncomingMessage, type RequestListener, type ServerResponse} from 'node:http';
import {Server} from 'node:net';
import {Readable} from 'node:stream';
import {buffer} from 'node:stream/consumers';
import {pipeline} from 'node:stream/promises';
import {pathToFileURL} from 'node:url';
import {inspect} from 'node:util';

type Callable = (...given: readonly unknown[]) => unknown;
type Listener = (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void) => unknown;

// As if the entry had been started.
process.argv.splice(1, 1);
const send = process.send?.bind(process);
// The parent has ended, in whatever way.
process.on('disconnect', () => process.exit());
// A program that ends by itself is not kept alive by its parent.
process.channel?.unref();

const state = {isListening: false, isTold: false};
subscribe('tracing:net.server.listen:asyncStart', (message) => {
  state.isListening = true;
  // Whatever address the program asks for, nobody else on the network reaches it.
  (message as {readonly options: {host?: string}}).options.host = '127.0.0.1';
});
subscribe('tracing:net.server.listen:asyncEnd', (message) => {
  const address = (message as {readonly server: Server}).server.address();
  if (state.isTold || address === null || typeof address === 'string') return;
  state.isTold = true;
  send?.({port: address.port});
});

const loaded: unknown = await import(pathToFileURL(process.argv[1] ?? '').href);
// A program that has called listen(), or does so later, needs nothing else.
const server = state.isListening ? undefined : serverOf(loaded);
server?.listen(0);

function member(value: unknown, name: string): unknown {
  const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function';
  return isObject ? Reflect.get(value, name) : undefined;
}

function isCallable(value: unknown): value is Callable {
  return typeof value === 'function';
}

function serverOf(namespace: unknown): Server | undefined {
  const byDefault = member(namespace, 'default');
  for (const exported of [namespace, byDefault, member(byDefault, 'default')]) {
    if (exported instanceof Server) return exported;
    const listener = isCallable(exported) && isApp(exported) ? exported : listenerOf(exported);
    if (listener !== undefined) return createServer((request, response) => void answer(listener, request, response));
  }
  return undefined;
}

function listenerOf(exported: unknown): Listener | undefined {
  // `fetch` comes first: `get` adds a route to an application of Hono, and `handler` of one of H3 is its own.
  for (const name of ['fetch', 'handler', 'reqHandler', 'get', 'buildHandler']) {
    const candidate = member(exported, name);
    if (!isCallable(candidate)) continue;
    if (name === 'buildHandler') return fromStreaming(candidate);
    if (name === 'fetch') return fromFetch(candidate.bind(exported));
    return name === 'get' && !isApp(candidate) ? fromGateway(candidate) : fromHandler(candidate);
  }
  return isCallable(exported) ? fromHandler(exported) : undefined;
}

/** Whether it is an application of Express or Connect. */
function isApp(value: Callable): boolean {
  return isCallable(member(value, 'handle'));
}

function fromHandler(handler: Callable): Listener {
  return isApp(handler) || handler.length >= 2 ? handler : fromFetch(handler);
}

async function answer(listener: Listener, ...[request, response]: Parameters<RequestListener>): Promise<void> {
  const plain = {'content-type': 'text/plain; charset=utf-8'};
  const fail = (error: unknown): void => {
    process.stderr.write(`${inspect(error)}\n`);
    if (response.headersSent) response.destroy();
    else response.writeHead(500, plain).end('The handler of the app failed.\n');
  };
  try {
    await listener(request, response, (error) => {
      if (error) fail(error);
      else response.writeHead(404, plain).end('Not found.\n');
    });
  } catch (error) {
    fail(error);
  }
}

/** A handler of web requests: it returns a Response, or the text of a page. */
function fromFetch(handler: Callable): Listener {
  return async (incoming, response) => {
    const {method = 'GET', url = '/', headers} = incoming;
    const hasBody = method !== 'GET' && method !== 'HEAD';
    const request = new Request(new URL(`http://${headers.host ?? ''}${url}`), {
      method,
      headers: Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]),
      ...(hasBody && {body: Readable.toWeb(incoming), duplex: 'half'}),
    });
    const result = await handler(request);
    if (typeof result === 'string' || result instanceof Uint8Array) {
      response.writeHead(200, {'content-type': 'text/html; charset=utf-8'}).end(result);
      return;
    }
    if (!(result instanceof Response)) throw new TypeError('The handler returned neither a Response nor a string.');
    response.setHeaders(result.headers).writeHead(result.status);
    if (result.body === null) response.end();
    else await pipeline(Readable.fromWeb(result.body), response);
  };
}

/** The event and context of an API gateway's proxy. */
async function gatewayArguments(request: IncomingMessage): Promise<readonly [event: object, context: object]> {
  const {method, url = '/', headers, headersDistinct} = request;
  const {pathname: path, searchParams} = new URL(`http://localhost${url}`);
  const query = [...new Set(searchParams.keys())];
  const body = await buffer(request);
  const requestId = crypto.randomUUID();
  const event = {
    resource: '/{proxy+}',
    path,
    httpMethod: method,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
    multiValueHeaders: {...headersDistinct},
    queryStringParameters: Object.fromEntries(query.map((name) => [name, searchParams.getAll(name).at(-1)])),
    multiValueQueryStringParameters: Object.fromEntries(query.map((name) => [name, searchParams.getAll(name)])),
    pathParameters: {proxy: path.slice(1)},
    stageVariables: null,
    requestContext: {path, httpMethod: method, stage: 'local', requestId, identity: {sourceIp: '127.0.0.1'}},
    body: body.length === 0 ? null : body.toString('base64'),
    isBase64Encoded: body.length > 0,
  };
  const context = {awsRequestId: requestId, functionName: 'local', getRemainingTimeInMillis: () => 30_000};
  return [event, context];
}

/** What a handler of such events answers. */
interface GatewayAnswer {
  readonly statusCode?: number;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly multiValueHeaders?: Readonly<Record<string, readonly string[]>>;
  readonly body?: string;
  readonly isBase64Encoded?: boolean;
}

/** A handler of such events: it returns an answer, or passes one to its callback. */
function fromGateway(handler: Callable): Listener {
  return async (request, response) => {
    const [event, context] = await gatewayArguments(request);
    const result = await new Promise<GatewayAnswer>((resolve, reject) => {
      const settle = (value: unknown): void => resolve(value as GatewayAnswer);
      const returned = handler(event, context, (error: Error | null | undefined, value: unknown) =>
        error ? reject(error) : settle(value),
      );
      Promise.resolve(returned).then((value) => {
        if (value !== undefined) settle(value);
      }, reject);
    });
    const all = {...result.headers, ...result.multiValueHeaders};
    for (const [name, value] of Object.entries(all)) {
      response.setHeader(name, Array.isArray(value) ? value.map(String) : String(value));
    }
    response.writeHead(result.statusCode ?? 200);
    response.end(Buffer.from(result.body ?? '', result.isBase64Encoded ? 'base64' : 'utf8'));
  };
}

/** What a stream is given of an answer before its body. */
interface StreamedHead {
  readonly statusCode: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cookies?: readonly string[];
}

/** What makes a handler of such events for a stream, to which its host gives the status and headers. */
function fromStreaming(buildHandler: Callable): Listener {
  const from = (response: ServerResponse, {statusCode, headers, cookies = []}: StreamedHead): ServerResponse => {
    if (cookies.length > 0) response.setHeader('set-cookie', cookies);
    return response.writeHead(statusCode, headers);
  };
  Object.assign(globalThis, {awslambda: {HttpResponseStream: {from}}});
  return async (request, response) => {
    const handler = buildHandler(response);
    if (isCallable(handler)) await handler(...(await gatewayArguments(request)));
  };
}
