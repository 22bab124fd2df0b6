import {randomBytes} from 'node:crypto';
import type {IncomingMessage} from 'node:http';
import {HttpFailure} from '../answer.js';
import {secretsEqual, sign} from '../signatures.js';

/** A browser that has a page open. There is no login, but only pages of this runtime may change anything. */
export interface Session {
  /** Goes into each form. Only valid with the cookie of the same browser. */
  readonly token: string;
  /** Undefined if the browser has the cookie. */
  readonly setCookie: string | undefined;
}

/** What the names of the cookies start with. */
export const sessionCookie = 'mycli-runtime-';

/** Recognizes browsers. Nothing is kept about them. */
export class Sessions {
  readonly #key = randomBytes(32).toString('base64url');

  /** The session of a request; a new one if it has none. */
  of(request: IncomingMessage): Session {
    const known = this.#known(request);
    const id = known ?? randomBytes(24).toString('base64url');
    const cookie = `${cookieName(request)}=${id}.${sign(`session ${id}`, this.#key)}`;
    return {
      token: this.#tokenOf(id),
      setCookie: known === undefined ? `${cookie}; Path=/; HttpOnly; SameSite=Strict` : undefined,
    };
  }

  /**
   * Verifies that a form was sent by a page of this runtime.
   * @throws HttpFailure 403.
   */
  verify(request: IncomingMessage, form: URLSearchParams): void {
    const {origin, host = ''} = request.headers;
    // Apps have another port, and so another origin, although cookies and SameSite know no ports.
    if (origin !== `http://${host}`) {
      throw new HttpFailure(403, 'Only pages of this runtime can do that. Open the page there and try again.');
    }
    const id = this.#known(request);
    if (id === undefined || !secretsEqual(form.get('token') ?? '', this.#tokenOf(id))) {
      throw new HttpFailure(403, 'The form is out of date. Go back, reload the page and try again.');
    }
  }

  #tokenOf(id: string): string {
    return sign(`form ${id}`, this.#key);
  }

  #known(request: IncomingMessage): string | undefined {
    const prefix = `${cookieName(request)}=`;
    // An app on another port can set a cookie of this name, but not one that is signed.
    return (request.headers.cookie ?? '').split(/; */).flatMap((cookie) => {
      const [id = '', signature = ''] = cookie.startsWith(prefix) ? cookie.slice(prefix.length).split('.') : [];
      return id !== '' && secretsEqual(signature, sign(`session ${id}`, this.#key)) ? [id] : [];
    })[0];
  }
}

/** Whether a client's address belongs to this machine. */
export function isThisMachine(address = ''): boolean {
  const plain = address.replace(/^::ffff:/, '');
  return plain === '::1' || plain.startsWith('127.');
}

/** Cookies are shared by all ports of a host, and there may be several runtimes. */
function cookieName({socket}: IncomingMessage): string {
  return `${sessionCookie}${String(socket.localPort)}`;
}
