import {expect, test} from 'vitest';
import {isSecretName} from '../../src/http/redact.js';

test.each([
  ['MYCLI_API_KEY', true],
  ['apiToken', true],
  ['client-secret', true],
  ['credentials', true],
  ['privatekey', true],
  ['tokenUrl', false],
  ['MYCLI_TOKEN_URL', false],
  ['authorization', false],
  ['token_type', false],
  ['monkey', false],
  ['message', false],
])('%s names a secret: %s', (name, isSecret) => {
  expect(isSecretName(name)).toBe(isSecret);
});
