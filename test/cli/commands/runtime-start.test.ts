import {once} from 'node:events';
import {chmod, mkdir, readFile, stat, symlink, writeFile} from 'node:fs/promises';
import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import {join} from 'node:path';
import {createInterface} from 'node:readline';
import {beforeEach, describe, expect, test} from 'vitest';
import {binary, runCli, start, type Ended} from '../spawn-cli.js';
import {runWarm} from '../warm-cli.js';
import {makeFolder} from '../../folder.js';

let folder: string;
beforeEach(async () => {
  folder = await makeFolder();
});

/** Starts a runtime, lets `use` work with it, and interrupts it. */
async function serving(
  args: readonly string[],
  use: (origin: string, appsOrigin: string) => Promise<void> = () => Promise.resolve(),
): Promise<Ended & {readonly origin: string; readonly appsOrigin: string}> {
  const {child, ended} = start(binary, ['runtime:start', ...args], {cwd: folder});
  if (child.stdout === null) throw new Error('no stdout');
  const [line] = (await once(createInterface({input: child.stdout}), 'line')) as [string];
  const [origin = '', appsOrigin = ''] = line.match(/http:\S+?(?=,)/g) ?? [];
  await use(origin, appsOrigin);
  child.kill('SIGINT');
  return {...(await ended), origin, appsOrigin};
}

test('runtime:start says what to type next and how to stop', async () => {
  const {stderr, origin, appsOrigin, code} = await serving([]);
  expect(code).toBe(0);
  expect(stderr).toContain(`export MYCLI_RUNTIME_ORIGIN=${origin}\nexport MYCLI_API_KEY=`);
  expect(stderr).not.toContain('MYCLI_API_ORIGIN');
  expect(stderr).toContain('mycli init\nmycli push --project my-shop --target staging --wait\n');
  expect(stderr).toContain(
    `The target is then served at http://staging--my-shop.localhost:${new URL(appsOrigin).port}/, which browsers and curl -L open`,
  );
});

describe('the port', () => {
  // Below those that the system gives to connections.
  const port = 20_000 + (process.pid % 10_000);
  const first = ['--data', 'data', '--port', String(port), '--apps-port', String(port + 1)];

  test('stays with the data folder, as does that of the apps', async () => {
    const {origin, appsOrigin} = await serving(first);
    expect(await serving(['--data', 'data'])).toMatchObject({origin, appsOrigin});
    expect((await serving(['--data', 'other'])).origin).not.toBe(origin);
  });

  test('of the data folder that is taken, as by another runtime on it, is an error', async () => {
    await serving(first);
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    try {
      expect(await runCli(binary, ['runtime:start', '--data', 'data'], {cwd: folder})).toMatchObject({
        code: 3,
        stderr: expect.stringContaining(`port ${port}: it is in use`) as string,
      });
    } finally {
      server.close();
    }
  });

  test('that is asked for and taken is an error', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const {port} = server.address() as AddressInfo;
    try {
      expect(await runCli(binary, ['runtime:start', '--port', String(port)])).toMatchObject({
        code: 3,
        stderr: expect.stringContaining('it is in use') as string,
      });
    } finally {
      server.close();
    }
  });
});

/** What a runtime prints while `use` asks for pages of an app that is deployed to it. */
async function servingApp(source: string, use: (url: string) => Promise<void>): Promise<string> {
  await mkdir(join(folder, 'build'));
  await writeFile(join(folder, 'build/ssr.mjs'), source);
  const flags = ['--ssr', '--ssr-env', 'FOO=bar', '--no-require-auth', '--deployment-seconds', '0'];
  const {stderr} = await serving(flags, async (origin, appsOrigin) => {
    const place = ['--origin', origin, '--runtime-backend', 'legacy', '--project', 'shop', '--target', 'staging'];
    const env = {...process.env, MYCLI_API_KEY: 'any'};
    expect(await runWarm(['bundle:push', ...place, '--wait'], {cwd: folder, env})).toMatchObject({code: 0});
    await use(`${appsOrigin}/shop/staging/`);
  });
  return stderr;
}

