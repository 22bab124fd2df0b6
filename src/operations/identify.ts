import {builtIns, type BackendSettings, type Identity} from '../backends/built-ins.js';
import {createBackendContext} from '../backends/context.js';
import {createError} from '../errors/index.js';
import type {CommonOptions} from './options.js';
import type {Host} from './steps.js';

/** Options of `identify`. */
export interface IdentifyOptions extends Pick<CommonOptions, 'signal' | 'requestTimeout'>, BackendSettings {
  /** A built-in backend. */
  readonly backend: 'api' | 'legacy';
  /** A project to try an access token on. */
  readonly projectSlug?: string | undefined;
}

/**
 * Asks a built-in backend, with a request that changes nothing, whether it accepts the credentials, and whose they are.
 * @throws RuntimeCliError when it refuses them or cannot be asked; `signal.reason` when aborted.
 */
export async function identify(options: IdentifyOptions, host: Host): Promise<Identity> {
  const {backend: name, projectSlug = '', signal = new AbortController().signal, requestTimeout} = options;
  const builtIn = builtIns.get(name);
  if (builtIn === undefined) throw createError('ERR_BACKEND_UNKNOWN', `The ${name} backend is not built in.`);
  const context = await createBackendContext({
    projectSlug,
    options: undefined,
    configDirectory: host.cwd,
    env: host.env,
    logger: host.logger,
    signal,
    userAgent: host.userAgent,
    // Somebody waits for the answer, and a wrong address is as likely as a network that recovers.
    rateLimit: {maxRetries: 1},
    timeouts: {responseTimeoutMs: requestTimeout === undefined ? undefined : requestTimeout * 1000},
    secrets: host.secrets,
  });
  return builtIn.identify(options, context);
}
