import {amendError, createError, isRuntimeCliError} from '../../errors/index.js';
import {authorize, normalizeOrigin} from '../../http/index.js';
import {environments, storefronts} from '../../wire/api.js';
import {sender, type Send} from '../answers.js';
import type {ApiRuntimeConnection, BuiltInContext} from '../host-backend.js';

export interface ApiBackendOptions {
  readonly connection?: ApiRuntimeConnection | undefined;
}

export type ApiContext = BuiltInContext<ApiBackendOptions>;

export function connectApi({options: {connection}, projectSlug, http}: ApiContext): Send {
  if (!connection) throw createError('ERR_CREDENTIALS_MISSING', 'The Runtime (OAuth) backend has no connection.');
  const origin = normalizeOrigin('api origin', connection.origin);
  const {organizationId, auth} = connection;
  const send = sender('api', authorize(http, auth, origin), origin, {organizationId, storefrontId: projectSlug});
  return async (operation, ...request) => {
    try {
      return await send(operation, ...request);
    } catch (error) {
      if (!isRuntimeCliError(error) || error.code !== 'ERR_FORBIDDEN') throw error;
      const advice = scopeAdvice.find(([prefix]) => operation.path.startsWith(prefix));
      throw advice === undefined ? error : amendError(error, {suggestions: [advice[1]]});
    }
  };
}

/** Many clients that may deploy lack these scopes. */
const scopeAdvice = [
  [
    environments,
    'The client needs a scope for environments: one that ends with .environments to read them, or with .environments.rw to change them. Add it to the client, and to --scopes.',
  ],
  [storefronts, 'The client needs a scope that ends with .storefronts. Add it to the client, and to --scopes.'],
] as const;
