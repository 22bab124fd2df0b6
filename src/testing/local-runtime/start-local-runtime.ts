import {once} from 'node:events';
import {realpath} from 'node:fs/promises';
import {createServer, type Server} from 'node:http';
import path from 'node:path';
import * as v from 'valibot';
import {reasonOf, systemCode} from '../../errors/system-failure.js';
import {createError} from '../../errors/index.js';
import {defaultArchiveLimits, type LocalRuntime, type LocalRuntimeOptions, type RequestRecord} from './options.js';
import type {RuntimeContext} from './context.js';
import {openCredentials} from './store/credentials.js';
import {openDataFolder, readOwnJson, verifyOwnFile, writeJsonFile, type DataFolder} from './store/data-folder.js';
import {Deployments} from './store/deployments.js';
import {FaultBook} from './faults.js';
import {handleRequest} from './request-handler.js';
import {seed} from './seed.js';
import {Store} from './store/store.js';
import {tokenPath} from './protocols/token-protocol.js';
import {asSentence} from '../../errors/sentence.js';

const maxRecords = 1000;
const defaultHost = '127.0.0.1';

/** How long a connection may be idle. Longer than in clients, whose requests would fail if the server closed first. */
const keepAliveMilliseconds = 65_000;

/**
 * Starts a local hosting service that speaks the protocols of both built-in backends: a real server that stores real
 * files, for trying mycli, for tests and for plugin authors. For development only.
 * @throws RuntimeCliError `ERR_OPTION_INVALID` for an invalid fault, a port in use, an unusable data folder, or
 * builds in `seed` that cannot be bundled.
 */
export async function startLocalRuntime(options: LocalRuntimeOptions = {}): Promise<LocalRuntime> {
  const {host = defaultHost, signal, onRequest} = options;
  signal?.throwIfAborted();
  const faults = new FaultBook();
  for (const fault of options.faults ?? []) faults.add(fault);
  const server = createServer();
  let folder: DataFolder | undefined;
  try {
    const {path: directory, close: release} = (folder = await openDataFolder(options.dataDirectory));
    // The given folder may be a link. Below it, none is followed.
    const store = await Store.open(await realpath(directory));
    const stored = await openCredentials(directory, options.credentials ?? {});
    const origin = await listenAgain(server, directory, options);
    const credentials = {...stored, tokenUrl: `${origin}${tokenPath}`};
    const context = createContext(options, {store, faults, host, credentials});
    if (options.seed !== undefined) await seed(path.resolve(options.seed), context);
    const requests: RequestRecord[] = [];
    const closeServer = serve(server, context, (record) => {
      requests.push(record);
      if (requests.length > maxRecords) requests.shift();
      onRequest?.(record);
    });
    let closing: Promise<void> | undefined;
    const close = (): Promise<void> => (closing ??= closeServer().then(release));
    const abort = (): void => void close();
    signal?.addEventListener('abort', abort, {once: true});
    return {
      origin,
      dataDirectory: directory,
      credentials,
      requests,
      addFault: (rule) => {
        faults.add(rule);
      },
      clearFaults: () => {
        faults.clear();
      },
      close: () => {
        signal?.removeEventListener('abort', abort);
        return close();
      },
    };
  } catch (error) {
    server.close();
    await folder?.close();
    if (systemCode(error) === undefined) throw error;
    const shown = options.dataDirectory ?? 'in the temporary folder';
    throw createError('ERR_OPTION_INVALID', asSentence(`The data folder ${shown} cannot be used: ${reasonOf(error)}`), {
      suggestions: ['Check that it is writable and that the disk is not full, or pass another one with --data.'],
      cause: error,
    });
  }
}

function createContext(
  options: LocalRuntimeOptions,
  made: Pick<RuntimeContext, 'store' | 'faults' | 'host' | 'credentials'>,
): RuntimeContext {
  const {auth = true, scopes, tokenSeconds = 3600, deploymentSeconds: seconds = 2} = options;
  const {maxUploadBytes = Infinity, stallSeconds = 60, now = () => new Date()} = options;
  const limits = {...defaultArchiveLimits, ...options.archiveLimits};
  const {store, faults} = made;
  const deployments = new Deployments({store, faults, limits, now, seconds});
  return {...made, deployments, limits, auth, scopes, tokenSeconds, maxUploadBytes, stallSeconds, now};
}

/** Listens on the port last used with the data folder, unless another one is requested. Returns the origin. */
async function listenAgain(
  server: Server,
  folder: string,
  {host = defaultHost, port, signal, onWarning}: LocalRuntimeOptions,
): Promise<string> {
  const file = path.join(folder, 'port.json');
  const kept = port === undefined ? await readPort(file) : undefined;
  const origin = await listen(server, {host, port: port ?? kept ?? 0, signal}).catch((error: unknown) => {
    if (kept === undefined || signal?.aborted === true) throw error;
    onWarning?.(`Port ${kept}, last used with this data folder, is not available. The runtime has a new address.`);
    return listen(server, {host, port: 0, signal});
  });
  const actual = Number(new URL(origin).port);
  if (actual !== kept) {
    await verifyOwnFile(file);
    await writeJsonFile(file, {port: actual}, path.join(folder, 'temporary'));
  }
  return origin;
}

const portSchema = v.object({port: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(65_535))});

async function readPort(file: string): Promise<number | undefined> {
  try {
    return v.parse(portSchema, await readOwnJson(file)).port;
  } catch {
    // There is none yet, or it is invalid.
    return undefined;
  }
}

/** Starts listening. Returns the origin. */
async function listen(
  server: Server,
  {host, port, signal}: {readonly host: string; readonly port: number; readonly signal: AbortSignal | undefined},
): Promise<string> {
  try {
    server.listen(port, host);
    await once(server, 'listening', signal === undefined ? {} : {signal});
  } catch (error) {
    signal?.throwIfAborted();
    throw createError(
      'ERR_OPTION_INVALID',
      `The local runtime cannot listen on ${host}, port ${String(port)}${listenReason(error)}.`,
      {
        cause: error,
        suggestions: ['Pass another --port, or 0 for any free port.'],
      },
    );
  }
  const address = server.address();
  const actual = typeof address === 'object' ? address?.port : undefined;
  // A wildcard address cannot be used by clients.
  const name = {'0.0.0.0': '127.0.0.1', '::': '::1'}[host] ?? host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${String(actual)}`;
}

/** Starts serving requests. Returns a function that stops the server. */
function serve(server: Server, context: RuntimeContext, onEnd: (record: RequestRecord) => void): () => Promise<void> {
  const underway = new Set<Promise<void>>();
  // A large upload may take any time while it progresses; see `stallSeconds`.
  server.requestTimeout = 0;
  server.keepAliveTimeout = keepAliveMilliseconds;
  server.on('request', (request, response) => {
    const handling = handleRequest(context, {request, response}, onEnd).finally(() => underway.delete(handling));
    underway.add(handling);
  });
  return async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
    await Promise.all(underway);
  };
}

function listenReason(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: 'it is in use',
    EACCES: 'permission denied',
    EADDRNOTAVAIL: 'this machine does not have the address',
  };
  const reason = typeof code === 'string' ? reasons[code] : undefined;
  return reason === undefined ? '' : `: ${reason}`;
}
