import {createError} from '../../errors/index.js';
import {authorize, normalizeOrigin} from '../../http/index.js';
import type {AuthStrategy} from '../../http/types.js';
import {sender, type Send} from '../answers.js';
import type {BuiltInContext} from '../built-in.js';

export interface ApiBackendOptions {
  readonly connection?: ApiRuntimeConnection | undefined;
}

/** Connection to the Api backend. */
export interface ApiRuntimeConnection {
  /** Base URL of the commerce platform's API; `https://` when it has no scheme. */
  readonly origin: string;
  /** 1 to 32 characters. */
  readonly organizationId: string;
  /** How requests are authorized: an OAuth strategy or a ready-made token. */
  readonly auth: AuthStrategy;
}

export type ApiContext = BuiltInContext<ApiBackendOptions>;

export function connect({options: {connection}, projectSlug, http}: ApiContext): Send {
  if (!connection) throw createError('ERR_CREDENTIALS_MISSING', 'The Runtime (OAuth) backend has no connection.');
  const origin = normalizeOrigin('api origin', connection.origin);
  const {organizationId, auth} = connection;
  return sender(authorize(http, auth, origin), origin, {organizationId, storefrontId: projectSlug});
}

export function partsOf<Row>({data, total}: {readonly data: readonly Row[]; readonly total?: number | undefined}) {
  return {rows: data, total};
}
