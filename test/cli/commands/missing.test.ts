import {mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {beforeEach, describe, expect, test} from 'vitest';
import {runWarm} from '../warm-cli.js';
import {makeFolder} from '../../folder.js';

let root: string;
beforeEach(async () => {
  root = await makeFolder();
});

const mycli = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runWarm(args, {cwd: root, env: {HOME: root, ...env}});

async function errorOf(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<unknown> {
  const {code, stdout} = await mycli([...args, '--json'], env);
  const {error} = JSON.parse(stdout) as {error: {exitCode: number}};
  expect(code).toBe(error.exitCode);
  return error;
}

test.each([['config:show'], ['bundle:list', '-p', 'shop'], ['completion', 'bash'], ['backend:list']])(
  'a variable that is misspelt is told with the one that was meant: %s',
  async (...args) => {
    const env = {MYCLI_SAFTY: 'read-only', MYCLI_TARGT: 'live', MYCLI_ACME_TOKEN: 'x', MYCLI_BUNDLE_ID: '3'};
    const {stderr} = await mycli(args, env);
    const told = stderr.split('\n').filter((line) => line.includes('Unknown variable'));
    expect(told).toEqual([
      'Warning: Unknown variable: MYCLI_SAFTY. Did you mean MYCLI_SAFETY?',
      'Warning: Unknown variable: MYCLI_TARGT. Did you mean MYCLI_TARGET?',
    ]);
  },
);

test.each([
  ['CONFIG', 'Pass --config.'],
  ['JSON', 'Pass --json.'],
  ['VERBOSE', 'Pass --debug.'],
  ['NO_CREATE', 'Set MYCLI_CREATE=false.'],
  ['ORIGIN', 'Did you mean MYCLI_RUNTIME_ORIGIN?'],
  ['KEY', 'Did you mean MYCLI_API_KEY?'],
  ['ENVIRONMENT', 'Did you mean MYCLI_TARGET?'],
])('a variable with the name of a flag is told with what does the same: MYCLI_%s', async (name, advice) => {
  const {stderr} = await mycli(['config:show'], {[`MYCLI_${name}`]: '1'});
  expect(stderr).toContain(`Warning: Unknown variable: MYCLI_${name}. ${advice}\n`);
});

test('a variable with the name of a flag is told only to commands that have the flag', async () => {
  const env = {MYCLI_DRY_RUN: '1', MYCLI_NO_TARGET: '1', MYCLI_YES: '1'};
  const warningsOf = async (...args: readonly string[]) =>
    (await mycli(args, env)).stderr.split('\n').filter((line) => line.includes('Unknown variable'));
  expect(await warningsOf('config:show')).toEqual([]);
  expect(await warningsOf('push')).toEqual([
    'Warning: Unknown variable: MYCLI_DRY_RUN. Pass --dry-run.',
    'Warning: Unknown variable: MYCLI_NO_TARGET. Pass --no-target.',
  ]);
});

test.each([
  [['--target', 'staging'], {}, '--target'],
  [[], {MYCLI_TARGET: 'staging'}, 'MYCLI_TARGET'],
])('a promotion of a target to itself names what has set the target: %j', async (args, env, name) => {
  const service = {MYCLI_API_KEY: 'key', MYCLI_RUNTIME_ORIGIN: 'http://127.0.0.1:1'};
  const {stderr} = await mycli(['promote', '-p', 'shop', '--from', 'staging', ...args], {...service, ...env});
  expect(stderr).toContain(`Error: --from and ${name} are both staging, so there is nothing to promote.\n`);
});

describe('what a command needs and does not have', () => {
  test.each([
    [[], '--token-url URL, or set MYCLI_TOKEN_URL or api.tokenUrl'],
    [['--token-url', 'http://127.0.0.1:1/token'], '--client-id ID, or set MYCLI_CLIENT_ID or api.clientId'],
  ])('names the flags that only a login has: %j', async (given, flags) => {
    const {stderr} = await mycli(['login', '--api-origin', 'http://127.0.0.1:1', ...given]);
    expect(stderr).toContain(`  Pass ${flags} in mycli.config.\n`);
  });

  test('is told all at once, each with the ways to give it', async () => {
    const {code, stdout, stderr} = await mycli(['bundle:push']);
    expect(code).toBe(3);
    expect(stdout).toBe('');
    expect(stderr.split('\n')).toEqual([
      'Error: Missing project, build, and credentials.',
      '  Run mycli init in a terminal to set up a project. Or set each of these:',
      '  No project specified. Pass --project SLUG, or set MYCLI_PROJECT or projectSlug in mycli.config.',
      expect.stringMatching(/^ {2}The build folder .+build does not exist\. .*mycli push DIR$/),
      expect.stringMatching(
        /^ {2}The Runtime \(API key\) backend is not configured: .* Run mycli login --origin URL, or set .*MYCLI_API_KEY/,
      ),
      '',
    ]);
  });

  test.each([
    [['bundle:deploy', '1'], 'project target credentials'],
    [['bundle:push', '--wait'], 'project target build credentials'],
    [['bundle:push', '--archive', 'bundle.tar'], 'project credentials'],
    [['bundle:push', '--runtime-backend', 'api'], 'project build credentials'],
    [['bundle:build', '--format', 'v1'], 'project build'],
  ])('is listed for programs: %j lacks %j', async (args, what) => {
    expect(await errorOf(args)).toMatchObject({
      code: 'ERR_SETUP_INCOMPLETE',
      exitCode: 3,
      details: {missing: what.split(' ').map((item) => expect.objectContaining({what: item}) as unknown)},
    });
  });

  test('is told with what the flag is for', async () => {
    expect(await errorOf(['promote', '--target', 'live'])).toMatchObject({
      message: 'Missing flag: --from SLUG',
      suggestions: ['Target that runs the bundle.', 'Run mycli bundle:promote --help for usage.'],
    });
  });

  test('is told with the login for the origin that was given', async () => {
    const args = ['bundle:list', '-p', 'shop', '--origin', 'http://127.0.0.1:9999'];
    expect(await errorOf(args)).toMatchObject({
      code: 'ERR_CREDENTIALS_MISSING',
      suggestions: [expect.stringMatching(/^Run mycli (?:auth:)?login --origin http:\/\/127\.0\.0\.1:9999, set /)],
    });
    const env = {MYCLI_RUNTIME_ORIGIN: 'http://127.0.0.1:9999'};
    const {stderr} = await mycli(['bundle:list', '-p', 'shop'], env);
    expect(stderr).toMatch(/Run mycli login --origin http:\/\/127\.0\.0\.1:9999, set /);
  });

  test('keeps its own error when it is one thing', async () => {
    expect(await errorOf(['bundle:list', '-p', 'shop'])).toMatchObject({code: 'ERR_CREDENTIALS_MISSING', exitCode: 3});
    const env = {MYCLI_RUNTIME_ORIGIN: 'https://runtime.example', MYCLI_API_KEY: 'key'};
    expect(await errorOf(['bundle:list'], env)).toMatchObject({
      code: 'ERR_USAGE',
      exitCode: 2,
      suggestions: [expect.stringContaining('Pass --project SLUG'), 'Or set up a project: mycli init'],
    });
    expect(await errorOf(['bundle:push', '-p', 'shop'], env)).toMatchObject({code: 'ERR_BUILD_DIRECTORY'});
  });
});

describe('an invalid value is told of by the name of', () => {
  beforeEach(async () => {
    await mkdir(join(root, 'build'));
    await writeFile(join(root, 'build/ssr.js'), '');
  });

  const env = {MYCLI_RUNTIME_ORIGIN: 'https://runtime.example', MYCLI_API_KEY: 'key'};

  test.each([
    ['a flag', ['-p', 'a/b'], {}, '--project must not contain / or \\: "a/b".'],
    ['a variable', [], {MYCLI_PROJECT: 'a/b'}, 'MYCLI_PROJECT must not contain / or \\: "a/b".'],
    ['a flag that only the format can judge', ['-p', 'c:a'], {}, '--project must not start with a drive'],
    [
      'a variable that the library judges',
      ['-p', 'shop', '--v2'],
      {MYCLI_ROOT_DIR: '../up'},
      'MYCLI_ROOT_DIR must not contain',
    ],
  ])('%s', async (_what, args, variables, message) => {
    expect(await errorOf(['bundle:push', ...args], {...env, ...variables})).toMatchObject({
      message: expect.stringContaining(message) as unknown,
    });
  });
});
