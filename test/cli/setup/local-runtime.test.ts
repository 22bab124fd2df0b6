import {execFileSync} from 'node:child_process';
import {expect, test} from 'vitest';
import {suggestionText} from '../../../src/errors/suggestion.js';
import {appEnvironment, nextSteps} from '../../../src/cli/setup/local-runtime.js';

const runtimeWith = (apiKey: string) => ({
  origin: 'http://[::1]:4000',
  appsOrigin: 'http://[::1]:4001',
  siteUrl: () => 'http://staging--my-shop.localhost:4001/',
  credentials: {apiKey, organizationId: 'org', tokenUrl: 'http://[::1]:4000/token', clientId: 'id', clientSecret: 's'},
});

/** The lines as a terminal shows them. */
const shownSteps = (apiKey: string, backend: 'legacy' | 'api') =>
  nextSteps(runtimeWith(apiKey), backend).map((line) => suggestionText(line).replaceAll('\u00A0', ' '));

test
  .skipIf(process.platform === 'win32')
  .each(['plain-key', 'k; echo pwned #', "k'; echo pwned '", '$(echo pwned)', 'k\necho pwned'])(
  'what is printed to copy sets the variable to %j and runs nothing',
  (apiKey) => {
    const text = shownSteps(apiKey, 'legacy').join('\n');
    const [exports = ''] = /^export MYCLI_RUNTIME_ORIGIN[^]*?(?=\n\nThen)/m.exec(text) ?? [];
    const script = `${exports}\nprintf '%s|%s' "$MYCLI_RUNTIME_ORIGIN" "$MYCLI_API_KEY"`;
    expect(execFileSync('sh', ['-c', script], {encoding: 'utf8'})).toBe(`http://[::1]:4000|${apiKey}`);
  },
);

test('what is printed to copy is for one backend, so that the legacy one is not passed over', () => {
  const [legacy, api] = (['legacy', 'api'] as const).map((backend) =>
    shownSteps('key', backend).filter((line) => line.startsWith('export')),
  );
  expect(legacy).toEqual([expect.stringMatching(/^export MYCLI_RUNTIME_ORIGIN=/), 'export MYCLI_API_KEY=key']);
  expect(api?.join()).toContain('MYCLI_API_ORIGIN');
  expect(api?.join()).not.toContain('MYCLI_RUNTIME_ORIGIN');
});

test('servers of apps get what is given to them, and no credentials', () => {
  const env = {
    PATH: '/bin',
    LANG: 'C.UTF-8',
    HOME: '/home/me',
    MYCLI_API_KEY: 'secret',
    NPM_TOKEN: 'secret',
    FOO: 'own',
  };
  expect(appEnvironment(env, ['FOO=a=b', 'EMPTY='])).toEqual({PATH: '/bin', LANG: 'C.UTF-8', FOO: 'a=b', EMPTY: ''});
  expect(() => appEnvironment(env, ['FOO'])).toThrow('--ssr-env FOO does not have the form NAME=VALUE.');
});
