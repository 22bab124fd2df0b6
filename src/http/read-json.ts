import type {Response} from 'got';
import {createError, type RuntimeCliError} from '../errors/index.js';
import {describeRequest} from './connection/call.js';
import {notJson} from './errors/to-cli-error.js';
import {parseJson} from '../errors/json.js';

/**
 * The JSON of an answer that was read as text.
 * @throws RuntimeCliError `ERR_RESPONSE_INVALID`, naming the request, when it is none.
 */
export function readJson(response: Response<string>): unknown {
  try {
    return parseJson(response.body);
  } catch {
    throw notJson(response.request.options, response.statusCode);
  }
}

/**
 * The error for an answer of success with another document than the one that was asked for.
 * @param problem goes on after "the answer to GET /path": `has no bundle id`
 */
export function wrongAnswer({request, statusCode: status}: Response<string>, problem: string): RuntimeCliError {
  const {method, path} = describeRequest(request.options);
  return createError('ERR_RESPONSE_INVALID', `the answer to ${method} ${path} ${problem}`, {status, method, path});
}
