import {chmod, lchown, lstat, mkdir, readdir, readFile, stat, symlink, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {afterEach, beforeEach, describe, expect, test, vi} from 'vitest';
import {withLock} from '../../../src/files/lock.js';
import {startLocalRuntime, type LocalRuntime} from '../../../src/testing.js';
import {binary, runCli, type Ended} from '../spawn-cli.js';
import {runWarm} from '../warm-cli.js';
import {makeFolder} from '../../folder.js';
import {shellLine} from '../../../src/text/suggest.js';

const canaries = {key: 'canary-api-key-5e2f', secret: 'canary-client-secret-8b7a', token: 'canary-token-3d9c'};
const runtimeOrigin = 'https://runtime.example';
const apiOrigin = 'https://api.example';
const client = ['--api-origin', apiOrigin, '--token-url', 'login.example/token', '--client-id', 'ci'];

let root: string;
let folder: string;
let file: string;
beforeEach(async () => {
  root = await makeFolder();
  folder = join(root, 'config', 'mycli');
  file = join(folder, 'credentials.json');
});

/** Runs the binary; no canary may be in what it says, in any form. */
async function mycli(
  args: readonly string[],
  {stdin, env, cwd = root}: {stdin?: string; env?: Readonly<Record<string, string>>; cwd?: string} = {},
): Promise<Ended> {
  // Most origins of these tests are nowhere.
  const unasked = args[0] === 'auth:login' && !args.includes('--verify') ? ['--no-verify'] : [];
  const ended = await runWarm([...args, ...unasked], {
    cwd,
    env: {XDG_CONFIG_HOME: join(root, 'config'), ...env},
    ...(stdin === undefined ? {} : {stdin}),
  });
  for (const canary of Object.values(canaries)) {
    for (const form of [canary, Buffer.from(canary).toString('base64').replace(/=+$/, '')]) {
      expect(ended.stdout + ended.stderr).not.toContain(form);
    }
  }
  return ended;
}

async function modeOf(path: string): Promise<string> {
  return ((await stat(path)).mode & 0o777).toString(8);
}

test('six logins at the same time store the credentials of all six', async () => {
  const origins = Array.from({length: 6}, (_, index) => `https://runtime-${String(index)}.example`);
  const ended = await Promise.all(
    origins.map((origin) =>
      runCli(binary, ['auth:login', '--no-verify', '--origin', origin], {
        env: {XDG_CONFIG_HOME: join(root, 'config')},
        stdin: canaries.key,
      }),
    ),
  );
  expect(ended.map(({code}) => code)).toEqual(origins.map(() => 0));
  const stored = JSON.parse(await readFile(file, 'utf8')) as {origins: object};
  expect(Object.keys(stored.origins).toSorted()).toEqual(origins);
  expect(await readdir(folder)).toEqual(['credentials.json']);
});

describe('a home in which nothing can be stored', () => {
  test.runIf(process.platform === 'linux')('is an error of a login, not a wait for ever: /proc/nope', async () => {
    const env = {HOME: '/proc/nope', XDG_CONFIG_HOME: ''};
    const ended = await mycli(['auth:login', '--origin', runtimeOrigin, '--json'], {stdin: canaries.key, env});
    expect(ended.code).toBe(3);
    expect(JSON.parse(ended.stdout)).toMatchObject({
      error: {
        code: 'ERR_OUTPUT',
        message: '/proc/nope/.config/mycli/credentials.json cannot be written: no such file or directory.',
        suggestions: [expect.stringContaining('XDG_CONFIG_HOME')],
      },
    });
  });
});

describe('auth:login', () => {
  test('stores the secret from stdin in a file for its owner only, under the origin', async () => {
    const args = ['auth:login', '--origin', 'runtime.example/base/', '--api-user', 'ann', '--json', '--debug'];
    const {code, stdout, stderr} = await mycli(args, {stdin: `${canaries.key}\n`});
    expect(stderr).toMatch(/^Reading from stdin, until it ends: API key for /m);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      schemaVersion: 1,
      origin: runtimeOrigin,
      kind: 'api-key',
      file,
      verified: false,
    });
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({
      version: 1,
      origins: {[runtimeOrigin]: {apiKey: {key: canaries.key, user: 'ann'}}},
      last: {backend: 'legacy', legacy: `${runtimeOrigin}/base`},
    });
    expect([await modeOf(folder), await modeOf(file)]).toEqual(['700', '600']);
    expect((await mycli(args, {stdin: ''})).stdout).toContain(
      `pipe it: mycli auth:login --kind api-key --origin ${runtimeOrigin}/base --api-user ann < FILE`,
    );
    expect(await readdir(folder)).toEqual(['credentials.json']);
  });

  test('advises to pipe a secret to the service that it is for, whatever variables and the configuration name', async () => {
    const cwd = await makeFolder({'mycli.config.json': JSON.stringify({origin: runtimeOrigin})});
    const env = {MYCLI_RUNTIME_ORIGIN: 'https://other.example', MYCLI_API_KEY: canaries.key};
    const args = ['auth:login', '--api-origin', apiOrigin, '--kind', 'api-token'];
    const {stderr} = await mycli(args, {stdin: '', cwd, env});
    const advice = `--kind api-token --api-origin ${apiOrigin}`;
    expect(stderr).toContain(`pipe it: mycli login ${advice} < FILE\n`);
    const pasted = await mycli(['auth:login', ...advice.split(' '), '--json'], {stdin: canaries.token, cwd});
    expect(JSON.parse(pasted.stdout)).toMatchObject({origin: apiOrigin, kind: 'api-token'});
  });

  test.each([
    [['-k', canaries.key], 'mycli login < FILE'],
    [['--key', canaries.key], 'mycli login < FILE'],
    [['--token', canaries.key], 'mycli login < FILE'],
    [['--api-token', canaries.key], 'mycli login --kind api-token < FILE'],
    [['--kind', canaries.key], 'Expected --kind to be one of: api-key, client-secret, api-token.'],
  ])('says how to pass the secret of %j, without repeating it', async (flags, advice) => {
    const {code, stderr} = await mycli(['auth:login', ...flags]);
    expect(code).toBe(2);
    expect(stderr).toContain(advice);
  });

  test('keeps what is stored for others, and replaces its own; modes become right again', async () => {
    await mycli(['auth:login', '--origin', runtimeOrigin], {stdin: canaries.token});
    await mycli(['auth:login', ...client], {stdin: canaries.secret});
    await chmod(folder, 0o755);
    await chmod(file, 0o644);
    const {stderr} = await mycli(['auth:login', '--origin', runtimeOrigin], {stdin: canaries.key});
    expect(stderr).toContain(shellLine('chmod', '600', file));
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({
      origins: {
        [runtimeOrigin]: {apiKey: {key: canaries.key}},
        [apiOrigin]: {
          api: {
            kind: 'client-secret',
            clientId: 'ci',
            clientSecret: canaries.secret,
            tokenUrl: 'https://login.example/token',
          },
        },
      },
    });
    expect([await modeOf(folder), await modeOf(file)]).toEqual(['700', '600']);
  });

  test('stores a ready-made token in place of a client secret', async () => {
    await mycli(['auth:login', ...client], {stdin: canaries.secret});
    await mycli(['auth:login', '--api-origin', apiOrigin, '--kind', 'api-token'], {stdin: canaries.token});
    const content = await readFile(file, 'utf8');
    expect(content).toContain(canaries.token);
    expect(content).not.toContain(canaries.secret);
  });

  test('takes no secret from the command line', async () => {
    for (const args of [[`--api-key=${canaries.key}`], ['--api-key', canaries.key], [canaries.key]]) {
      const {code} = await mycli(['auth:login', '--origin', runtimeOrigin, ...args], {stdin: canaries.token});
      expect(code).toBe(2);
    }
    expect(await readdir(root)).toEqual([]);
  });

  test.each([
    ['nothing on stdin', ['--origin', runtimeOrigin], ' \n', 'ERR_OPTION_INVALID'],
    ['several lines', ['--origin', runtimeOrigin], `${canaries.key}\n${canaries.key}`, 'ERR_OPTION_INVALID'],
    ['no origin', [], canaries.key, 'ERR_ORIGIN_MISSING'],
    ['no token endpoint', ['--api-origin', apiOrigin, '--client-id', 'ci'], canaries.secret, 'ERR_USAGE'],
    ['an origin with credentials', ['--origin', `https://a:${canaries.key}@x`], canaries.key, 'ERR_OPTION_INVALID'],
  ])('%s is an error, and nothing is stored', async (_what, args, stdin, error) => {
    const {stdout} = await mycli(['auth:login', '--json', ...args], {stdin});
    expect(JSON.parse(stdout)).toMatchObject({error: {code: error}});
    expect(await readdir(root)).toEqual([]);
  });

  test('an origin that is not trusted is refused', async () => {
    const env = {MYCLI_TRUSTED_ORIGINS: 'https://other.example'};
    const refused = await mycli(['auth:login', '--origin', runtimeOrigin, '--json'], {stdin: canaries.key, env});
    expect(JSON.parse(refused.stdout)).toMatchObject({error: {code: 'ERR_ORIGIN_UNTRUSTED'}});
  });
});

