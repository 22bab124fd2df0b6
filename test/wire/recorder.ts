import {subscribe} from 'node:diagnostics_channel';
import type {IncomingMessage, ServerResponse} from 'node:http';
import {expect} from 'vitest';
import type {Exchange} from './exchange.js';

// Looks at every exchange of every HTTP server in this process. Servers are not asked: Node tells of each request
// before the server gets it. The document is loaded at the first exchange that belongs to the wire.

const [startBytes, endBytes] = [128 * 1024, 8 * 1024];

/** The start and the end of a body, which may be long. */
class Excerpt {
  #start = Buffer.alloc(0);
  #end = Buffer.alloc(0);

  add(chunk: unknown): void {
    if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) return;
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    const free = startBytes - this.#start.length;
    if (free > 0) this.#start = Buffer.concat([this.#start, bytes.subarray(0, free)]);
    // Concatenating copies: the memory of a chunk may be used again.
    const last = bytes.subarray(Math.max(0, free)).subarray(-endBytes);
    if (last.length > 0)
      this.#end = Buffer.concat([this.#end.subarray(Math.max(0, this.#end.length + last.length - endBytes)), last]);
  }

  get bytes(): Buffer {
    return Buffer.concat([this.#start, this.#end]);
  }
}

/** What was seen: answers of local runtimes by their names in the document, and what was wrong. */
interface Recording {
  readonly seen: Set<string>;
  readonly problems: string[];
  /** Those that are still judged. */
  readonly pending: Set<Promise<void>>;
}

/** Of this process, whose modules may be loaded several times. */
const key = Symbol.for('mycli.wire');
const shared = globalThis as {[key]?: Recording};

/** The recording of this process, which starts with the first call. */
export function recording(): Recording {
  if (shared[key]) return shared[key];
  const made: Recording = {seen: new Set(), problems: [], pending: new Set()};
  shared[key] = made;
  subscribe('http.server.request.start', (message) => {
    const {request, response} = message as {readonly request: IncomingMessage; readonly response: ServerResponse};
    record(made, request, response);
  });
  return made;
}

/** What a local runtime serves at the API's port, apart from its pages. */
export const wirePath = /^\/(?:api|storefront|openapi\.json)(?:\/|$)/;

/** Requests of the built-in backends, also to a service below a path. */
const wireRequest = /\/api\/(?:v2\/)?projects\/|\/api\/archives\/|\/storefront\/deployments\/v1\//;

function record(made: Recording, request: IncomingMessage, response: ServerResponse): void {
  const {url = '', headers, method = ''} = request;
  const isToken = headers['content-type'] === 'application/x-www-form-urlencoded';
  if (!wirePath.test(url.replace(/\?.*/s, '')) && !wireRequest.test(url) && !isToken) return;
  const testName = expect.getState().currentTestName ?? 'outside of a test';
  const [body, answerBody] = [new Excerpt(), new Excerpt()];
  tap(request, 'push', body);
  tap(response, 'write', answerBody);
  tap(response, 'end', answerBody);
  response.once('close', () => {
    const exchange: Exchange = {
      method,
      url,
      headers,
      body: request.complete ? body.bytes : undefined,
      status: response.headersSent ? response.statusCode : 0,
      answerHeaders: response.getHeaders(),
      answerBody: response.writableFinished ? answerBody.bytes : undefined,
    };
    const judging = judge(made, exchange, testName).finally(() => made.pending.delete(judging));
    made.pending.add(judging);
  });
}

/** Also gives each chunk that the method is called with to an excerpt. */
function tap(stream: object, name: 'push' | 'write' | 'end', excerpt: Excerpt): void {
  const original: unknown = Reflect.get(stream, name);
  if (typeof original !== 'function') return;
  Reflect.set(stream, name, (...args: readonly unknown[]): unknown => {
    excerpt.add(args[0]);
    return Reflect.apply(original, stream, args);
  });
}

/** Only local runtimes give every answer a UUID. */
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

async function judge(made: Recording, exchange: Exchange, testName: string): Promise<void> {
  const {method, url, headers, status, answerHeaders} = exchange;
  const {answerProblems, isOfWire, nameOf, requestProblems} = await import('./exchange.js');
  const found: string[] = [];
  if (headers['user-agent']?.startsWith('mycli') === true) {
    found.push(...requestProblems(exchange).map((problem) => `the request: ${problem}`));
  }
  if (uuid.test(String(answerHeaders['x-request-id'])) && status > 0 && isOfWire(exchange)) {
    made.seen.add(nameOf(exchange) ?? '');
    found.push(...answerProblems(exchange).map((problem) => `the answer ${String(status)}: ${problem}`));
  }
  const path = url.replace(/\?.*/s, '');
  made.problems.push(...found.map((problem) => `${method} ${path} (${testName}): ${problem}`));
}
