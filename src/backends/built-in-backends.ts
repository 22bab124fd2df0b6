import type {ErrorCode} from '../errors/index.js';
import {flagValue} from '../text/suggest.js';
import type {Suggestion} from '../errors/suggestion.js';
import {normalizeOrigin, shownAddress} from '../http/origin.js';
import type {AuthStrategy} from '../http/types.js';
import type {Environment} from '../text/platform.js';
import {apiBackend, unfitApiSlugs} from './api/backend.js';
import type {ApiRuntimeConnection, HostBackend} from './host-backend.js';
import {legacyBackend} from './legacy/backend.js';
import {legacyOrigin} from './legacy/connection.js';
import type {BackendCheckContext} from './contract.js';
import type {BuiltInName} from './names.js';

/** How to reach the backends. */
export interface BackendSettings {
  /** Connection to Runtime (OAuth). When absent, `auto` uses legacy and `api` throws. */
  readonly apiConnection?: ApiRuntimeConnection | undefined;
  /** API-key authentication. Needed only when Runtime (API key) actually runs. */
  readonly legacyAuth?: AuthStrategy | undefined;
  /** Address of Runtime (API key). @default the environment variable `MYCLI_RUNTIME_ORIGIN` */
  readonly origin?: string | undefined;
  /** Address of the logs of apps. @default that of `origin`, with its first label `cloud` replaced by `logs` */
  readonly logsOrigin?: string | undefined;
  /** Options of a plugin's backend, validated by its schema. */
  readonly backendOptions?: Readonly<Record<string, unknown>> | undefined;
}

/** Where a backend keeps a project's bundles, as far as the settings show. Plain JSON without secrets. */
export interface BackendLocation {
  /** Name of the backend. */
  readonly backend: string;
  /** Address of a built-in backend, normalized. */
  readonly origin?: string | undefined;
  /** Api only. */
  readonly organizationId?: string | undefined;
  /** Digest of the options of a plugin's backend, except declared secrets. */
  readonly optionsSha256?: string | undefined;
}

/** A backend of this package. Its options come from the host's own settings. */
export interface BuiltIn {
  readonly backend: HostBackend;
  options(settings: BackendSettings): unknown;
  /** Where it keeps bundles. @throws if an address is invalid */
  location(settings: BackendSettings, env: Environment): Omit<BackendLocation, 'backend'>;
  unconfigured(settings: BackendSettings, env: Environment): NotConfigured;
  /** What it requires of slugs, if it cannot take these. @default it can take all */
  unfitSlugs?(slugs: Pick<BackendCheckContext, 'projectSlug' | 'targetSlug'>): readonly string[];
}

export interface NotConfigured {
  readonly code: ErrorCode;
  readonly suggestions: readonly Suggestion[];
}

const ownKeySuggestion = 'The API key that is set is for Runtime (API key): drop --runtime-backend api to use it.';
const apiSuggestion = [
  'Run ',
  {run: ['auth:login', '--api-origin', 'URL']},
  ', or set what is missing. An --api-token replaces the token URL and the client.',
];

const api: BuiltIn = {
  backend: apiBackend,
  options: ({apiConnection}) => ({connection: apiConnection}),
  location: ({apiConnection}) => ({
    origin: normalized(apiConnection?.origin),
    organizationId: apiConnection?.organizationId,
  }),
  unconfigured: ({legacyAuth}) => ({
    code: 'ERR_CREDENTIALS_MISSING',
    suggestions: legacyAuth === undefined ? [apiSuggestion] : [ownKeySuggestion, apiSuggestion],
  }),
  unfitSlugs: unfitApiSlugs,
};

const legacy: BuiltIn = {
  backend: legacyBackend,
  options: ({origin, logsOrigin, legacyAuth}) => ({origin, logsOrigin, auth: legacyAuth}),
  location: (settings, env) => ({origin: normalized(legacyOrigin(settings, env))}),
  unconfigured(settings, env) {
    const hasKey = settings.legacyAuth !== undefined;
    return {
      code: hasKey ? 'ERR_ORIGIN_MISSING' : 'ERR_CREDENTIALS_MISSING',
      suggestions: [legacySuggestion(legacyOrigin(settings, env), hasKey)],
    };
  },
};

function legacySuggestion(origin: string | undefined, hasKey: boolean): Suggestion {
  if (hasKey) return 'Pass --origin URL, or set MYCLI_RUNTIME_ORIGIN or "origin" in the configuration file.';
  if (origin !== undefined) {
    const login = {run: ['auth:login', ...flagValue('--origin', shownAddress(origin))]};
    return ['Run ', login, ', set MYCLI_API_KEY, or pass --api-key @FILE.'];
  }
  return ['Run ', {run: ['auth:login', '--origin', 'URL']}, ', or set MYCLI_RUNTIME_ORIGIN and MYCLI_API_KEY.'];
}

export const builtInRows: Readonly<Record<BuiltInName, BuiltIn>> = {api, legacy};

export const builtIns: ReadonlyMap<string, BuiltIn> = new Map(Object.entries(builtInRows));

function normalized(origin: string | undefined): string | undefined {
  return origin && normalizeOrigin('origin', origin);
}