test('a login without a URL says so where nobody can be asked for it', async () => {
  const {code, stderr} = await mycli(['auth:login'], {stdin: canaries.key});
  expect(code).toBe(3);
  expect(stderr).toContain('No origin specified.\n  Pass --origin URL');
});

describe('a login in a checkout', () => {
  const evil = 'https://evil.example';
  const configure = (config: object) => writeFile(join(root, 'mycli.config.json'), JSON.stringify(config));
  const config = () => join(root, 'mycli.config.json');

  test.each([
    ['an origin', {origin: evil}, ['--kind', 'api-key'], [`--origin ${evil}`, evil]],
    ['an API origin', {api: {origin: evil}}, ['--kind', 'api-token'], [`--api-origin ${evil}`, evil]],
    [
      'a token endpoint',
      {api: {tokenUrl: `${evil}/token`}},
      ['--api-origin', apiOrigin, '--client-id', 'ci'],
      [`--token-url ${evil}/token`, `${evil}/token`],
    ],
  ])('sends nothing to %s that only its configuration file sets', async (_what, settings, args, named) => {
    await configure(settings);
    const {code, stdout} = await mycli(['auth:login', '--verify', '--json', ...args], {stdin: canaries.secret});
    const {error} = JSON.parse(stdout) as {error: {code: string; message: string; suggestions: string[]}};
    expect([code, error.code]).toEqual([3, 'ERR_ORIGIN_UNTRUSTED']);
    const told = [error.message, ...error.suggestions].join(' ');
    for (const text of [...named, config(), `list ${evil} in MYCLI_TRUSTED_ORIGINS`]) expect(told).toContain(text);
    expect(await readdir(root)).toEqual(['mycli.config.json']);
  });

  test('goes to an address of its file that the user names too, or trusts', async () => {
    await configure({origin: runtimeOrigin});
    const stdin = canaries.key;
    expect(await mycli(['auth:login', '--origin', runtimeOrigin], {stdin})).toMatchObject({code: 0});
    expect(await mycli(['auth:login'], {stdin, env: {MYCLI_RUNTIME_ORIGIN: runtimeOrigin}})).toMatchObject({code: 0});
    const trusted = await mycli(['auth:login'], {stdin, env: {MYCLI_TRUSTED_ORIGINS: runtimeOrigin}});
    expect(trusted).toMatchObject({code: 0});
    expect(trusted.stderr).toContain(`origin  ${runtimeOrigin}  (mycli.config.json)\n`);
  });
});

