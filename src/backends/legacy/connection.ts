import {createError} from '../../errors/index.js';
import {authorize, normalizeOrigin} from '../../http/index.js';
import {sender, type Send} from '../answers.js';
import type {AuthStrategy} from '../../http/types.js';
import type {Environment} from '../../text/platform.js';
import type {BuiltInContext} from '../host-backend.js';

export interface LegacyBackendOptions {
  /** Address of the hosting service. @default the environment variable `MYCLI_RUNTIME_ORIGIN` */
  readonly origin?: string | undefined;
  /** Address of the logs of apps. @default that of the service, with its first label `cloud` replaced by `logs` */
  readonly logsOrigin?: string | undefined;
  readonly auth?: AuthStrategy | undefined;
}

export type LegacyContext = BuiltInContext<LegacyBackendOptions>;

/** What the options lack: each begins with the name of a setting. */
export function missingOptions(options: LegacyBackendOptions, env: Environment): readonly string[] {
  return [
    ...(legacyOrigin(options, env) === undefined ? ['origin (MYCLI_RUNTIME_ORIGIN)'] : []),
    ...(options.auth === undefined ? ['legacyAuth (an API key)'] : []),
  ];
}

export function connectLegacy({options, projectSlug, env, http}: LegacyContext): Send {
  const address = legacyOrigin(options, env);
  if (address === undefined || options.auth === undefined) {
    throw createError('ERR_CREDENTIALS_MISSING', 'The Runtime (API key) backend has no origin, or no API key.');
  }
  const origin = normalizeOrigin('origin', address);
  return sender('legacy', authorize(http, options.auth, origin), origin, {projectSlug});
}

export function legacyOrigin(options: Pick<LegacyBackendOptions, 'origin'>, env: Environment): string | undefined {
  return options.origin ?? (env['MYCLI_RUNTIME_ORIGIN'] || undefined);
}

export function logsAddress({options, env}: Pick<LegacyContext, 'options' | 'env'>): URL {
  const {logsOrigin = legacyOrigin(options, env)?.replace(/^((?:https?:[/]{2})?)cloud\./i, '$1logs.') ?? ''} = options;
  return new URL(normalizeOrigin('logs origin', logsOrigin).replace(/^http/, 'ws'));
}
