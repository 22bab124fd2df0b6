import {execFileSync} from 'node:child_process';
import {expect, test} from 'vitest';
import {suggestionText} from '../../../src/errors/suggestion.js';
import {appEnvironment, commandEnvironment, nextSteps} from '../../../src/cli/setup/local-runtime.js';

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

test('a command gets the variables of the runtime, and neither secrets nor what would lead it to another service', () => {
  const secrets = {
    GITHUB_TOKEN: 'secret',
    AWS_SECRET_ACCESS_KEY: 'secret',
    AWS_ACCESS_KEY_ID: 'id',
    npm_config__authToken: 'secret',
    npm_config__auth: 'secret',
    PGPASSWORD: 'secret',
    MYSQL_PWD: 'secret',
    SECRET_KEY_BASE: 'secret',
    HTTPS_PROXY: 'http://ann:secret@proxy.example',
    DATABASE_URL: 'postgres://ann:secret@db.example/shop',
    MYCLI_API_TOKEN: 'secret',
    MYCLI_API_USER: 'ann',
    MYCLI_BACKEND_OPTION: 'bucket=real',
    MYCLI_TRUSTED_ORIGINS: 'https://runtime.example',
  };
  const kept = {
    PATH: '/bin',
    PWD: '/work',
    SSH_AUTH_SOCK: '/run/agent',
    XAUTHORITY: '/home/me/.Xauthority',
    HTTP_PROXY: 'http://ann@proxy.example:8080',
    KEYBOARD: 'us',
    MYCLI_PROJECT: 'shop',
  };
  const env = commandEnvironment({...secrets, ...kept}, runtimeWith('key'));
  expect(env).toMatchObject({...kept, MYCLI_API_KEY: 'key', MYCLI_CLIENT_SECRET: 's'});
  expect(Object.keys(env).filter((name) => name in secrets)).toEqual([]);
  const backend = (named?: string, configured?: string) =>
    commandEnvironment({MYCLI_RUNTIME_BACKEND: named}, runtimeWith('key'), configured)['MYCLI_RUNTIME_BACKEND'];
  expect([backend('legacy', 's3'), backend('s3'), backend(undefined, 's3')]).toEqual(['legacy', 'auto', 'auto']);
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