describe('auth:status and auth:logout', () => {
  test('list and forget what is stored', async () => {
    await mycli(['auth:login', '--origin', runtimeOrigin, '--api-user', 'ann'], {stdin: canaries.key});
    const piped = await mycli(['auth:login', ...client], {stdin: canaries.secret});
    expect(piped.stderr).toContain(
      `Reading from stdin, until it ends: Client secret of ci for ${apiOrigin}, sent to https://login.example/token.\n`,
    );
    const entry = {
      ...{origin: apiOrigin, kind: 'client-secret', clientId: 'ci', tokenUrl: 'https://login.example/token'},
    };
    const status = await mycli(['auth:status', '--no-verify', '--json', '--origin', runtimeOrigin], {
      env: {MYCLI_API_ORIGIN: apiOrigin, MYCLI_API_TOKEN: canaries.token, MYCLI_ORGANIZATION: 'org'},
    });
    expect(JSON.parse(status.stdout)).toEqual({
      schemaVersion: 1,
      file,
      credentials: [{origin: runtimeOrigin, kind: 'api-key', user: 'ann'}, entry],
      plugins: [],
      backends: [
        {backend: 'legacy', origin: runtimeOrigin, source: `credentials stored for ${runtimeOrigin}`},
        {backend: 'api', origin: apiOrigin, source: 'MYCLI_API_TOKEN'},
      ],
    });
    const text = await mycli(['auth:status', '--no-verify']);
    expect(text.stdout).toContain(`${runtimeOrigin}: api-key of ann\n`);

    const out = await mycli(['auth:logout', '--origin', runtimeOrigin, '--json'], {env: {MYCLI_API_ORIGIN: apiOrigin}});
    expect(JSON.parse(out.stdout)).toEqual({schemaVersion: 1, removed: [runtimeOrigin]});
    const left = await mycli(['auth:status', '--no-verify', '--json']);
    expect(JSON.parse(left.stdout)).toMatchObject({
      credentials: [entry],
      backends: [{backend: 'api', origin: apiOrigin, source: `credentials stored for ${apiOrigin}`}],
    });
    expect((await mycli(['auth:logout', '--origin', runtimeOrigin])).stdout).toContain('No credentials are stored');

    expect(JSON.parse((await mycli(['auth:logout', '--all', '--json'])).stdout)).toMatchObject({removed: [apiOrigin]});
    expect(await readdir(folder)).toEqual([]);
    expect((await mycli(['auth:logout', '--all'])).stdout).toBe('No credentials are stored.\n');
  });

  test('auth: a chosen backend is the only one that is logged in to, shown and forgotten', async () => {
    const organizationId = 'org_1';
    const both = {MYCLI_RUNTIME_ORIGIN: runtimeOrigin, MYCLI_API_ORIGIN: runtimeOrigin};
    const api = {
      MYCLI_TOKEN_URL: 'https://login.example/token',
      MYCLI_CLIENT_ID: 'ci',
      MYCLI_ORGANIZATION: organizationId,
    };
    const env = {...both, ...api};
    const run = async (args: readonly string[], more = {}, stdin = '') => {
      const {code, stdout} = await mycli([...args, '--json'], {stdin, env: {...env, ...more}});
      return [code, JSON.parse(stdout)] as const;
    };
    const kinds = ['auth:status', '--no-verify'];
    expect(await run(['auth:login'], {MYCLI_RUNTIME_BACKEND: 'api'}, canaries.secret)).toMatchObject([
      0,
      {kind: 'client-secret'},
    ]);
    expect(await run(['auth:login', '--runtime-backend', 'legacy'], {}, canaries.key)).toMatchObject([
      0,
      {kind: 'api-key'},
    ]);
    for (const backend of ['legacy', 'api']) {
      const shown = await run(kinds, {MYCLI_RUNTIME_BACKEND: backend});
      expect(shown).toMatchObject([0, {backends: [{backend, source: `credentials stored for ${runtimeOrigin}`}]}]);
    }
    expect(await run(['auth:login', '--runtime-backend', 'api', '--kind', 'api-key'])).toMatchObject([
      2,
      {error: {message: '--kind api-key cannot be used with --runtime-backend api.'}},
    ]);

    const out = await mycli(['auth:logout'], {env: {...env, MYCLI_RUNTIME_BACKEND: 'legacy'}});
    expect(out.stdout).toBe(`Removed the API key for ${runtimeOrigin}. Its client-secret stays.\n`);
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({
      origins: {[runtimeOrigin]: {api: {kind: 'client-secret', organizationId}}},
      last: {backend: 'api', api: {origin: runtimeOrigin}},
    });
    const again = await mycli(['auth:logout', '--runtime-backend', 'legacy'], {env});
    expect(again.stdout).toBe(`No credentials of the Runtime (API key) backend are stored for ${runtimeOrigin}.\n`);
    const mistyped = await mycli(['auth:logout', '--runtime-backend', 'legcy'], {env});
    expect(mistyped.stdout).toBe('No credentials of the legcy backend are stored.\nDid you mean legacy?\n');
    // An address on the command line counts more than a configured backend.
    const elsewhere = ['auth:logout', '--api-origin', runtimeOrigin];
    expect(await run(elsewhere, {MYCLI_RUNTIME_BACKEND: 'legacy'})).toMatchObject([0, {removed: [runtimeOrigin]}]);
    expect(await readdir(folder)).toEqual([]);
  });

  test('forget nothing unasked', async () => {
    await mycli(['auth:login', '--origin', runtimeOrigin], {stdin: canaries.key});
    expect((await mycli(['auth:logout'])).code).toBe(2);
    expect(await readFile(file, 'utf8')).toContain(canaries.key);
  });

  test.each([
    ['no JSON', `{"version": 1, ${canaries.key}`],
    ['another shape', `{"version": 1, "origins": {"https://x": {"apiKey": "${canaries.key}"}}}`],
    [
      'a newer version',
      `{"version": 2, "origins": {}, "key": "${canaries.key}"}`,
      'was written by a newer version of mycli.',
    ],
  ])('a damaged file is an error that repeats none of it (%s)', async (_what, content, said = 'valid credentials') => {
    await mkdir(folder, {recursive: true, mode: 0o700});
    await writeFile(file, content, {mode: 0o600});
    const {code, stdout} = await mycli(['auth:status', '--json', '--debug']);
    expect(code).toBe(3);
    const message: unknown = expect.stringContaining(said);
    expect(JSON.parse(stdout)).toMatchObject({error: {code: 'ERR_CONFIG_INVALID', message}});
  });
});

