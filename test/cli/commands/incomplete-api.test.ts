import {mkdtemp, mkdir, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {startLocalRuntime, type LocalRuntime} from '../../../src/testing.js';
import {runtimeEnvironment} from '../runtime-environment.js';
import type {Ended} from '../spawn-cli.js';
import {runWarm} from '../warm-cli.js';

let directory: string;
let runtime: LocalRuntime;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mycli-incomplete-api-'));
  await mkdir(join(directory, 'project/build'), {recursive: true});
  await writeFile(join(directory, 'project/build/ssr.js'), 'export default () => "hello";\n');
  runtime = await startLocalRuntime({dataDirectory: join(directory, 'data')});
});
afterAll(async () => {
  await runtime.close();
  await rm(directory, {recursive: true, force: true});
});

/** Runs a command that could reach both backends, with some variables changed; `undefined` takes one away. */
function mycli(args: readonly string[], changed: Readonly<Record<string, string | undefined>>): Promise<Ended> {
  const all: Readonly<Record<string, string | undefined>> = {
    ...runtimeEnvironment(runtime),
    MYCLI_PROJECT: 'shop',
    XDG_CONFIG_HOME: join(directory, 'config'),
    ...changed,
  };
  const env = Object.fromEntries(
    Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  return runWarm(args, {cwd: join(directory, 'project'), env});
}

/** Commands that choose a backend. */
const commands: readonly (readonly string[])[] = [
  ['bundle:push'],
  ['bundle:push', '--dry-run'],
  ['bundle:deploy', '1', '-t', 'staging'],
  ['bundle:list'],
];

describe('auto with an Api connection of which something is missing', () => {
  test.each(commands.map((args) => [args]))('ends %j before anything is sent, and says what to do', async (args) => {
    const {code, stdout, stderr} = await mycli([...args, '--json'], {MYCLI_CLIENT_SECRET: ''});
    expect(code).toBe(3);
    const {error} = JSON.parse(stdout) as {error: {suggestions: string[]}};
    expect(error).toMatchObject({
      code: 'ERR_CREDENTIALS_MISSING',
      exitCode: 3,
      message:
        'The Api connection is incomplete: missing client secret ' +
        '(given: Api origin, organization, token URL, client ID; set but empty: MYCLI_CLIENT_SECRET).',
      details: {backend: 'api', missing: ['--client-secret (MYCLI_CLIENT_SECRET)']},
    });
    expect(error.suggestions).toEqual([
      'CI systems leave a variable empty if its secret is missing: set or unset MYCLI_CLIENT_SECRET.',
      'client secret: --client-secret, MYCLI_CLIENT_SECRET, or credentials stored with mycli auth:login --api-origin URL.',
      'Pass --runtime-backend legacy to use the legacy backend instead.',
    ]);
    expect(stderr).not.toContain('Built');
  });

  test('names the key of the configuration file too, and never says of legacy alone that it is not configured', async () => {
    const only = {MYCLI_RUNTIME_ORIGIN: undefined, MYCLI_API_KEY: undefined, MYCLI_TOKEN_URL: undefined};
    const {code, stderr} = await mycli(['bundle:push'], {...only, MYCLI_CLIENT_ID: undefined});
    expect(code).toBe(3);
    expect(stderr).toContain('The Api connection is incomplete: missing token URL, client ID');
    expect(stderr).toContain(
      'client ID: --client-id, MYCLI_CLIENT_ID, api.clientId in the configuration file, or credentials stored',
    );
    expect(stderr).not.toContain('the legacy backend is not configured');
  });

  test('is as incomplete when all that is given stands in the configuration file', async () => {
    const config = join(directory, 'half.json');
    await writeFile(config, '{"api": {"scopes": ["a"]}}');
    const unset = {MYCLI_API_ORIGIN: undefined, MYCLI_ORGANIZATION: undefined, MYCLI_TOKEN_URL: undefined};
    const variables = {...unset, MYCLI_CLIENT_ID: undefined, MYCLI_CLIENT_SECRET: undefined};
    const {code, stderr} = await mycli(['bundle:push', '--config', config], variables);
    expect(code).toBe(3);
    expect(stderr).toContain('(given: OAuth scopes)');
    expect(await mycli(['bundle:push'], variables)).toMatchObject({code: 0});
  });

  const apiVariables = [
    'MYCLI_API_ORIGIN',
    'MYCLI_ORGANIZATION',
    'MYCLI_TOKEN_URL',
    'MYCLI_CLIENT_ID',
    'MYCLI_CLIENT_SECRET',
    'MYCLI_SCOPE',
    'MYCLI_API_TOKEN',
  ];
  const unset = Object.fromEntries(apiVariables.map((name) => [name, undefined]));

  test.each(apiVariables.map((name) => [name]))(
    'is an error when %s, set but empty, is all there is of Api, whatever its blanks',
    async (name) => {
      const {code, stdout} = await mycli(['bundle:push', '--json'], {...unset, [name]: ' '});
      expect(code).toBe(3);
      expect(JSON.parse(stdout)).toMatchObject({
        error: {
          code: 'ERR_CREDENTIALS_MISSING',
          message: expect.stringContaining(`(set but empty: ${name})`) as string,
          suggestions: expect.arrayContaining([
            `CI systems leave a variable empty if its secret is missing: set or unset ${name}.`,
            'Pass --runtime-backend legacy to use the legacy backend instead.',
          ]) as string[],
        },
      });
    },
  );

  test('is an error when all variables are set but empty, unless legacy is asked for', async () => {
    const empty = Object.fromEntries(apiVariables.map((name) => [name, '']));
    const {code, stderr} = await mycli(['bundle:push'], empty);
    expect(code).toBe(3);
    expect(stderr).toContain(`(set but empty: ${apiVariables.join(', ')})`);
    expect(await mycli(['bundle:push', '--runtime-backend', 'legacy'], empty)).toMatchObject({code: 0});
  });

  test('is not spoiled by an empty variable that a complete connection does not need', async () => {
    const {code, stdout} = await mycli(['bundle:push', '--json'], {MYCLI_SCOPE: '', MYCLI_API_TOKEN: ''});
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({backend: 'api'});
  });

  test('does not matter to whoever asks for legacy', async () => {
    const {code} = await mycli(['bundle:push', '--runtime-backend', 'legacy'], {MYCLI_CLIENT_SECRET: ''});
    expect(code).toBe(0);
  });

  test('is an error for api as well, without a word of legacy', async () => {
    const {code, stderr} = await mycli(['bundle:push', '--runtime-backend', 'api'], {MYCLI_ORGANIZATION: undefined});
    expect(code).toBe(3);
    expect(stderr).toContain(
      'organization: --organization, MYCLI_ORGANIZATION, or api.organizationId in the configuration file.',
    );
    expect(stderr).not.toContain('legacy');
  });

  test.each([['backend:list'], ['config:show']])('is a warning in %s, which shows the rest', async (command) => {
    const {code, stdout, stderr} = await mycli([command, '--json'], {MYCLI_CLIENT_SECRET: ''});
    expect(code).toBe(0);
    const {warnings} = JSON.parse(stdout) as {warnings: string[]};
    expect(warnings).toEqual([expect.stringContaining('Pushes from here will fail. The Api connection is incomplete')]);
    expect(stderr).toContain('--runtime-backend legacy');
  });

  test('does not concern a login that completes it', async () => {
    const home = {XDG_CONFIG_HOME: join(directory, 'login'), MYCLI_CLIENT_SECRET: undefined};
    const secret = runtime.credentials.clientSecret;
    const env = {...runtimeEnvironment(runtime), ...home, MYCLI_CLIENT_SECRET: ''};
    const args = ['auth:login', '--no-verify', '--api-origin', runtime.origin];
    expect(await runWarm(args, {cwd: directory, env, stdin: secret})).toMatchObject({code: 0});
    const {code, stdout} = await mycli(['bundle:push', '--json'], home);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({backend: 'api'});
  });
});

describe('a complete Api connection, and a slug that Api cannot take', () => {
  const slug = {MYCLI_PROJECT: 'My_Shop'};

  test.each([[['bundle:push', '--quiet']], [['bundle:push', '--dry-run']], [['bundle:list', '--quiet']]])(
    '%j falls back with a warning, on stderr and in the document',
    async (args) => {
      const {code, stdout, stderr} = await mycli([...args, '--json'], slug);
      expect(code).toBe(0);
      const {warnings} = JSON.parse(stdout) as {warnings: string[]};
      expect(warnings).toContainEqual(expect.stringMatching(/^Fell back to the legacy backend: .*"My_Shop"/));
      expect(warnings.filter((warning) => warning.includes('My_Shop'))).toHaveLength(1);
      expect(stderr.match(/Warning: Fell back/g)).toHaveLength(1);
    },
  );

  test('is an error about the slug where legacy cannot serve either, or Api was asked for', async () => {
    const alone = await mycli(['bundle:push', '--json'], {...slug, MYCLI_API_KEY: undefined});
    const asked = await mycli(['bundle:push', '--json', '--runtime-backend', 'api'], slug);
    // A dry run needs no credentials, but they would not help.
    const names = ['API_ORIGIN', 'ORGANIZATION', 'TOKEN_URL', 'CLIENT_ID', 'CLIENT_SECRET'];
    const unset = Object.fromEntries(names.map((name) => [`MYCLI_${name}`, undefined]));
    const args = ['bundle:push', '--json', '--dry-run', '--runtime-backend', 'api', '--project', 's'.repeat(21)];
    const dryRun = await mycli(args, unset);
    for (const {code, stdout} of [alone, asked, dryRun]) {
      expect(code).toBe(3);
      expect(JSON.parse(stdout)).toMatchObject({
        error: {
          code: 'ERR_OPTION_INVALID',
          message: expect.stringContaining('The Api backend requires a project slug') as string,
        },
      });
    }
  });

  test('an organization that Api cannot take is an error, never a reason for legacy', async () => {
    const {code, stdout} = await mycli(['bundle:push', '--json'], {MYCLI_ORGANIZATION: 'o'.repeat(33)});
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({
      error: {code: 'ERR_CREDENTIALS_MISSING', message: expect.stringContaining('1 to 32 characters') as string},
    });
  });
});
