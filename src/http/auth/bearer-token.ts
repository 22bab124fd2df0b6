import {createError} from '../../errors/index.js';
import type {AuthStrategy} from '../types.js';

/** A ready-made token. It is never renewed. */
export class BearerTokenStrategy implements AuthStrategy {
  readonly #header: string;

  /** @throws RuntimeCliError `ERR_OPTION_INVALID` when no header can carry the token. */
  constructor(token: string) {
    this.#header = bearer('token', token);
  }

  async getAuthorizationHeader(): Promise<string> {
    return this.#header;
  }
}

/**
 * The value of an `Authorization` header for a bearer token.
 * @throws RuntimeCliError `ERR_OPTION_INVALID`, with `what` it is, never its value.
 */
export function bearer(what: string, token: string): string {
  if (!isHeaderToken(token)) {
    throw createError('ERR_OPTION_INVALID', `the ${what} is empty or holds characters that no header can carry`, {
      suggestions: [`Check that the ${what} was copied whole and without spaces or line ends.`],
    });
  }
  return `Bearer ${token}`;
}

/** Whether a header can carry a token. */
export function isHeaderToken(token: string): boolean {
  return /^[\x21-\x7e]+$/.test(token);
}
