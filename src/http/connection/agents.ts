import {lookup} from 'node:dns';
import http from 'node:http';
import type {ClientRequestArgs, Agent} from 'node:http';
import https from 'node:https';
import {isIP, isIPv6, Socket, type LookupFunction} from 'node:net';
import type {Duplex} from 'node:stream';
import type {SecureContextOptions} from 'node:tls';
import type {Agents, OptionsInit} from 'got';
import type {Environment} from '../../text/platform.js';
import {statusName, type Attempt} from './attempt.js';
import {proxyFor} from './proxy.js';
import {ConnectionError, late, lingerMs, whenStill} from './watch.js';

type RequestFunction = NonNullable<OptionsInit['request']>;

interface Route {
  readonly agent: Agents;
  readonly request?: RequestFunction;
}

interface ConnectContext {
  readonly connectTimeoutMs: number;
  readonly signal: AbortSignal | undefined;
  readonly attempt: Attempt;
}

/** Not every resolver knows that names below `localhost` are this machine's, as browsers do (RFC 6761, 6.3). */
const lookupLocal: LookupFunction = (_hostname, options, callback) => {
  lookup('localhost', options, callback);
};

// Every write uses its own connection. The server could close a kept one just as an upload is sent, leaving the
// outcome unknown, or it could still be busy with a body that was answered early.
const agentOptions = {keepAlive: false};

/** Reads keep theirs for the next one, which comes at once or not at all. */
const keptOptions = {keepAlive: true, maxFreeSockets: 4, timeout: 500};

/** Node gives up each address of a host but the last after 250 ms: too early for one that is far, or a lost packet. */
const attemptOptions = (connectTimeoutMs: number) => ({autoSelectFamilyAttemptTimeout: connectTimeoutMs / 5});

export function createRoutes(
  env: Environment,
  connectTimeoutMs: number,
): (url: URL, context: Omit<ConnectContext, 'connectTimeoutMs'> & {readonly keeps?: boolean}) => Route {
  const options = {...agentOptions, ...attemptOptions(connectTimeoutMs)};
  const agents = (options: http.AgentOptions) => ({
    http: withEarlyAnswers(new http.Agent(options)),
    https: withEarlyAnswers(new https.Agent(options)),
  });
  const direct = agents(options);
  const local = agents({...options, lookup: lookupLocal});
  const kept = agents({...options, ...keptOptions});
  return (url, {attempt, signal, keeps}) => {
    const proxy = proxyFor(url, env);
    if (proxy === undefined) return {agent: url.hostname.endsWith('.localhost') ? local : keeps ? kept : direct};
    attempt.proxy = proxy;
    if (url.protocol === 'https:')
      return {agent: {https: new TunnelAgent(proxy.url, {connectTimeoutMs, signal, attempt})}};
    return {agent: direct, request: throughProxy(proxy.url, direct)};
  };
}

/** The agent for a WebSocket. A proxy has to tunnel it even if it is not encrypted. */
export function createSocketAgent(url: URL, env: Environment, context: ConnectContext): Agent | undefined {
  const proxy = proxyFor(url, env);
  if (proxy !== undefined && url.protocol === 'http:') {
    context.attempt.proxy = proxy;
    return new PlainTunnelAgent(proxy.url, context);
  }
  const {agent} = createRoutes(env, context.connectTimeoutMs)(url, context);
  return (url.protocol === 'http:' ? agent.http : agent.https) || undefined;
}

