/**
 * What runs in the process of an app's server: imports the entry that it is given, and tells the parent the port of
 * the server that it starts, or that is made of what it exports. A string, so that it is the same from sources and from
 * the bundled package.
 */
export const appProgram = `
import {tracingChannel} from 'node:diagnostics_channel';
import http from 'node:http';
import net from 'node:net';
import {Readable} from 'node:stream';
import {buffer} from 'node:stream/consumers';
import {pipeline} from 'node:stream/promises';
import {pathToFileURL} from 'node:url';

// As if the entry had been started.
process.argv.splice(1, 1);
const send = process.send.bind(process);
// The parent has ended, in whatever way.
process.on('disconnect', () => process.exit());
// A program that ends by itself is not kept alive by its parent.
process.channel.unref();

let isListening = false;
let isTold = false;
tracingChannel('net.server.listen').subscribe({
  asyncStart({options}) {
    isListening = true;
    // Whatever address the program asks for, nobody else on the network reaches it.
    options.host = '127.0.0.1';
  },
  asyncEnd({server}) {
    const port = server.address()?.port;
    if (isTold || port === undefined) return;
    isTold = true;
    send({port});
  },
});

const loaded = await import(pathToFileURL(process.argv[1]).href);
// A program that has called listen(), or does so later, needs nothing else.
const server = isListening ? undefined : serverOf(loaded);
server?.listen(0);

function serverOf(loaded) {
  for (const exported of [loaded, loaded.default, loaded.default?.default]) {
    if (exported instanceof net.Server) return exported;
    const listener = isApp(exported) ? exported : listenerOf(exported);
    if (listener === undefined) continue;
    return http.createServer((request, response) => void answer(listener, request, response));
  }
}

function listenerOf(exported) {
  for (const name of ['handler', 'reqHandler', 'get', 'fetch', 'buildHandler']) {
    const found = exported?.[name];
    if (typeof found !== 'function') continue;
    if (name === 'buildHandler') return fromStreaming(found);
    if (name === 'fetch') return fromFetch(found.bind(exported));
    return name === 'get' && !isApp(found) ? fromGateway(found) : fromHandler(found);
  }
  return typeof exported === 'function' ? fromHandler(exported) : undefined;
}

/** Whether it is an application of Express or Connect. */
function isApp(value) {
  return typeof value === 'function' && typeof value.handle === 'function';
}

function fromHandler(handler) {
  return isApp(handler) || handler.length >= 2 ? handler : fromFetch(handler);
}

async function answer(listener, request, response) {
  const fail = (error) => {
    console.error(error);
    if (response.headersSent) return response.destroy();
    response.writeHead(500, {'content-type': 'text/plain; charset=utf-8'}).end('The handler of the app failed.\\n');
  };
  try {
    await listener(request, response, (error) => {
      if (error) return fail(error);
      response.writeHead(404, {'content-type': 'text/plain; charset=utf-8'}).end('Not found.\\n');
    });
  } catch (error) {
    fail(error);
  }
}

/** A handler of web requests: it returns a Response, or the text of a page. */
function fromFetch(handler) {
  return async (incoming, response) => {
    const {method, url, headers, headersDistinct} = incoming;
    const hasBody = method !== 'GET' && method !== 'HEAD';
    const request = new Request(new URL('http://' + headers.host + url), {
      method,
      headers: Object.entries(headersDistinct).flatMap(([name, values]) => values.map((value) => [name, value])),
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
async function gatewayArguments(request) {
  const {method, url, headers, headersDistinct} = request;
  const {pathname: path, searchParams} = new URL('http://localhost' + url);
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

/** A handler of such events: it returns an answer, or passes one to its callback. */
function fromGateway(handler) {
  return async (request, response) => {
    const [event, context] = await gatewayArguments(request);
    const result = await new Promise((resolve, reject) => {
      const returned = handler(event, context, (error, value) => (error ? reject(error) : resolve(value)));
      Promise.resolve(returned).then((value) => value !== undefined && resolve(value), reject);
    });
    const all = {...result.headers, ...result.multiValueHeaders};
    for (const [name, value] of Object.entries(all)) response.setHeader(name, Array.isArray(value) ? value : String(value));
    response.writeHead(result.statusCode ?? 200);
    response.end(Buffer.from(result.body ?? '', result.isBase64Encoded ? 'base64' : 'utf8'));
  };
}

/** What makes a handler of such events for a stream, to which its host gives the status and headers. */
function fromStreaming(buildHandler) {
  const from = (response, {statusCode, headers, cookies = []}) => {
    if (cookies.length > 0) response.setHeader('set-cookie', cookies);
    return response.writeHead(statusCode, headers);
  };
  globalThis.awslambda = {HttpResponseStream: {from}};
  return async (request, response) => buildHandler(response)(...(await gatewayArguments(request)));
}
`;
