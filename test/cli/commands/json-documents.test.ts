import {once} from 'node:events';
import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {createInterface} from 'node:readline';
import {fileURLToPath} from 'node:url';
import {Ajv2020, type ValidateFunction} from 'ajv/dist/2020.js';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import type {ErrorCode} from '../../../src/errors/index.js';
import {ownCommands} from '../own-commands.js';
import {binary, fixtureBinary, runCli, start, type Ended} from '../spawn-cli.js';
import {runWarm} from '../warm-cli.js';
import {createPluginBench} from '../with-plugins.js';
import {createStorefrontBench, type StorefrontBench} from '../with-storefront.js';

const folder = fileURLToPath(new URL('../../../dist/schemas/', import.meta.url));

/** What reads each schema, by the id of its command, `error` too. */
const validators = new Map<string, ValidateFunction>();
for (const name of readdirSync(folder).filter((file) => !file.startsWith('event'))) {
  const ajv = new Ajv2020({allErrors: true, allowUnionTypes: true});
  const schema = JSON.parse(readFileSync(join(folder, name), 'utf8')) as object;
  validators.set(name.replace('.schema.json', '').replace('-', ':'), ajv.compile(schema));
}

let bench: StorefrontBench;
beforeAll(async () => {
  bench = await createStorefrontBench();
});
afterAll(() => bench[Symbol.asyncDispose]());

/** The one document on stdout, as the schema of `id` has it. */
function documentOf(id: string, stdout: string): unknown {
  const document: unknown = JSON.parse(stdout);
  const validate = validators.get(id);
  validate?.(document);
  expect(validate?.errors, stdout).toBeNull();
  return document;
}

function mycli(args: readonly string[], env: Readonly<Record<string, string>> = {}, stdin = ''): Promise<Ended> {
  return runWarm([...args, '--json'], {
    cwd: bench.project,
    env: {...bench.env, MYCLI_API_KEY: bench.runtime.credentials.apiKey, ...env},
    stdin,
  });
}

interface Case {
  readonly what: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
}

const shop = ['--project', 'shop'];
const staging = [...shop, '--target', 'staging'];
const api = ['--runtime-backend', 'api'];
const nobody = {MYCLI_API_KEY: 'not-the-key'};

