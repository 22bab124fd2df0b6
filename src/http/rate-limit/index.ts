export type {RetryEvent} from '../types.js';
export {
  createRateLimitHooks,
  type CreateBody,
  type GotOptions,
  type GotResponse,
  type RateLimitHooks,
} from './hooks.js';
export {createRateLimitMiddleware, type RateLimitMiddleware} from './middleware.js';
export {
  calculateRetryDelay,
  parseRetryAfter,
  resolveRateLimitPolicy,
  type RateLimitLogger,
  type RateLimitMiddlewareConfig,
  type RateLimitPolicy,
  type RetryDelayInput,
} from './policy.js';