/** Requests the full URL from the proxy, as usual for `http:`. */
function throughProxy(proxy: URL, agents: {readonly http: http.Agent; readonly https: https.Agent}): RequestFunction {
  return ({href, host}, options) => {
    const request = clientFor(proxy).request({
      ...options,
      ...addressOf(proxy),
      path: href.replace(/#.*/s, ''),
      agent: proxy.protocol === 'https:' ? agents.https : agents.http,
    });
    for (const [name, value] of Object.entries({host, ...authorizationOf(proxy)})) request.setHeader(name, value);
    return request;
  };
}

/**
 * Reaches an `https:` server through a tunnel. On top of it works Node's own agent, so names, addresses and SNI are
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
        if (!connection) throw new ConnectionError('ERR_PROXY', 'the proxy tunnel has no connection');
        return readAfterBrokenPipe(connection);
      })
      .then(
        (connection) => callback(null, connection),
        // Node accepts an error without a stream; its types do not.
        (error: unknown) => void Reflect.apply(callback, undefined, [error]),
      );
  }
}

/** Reaches an `http:` server through a tunnel. */
class PlainTunnelAgent extends http.Agent {
  constructor(
    private readonly proxy: URL,
    private readonly context: ConnectContext,
  ) {
    super(agentOptions);
  }

  override createConnection(
    {host, port}: ClientRequestArgs,
    callback: (error: Error | null, stream: Duplex) => void = () => undefined,
  ): undefined {
    const target = `${bracketed(host ?? 'localhost')}:${port ?? 80}`;
    openTunnel(this.proxy, target, undefined, this.context).then(
      (socket) => {
        this.context.attempt.proxy = undefined;
        callback(null, socket);
      },
      (error: unknown) => void Reflect.apply(callback, undefined, [error]),
    );
  }
}

/** Nothing else can end a request that has no connection yet, so the tunnel has its own timeout. */
async function openTunnel(
  proxy: URL,
  target: string,
  ca: SecureContextOptions['ca'],
  {connectTimeoutMs, signal}: ConnectContext,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const request = clientFor(proxy).request({
      ...addressOf(proxy),
      ...attemptOptions(connectTimeoutMs),
      method: 'CONNECT',
      path: target,
      agent: false,
      ...(ca === undefined ? {} : {ca}),
      headers: {host: target, ...authorizationOf(proxy)},
      ...(signal === undefined ? {} : {signal}),
    });
    const tooLate = late('no connection', connectTimeoutMs, '--connect-timeout');
    const timer = whenStill(connectTimeoutMs, () => request.destroy(tooLate));
    request.once('close', () => clearTimeout(timer));
    request.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code?.startsWith('HPE_')
          ? new ConnectionError('ERR_PROXY', 'the response of the proxy is not HTTP')
          : error,
      ),
    );
    request.once('connect', ({statusCode = 0}, socket, head) => {
      clearTimeout(timer);
      if (statusCode >= 200 && statusCode < 300) {
        if (head.length > 0) socket.unshift(head);
        resolve(socket);
        return;
      }
      socket.destroy();
      const code = statusCode >= 500 ? 'ERR_PROXY_FAILED' : 'ERR_PROXY';
      reject(new ConnectionError(code, `the proxy returned ${statusName(statusCode)}`));
    });
    request.end();
  });
}

function clientFor({protocol}: URL): typeof http | typeof https {
  return protocol === 'https:' ? https : http;
}

function addressOf({protocol, hostname, port}: URL) {
  const host = hostname.replace(/^\[|\]$/g, '');
  // Node would take the TLS server name from the Host header, which names the server instead of the proxy.
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

/**
 * A server that refuses an upload may respond and close while the body is still being sent. Node then reports a broken
 * pipe and discards the response. This agent's sockets stop writing instead, and keep reading for a while.
 * @param agent - Is modified, so nothing else may use it.
 */
function withEarlyAnswers<T extends Agent>(agent: T): T {
  const create = agent.createConnection.bind(agent);
  agent.createConnection = (...args) => readAfterBrokenPipe(create(...args));
  return agent;
}

function readAfterBrokenPipe<T extends Duplex | null | undefined>(socket: T): T {
  if (!(socket instanceof Socket)) return socket;
  const write = socket._write.bind(socket);
  const writev = socket._writev?.bind(socket);
  socket._write = (chunk, encoding, callback) => write(chunk, encoding, unlessBroken(socket, callback));
  if (writev !== undefined) socket._writev = (chunks, callback) => writev(chunks, unlessBroken(socket, callback));
  return socket;
}

/**
 * A write that fails with a broken pipe stays pending, so nothing more is written and no error overtakes the response.
 * So does one that fails because the socket ended: other events report that, and a second error during a retry would
 * end the call.
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