describe('a credentials file that is a link', () => {
  let target: string;
  beforeEach(async () => {
    target = join(root, 'dotfiles', 'mycli.json');
    await mkdir(dirname(target), {mode: 0o700});
    await mkdir(folder, {recursive: true, mode: 0o700});
    await symlink(target, file);
  });

  test('is followed: a login changes its target, and the last logout removes both', async () => {
    const other = {apiKey: {key: canaries.token}};
    await writeFile(target, JSON.stringify({version: 1, origins: {'https://old.example': other}}));
    await chmod(target, 0o644);
    const {code, stderr} = await mycli(['auth:login', '--origin', runtimeOrigin], {stdin: canaries.key});
    expect(code).toBe(0);
    expect(stderr).toContain(shellLine('chmod', '600', file));
    expect((await lstat(file)).isSymbolicLink()).toBe(true);
    expect(await modeOf(target)).toBe('600');
    expect(await readFile(target, 'utf8')).toContain(canaries.key);
    await mycli(['auth:logout', '--origin', 'https://old.example']);
    expect(await readFile(target, 'utf8')).not.toContain(canaries.token);
    expect((await mycli(['auth:logout', '--all'])).stdout).toContain(`Removed the credentials for ${runtimeOrigin}`);
    expect([await readdir(dirname(target)), await readdir(folder)]).toEqual([[], []]);
  });

  test.runIf(process.getuid?.() === 0).each(['link', 'target'])(
    'is refused if its %s belongs to another user',
    async (which) => {
      await writeFile(target, JSON.stringify({version: 1, origins: {}}), {mode: 0o600});
      await lchown(which === 'link' ? file : target, 12_345, 12_345);
      for (const args of [['auth:status'], ['auth:login', '--origin', runtimeOrigin]]) {
        const {code, stderr} = await mycli(args, {stdin: canaries.key});
        expect([code, stderr]).toEqual([
          3,
          expect.stringContaining(`${file} cannot be read: it belongs to another user.`),
        ]);
      }
      expect(await readFile(target, 'utf8')).not.toContain(canaries.key);
    },
  );

  test('to nothing is left alone while another login writes it', async () => {
    let end: () => void = () => undefined;
    const other = withLock(file, () => new Promise<void>((resolve) => (end = resolve)));
    const login = mycli(['auth:login', '--origin', runtimeOrigin], {stdin: canaries.key});
    await vi.waitUntil(
      async () => (await readdir(folder)).filter((name) => name.includes('.lock-')).length > 1,
      20_000,
    );
    const stored = {version: 1, origins: {'https://old.example': {apiKey: {key: canaries.token}}}};
    await writeFile(target, JSON.stringify(stored), {mode: 0o600});
    end();
    await other;
    expect((await login).code).toBe(0);
    expect(await readFile(target, 'utf8')).toContain(canaries.key);
    expect(await readFile(target, 'utf8')).toContain(canaries.token);
  });

  test('to nothing is replaced by a login', async () => {
    expect((await mycli(['auth:status'])).code).toBe(0);
    expect((await mycli(['auth:login', '--origin', runtimeOrigin], {stdin: canaries.key})).code).toBe(0);
    expect((await lstat(file)).isFile()).toBe(true);
  });
});

