import {createHash} from 'node:crypto';
import {normalizeOrigin} from '../http/index.js';
import type {Environment} from '../http/types.js';
import type {BackendSettings} from './configuration.js';
import type {Backend} from './contract.js';
import {legacyOrigin} from './legacy/connection.js';

/** Where a backend keeps the bundles of a project, as far as settings tell. Plain JSON without secrets. */
export interface BackendLocation {
  /** Name of the backend. */
  readonly backend: string;
  /** Address of a built-in backend, normalized. */
  readonly origin?: string | undefined;
  /** Api only. */
  readonly organizationId?: string | undefined;
  /** Digest of the options of a plugin's backend, without those that it declares to be secrets. */
  readonly optionsSha256?: string | undefined;
}

/**
 * Tells where a backend keeps bundles.
 * @throws RuntimeCliError `ERR_ORIGIN_INVALID`.
 */
export function backendLocation(
  {name, secrets = []}: Pick<Backend, 'name' | 'secrets'>,
  settings: BackendSettings,
  env: Environment,
): BackendLocation {
  const {apiConnection, backendOptions = {}} = settings;
  const normalized = (origin: string | undefined) => origin && normalizeOrigin('origin', origin);
  switch (name) {
    case 'api':
      return {
        backend: name,
        origin: normalized(apiConnection?.origin),
        organizationId: apiConnection?.organizationId,
      };
    case 'legacy':
      return {backend: name, origin: normalized(legacyOrigin(settings, env))};
    default: {
      const plain = Object.entries(backendOptions).filter(([key]) => !secrets.includes(key));
      const json = JSON.stringify(plain.sort(([a], [b]) => (a < b ? -1 : 1)));
      return {backend: name, optionsSha256: createHash('sha256').update(json).digest('hex')};
    }
  }
}
