import type {ChildProcess} from 'node:child_process';
import {mkdtemp, readFile, rm, stat, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {PassThrough} from 'node:stream';
import {stripVTControlCharacters} from 'node:util';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {OptionText} from '../../../src/backends/plugins/option-text.js';
import {originsIn} from '../../../src/cli/settings/option-addresses.js';
import {storedSecrets} from '../../../src/cli/settings/plugin-settings.js';
import {loginDialogue} from '../../../src/cli/setup/login.js';
import {updateCredentials, type CredentialFile} from '../../../src/cli/settings/credential-file.js';
import {openPortal} from '../../../examples/mycli-plugin-portal/test/portal.js';
import {binary, start} from '../spawn-cli.js';
import {suggestionText, type Suggestion} from '../../../src/errors/suggestion.js';
import {runWarm} from '../warm-cli.js';
import {collectOutput} from '../collect-output.js';
import {createPluginBench} from '../with-plugins.js';

test.each<[object, string]>([
  [{url: 'https://acme.example/api', region: 'eu'}, 'https://acme.example'],
  [{url: new OptionText('http://127.0.0.1:80/'), deep: [{to: 'HTTPS://b:84'}]}, 'http://127.0.0.1 https://b:84'],
  [{hooks: new OptionText('["https://c.example/a", "https://c.example/b"]')}, 'https://c.example'],
  // What URL parsers take for an address, although people would not write it.
  [{a: 'http:/e.example', b: String.raw`http:\\g.example`}, 'http://e.example http://g.example'],
  [{a: 'ht\ntp://h.example', b: ' //j.example/x', c: String.raw`/\k`}, 'http://h.example https://j.example https://k'],
  // A host instead of a URL, as a plugin would complete it.
  [
    {a: 'l.example', b: 'm.example:8443/path', c: '[::1]:80'},
    'https://l.example https://m.example:8443 https://[::1]:80',
  ],
  [
    {c: new OptionText('user:pass@n.example'), e: 'localhost', f: 'o:81'},
    'https://n.example https://localhost https://o:81',
  ],
  [{a: '203.29', b: 'p\u3002example', list: [{host: 's1'}]}, 'https://203.0.0.29 https://p.example https://s1'],
  [{a: 'eu-west-1', b: './dist', c: 'bundle.tar.gz', d: 'dist/a.b', e: '12345', f: String.raw`C:\a`, g: ''}, ''],
  [{text: 'see d.example', none: null, size: 7, path: '/a/b', every: '5 m', prefix: 'a=b'}, ''],
  [{user: 'build:ci', image: 'shop-2:v_1'}, ''],
  [
    {user: 'build:80', host: 'build:ci', a: 'build:ci.example', b: 'build:ci/x'},
    'https://build:80 build:ci build:ci.example build:ci/x',
  ],
  // Other schemes, with each of several hosts, and without credentials.
  [{db: 'postgres://me:pw@DB.example:5432/shop'}, 'postgres://db.example:5432'],
  [{db: 'mongodb://me:pw@a:1,b,[::1]:2/x'}, 'mongodb://a:1 mongodb://b mongodb://[::1]:2'],
  [{db: 'jdbc:postgresql://e.example/x', ftp: 'ftp://l.example./'}, 'jdbc:postgresql://e.example ftp://l.example.'],
  // What cannot be parsed counts as a whole: a driver may find another host in it.
  [{db: 'postgres://a.example/x?host=b.example'}, 'postgres://a.example/x?host=b.example'],
  [{db: 'redis://a:1,redis://b:2', s: 'unix:///run/x'}, 'redis://a:1,redis://b:2 unix:///run/x'],
  [{db: String.raw`postgres://b\@a`, dsn: 'me:pw@tcp(b:3306)/x'}, String.raw`postgres://b\@a tcp(b:3306)/x`],
  [{db: 'host=b user=x password=pw', url: 'https://{t}.a b'}, 'host=b user=x password=*** https://{t}.a b'],
  // What pins a server is no address.
  [{hostKey: 'SHA256:Cfi+47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3h', pin: `sha256-${'Ab/='.repeat(11)}`}, ''],
  [{hostKey: `MD5:${'16:27:AC:A5:'.repeat(4)}`.slice(0, -1), server: '16:27:ac:a5:'.repeat(4).slice(0, -1)}, ''],
  [{hostKey: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5 me@b.example', server: 'sha256:8443'}, 'https://sha256:8443'],
  [{db: 'tcp:b', git: 'me@b:path', host: '/run/x', broken: 'https://'}, 'tcp:b b:path /run/x https://'],
])('options %j: name the addresses %s', (options, origins) => {
  expect(originsIn(options).join(' ')).toBe(origins);
});

describe('the stored secrets of a backend', () => {
  let warnings: string[];
  let file: CredentialFile;

  beforeEach(async () => {
    warnings = [];
    const directory = await mkdtemp(join(tmpdir(), 'mycli-backend-login-'));
    const warn = (message: string, suggestions: readonly Suggestion[] = []) => {
      warnings.push([message, ...suggestions.map((said) => suggestionText(said))].join(' '));
    };
    file = {directory, warn};
    const acme = {options: ['id', 'token'], values: {id: 'i', token: 'canary'}, origins: ['https://acme.example']};
    await updateCredentials(file, (stored) => ({...stored, backends: {acme}}));
  });
  afterEach(() => rm(file.directory, {recursive: true}));

  test.each([
    [{}, {id: 'i', token: 'canary'}],
    [{url: 'https://acme.example/other'}, {id: 'i', token: 'canary'}],
    [{id: 'another'}, {}],
  ])('login: stored secrets are used as a whole or not at all, with %j', async (given, expected) => {
    expect(await storedSecrets({name: 'acme'}, given, {}, file)).toEqual(expected);
    expect(await storedSecrets({name: 'other'}, given, {}, file)).toEqual({});
    expect(await storedSecrets({name: 'acme', secretEnv: ['token']}, given, {token: 'another'}, file)).toEqual({});
    expect(warnings).toEqual([]);
  });

  test.each<object>([
    {url: 'https://acme.example', hook: 'https://b.example/x'},
    {host: 'b.example'},
    {host: new OptionText('b.example')},
    {url: new OptionText('https://me@b.example')},
  ])('login: stored secrets go to no other address than at the login: %j', async (given) => {
    expect(await storedSecrets({name: 'acme'}, {...given}, {}, file)).toEqual({});
    expect(warnings).toEqual([
      'The secrets stored for the acme backend are not used, because they were not stored for https://b.example. ' +
        'To store them for it, run: mycli auth:login --runtime-backend acme',
    ]);
  });

  test.each(['@/run/secrets/pin', 'p@ss:word', 'b.example'])('login: a secret is no address: %s', async (text) => {
    const given = {url: 'https://acme.example', pin: new OptionText(text)};
    expect(await storedSecrets({name: 'acme', secrets: ['pin']}, given, {}, file)).toEqual({id: 'i', token: 'canary'});
    expect(await storedSecrets({name: 'acme', secrets: ['pin']}, {pin: 'https://b.example'}, {}, file)).toEqual({});
  });

  test.each([
    'postgres://db.example:5433/shop',
    'postgres://b.example:5432/shop',
    'postgres://db.example:5432,b.example/shop',
    'postgres://db.example:5432/shop?host=b.example',
    'mysql://db.example:5432',
    'host=b.example user=x',
    'tcp:b.example',
  ])('login: stored secrets go to no other database than at the login: %s', async (url) => {
    const origins = originsIn({url: 'postgres://me:pw@db.example:5432/shop'});
    const acme = {options: ['password'], values: {password: 'canary'}, origins: [...origins]};
    await updateCredentials(file, (stored) => ({...stored, backends: {acme}}));
    expect(await storedSecrets({name: 'acme'}, {url: 'postgres://DB.example:5432/other'}, {}, file)).toEqual({
      password: 'canary',
    });
    expect(warnings).toEqual([]);
    expect(await storedSecrets({name: 'acme'}, {url}, {}, file)).toEqual({});
    expect(warnings).toEqual([expect.stringContaining('they were not stored for ')]);
  });
});

describe('the dialogue of a login', () => {
  function dialogueWith({terminal}: {readonly terminal: boolean}) {
    const stderr = Object.assign(new PassThrough(), {_isStdio: true});
    const {output} = collectOutput({stderr, quiet: true, interactive: terminal});
    const stdin = Object.assign(new PassThrough(), {isTTY: terminal});
    // A stream of lines is all that is read from it.
    const context = {
      env: {},
      output,
      stdin: stdin as unknown as NodeJS.ReadStream,
      signal: new AbortController().signal,
    };
    const backend = {name: 'acme', secrets: ['token'], secretEnv: ['ACME_KEY']};
    const written = () => stripVTControlCharacters(String(stderr.read() ?? ''));
    return {...loginDialogue(backend, context), stdin, output, written};
  }

  test('asks in the terminal, and masks secrets', async () => {
    const {prompt, stdin, output, written} = dialogueWith({terminal: true});
    const answer = async (message: string, keys: string, secret = false) => {
      const asked = prompt({message, secret});
      asked.catch(() => undefined);
      await expect.poll(written).toContain(`? ${message}:`);
      stdin.write(keys);
      return asked;
    };
    expect(await answer('Email', ' ann@acme.example \n')).toBe('ann@acme.example');
    expect(await answer('Password', 'canary-pass\n', true)).toBe('canary-pass');
    expect(written()).not.toContain('canary');
    expect(output.secrets).toEqual(['canary-pass']);
    await expect(answer('Code', '\n')).rejects.toMatchObject({
      code: 'ERR_OPTION_INVALID',
      message: 'No value was entered for "Code".',
    });
  });

  test('says what to do where there is no terminal', async () => {
    const {prompt} = dialogueWith({terminal: false});
    await expect(prompt({message: 'Email'})).rejects.toMatchObject({
      code: 'ERR_USAGE',
      message: 'The acme backend asks for "Email", but there is no terminal to ask in.',
      suggestions: [
        'Set ACME_KEY, or run in a terminal: mycli auth:login --runtime-backend acme',
        'Add token=... to MYCLI_BACKEND_OPTION (key=value,key=value, or JSON), or run in a terminal: mycli auth:login --runtime-backend acme',
      ],
    });
  });

  test('shows an address that it cannot open, with --quiet too, and opens nothing but web pages', async () => {
    const {openUrl, written} = dialogueWith({terminal: true});
    await openUrl(new URL('https://acme.example/device?code=AB-12'));
    expect(written()).toBe('Open this URL in a browser: https://acme.example/device?code=AB-12\n');
    for (const url of ['file:///etc/passwd', 'https://user:pass@acme.example', '-x']) {
      await expect(openUrl(url)).rejects.toThrow('openUrl() takes an http or https URL');
    }
  });
});

test('a login to a plugin stores its secret options, which its commands use until the logout', async () => {
  await using bench = await createPluginBench('acme');
  const env = {...bench.env, MYCLI_RUNTIME_BACKEND: 'acme', XDG_CONFIG_HOME: bench.root};
  const token = 'canary-login-5d';
  const run = async (args: readonly string[], stdin = '') => {
    const ended = await runWarm(args, {cwd: bench.project, env, stdin});
    expect(ended.stdout + ended.stderr).not.toContain(token);
    return ended;
  };
  const memory = ['--backend-option', 'memory=m'];
  const advice = await run(['bundle:push', ...memory]);
  expect(advice.stderr).toContain(
    'Add token=... to MYCLI_BACKEND_OPTION (key=value,key=value, or JSON), or run in a terminal: mycli login --runtime-backend acme --backend-option memory=m\n',
  );

  const login = await run(['auth:login', '--json'], `${token}\n`);
  const file = join(bench.root, 'mycli', 'credentials.json');
  expect(JSON.parse(login.stdout)).toEqual({
    schemaVersion: 1,
    backend: 'acme',
    options: ['token'],
    file,
    kind: 'options',
    verified: false,
  });
  expect(await readFile(file, 'utf8')).toContain(token);
  if (process.platform !== 'win32') expect((await stat(file)).mode & 0o777).toBe(0o600);

  const pushed = await run(['bundle:push', ...memory]);
  expect(pushed).toMatchObject({code: 0, stderr: expect.stringContaining('uploading with ***') as string});
  const logout = await run(['auth:logout', '--runtime-backend', 'acme', '--json']);
  expect(JSON.parse(logout.stdout)).toMatchObject({removed: ['acme']});
  await expect(stat(file)).rejects.toThrow('ENOENT');

  // One that is set is not asked for.
  await writeFile(join(bench.root, 'token'), token);
  const withToken = ['--backend-option', `token=@${join(bench.root, 'token')}`];
  const first = await run(['auth:login', ...withToken, '--backend-option', 'memory=https://a.example']);
  const stored: unknown = JSON.parse(await readFile(file, 'utf8'));
  expect(stored).toMatchObject({backends: {acme: {values: {token}, origins: ['https://a.example']}}});
  expect(first.stderr).not.toContain('replaced');

  // A login to another address replaces it.
  const second = await run(['auth:login', ...withToken, '--backend-option', 'memory=https://b.example']);
  expect(second.stderr).toContain(
    "Warning: The credentials stored for https://a.example are replaced: mycli keeps one login for each plugin's backend.\n",
  );
});

test('a login to an address that only a configuration file names is refused without a terminal', async () => {
  await using bench = await createPluginBench('acme');
  const backends = {acme: {memory: 'https://stranger.example/m'}};
  const file = join(bench.project, 'mycli.config.json');
  await writeFile(file, JSON.stringify({runtimeBackend: 'acme', backends}));
  const {code, stdout} = await bench.mycli(['auth:login', '--json']);
  expect(code).toBe(3);
  expect(JSON.parse(stdout)).toMatchObject({
    error: {
      code: 'ERR_ORIGIN_UNTRUSTED',
      message: `The secrets of the acme backend would go to https://stranger.example/m, which only ${file} sets. Nothing was sent.`,
      suggestions: [
        'If you trust it, pass --backend-option memory=ADDRESS. In CI, list https://stranger.example in MYCLI_TRUSTED_ORIGINS.',
      ],
    },
  });
});

test('a database that only a configuration file names gets no secrets, unless it is listed as trusted', async () => {
  await using bench = await createPluginBench('acme');
  const name = async (memory: string) =>
    writeFile(
      join(bench.project, 'mycli.config.json'),
      JSON.stringify({runtimeBackend: 'acme', backends: {acme: {memory}}}),
    );
  const run = async (args: readonly string[], trusted = '') => {
    const env = {...bench.env, XDG_CONFIG_HOME: bench.root, MYCLI_TRUSTED_ORIGINS: trusted};
    const ended = await runWarm([...args, '--json'], {cwd: bench.project, env, stdin: 'canary-token\n'});
    return {code: ended.code, said: ended.stdout + ended.stderr};
  };
  await name('postgres://me:canary-pw@db.example:5432/shop');
  const refused = await run(['auth:login', '--no-verify']);
  expect(refused).toMatchObject({code: 3, said: expect.stringContaining('"origin": "postgres://db.example:5432"')});
  expect(await run(['auth:login', '--no-verify'], 'postgres://db.example')).toMatchObject({code: 3});
  expect(await run(['auth:login', '--no-verify'], 'postgres://db.example:5432')).toMatchObject({code: 0});
  const own = await run(['auth:status', '--no-verify']);
  expect(own.said).toContain('"postgres://db.example:5432"');
  expect(own.said).not.toContain('were not stored for');
  await name('host=b.example user=me password=canary-pw');
  const other = await run(['auth:status', '--no-verify']);
  expect(other.said).toContain('they were not stored for host=b.example user=me password=***.');
  for (const {said} of [refused, own, other]) expect(said).not.toContain('canary');
  expect(await run(['auth:logout', '--all'])).toMatchObject({code: 0});
});

test.each([
  ['the token of the variable', {MYCLI_BACKEND_OPTION: 'token=canary-token'}],
  ['the token of the variable as JSON', {MYCLI_BACKEND_OPTION: '{"token": "canary-token"}'}],
  ['a variable of the backend', {ACME_KEY: 'canary-token'}],
])('%s goes to no address of a configuration file that is not trusted', async (_, secret) => {
  await using bench = await createPluginBench('acme');
  const backends = {acme: {memory: 'https://stranger.example/m'}};
  await writeFile(join(bench.project, 'mycli.config.json'), JSON.stringify({runtimeBackend: 'acme', backends}));
  const run = async (trusted: string, ...args: readonly string[]) => {
    const {code, stderr} = await bench.mycli(['bundle:list', ...args], {...secret, MYCLI_TRUSTED_ORIGINS: trusted});
    return {code, stderr};
  };
  expect(await run('https://own.example')).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('would be sent to https://stranger.example, which MYCLI_TRUSTED_ORIGINS does not'),
  });
  for (const [trusted, ...args] of [
    ['https://stranger.example'],
    ['https://own.example', '--backend-option', 'memory=https://stranger.example/m'],
  ] as const)
    expect((await run(trusted, ...args)).stderr).not.toContain('MYCLI_TRUSTED_ORIGINS');
});

test('a secret that the variable gives as JSON comes from it', async () => {
  await using bench = await createPluginBench('acme');
  const env = {MYCLI_RUNTIME_BACKEND: 'acme', MYCLI_BACKEND_OPTION: '{"memory": "m", "token": "canary-token"}'};
  const {stdout} = await bench.mycli(['auth:status', '--no-verify', '--json'], env);
  expect(stdout).toMatch(/"source": "MYCLI_BACKEND_OPTION"/);
});

test('a login to an address that the variable gives as JSON needs no confirmation', async () => {
  await using bench = await createPluginBench('acme');
  const options = {memory: 'https://own.example/m'};
  const env = {...bench.env, MYCLI_RUNTIME_BACKEND: 'acme', MYCLI_BACKEND_OPTION: JSON.stringify(options)};
  const login = ['auth:login', '--no-verify', '--json'];
  const ended = await runWarm(login, {cwd: bench.project, env: {...env, XDG_CONFIG_HOME: bench.root}, stdin: 'canary'});
  expect(JSON.parse(ended.stdout)).toMatchObject({backend: 'acme', options: ['token']});
});

describe('a backend with a login of its own', () => {
  const token = 'canary-portal-token';

  /** A portal, and a user with the plugin for it. */
  async function openBench() {
    const portal = await openPortal();
    const bench = await createPluginBench({example: 'portal'});
    const url = `url=${portal.options.url}`;
    const chosen = {MYCLI_RUNTIME_BACKEND: 'portal', MYCLI_BACKEND_OPTION: url, XDG_CONFIG_HOME: bench.root};
    const env = {...bench.env, ...chosen};
    const run = async (args: readonly string[], more = {}) => {
      const ended = await runWarm(args, {cwd: bench.project, env: {...env, ...more}});
      expect(ended.stdout + ended.stderr).not.toContain(token);
      return ended;
    };
    /** Logs in, and calls `onPage` with the address of the page. */
    const logIn = async (
      onPage: (url: string, child: ChildProcess) => void,
      args: readonly string[] = [],
      more = {},
    ) => {
      const {child, ended} = start(binary, ['auth:login', ...args], {cwd: bench.project, env: {...env, ...more}});
      let told = '';
      child.stderr?.on('data', (piece: Buffer) => {
        const before = told.includes('browser: ');
        told += piece.toString();
        const url = /browser: (\S+)\n/.exec(told)?.[1];
        if (url !== undefined && !before) onPage(url, child);
      });
      const outcome = await ended;
      expect(outcome.stdout + outcome.stderr).not.toContain(token);
      return outcome;
    };
    return {
      ...{portal, bench, env, run, logIn},
      visit: (url: string) => void portal.visit(url),
      credentials: join(bench.root, 'mycli', 'credentials.json'),
      async [Symbol.asyncDispose]() {
        await bench[Symbol.asyncDispose]();
        await portal.close();
      },
    };
  }

  test('is only called with the options that it requires', async () => {
    await using user = await openBench();
    const {stderr} = await user.run(['auth:login'], {MYCLI_BACKEND_OPTION: undefined});
    expect(stderr).toBe(
      'Error: The portal backend is not configured: missing url.\n' +
        '  Pass --backend-option key=value, or set "backends.portal" in the configuration file.\n',
    );
  });

  test('has what it returned stored, until the logout', async () => {
    await using user = await openBench();
    const {portal, credentials} = user;
    const json = async (args: readonly string[]) => {
      const {stdout} = await user.run([...args, '--json']);
      return JSON.parse(stdout) as unknown;
    };
    const login = await user.logIn(user.visit, ['--json']);
    expect(JSON.parse(login.stdout)).toEqual({
      schemaVersion: 1,
      backend: 'portal',
      options: ['token'],
      file: credentials,
      kind: 'options',
      verified: true,
      account: 'ann@portal.example',
    });
    expect(await readFile(credentials, 'utf8')).toContain(token);
    expect(await json(['auth:status', '--runtime-backend', 'portal'])).toMatchObject({
      plugins: [{backend: 'portal', options: ['token'], origins: [portal.options.url]}],
      backends: [{source: 'credentials stored for portal', check: {status: 'accepted', user: 'ann@portal.example'}}],
    });
    expect(await json(['bundle:push'])).toMatchObject({backend: 'portal', bundleId: '1'});
    const list = await user.run(['backend:list', '--verify']);
    expect(list.stdout).toMatch(/^portal [^]* accepted, user ann@portal\.example$/m);
    expect((await user.run(['doctor'])).stdout).toContain('portal: accepted, user ann@portal.example.');
    const options = `${user.env.MYCLI_BACKEND_OPTION},token=wrong`;
    const fromVariable = await user.run(['bundle:push'], {MYCLI_BACKEND_OPTION: options});
    expect(fromVariable.stderr).toContain('The secret of the portal backend comes from MYCLI_BACKEND_OPTION.');
    expect(fromVariable.stderr).toContain('remove it from MYCLI_BACKEND_OPTION. Without one, run: mycli login');
    const fromFlag = await user.run(['bundle:push', '--backend-option', 'token=wrong']);
    expect(fromFlag.stderr).toContain('The secret of the portal backend comes from --backend-option.');
    expect(fromFlag.stderr).not.toContain('mycli login');
    portal.refuseCredentials();
    const status = await user.run(['auth:status']);
    expect(status.stdout).toMatch(/^portal: refused \(from credentials stored for portal\)\n {2}\S/m);
    const broken = await user.run(['doctor']);
    expect(broken).toMatchObject({code: 3, stdout: expect.stringMatching(/credentials +portal: /) as string});
    expect(await json(['auth:logout', '--runtime-backend', 'portal'])).toMatchObject({removed: ['portal']});
    await expect(stat(credentials)).rejects.toThrow('ENOENT');
  });

  test('stores nothing if the user declines, or presses Ctrl-C', async () => {
    await using user = await openBench();
    const declined = await user.logIn((url) => user.visit(`${url}&deny`));
    expect(declined).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('The login was declined on the page.') as string,
    });
    const aborted = await user.logIn((_url, child) => child.kill('SIGINT'));
    expect(aborted.code).toBe(130);
    await expect(stat(user.credentials)).rejects.toThrow('ENOENT');
  });
});

