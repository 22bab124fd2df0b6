import type {Response} from 'got';
import {notJson} from './errors/to-cli-error.js';
import {parseJson} from './parse-json.js';

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