// In this order: later ones see what earlier ones have done.
const successes: readonly Case[] = [
  {what: 'a dry run of a build', args: ['bundle:build', '--dry-run', '--message', 'one']},
  {what: 'a build', args: ['bundle:build', '--message', 'one']},
  {what: 'a v1 build', args: ['bundle:build', '--message', 'one', '--format', 'v1', ...shop]},
  {what: 'an archive', args: ['bundle:inspect', 'bundle.tar.gz']},
  {what: 'a dry run of a push', args: ['bundle:push', ...shop, '--dry-run', '--message', 'one']},
  {
    what: 'a dry run of a push of an archive',
    args: ['bundle:push', ...staging, '--v2', '--dry-run', '--archive', 'bundle.tar.gz'],
  },
  {what: 'a v1 push', args: ['bundle:push', ...shop, '--message', 'one']},
  {what: 'a push that waits', args: ['bundle:push', ...staging, '--v2', '--wait', '--message', 'two']},
  {what: 'a push to Api that waits', args: ['bundle:push', ...staging, ...api, '--wait', '--message', 'three']},
  {what: 'a deployment', args: ['bundle:deploy', '2', ...staging]},
  {what: 'a deployment by Api that waits', args: ['bundle:deploy', 'latest', ...staging, ...api, '--wait']},
  {what: 'a list of Api', args: ['bundle:list', ...shop, ...api]},
  {what: 'a list', args: ['bundle:list', ...shop, '--limit', '1']},
  {what: 'a history', args: ['bundle:history', ...staging]},
  {what: 'a history of Api', args: ['bundle:history', ...staging, ...api, '--limit', '1']},
  {what: 'a status', args: ['status', ...shop]},
  {what: 'a status of Api', args: ['status', ...staging, ...api]},
  {what: 'a URL', args: ['open', ...staging]},
  {what: 'a rollback', args: ['bundle:rollback', ...staging, '--wait']},
  {what: 'a rollback to a bundle', args: ['bundle:rollback', ...staging, '--to', '3']},
  {what: 'a download', args: ['bundle:download', '2', ...shop]},
  {what: 'an uploaded bundle', args: ['bundle:inspect', '2', ...shop]},
  {what: 'a difference', args: ['bundle:diff', 'running:staging', 'bundle.tar.gz', ...shop]},
  {what: 'a promotion', args: ['bundle:promote', ...shop, '--from', 'staging', '--target', 'live', '--wait']},
  {what: 'a new target', args: ['target:create', 'qa', ...shop]},
  {what: 'a target that would be created', args: ['target:create', 'qb', ...shop, '--dry-run']},
  {what: 'the targets', args: ['target:list', ...shop]},
  {what: 'variables', args: ['env:set', '--from', '-', ...staging, '--wait'], stdin: 'A=canary-1\nB=canary-2\n'},
  {what: 'the variables', args: ['env:list', ...staging]},
  {what: 'a dotenv file', args: ['env:diff', '-', ...staging], stdin: 'A=1\nC=\n'},
  {what: 'a variable', args: ['env:unset', 'A', ...staging]},
  {what: 'a cache', args: ['target:invalidate', '/a/*', '/b', ...staging]},
  {what: 'a target', args: ['target:delete', 'qa', ...shop, '--yes']},
  {what: 'a preview', args: ['preview:up', 'feature/a', ...shop, '--message', 'a']},
  {what: 'the previews', args: ['preview:list', ...shop]},
  {what: 'previews that are not old', args: ['preview:prune', ...shop, '--dry-run']},
  {what: 'a preview', args: ['preview:down', 'feature/a', ...shop, '--yes']},
  {what: 'what would be pruned', args: ['bundle:prune', ...shop, '--keep', '1', '--dry-run']},
  {what: 'a deletion', args: ['bundle:delete', '1', ...shop, '--yes']},
  {what: 'nothing broken', args: ['doctor']},
  {what: 'the backends', args: ['backend:list', ...shop]},
  {what: 'a plugin', args: ['backend:create', 'my-service', '--dir', '../plugin']},
  {what: 'the settings', args: ['config:show', ...shop], env: {MYCLI_PROJECT: 'other'}},
  {
    what: 'an API key',
    args: ['auth:login', '--no-verify', '--origin', 'https://runtime.example', '--api-user', 'ann'],
    stdin: 'k-1',
  },
  {
    what: 'a client secret',
    args: [
      'auth:login',
      ...['--no-verify', '--api-origin', 'https://api.example'],
      ...['--token-url', 'https://login.example/token', '--client-id', 'ci'],
    ],
    stdin: 's-1',
  },
  {what: 'a new key', args: ['auth:rotate', '--yes']},
  {what: 'what is stored', args: ['auth:status', '--no-verify', '--origin', 'https://runtime.example']},
  {what: 'all of it', args: ['auth:logout', '--all']},
  {what: 'a shell', args: ['completion', 'bash']},
  {what: 'the projects', args: ['project:list']},
  {what: 'a target as code', args: ['target:diff', 'staging', '--init', '-C', '..', ...shop]},
  {what: 'a target as it is configured', args: ['target:diff', 'staging', '-C', '..', ...shop]},
  {what: 'nothing to change', args: ['target:apply', 'staging', '-C', '..', ...shop, '--yes']},
  {what: 'a project', args: ['init', '-C', 'build', '--yes', ...shop, '--runtime-backend', 'legacy']},
];