test('a backend that only reads variables gets the stored ones, and so does its SDK', async () => {
  await using bench = await createPluginBench('sdk');
  const env = {...bench.env, MYCLI_RUNTIME_BACKEND: 'sdk', XDG_CONFIG_HOME: bench.root};
  const run = async (args: readonly string[], stdin = '', more = {}) => {
    const ended = await runWarm(args, {cwd: bench.project, env: {...env, ...more}, stdin});
    expect(ended.stdout + ended.stderr).not.toContain('canary');
    return ended;
  };
  const advice = await run(['bundle:push']);
  expect(advice.stderr).toContain('Set SDK_KEY, or run in a terminal: mycli login --runtime-backend sdk\n');
  const first = await run(['init', '--yes']);
  expect(first.stdout).toMatch(/\nNext:\n {2}mycli login\n {2}mycli doctor\n$/);
  const refused = await run(['auth:login'], 'bad-canary\n');
  expect(refused).toMatchObject({code: 4, stderr: expect.stringContaining('The key *** has expired') as string});
  const login = await run(['auth:login', '--json'], 'good-canary\n');
  expect(JSON.parse(login.stdout)).toMatchObject({options: ['SDK_KEY'], verified: true, account: 'ann'});
  const pushed = await run(['bundle:push']);
  expect(pushed).toMatchObject({code: 0, stderr: expect.stringContaining('uploading with ***') as string});
  const second = await run(['init', '--yes', '--force']);
  expect(second.stderr).toContain('Credentials: those stored for sdk (from your last login).\n');
  expect(second.stdout).toMatch(/\nNext:\n {2}mycli push/);
  const elsewhere = await run(['auth:status', '--json'], '', {SDK_KEY: 'bad-canary'});
  expect(JSON.parse(elsewhere.stdout)).toMatchObject({
    backends: [{backend: 'sdk', source: 'SDK_KEY', check: {status: 'refused'}}],
  });
  const npx = await run(['auth:status'], '', {SDK_KEY: 'bad-canary', npm_command: 'exec'});
  expect(npx.stdout).toContain('The secret of the sdk backend comes from SDK_KEY. Check that it is complete');
  expect(npx.stdout).toContain('To use a stored one, unset SDK_KEY. Without one, run: npx mycli login\n');
});
