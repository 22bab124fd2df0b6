import {createPrivateKey, randomUUID, sign, X509Certificate, type KeyObject} from 'node:crypto';
import {createError} from '../../errors/index.js';

/** The private key of an OAuth client. */
export interface ClientKey {
  /** An RSA key in PEM format. */
  readonly privateKey: string;
  /** Of a key that is encrypted. */
  readonly passphrase?: string | undefined;
  /** The certificate that is registered for the client, in PEM format. If given, the key must belong to it. */
  readonly certificate?: string | undefined;
}

/** The type of the assertion that proves who a client is (RFC 7523, 2.2). */
export const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

const lifeSeconds = 60;

/** Makes assertions: a JWT, signed with RS256. @throws `ERR_OPTION_INVALID` if the key or certificate is unfit */
export function createAssertion(
  {privateKey, passphrase, certificate}: ClientKey,
  {clientId, audience, now}: {readonly clientId: string; readonly audience: string; readonly now: () => number},
): () => string {
  const key = readKey(privateKey, passphrase);
  if (certificate !== undefined) checkCertificate(certificate, key, now());
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return () => {
    const exp = Math.floor(now() / 1000) + lifeSeconds;
    const claims = {iss: clientId, sub: clientId, aud: audience, exp, jti: randomUUID()};
    const text = `${part({alg: 'RS256', typ: 'JWT'})}.${part(claims)}`;
    return `${text}.${sign('RSA-SHA256', Buffer.from(text), key).toString('base64url')}`;
  };
}

function readKey(pem: string, passphrase: string | undefined): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey({key: pem, ...(passphrase === undefined ? {} : {passphrase})});
  } catch {
    const isEncrypted = pem.includes('ENCRYPTED');
    const reason = passphrase === undefined ? 'needs a passphrase' : 'cannot be decrypted with this passphrase';
    throw invalid(`The client key ${isEncrypted ? reason : 'is not a private key in PEM format'}.`);
  }
  if (key.asymmetricKeyType !== 'rsa') throw invalid('The client key is not an RSA key.');
  return key;
}

function checkCertificate(pem: string, key: KeyObject, now: number): void {
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(pem);
  } catch {
    throw invalid('The client certificate is not a certificate in PEM format.');
  }
  if (!certificate.checkPrivateKey(key)) throw invalid('The client key does not belong to the client certificate.');
  if (Date.parse(certificate.validTo) < now) {
    throw invalid(`The client certificate expired on ${certificate.validTo}.`);
  }
}

function invalid(message: string): Error {
  return createError('ERR_OPTION_INVALID', message, {
    suggestions: ['Check the client key, its passphrase and the client certificate.'],
  });
}