const failures: readonly (Case & {readonly code: ErrorCode})[] = [
  {what: 'an unknown flag', code: 'ERR_USAGE', args: ['bundle:push', '--projekt', 'shop']},
  {what: 'a missing argument', code: 'ERR_USAGE', args: ['bundle:deploy']},
  {what: 'an unknown command', code: 'ERR_COMMAND_NOT_FOUND', args: ['bundel:push']},
  {what: 'a topic with an argument', code: 'ERR_COMMAND_NOT_FOUND', args: ['bundle', 'psuh']},
  {what: 'no command', code: 'ERR_COMMAND_NOT_FOUND', args: []},
  {what: 'a topic alone', code: 'ERR_COMMAND_NOT_FOUND', args: ['target']},
  {what: 'a flag alone', code: 'ERR_USAGE', args: ['--nope']},
  {what: 'nothing to log in to', code: 'ERR_OPTION_INVALID', args: ['auth:login', '--api-origin', ':'], stdin: 'x'},
  {what: 'a wrong address', code: 'ERR_USAGE', args: ['auth:logout', '--origin', 'ftp://runtime.example']},
  {what: 'wrong credentials', code: 'ERR_CHECK_FAILED', args: ['doctor'], env: nobody},
  {
    what: 'an unknown backend',
    code: 'ERR_BACKEND_UNKNOWN',
    args: ['init', '--yes', '--force', '--runtime-backend', 'acme'],
  },
  {what: 'no such configuration file', code: 'ERR_CONFIG_INVALID', args: ['auth:status', '--config', 'nowhere.json']},
  {what: 'no shell', code: 'ERR_USAGE', args: ['completion'], env: {SHELL: ''}},
  {what: 'a name that no backend can have', code: 'ERR_USAGE', args: ['backend:create', 'My Service']},
  {what: 'an option without a value', code: 'ERR_USAGE', args: ['backend:list', '--backend-option', 'region']},
  {what: 'no build', code: 'ERR_BUILD_DIRECTORY', args: ['bundle:build', '--build-directory', 'nowhere']},
  {what: 'wrong credentials', code: 'ERR_UNAUTHORIZED', args: ['bundle:push', ...shop], env: nobody},
  {
    what: 'a pattern without files',
    code: 'ERR_REJECTED',
    args: ['bundle:push', ...shop, '--v2', '--ssr-shared', 'nothing/**'],
  },
  {what: 'no such bundle', code: 'ERR_BUNDLE_UNKNOWN', args: ['bundle:deploy', '77', ...staging]},
  {what: 'wrong credentials', code: 'ERR_UNAUTHORIZED', args: ['bundle:list', ...shop], env: nobody},
  {what: 'no target', code: 'ERR_USAGE', args: ['bundle:history', ...shop]},
  {what: 'a target that is not there', code: 'ERR_REJECTED', args: ['bundle:history', ...shop, '--target', 'unused']},
  {what: 'nothing to promote', code: 'ERR_REJECTED', args: ['bundle:promote', ...staging, '--from', 'unused']},
  {what: 'logs of no target', code: 'ERR_REJECTED', args: ['logs', ...shop, '--target', 'nowhere']},
  {what: 'a target that is there', code: 'ERR_REJECTED', args: ['target:create', 'staging', ...shop]},
  {what: 'a production target', code: 'ERR_GUARD_REFUSED', args: ['target:delete', 'live', ...shop, '--yes']},
  {what: 'wrong credentials', code: 'ERR_UNAUTHORIZED', args: ['project:list'], env: nobody},
  {what: 'no consent', code: 'ERR_USAGE', args: ['auth:rotate']},
  {what: 'no configuration', code: 'ERR_REJECTED', args: ['target:diff', 'unused', ...shop]},
  {what: 'no consent', code: 'ERR_USAGE', args: ['target:apply', 'staging', ...shop]},
  {what: 'a pattern of no path', code: 'ERR_OPTION_INVALID', args: ['target:invalidate', 'a', ...staging]},
  {what: 'wrong credentials', code: 'ERR_UNAUTHORIZED', args: ['target:list', ...shop], env: nobody},
  {what: 'no such target', code: 'ERR_REJECTED', args: ['env:list', ...shop, '--target', 'nowhere']},
  {what: 'no variable', code: 'ERR_USAGE', args: ['env:set', 'canary', ...staging]},
  {what: 'no name', code: 'ERR_OPTION_INVALID', args: ['env:unset', '1A', ...staging]},
  {what: 'no dotenv file', code: 'ERR_OPTION_INVALID', args: ['env:diff', 'nowhere.env', ...staging]},
  {what: 'no branch', code: 'ERR_USAGE', args: ['preview:up', ...shop]},
  {what: 'no branch', code: 'ERR_USAGE', args: ['preview:down', ...shop]},
  {what: 'wrong credentials', code: 'ERR_UNAUTHORIZED', args: ['preview:list', ...shop], env: nobody},
  {what: 'no such age', code: 'ERR_USAGE', args: ['preview:prune', ...shop, '--expires', 'soon']},
  {what: 'nothing before', code: 'ERR_REJECTED', args: ['bundle:rollback', ...shop, '--target', 'unused']},
  {what: 'no such bundle', code: 'ERR_BUNDLE_UNKNOWN', args: ['bundle:download', '77', ...shop]},
  {what: 'no such file', code: 'ERR_ARCHIVE_INVALID', args: ['bundle:inspect', 'nothing.tar.gz']},
  {what: 'nothing to compare with', code: 'ERR_ARCHIVE_INVALID', args: ['bundle:diff', 'nothing.tar.gz', 'build']},
  {what: 'bundles in use and not there', code: 'ERR_REJECTED', args: ['bundle:delete', '3', '77', ...shop, '--yes']},
  {what: 'no consent', code: 'ERR_USAGE', args: ['bundle:delete', '3', ...shop]},
  {what: 'no file', code: 'ERR_USAGE', args: ['bundle:download', '3', ...shop, '--output', '-']},
  {what: 'no such age', code: 'ERR_USAGE', args: ['bundle:prune', ...shop, '--older-than', '30']},
  {what: 'an unknown column', code: 'ERR_USAGE', args: ['config:show', '--columns', 'settting']},
  {what: 'wrong credentials', code: 'ERR_UNAUTHORIZED', args: ['status', ...shop], env: nobody},
  {what: 'a target without a deployment', code: 'ERR_REJECTED', args: ['open', ...shop, '--target', 'unused']},
  {what: 'an unknown fault', code: 'ERR_OPTION_INVALID', args: ['runtime:start', '--fault', 'thunder']},
];

