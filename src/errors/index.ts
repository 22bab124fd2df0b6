export {nearest} from './nearest.js';
export {catalogue, exitCodeMeanings, exitCodes, type ErrorCode, type ErrorKind} from './catalogue.js';
export {
  amendError,
  createError,
  CredentialsError,
  DeploymentFailedError,
  InputError,
  InterruptedError,
  isRuntimeCliError,
  NetworkError,
  OutcomeUnknownError,
  RateLimitError,
  RejectedError,
  RuntimeCliError,
  UsageError,
  WaitTimeoutError,
  type RuntimeCliErrorOptions,
} from './runtime-cli-error.js';
