import type {ErrorCode, RuntimeCliError} from '../../errors/index.js';

const unclear: ReadonlySet<string> = new Set<ErrorCode>([
  'ERR_OUTCOME_UNKNOWN',
  'ERR_SERVER',
  'ERR_RESPONSE_INVALID',
  'ERR_BACKEND_FAILED',
]);

/** Whether a request that failed like this may have been carried out all the same. */
export function isUnclear({code}: RuntimeCliError): boolean {
  return unclear.has(code);
}