describe('the document of', () => {
  test.each(successes)('$args.0 is as its schema says: $what', async ({args: [id = '', ...args], env, stdin}) => {
    const ended = await mycli([id, ...args], env, stdin);
    expect(ended.code, ended.stderr).toBe(0);
    expect(documentOf(id, ended.stdout)).toMatchObject({schemaVersion: 1});
  });

  test('runtime:start is one line, as its schema says', async () => {
    const {child, ended} = start(binary, ['runtime:start', '--data', join(bench.root, 'data'), '--json']);
    if (child.stdout === null) throw new Error('no stdout');
    const [line] = (await once(createInterface({input: child.stdout}), 'line')) as [string];
    child.kill('SIGTERM');
    await ended;
    expect(documentOf('runtime:start', line)).toMatchObject({schemaVersion: 1, origin: expect.any(String) as unknown});
  });

  test('every command is tested, in success and in failure', () => {
    const ids = Object.keys(ownCommands);
    expect([...validators.keys()].filter((id) => id !== 'error' && id !== 'manifest')).toEqual(ids);
    const missing = (cases: readonly Case[]) => ids.filter((id) => !cases.some(({args}) => args[0] === id));
    expect([missing(successes), missing(failures)]).toEqual([['logs', 'runtime:start'], []]);
  });
});

describe('the document of a failure', () => {
  test.each(failures)('$args.0 is as its schema says: $what', async ({args, env, stdin, code}) => {
    const ended = await mycli(args, env, stdin);
    expect(documentOf('error', ended.stdout)).toMatchObject({error: {code, exitCode: ended.code}});
    expect(ended.code).not.toBe(0);
  });

  test.each(['bug', 'uncaught', 'oclif'])('that is unexpected is as its schema says: %s', async (how) => {
    const {code, stdout} = await runCli(fixtureBinary, ['fail', '--how', how, '--json']);
    expect(documentOf('error', stdout)).toMatchObject({error: {code: 'ERR_UNEXPECTED', exitCode: code}});
  });
});

describe('whatever a plugin prints, stdout holds the document of', () => {
  test.each([
    ['bundle:push', ['bundle:push', '--runtime-backend', 'noisy']],
    ['error', ['bundel:push']],
  ])('%s: %j', async (id, args) => {
    await using plugins = await createPluginBench('noisy');
    const {stdout, stderr} = await plugins.mycli([...args, '--json']);
    documentOf(id, stdout);
    expect(stderr).toContain('chatter');
  });
});