test('--ssr runs the servers of apps with the variables of --ssr-env, and prints what they print', async () => {
  const source =
    'console.log("started \\x1b[31m"); export default () => JSON.stringify([process.env.FOO, process.env.HOME])';
  const stderr = await servingApp(source, async (url) => {
    expect(await (await fetch(url)).json()).toEqual(['bar', null]);
  });
  expect(stderr).toMatch(/^shop\/staging: started [^\x1b]*$/m);
});

test('each crash of the server of an app is a warning, also with the same reason', async () => {
  const stderr = await servingApp('export default () => process.exit(7)', async (url) => {
    expect([(await fetch(url)).status, (await fetch(url)).status]).toEqual([502, 502]);
  });
  const warning = 'Warning: The server of shop/staging ended with exit code 7.';
  expect(stderr.split('\n').filter((line) => line === warning)).toHaveLength(2);
});

test('--log-requests prints each request, which it does not do without', async () => {
  const ask = async (origin: string) => {
    await fetch(`${origin}/nowhere`, {method: 'POST'});
  };
  expect((await serving(['--log-requests'], ask)).stderr).toMatch(/^POST \/nowhere 404 \d+ ms$/m);
  expect((await serving([], ask)).stderr).not.toContain('/nowhere');
});

test('an address that other machines reach is told', async () => {
  const {stderr} = await serving(['--host', '0.0.0.0']);
  expect(stderr).toContain('Warning: The runtime listens on 0.0.0.0: other machines that reach this one can use it.');
  expect((await serving([])).stderr).not.toContain('other machines');
});

describe('--output-env', () => {
  test('has the variables, for its owner alone, and is replaced at the next start', async () => {
    for (const data of ['first', 'second']) {
      const {origin} = await serving(['--output-env', '.env.runtime', '--data', data]);
      const lines = (await readFile(join(folder, '.env.runtime'), 'utf8')).trim().split('\n');
      expect(lines).toContain(`MYCLI_RUNTIME_ORIGIN=${origin}`);
      expect(lines.map((line) => line.split('=')[0])).toEqual([
        ...['MYCLI_RUNTIME_ORIGIN', 'MYCLI_API_KEY', 'MYCLI_API_ORIGIN', 'MYCLI_ORGANIZATION', 'MYCLI_TOKEN_URL'],
        ...['MYCLI_CLIENT_ID', 'MYCLI_CLIENT_SECRET'],
      ]);
      expect((await stat(join(folder, '.env.runtime'))).mode & 0o777).toBe(0o600);
    }
  });

  test('may be in the data folder, which is empty at the first start', async () => {
    await mkdir(join(folder, 'data'));
    const args = ['--output-env', 'data/runtime.env', '--data', 'data'];
    for (const {code, origin} of [await serving(args), await serving(args)]) {
      expect(code).toBe(0);
      expect(await readFile(join(folder, 'data/runtime.env'), 'utf8')).toContain(`MYCLI_RUNTIME_ORIGIN=${origin}\n`);
    }
  });

  test.skipIf(process.platform === 'win32')('is not written through a link', async () => {
    await symlink('missing.env', join(folder, 'link.env'));
    const {code, stderr} = await runCli(binary, ['runtime:start', '--output-env', 'link.env'], {cwd: folder});
    expect([code, stderr]).toEqual([3, expect.stringContaining('is not a regular file') as string]);
    await expect(stat(join(folder, 'missing.env'))).rejects.toThrow('ENOENT');
  });
});

