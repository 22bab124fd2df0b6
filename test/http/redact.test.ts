import {expect, test} from 'vitest';
import {isSecretName, mayNameSecret} from '../../src/http/redact.js';

test.each([
  ['MYCLI_API_KEY', true, true],
  ['apiToken', true, true],
  ['client-secret', true, true],
  ['credentials', true, true],
  ['privatekey', true, true],
  // Settings about secrets, which configuration files may have, but whose values in a request may be more than that.
  ['tokenUrl', false, true],
  ['MYCLI_TOKEN_URL', false, true],
  ['authorization', false, true],
  ['Set-Cookie', false, true],
  ['clientKey', false, true],
  ['x-jwt', false, true],
  // Neither.
  ['token_type', false, false],
  ['WWW-Authenticate', false, false],
  ['Idempotency-Key', false, false],
  ['monkey', false, false],
  ['message', false, false],
])('%s names a secret: %s, or may do so: %s', (name, isSecret, maySecret) => {
  expect([isSecretName(name), mayNameSecret(name)]).toEqual([isSecret, maySecret]);
});
