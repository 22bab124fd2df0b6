export {authorize} from './auth/authorize.js';
export {ApiKeyStrategy, BearerTokenStrategy, OAuthClientCredentialsStrategy} from './auth/strategies.js';
export type {ClientKey} from './auth/client-assertion.js';
export {createRequestBodies} from './request-bodies.js';
export {
  createHttpClient,
  timeLimitsOf,
  loadHttpClient,
  rateLimitRules,
  redactedLogger,
  type HttpClientOptions,
} from './client.js';
export {isInsecureOrigin, normalizeOrigin} from './origin.js';
export {createRetryWait} from './rate-limit/wait.js';
export {openStream} from './open-stream.js';
export {readJson, wrongAnswer} from './errors/failure.js';
export {createRedactor} from './redact.js';
export {readSocket} from './web-socket.js';
export type {AuthStrategy, BodyOptions, ByteSource, HttpClient, RetryEvent, UploadProgress} from './types.js';
