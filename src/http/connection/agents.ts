import http from 'node:http';
import type {ClientRequestArgs, Agent} from 'node:http';
import https from 'node:https';
import {isIP, isIPv6, Socket} from 'node:net';
import type {Duplex} from 'node:stream';
import type {SecureContextOptions} from 'node:tls';
import type {Agents, OptionsInit} from 'got';
import type {Environment} from '../types.js';
import {statusName, type Attempt} from './call.js';
import {proxyFor} from './proxy.js';
import {ProxyError, StallError} from './watch.js';

type RequestFunction = NonNullable<OptionsInit['request']>;

/** How a request reaches its server, as got's options take it. */
interface Route {
  readonly agent: Agents;
  readonly request?: RequestFunction;
}

/** What opening a connection depends on. */
interface ConnectContext {
  readonly connectTimeoutMs: number;
  readonly signal: AbortSignal | undefined;
  readonly attempt: Attempt;
}

// Every request has a connection of its own. A kept one could be closed by the server at the moment an upload is sent
// through it, with an unknown outcome, or could still be busy with a body that was answered early.
const agentOptions = {keepAlive: false};

/** Makes the routes of a client: which one leads to a URL depends on the proxy variables. */
export function createRoutes(env: Environment): (url: URL, context: ConnectContext) => Route {
  const direct = {
    http: withEarlyAnswers(new http.Agent(agentOptions)),
    https: withEarlyAnswers(new https.Agent(agentOptions)),
  };
  return (url, context) => {
    const proxy = proxyFor(url, env);
    if (proxy === undefined) return {agent: direct};
    context.attempt.proxy = proxy.host;
    if (url.protocol === 'https:') return {agent: {https: new TunnelAgent(proxy, context)}};
    return {agent: direct, request: throughProxy(proxy, direct)};
  };
}

/** Asks the proxy for the URL itself, as is usual for `http:`. */
function throughProxy(proxy: URL, agents: {readonly http: http.Agent; readonly https: https.Agent}): RequestFunction {
  return ({href, host}, options) => {
    const request = clientFor(proxy).request({
      ...options,
      ...addressOf(proxy),
      path: href.replace(/#.*$/s, ''),
      agent: proxy.protocol === 'https:' ? agents.https : agents.http,
    });
    for (const [name, value] of Object.entries({host, ...authorizationOf(proxy)})) request.setHeader(name, value);
    return request;
  };
}

/**
 * Reaches an `https:` server through a tunnel. Above the tunnel it is node's own agent, so names, addresses and SNI are
 * checked as without a proxy.
 */
class TunnelAgent extends https.Agent {
  constructor(
    private readonly proxy: URL,
    private readonly context: ConnectContext,
  ) {
    super(agentOptions);
  }

  override createConnection(
    options: ClientRequestArgs & SecureContextOptions,
    callback: (error: Error | null, stream: Duplex) => void = () => undefined,
  ): undefined {
    const target = `${bracketed(options.host ?? 'localhost')}:${options.port ?? 443}`;
    openTunnel(this.proxy, target, options.ca, this.context)
      .then((socket) => {
        this.context.attempt.proxy = undefined;
        const secured: ClientRequestArgs & {readonly socket: Socket} = {...options, socket};
        const connection = super.createConnection(secured);
        if (!connection) throw new ProxyError('the proxy tunnel has no connection');
        return readAfterBrokenPipe(connection);
      })
      .then(
        (connection) => callback(null, connection),
        // Node takes an error without a stream; its types do not.
        (error: unknown) => void Reflect.apply(callback, undefined, [error]),
      );
  }
}

/** Nobody else can end a request that has no connection yet: the tunnel has a time limit of its own. */
async function openTunnel(
  proxy: URL,
  target: string,
  ca: SecureContextOptions['ca'],
  {connectTimeoutMs, signal}: ConnectContext,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const request = clientFor(proxy).request({
      ...addressOf(proxy),
      method: 'CONNECT',
      path: target,
      agent: false,
      ...(ca === undefined ? {} : {ca}),
      headers: {host: target, ...authorizationOf(proxy)},
      ...(signal === undefined ? {} : {signal}),
    });
    const late = new StallError(`no connection for ${connectTimeoutMs / 1000} s`);
    const timer = setTimeout(() => request.destroy(late), connectTimeoutMs);
    request.once('close', () => clearTimeout(timer));
    request.once('error', (error: NodeJS.ErrnoException) =>
      reject(error.code?.startsWith('HPE_') ? new ProxyError('the response of the proxy is not HTTP') : error),
    );
    request.once('connect', ({statusCode = 0}, socket, head) => {
      clearTimeout(timer);
      if (statusCode >= 200 && statusCode < 300) {
        if (head.length > 0) socket.unshift(head);
        resolve(socket);
        return;
      }
      socket.destroy();
      reject(new ProxyError(`the proxy returned ${statusName(statusCode)}`));
    });
    request.end();
  });
}

function clientFor({protocol}: URL): typeof http | typeof https {
  return protocol === 'https:' ? https : http;
}

function addressOf({protocol, hostname, port}: URL) {
  const host = hostname.replace(/^\[|\]$/g, '');
  // Node would take the name for TLS from the Host header, which names the server and not the proxy.
  return {protocol, host, port: port || (protocol === 'https:' ? 443 : 80), servername: isIP(host) === 0 ? host : ''};
}

function authorizationOf({username, password}: URL): Readonly<Record<string, string>> {
  if (username === '' && password === '') return {};
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return {'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}`};
}

function bracketed(host: string): string {
  return isIPv6(host) ? `[${host}]` : host;
}

/** How long an answer is waited for when the server no longer takes the body. */
const lingerMs = 1500;

/**
 * A server that refuses an upload may answer and close while the body is still being sent. Node then reports the broken
 * pipe and throws the answer away. Sockets of this agent stop writing and go on reading for a while instead.
 * @param agent - One that nobody else uses: it is changed.
 */
function withEarlyAnswers<T extends Agent>(agent: T): T {
  const create = agent.createConnection.bind(agent);
  agent.createConnection = (...args) => readAfterBrokenPipe(create(...args));
  return agent;
}

/** Makes a socket go on reading after a broken pipe. */
function readAfterBrokenPipe<T extends Duplex | null | undefined>(socket: T): T {
  if (!(socket instanceof Socket)) return socket;
  const write = socket._write.bind(socket);
  const writev = socket._writev?.bind(socket);
  socket._write = (chunk, encoding, callback) => write(chunk, encoding, unlessBroken(socket, callback));
  if (writev !== undefined) socket._writev = (chunks, callback) => writev(chunks, unlessBroken(socket, callback));
  return socket;
}

/**
 * A write that ends in a broken pipe stays pending: nothing more is written, and no error outruns the answer. So does
 * one that ends with the socket: its other events tell, and a second error in the middle of a retry would end the call.
 */
function unlessBroken(socket: Socket, callback: (error?: Error | null) => void) {
  return (error?: NodeJS.ErrnoException | null) => {
    if (error && socket.destroyed) return;
    if (error?.code !== 'EPIPE' && error?.code !== 'ECONNRESET') {
      callback(error);
      return;
    }
    const timer = setTimeout(() => socket.destroy(), lingerMs);
    socket.once('close', () => clearTimeout(timer));
  };
}
