export {ApiKeyStrategy} from './auth/api-key.js';
export {authorize} from './auth/authorize.js';
export {BearerTokenStrategy} from './auth/bearer-token.js';
export {OAuthClientCredentialsStrategy, type OAuthClientCredentialsOptions} from './auth/oauth.js';
export {createRequestBodies} from './bodies/request-bodies.js';
export {createHttpClient, type HttpClientOptions} from './client.js';
export {isInsecureOrigin, normalizeOrigin} from './origin.js';
export {readJson} from './read-json.js';
export {createRedactor} from './redact.js';
export type {
  AuthContext,
  AuthStrategy,
  BodyOptions,
  ByteSource,
  Environment,
  Logger,
  RequestBodies,
  RetryEvent,
  UploadProgress,
} from './types.js';