describe('with a command', () => {
  const run = (...command: string[]) => runCli(binary, ['runtime:start', '--', ...command], {cwd: folder});

  test('it runs that against the runtime and leaves stdout to it', async () => {
    const script = 'fetch(process.env.MYCLI_RUNTIME_ORIGIN).then(({status}) => console.log(status))';
    expect(await run(process.execPath, '-e', script)).toMatchObject({code: 0, stdout: '200\n'});
  });

  test('its arguments stay as they are, empty ones too', async () => {
    const script = 'process.stdout.write(JSON.stringify(process.argv.slice(1)))';
    expect(await run(process.execPath, '-e', script, 'a b', '')).toMatchObject({code: 0, stdout: '["a b",""]'});
  });

  test.each([
    ['process.exit(7)', 7],
    ['process.kill(process.pid, "SIGTERM")', 143],
  ])('it ends as %s does', async (script, code) => {
    expect(await run(process.execPath, '-e', script)).toMatchObject({code, stdout: ''});
  });

  test.each(['auto', 'legacy'])('a connection to another service does not get into it, over %s', async (backend) => {
    const {origin} = await serving(['--data', 'data']);
    const foreign = {key: 'foreign', user: 'somebody'};
    const api = {kind: 'api-token', token: 'foreign'};
    await mkdir(join(folder, '.config/mycli'), {recursive: true});
    await writeFile(
      join(folder, '.config/mycli/credentials.json'),
      JSON.stringify({
        version: 1,
        origins: {[origin]: {apiKey: foreign, api}, 'http://127.0.0.1:9': {apiKey: foreign, api}},
        last: {backend: 'api', legacy: 'http://127.0.0.1:9', api: {origin: 'http://127.0.0.1:9'}},
      }),
      {mode: 0o600},
    );
    const mycli = [process.execPath, binary];
    const {code, stdout, stderr} = await runCli(
      binary,
      ['runtime:start', '--data', 'data', '--', ...mycli, 'bundle:list', '--project', 'shop', '--json'],
      {
        cwd: folder,
        env: {
          HOME: folder,
          MYCLI_API_TOKEN: 'foreign',
          MYCLI_API_USER: 'somebody',
          MYCLI_SCOPE: 'foreign',
          MYCLI_TRUSTED_ORIGINS: 'https://runtime.example',
          MYCLI_RUNTIME_BACKEND: backend,
        },
      },
    );
    expect([code, stderr]).toEqual([0, expect.stringContaining(origin) as string]);
    expect(JSON.parse(stdout)).toMatchObject({backend: backend === 'legacy' ? 'legacy' : 'api'});
  });

  test('a program that is missing is an error', async () => {
    expect(await run('no-such-program')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('no-such-program cannot be started: it was not found') as string,
    });
  });

  test.skipIf(process.platform === 'win32')('folders of PATH that one may not enter have no programs', async () => {
    const closed = join(folder, 'closed');
    await mkdir(closed, {mode: 0});
    const own = join(folder, 'own');
    await mkdir(own);
    for (const path of [folder, own]) await chmod(path, 0o777);
    const env = {PATH: `${closed}:${process.env['PATH'] ?? ''}`, HOME: own, TMPDIR: own, XDG_DATA_HOME: own};
    const asOther = process.getuid?.() === 0 ? {uid: 65_534} : {};
    const ended = await runCli(binary, ['runtime:start', '--', 'no-such-program'], {cwd: folder, env, ...asOther});
    expect(ended).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('no-such-program cannot be started: it was not found') as string,
    });
  });

  test.skipIf(process.platform === 'win32')('a program that may not be run is one that cannot be started', async () => {
    await writeFile(join(folder, 'program'), '#!/bin/sh\n', {mode: 0o644});
    expect(await run('./program')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('./program cannot be started: it is not executable') as string,
    });
  });

  test.each([
    [['--'], 'The command after -- is missing'],
    [['--json', '--', 'true'], 'A command cannot be run with --json'],
    [['--data', 'd', 'true'], 'put it after -- (in PowerShell: "--"): mycli runtime:start --data d -- npm test'],
    [['node', '--eval', '1'], 'Put a command to run after -- (in PowerShell: "--").'],
  ])('%j is refused', async (args, message) => {
    const {code, stdout, stderr} = await runCli(binary, ['runtime:start', ...args], {cwd: folder});
    expect([code, stdout + stderr]).toEqual([2, expect.stringContaining(message) as string]);
  });
});

test.skipIf(process.platform === 'win32')('a command that ignores SIGTERM does not outlive it', async () => {
  const script = 'process.on("SIGTERM", () => undefined); console.log(process.pid); setInterval(() => undefined, 1000)';
  const {child, ended} = start(binary, ['runtime:start', '--', process.execPath, '-e', script], {cwd: folder});
  if (child.stdout === null) throw new Error('no stdout');
  const [line] = (await once(createInterface({input: child.stdout}), 'line')) as [string];
  child.kill('SIGTERM');
  try {
    await once(child, 'exit');
    await expect.poll(() => isAlive(Number(line))).toBe(false);
    expect((await ended).code).toBe(143);
  } finally {
    if (isAlive(Number(line))) process.kill(Number(line), 'SIGKILL');
  }
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