describe('stored credentials', () => {
  let runtime: LocalRuntime;
  let project: string;
  beforeEach(async () => {
    runtime = await startLocalRuntime({
      deploymentSeconds: 0,
      credentials: {apiKey: canaries.key, clientSecret: canaries.secret},
    });
    project = join(root, 'project');
    for (const path of ['build/ssr.js', 'build/static/a.txt']) {
      await mkdir(dirname(join(project, path)), {recursive: true});
      await writeFile(join(project, path), 'x');
    }
  });
  afterEach(() => runtime.close());

  const push = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    mycli(['bundle:push', '-p', 'shop', '--json', '--debug', ...args], {cwd: project, env});
  const login = (args: readonly string[], stdin: string) => mycli(['auth:login', ...args], {stdin, cwd: project});
  const clientFlags = () => {
    const {clientId, tokenUrl} = runtime.credentials;
    return ['--api-origin', runtime.origin, '--client-id', clientId, '--token-url', tokenUrl];
  };

  test('need no flag after a login, for the service of the last one', async () => {
    await login(['--verify', '--origin', `${runtime.origin}/`], canaries.key);
    const pushed = await push([]);
    expect(JSON.parse(pushed.stdout)).toMatchObject({backend: 'legacy', bundleId: 1});
    const {organizationId} = runtime.credentials;
    await login(['--verify', ...clientFlags(), '--organization', organizationId], canaries.secret);
    expect(JSON.parse((await push([])).stdout)).toMatchObject({backend: 'api'});
    expect(JSON.parse((await push(['--runtime-backend', 'legacy'])).stdout)).toMatchObject({backend: 'legacy'});
    await mycli(['auth:logout', '--all']);
    expect(JSON.parse((await push([])).stdout)).toMatchObject({error: {code: 'ERR_CREDENTIALS_MISSING'}});
  });

  test('keep their organization, whichever login was the last', async () => {
    const {organizationId} = runtime.credentials;
    await login([...clientFlags(), '--organization', organizationId], canaries.secret);
    const renewed = await login(clientFlags(), canaries.secret);
    expect(renewed.stderr).toContain(`Push a bundle: mycli push --project SLUG --api-origin ${runtime.origin}\n`);
    await login(client, canaries.secret);
    expect((await push(['--api-origin', runtime.origin])).code).toBe(0);
    expect((await push([])).stdout).toContain('missing organization');
  });

  test('without an organization are stored, and the next command has a place for it', async () => {
    const {stderr} = await login(clientFlags(), canaries.secret);
    const [, next = ''] = /Push a bundle: mycli push (.*)\n/.exec(stderr) ?? [];
    expect(next).toBe(`--project SLUG --organization ID --api-origin ${runtime.origin}`);
    const {organizationId} = runtime.credentials;
    const words = next.replace('SLUG', 'shop').replace('ID', organizationId).split(' ');
    expect((await mycli(['bundle:push', ...words], {cwd: project})).code).toBe(0);
  });

  test('for other origins are named where a command has none', async () => {
    await login([...clientFlags(), '--organization', 'org'], canaries.secret);
    await login(client, canaries.secret);
    await mycli(['auth:logout', '--api-origin', apiOrigin]);
    const {code, stderr} = await mycli(['status', '-p', 'shop']);
    expect({code, stderr}).toEqual({code: 3, stderr: expect.stringContaining(`pass --api-origin ${runtime.origin}.`)});
    const status = await mycli(['auth:status']);
    expect(status.stdout).toContain('A push from here would use none of them');
    const legacy = await mycli(['status', '-p', 'shop', '--runtime-backend', 'legacy']);
    expect(legacy.stderr).not.toContain(runtime.origin);
  });

  test('auth:status: a key without an address, and a login without an organization, are no push', async () => {
    const key = await mycli(['auth:status'], {env: {MYCLI_API_KEY: canaries.key}});
    expect(key.stdout).toContain('Runtime (API key): from MYCLI_API_KEY\n  The Runtime (API key) backend is not conf');
    await login(['--kind', 'api-token', '--api-origin', runtime.origin], canaries.token);
    const token = await mycli(['auth:status']);
    expect(token.stdout).toContain('Pass --organization and --project.');
    expect(token.stderr).toContain('Warning: Pushes from here will fail. The API connection is incomplete');
    const flags = ['--organization', runtime.credentials.organizationId];
    expect((await mycli(['auth:status', ...flags])).stdout).toContain('Pass --project.');
    expect(await mycli(['auth:status', ...flags, '--project', 'shop'])).toMatchObject({
      code: 4,
      stdout: expect.stringContaining('refused') as string,
    });
  });

  test('of another organization are told to check that', async () => {
    await login([...clientFlags(), '--organization', 'wrong'], canaries.secret);
    const {stderr} = await mycli(['status', '-p', 'shop']);
    expect(stderr).toContain('  Check the organization, the project slug and the permissions of the credentials.\n');
  });

  test('say after a login what is used instead of them, and which backend to name', async () => {
    await writeFile(join(project, 'mycli.config.json'), '{"runtimeBackend": "api"}');
    const env = {MYCLI_API_KEY: canaries.token};
    const {stderr} = await mycli(['auth:login', '--origin', runtime.origin], {stdin: canaries.key, env, cwd: project});
    expect(stderr).toContain('Warning: To use the stored key, unset MYCLI_API_KEY.');
    expect(stderr).toContain('Push a bundle: mycli push --project SLUG --runtime-backend legacy');
  });

  test('that are refused are said to come from a variable, a flag or a login', async () => {
    const refusedWith = async (...[flags, env]: readonly [readonly string[], Readonly<Record<string, string>>]) => {
      const {code, stderr} = await mycli(['target:list', '--project', 'shop', '--origin', runtime.origin, ...flags], {
        env,
      });
      expect(code).toBe(4);
      return stderr;
    };
    const fromVariable = await refusedWith([], {MYCLI_API_KEY: 'wrong'});
    expect(fromVariable).toContain('The API key comes from MYCLI_API_KEY. Check that it is complete');
    expect(fromVariable).toContain(
      '  To use a stored one, unset MYCLI_API_KEY. Without one, run: mycli login --origin ',
    );
    const fromFlag = await refusedWith(['--api-key', 'wrong'], {});
    expect(fromFlag).toContain('The API key comes from --api-key.');
    expect(fromFlag).not.toContain('mycli login');
    await login(['--no-verify', '--origin', runtime.origin], canaries.token);
    expect(await refusedWith([], {})).toMatch(
      /comes from credentials stored for [^]*To store another, run: mycli login/,
    );
  });

  test('are stored only when the service accepts them', async () => {
    const wrong = await login(['--verify', '--origin', runtime.origin, '--json'], canaries.token);
    expect(wrong.code).toBe(4);
    expect(JSON.parse(wrong.stdout)).toMatchObject({
      error: {
        code: 'ERR_UNAUTHORIZED',
        details: {requestId: expect.any(String) as string},
        suggestions: [
          `Nothing was stored. Check the API key for ${runtime.origin} and log in again, or pass --no-verify to store ` +
            'credentials unchecked.',
        ],
      },
    });
    const client = await login(['--verify', ...clientFlags(), '--json'], canaries.token);
    expect(JSON.parse(client.stdout)).toMatchObject({error: {code: 'ERR_OAUTH', exitCode: 4}});
    const away = runtime.origin.replace(/:\d+$/, ':9');
    expect(JSON.parse((await login(['--verify', '--origin', away, '--json'], canaries.key)).stdout)).toMatchObject({
      error: {code: 'ERR_NETWORK', exitCode: 6},
    });
    expect(await readdir(root)).not.toContain('config');
    const right = await login(['--verify', ...clientFlags(), '--json'], canaries.secret);
    expect(JSON.parse(right.stdout)).toMatchObject({verified: true, expiresAt: expect.stringMatching(/Z$/) as string});
  });

  test('are asked about: whose they are, and until when', async () => {
    await login(['--verify', '--origin', runtime.origin, '--api-user', 'ann'], canaries.key);
    const {organizationId, clientId} = runtime.credentials;
    const flags = ['--api-origin', runtime.origin, '--organization', organizationId];
    await login(['--verify', ...clientFlags(), '--organization', organizationId], canaries.secret);
    const status = await mycli(['auth:status', '--json', '--origin', runtime.origin, ...flags.slice(0, 2)]);
    const {backends} = JSON.parse(status.stdout) as {backends: unknown};
    expect(backends).toEqual([
      expect.objectContaining({backend: 'legacy', check: {status: 'accepted', user: 'ann'}}),
      expect.objectContaining({
        backend: 'api',
        check: {status: 'accepted', clientId, expiresAt: expect.stringMatching(/Z$/) as string},
      }),
    ]);
    const text = await mycli(['auth:status', '--origin', runtime.origin]);
    expect(text.stdout).toContain(
      `Runtime (API key) at ${runtime.origin}: accepted, user ann (from credentials stored for `,
    );
    const wrong = await mycli(['auth:status', '--origin', runtime.origin], {env: {MYCLI_API_KEY: 'wrong'}});
    expect(wrong).toMatchObject({
      code: 4,
      stdout: expect.stringMatching(
        /Runtime \(API key\) at \S+: refused \(from MYCLI_API_KEY\)[^]*To use a stored one, unset MYCLI_API_KEY\. Without one, run: mycli login/,
      ),
    });
    const half = {MYCLI_API_ORIGIN: runtime.origin, MYCLI_CLIENT_SECRET: canaries.secret, MYCLI_CLIENT_ID: 'other'};
    expect((await mycli(['auth:status'], {env: half})).stdout).toContain('not configured: missing MYCLI_TOKEN_URL');
    const api = await mycli(['auth:status', ...flags.slice(0, 2)]);
    expect(api.stdout).toMatch(
      /Runtime \(OAuth\) at \S+: accepted, client \S+, token expires in \d+ \w+ \(.*Z\) \(from /,
    );
  });

  test('go to trusted origins only', async () => {
    await login(['--origin', runtime.origin], canaries.key);
    const {stdout} = await push(['--origin', runtime.origin], {MYCLI_TRUSTED_ORIGINS: 'https://other.example'});
    expect(JSON.parse(stdout)).toMatchObject({error: {code: 'ERR_ORIGIN_UNTRUSTED'}});
    expect(runtime.requests).toEqual([]);
  });
});
