import {once} from 'node:events';
import {realpath} from 'node:fs/promises';
import {createServer, type Server} from 'node:http';
import path from 'node:path';
import * as v from 'valibot';
import {createError} from '../errors/index.js';
import {rejectProblems, valueProblems} from '../settings/definitions.js';
import * as schemas from '../settings/schemas.js';
import {reasonOf, systemCode} from '../errors/system-failure.js';
import type {LocalRuntime, LocalRuntimeOptions} from './runtime-options.js';
import {publicKeyOf} from './access.js';
import type {RuntimeContext} from './runtime-context.js';
import {
  openCredentials,
  storeNewApiKey,
  openDataFolder,
  readDataFile,
  unusableFolder,
  writeJson,
  type DataFolder,
} from './store/data-folder.js';
import {Deployments} from './store/deployment-records.js';
import {FaultBook, type FaultRule} from './faults.js';
import {serve} from './request-handler.js';
import {AppServers} from './sites/app-servers.js';
import {Store} from './store/store.js';
import {token} from '../wire/token.js';
import {siteUrl, type SiteName} from './sites/site-address.js';
import {LogFeed, type LogLevel} from './sites/log-feed.js';
import {Targets} from './store/target-records.js';

/** How often to look for connections on which no request arrives, in milliseconds. */
const connectionsCheckingInterval = 1000;

const amount = v.pipe(v.number('must be a number'), v.minValue(0, 'must not be negative'));
const seconds = v.pipe(
  amount,
  v.maxValue(schemas.longestTimeoutSeconds, `must be at most ${schemas.longestTimeoutSeconds}`),
);
const port = v.pipe(
  v.number('must be a port'),
  v.check((value) => Number.isInteger(value) && value >= 0 && value <= 65_535, 'must be a port from 0 to 65535'),
);
const credentials = v.object(
  {
    apiKey: schemas.nonEmpty,
    organizationId: v.pipe(schemas.nonEmpty, v.maxLength(32, 'must have at most 32 characters')),
    clientId: schemas.nonEmpty,
    clientSecret: schemas.nonEmpty,
  },
  'must be an object',
);

function callback<Name extends 'onAppOutput' | 'onRequest' | 'onWarning' | 'now'>() {
  type Callback = NonNullable<LocalRuntimeOptions[Name]>;
  return v.custom<Callback>((value) => typeof value === 'function', 'must be a function');
}

/** The options and their defaults. */
const optionsSchema = v.object({
  port: v.optional(port),
  appsPort: v.optional(port),
  host: v.optional(schemas.nonEmpty, '127.0.0.1'),
  allowedHosts: v.optional(schemas.list, []),
  dataDirectory: v.optional(schemas.nonEmpty),
  auth: v.optional(schemas.toggle, true),
  credentials: v.optional(v.partial(credentials), {}),
  clientCertificate: v.optional(schemas.nonEmpty),
  scopes: v.optional(schemas.list),
  tokenSeconds: v.optional(amount, 3600),
  protect: v.optional(schemas.nonEmpty),
  ssr: v.optional(schemas.toggle, false),
  ssrEnvironment: v.optional(schemas.objectSchema as schemas.Schema<Readonly<Record<string, string>>>, {}),
  ssrTimeoutSeconds: v.optional(seconds, 30),
  deploymentSeconds: v.optional(seconds, 2),
  maxUploadBytes: v.optional(amount, Infinity),
  stallSeconds: v.optional(seconds, 60),
  faults: v.optional(v.custom<readonly (string | FaultRule)[]>(Array.isArray, 'must be an array'), []),
  onAppOutput: v.optional(callback<'onAppOutput'>(), () => () => undefined),
  onRequest: v.optional(callback<'onRequest'>(), () => () => undefined),
  onWarning: v.optional(callback<'onWarning'>(), () => () => undefined),
  now: v.optional(callback<'now'>(), () => () => new Date()),
  signal: v.optional(v.instance(AbortSignal, 'must be an AbortSignal')),
} satisfies Record<keyof LocalRuntimeOptions, v.GenericSchema>);

type Settings = v.InferOutput<typeof optionsSchema>;

/**
 * Starts a local hosting service that speaks the protocols of both built-in backends: a real server that stores real
 * files, for trying mycli, for tests and for plugin authors. For development only.
 * @throws RuntimeCliError `ERR_OPTION_INVALID` for an option of the wrong type, an unknown one, an invalid fault, a
 * port in use or an unusable data folder.
 */
