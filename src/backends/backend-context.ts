import {setMaxListeners} from 'node:events';
import {
  clientRules,
  createHttpClient,
  createRequestBodies,
  createRetryWait,
  openStream,
  readSocket,
  type HttpClientOptions,
} from '../http/index.js';
import type {FailedAttempt, StreamingClient} from '../http/types.js';
import {reasonOf} from '../errors/system-failure.js';
import {asSentence} from '../text/sentence.js';
import {Activity, withTimeout, type HostContext} from './call.js';
import type {BuiltInContext} from './host-backend.js';
import type {AbortCleanup, BackendContext} from './contract.js';

type ContextFields = Pick<
  BuiltInContext,
  'projectSlug' | 'targetSlug' | 'options' | 'configDirectory' | 'wait' | 'state' | 'env' | 'logger' | 'signal'
>;
type ClientOptions = Pick<
  HttpClientOptions,
  'userAgent' | 'rateLimit' | 'reroute' | 'secrets' | 'timeouts' | 'uploadRetries' | 'onRetry' | 'onDate' | 'onReadOnly'
>;

/** What a backend's context is created from. `secrets`: values to mask in every message. */
export interface BackendContextOptions extends ContextFields, ClientOptions {
  readonly onSecret?: ((secret: string) => void) | undefined;
  readonly onProgress?: ((progress: {transferred: number; total?: number | undefined}) => void) | undefined;
  /** Called with a cleanup after an abort, which the process should wait for. It takes at most 5 s. */
  readonly onCleanup?: ((work: Promise<void>) => void) | undefined;
}

const cleanupGraceMs = 5000;

export async function createBackendContext(options: BackendContextOptions): Promise<HostContext> {
  const {projectSlug, targetSlug, configDirectory, wait, state, env, userAgent, onSecret} = options;
  const secrets = [...(options.secrets ?? [])];
  let written = 0;
  const activity = new Activity();
  const rules = clientRules({
    ...options,
    secrets,
    onCall: () => activity.begin(),
    onWritten: () => void (written += 1),
  });
  const {logger, rateLimit, timeouts} = rules;
  const cleanUp = (cleanup: AbortCleanup): Promise<void> => {
    const grace = new AbortController();
    const work = createHttpClient({...rules, signal: grace.signal}).then((client) =>
      cleanup({http: client, signal: grace.signal}),
    );
    const done = withTimeout(work, cleanupGraceMs)
      .catch((error: unknown) => logger.warn(asSentence(`Cleaning up failed: ${reasonOf(error)}`)))
      .finally(() => grace.abort());
    options.onCleanup?.(done);
    return done;
  };
  const contextOf = (http: StreamingClient, signal: AbortSignal, listen: HostContext['onProgress']): HostContext => {
    const waiting = createRetryWait(rateLimit, signal);
    const waitToRetry = (attempt: FailedAttempt) => waiting(attempt).finally(activity.begin());
    const onProgress: HostContext['onProgress'] = (progress) => {
      activity.touch();
      listen(progress);
    };
    return {
      projectSlug,
      targetSlug,
      options: options.options,
      configDirectory,
      http,
      bodies: createRequestBodies(onProgress),
      openStream: (url, {http: client = http, headers = {}} = {}) =>
        // A client that is extended from the one of the context can stream, too, which its type does not say.
        openStream(client as StreamingClient, url, headers, waitToRetry),
      openSocket: (url) => readSocket(url, {env, userAgent, signal, secrets, connectTimeoutMs: timeouts.connectMs}),
      error: backendError,
      waitToRetry,
      maskSecret(value) {
        if (value === undefined) return;
        secrets.push(value);
        onSecret?.(value);
      },
      wait,
      state,
      signal,
      onAbort: (cleanup) => signal.addEventListener('abort', () => void cleanUp(cleanup), {once: true}),
      cleanUp,
      countWrites: () => written,
      activity,
      timeouts,
      logger,
      onProgress,
      env,
      with({signal: own = signal, onProgress: listener = listen, ...requests}) {
        return contextOf(http.extend({...requests, signal: quiet(own)}), own, listener);
      },
    };
  };
  // The caller's signal is not changed.
  const signal = quiet(AbortSignal.any([options.signal]));
  return contextOf(await createHttpClient({...rules, signal}), signal, options.onProgress ?? (() => undefined));
}

/** Each request adds a listener, and Node warns of a leak from the eleventh on. */
function quiet(signal: AbortSignal): AbortSignal {
  setMaxListeners(0, signal);
  return signal;
}

/** `context.error`. The host adds the name of the backend and masks secrets when it is thrown. */
export const backendError: BackendContext['error'] = (code, message, {cause, ...more} = {}) =>
  Object.assign(new Error(message, cause === undefined ? undefined : {cause}), {code, ...more});
