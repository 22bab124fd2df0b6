import {createError} from '../../errors/index.js';
import type {AuthStrategy} from '../types.js';
import {bearer} from './bearer-token.js';

/** An API key: as bearer token, or with a user name as HTTP Basic. */
export class ApiKeyStrategy implements AuthStrategy {
  readonly #header: string;

  /**
   * @param credentials - `user`: when given, the key is sent as the password of this user.
   * @throws RuntimeCliError `ERR_OPTION_INVALID` when no header can carry them.
   */
  constructor(credentials: {readonly apiKey: string; readonly user?: string | undefined}) {
    const {apiKey, user} = credentials;
    this.#header = user === undefined ? bearer('API key', apiKey) : basic(user, apiKey);
  }

  async getAuthorizationHeader(): Promise<string> {
    return this.#header;
  }
}

/**
 * The value of an `Authorization` header for HTTP Basic.
 * @throws RuntimeCliError `ERR_OPTION_INVALID` when the name holds a colon.
 */
export function basic(user: string, password: string): string {
  if (user.includes(':')) throw createError('ERR_OPTION_INVALID', 'a user name cannot hold a colon');
  if (password === '') throw createError('ERR_OPTION_INVALID', 'the API key or client secret is empty');
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}