export async function startLocalRuntime(options: LocalRuntimeOptions = {}): Promise<LocalRuntime> {
  rejectProblems(valueProblems(options, optionsSchema.entries));
  const settings = v.parse(optionsSchema, options);
  const {signal} = settings;
  signal?.throwIfAborted();
  const faults = new FaultBook();
  for (const fault of settings.faults) faults.add(fault);
  const servers = {api: createServer({connectionsCheckingInterval}), apps: createServer({connectionsCheckingInterval})};
  let folder: DataFolder | undefined;
  try {
    const {path: directory, remove} = (folder = await openDataFolder(settings.dataDirectory));
    // The given folder may be a link. Below it, none is followed.
    const store = await Store.open(await realpath(directory));
    const stored = await openCredentials(directory, settings.credentials);
    const {api: origin, apps: appsOrigin} = await listenAgain(servers, directory, settings);
    const credentials = {...stored, tokenUrl: `${origin}${token.operations.requestToken.path}`};
    const renewApiKey = async () => (credentials.apiKey = await storeNewApiKey(directory));
    const context = createContext(settings, {store, faults, appsOrigin, credentials, renewApiKey});
    await context.deployments.sweep();
    const closers = [serve(servers.api, 'api', context), serve(servers.apps, 'apps', context)];
    let closing: Promise<void> | undefined;
    const close = (): Promise<void> => {
      signal?.removeEventListener('abort', abort);
      // Requests may be waiting for the server of an app.
      closing ??= Promise.all([...closers.map((stop) => stop()), context.appServers?.close()]).then(remove);
      return closing;
    };
    const abort = (): void => void close();
    signal?.addEventListener('abort', abort);
    return {
      origin,
      appsOrigin,
      siteUrl: (projectSlug, targetSlug) => siteUrl({origin, context}, {projectSlug, targetSlug}),
      dataDirectory: directory,
      credentials,
      requests: context.requests,
      addFault: (rule) => faults.add(rule),
      clearFaults: () => faults.clear(),
      close,
    };
  } catch (error) {
    servers.api.close();
    servers.apps.close();
    await folder?.remove();
    throw systemCode(error) === undefined ? error : unusableFolder(settings.dataDirectory, error);
  }
}

function createContext(
  settings: Settings,
  parts: Pick<RuntimeContext, 'store' | 'faults' | 'appsOrigin' | 'credentials' | 'renewApiKey'>,
): RuntimeContext {
  const {store, faults} = parts;
  const {now, onWarning, onAppOutput, deploymentSeconds, ssrEnvironment, ssrTimeoutSeconds, clientCertificate} =
    settings;
  const logs = new LogFeed();
  const deployments = new Deployments({store, faults, now, seconds: deploymentSeconds});
  const appOptions = {
    store,
    timeoutSeconds: ssrTimeoutSeconds,
    onWarning,
    environment(site: SiteName) {
      const variables = Object.entries(targets.find(site).variables).map(([name, {value}]) => [name, value] as const);
      return {...ssrEnvironment, ...Object.fromEntries(variables)};
    },
    onOutput(site: SiteName, line: string, level: LogLevel) {
      onAppOutput(`${site.projectSlug}/${site.targetSlug}: ${line}`);
      logs.add(site, now().toISOString(), level, line);
    },
  };
  const appServers = settings.ssr ? new AppServers(appOptions) : undefined;
  const stopApp = async (site: SiteName) => appServers?.stop(site);
  const seconds = Math.min(1, deploymentSeconds);
  const targets = new Targets({store, faults, deployments, now, stopApp, seconds});
  const clientKey = clientCertificate === undefined ? undefined : publicKeyOf(clientCertificate);
  return {...settings, ...parts, deployments, targets, logs, requests: [], appServers, clientKey};
}

const portsSchema = v.object({api: port, apps: port});

/** Listens on the ports last used with the data folder, unless others are requested. Returns the origins. */
async function listenAgain(
  servers: {readonly api: Server; readonly apps: Server},
  folder: string,
  {host, port, appsPort, signal}: Pick<Settings, 'host' | 'port' | 'appsPort' | 'signal'>,
): Promise<{readonly api: string; readonly apps: string}> {
  const file = path.join(folder, 'port.json');
  // There may be none yet, or an invalid one.
  const last = await readDataFile(file, portsSchema).catch(() => undefined);
  const api = await listen(servers.api, {host, signal, flag: '--port', port: port ?? last?.api ?? 0});
  const apps = await listen(servers.apps, {host, signal, flag: '--apps-port', port: appsPort ?? last?.apps ?? 0});
  // An origin leaves out the default port.
  const portOf = (origin: string) => Number(new URL(origin).port || 80);
  await writeJson(file, {api: portOf(api), apps: portOf(apps)}, folder);
  return {api, apps};
}

const listenReasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'it is in use',
  EADDRNOTAVAIL: 'this machine does not have the address',
  ENOTFOUND: 'the name is not known',
};

type ListenOptions = Pick<Settings, 'host' | 'signal'> & {readonly port: number; readonly flag: string};

async function listen(server: Server, {host, port, signal, flag}: ListenOptions): Promise<string> {
  try {
    server.listen(port, host);
    await once(server, 'listening', {signal});
  } catch (error) {
    signal?.throwIfAborted();
    const reason = listenReasons[systemCode(error) ?? ''] ?? reasonOf(error);
    throw createError('ERR_OPTION_INVALID', `The local runtime cannot listen on ${host}, port ${port}: ${reason}.`, {
      cause: error,
      suggestions: [
        `Stop what uses it, such as another local runtime, or pass another --host or ${flag}; port 0 is any free one.`,
      ],
    });
  }
  const address = server.address();
  const actual = typeof address === 'object' ? address?.port : undefined;
  // A wildcard address cannot be used by clients.
  const name = {'0.0.0.0': '127.0.0.1', '::': '::1'}[host] ?? host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${String(actual)}`;
}
