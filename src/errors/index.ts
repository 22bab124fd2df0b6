export type {CommandToRun, RunSetting, Suggestion} from './suggestion.js';
export {messageOf, outputError, reasonOf, systemCode} from './system-failure.js';
export {catalogue, exitCodes, signalExitCodes, type ErrorCode} from './catalogue.js';
export {
  amendError,
  createError,
  CredentialsError,
  DeploymentFailedError,
  InputError,
  withCompleteCommands,
  InterruptedError,
  isRuntimeCliError,
  NetworkError,
  NotRolledBackError,
  OutcomeUnknownError,
  RateLimitError,
  RejectedError,
  RolledBackError,
  RuntimeCliError,
  UnhealthyError,
  UsageError,
  WaitTimeoutError,
} from './runtime-cli-error.js';
