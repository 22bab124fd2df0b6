import type {AuthStrategy} from '../../http/types.js';
import type {BuiltInContext} from '../host-backend.js';

export interface ApiBackendOptions {
  readonly connection?: ApiRuntimeConnection | undefined;
}

/** Connection to Runtime (OAuth). */
export interface ApiRuntimeConnection {
  /** Base URL of the commerce platform's API; `https://` when it has no scheme. */
  readonly origin: string;
  /** 1 to 32 characters. */
  readonly organizationId: string;
  /** How requests are authorized: an OAuth strategy or a ready-made token. */
  readonly auth: AuthStrategy;
}

export type ApiContext = BuiltInContext<ApiBackendOptions>;
