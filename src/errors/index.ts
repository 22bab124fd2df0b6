export {nearest} from './suggest.js';
export {catalogue, exitCodeMeanings, exitCodes, signalExitCodes, type ErrorCode} from './catalogue.js';
export {
  amendError,
  createError,
  CredentialsError,
  DeploymentFailedError,
  InputError,
  InterruptedError,
  isRuntimeCliError,
  MismatchError,
  NetworkError,
  OutcomeUnknownError,
  RateLimitError,
  RejectedError,
  RuntimeCliError,
  UsageError,
  WaitTimeoutError,
} from './runtime-cli-error.js';
