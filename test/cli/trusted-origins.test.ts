import {describe, expect, test} from 'vitest';
import {assertTrustedOrigin} from '../../src/cli/backends/trusted-origins.js';

function check(url: string, list: string | undefined): void {
  assertTrustedOrigin(url, '--origin', {MYCLI_TRUSTED_ORIGINS: list});
}

describe('assertTrustedOrigin', () => {
  test.each([undefined, '', ' '])('trusts every origin when the list is %j', (list) => {
    expect(() => check('https://anywhere.example', list)).not.toThrow();
  });

  test.each([
    ['https://a.example/base', 'https://a.example'],
    ['https://a.example', 'b.example, a.example'],
    ['https://a.example', 'https://A.EXAMPLE:443/'],
    ['http://127.0.0.1:4000', 'http://127.0.0.1:4000 https://a.example'],
  ])('trusts %s when the list is %s', (url, list) => {
    expect(() => check(url, list)).not.toThrow();
  });

  test.each([
    ['https://a.example.evil.example', 'https://a.example'],
    ['https://sub.a.example', 'https://a.example'],
    ['http://a.example', 'https://a.example'],
    ['https://a.example:8443', 'a.example'],
    ['https://a.example@evil.example', 'https://a.example'],
  ])('does not trust %s when the list is %s', (url, list) => {
    expect(() => check(url, list)).toThrow(expect.objectContaining({code: 'ERR_ORIGIN_UNTRUSTED'}));
  });

  test('a list with something else than origins is an error that names it', () => {
    expect(() => check('https://a.example', 'https://')).toThrow(
      expect.objectContaining({code: 'ERR_ORIGIN_INVALID', message: expect.stringContaining('https://') as string}),
    );
  });
});
