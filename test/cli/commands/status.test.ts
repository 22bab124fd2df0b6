import {chmod, mkdir, readFile, writeFile} from 'node:fs/promises';
import {spawn, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {join} from 'node:path';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {shellLine} from '../../../src/text/suggest.js';
import type {LocalRuntime} from '../../../src/testing.js';
import {sendRaw} from '../../local-runtime/client.js';
import {binary} from '../spawn-cli.js';
import {createRuntimeBench, type RuntimeBench} from '../with-runtime.js';

// script(1) of util-linux gives the binary a pseudo-terminal.
const hasScript = spawnSync('script', ['--version'], {encoding: 'utf8'}).stdout.includes('util-linux');

let bench: RuntimeBench;
let root: string;
let runtime: LocalRuntime;
beforeEach(async () => {
  bench = await createRuntimeBench({MYCLI_RUNTIME_BACKEND: 'legacy'});
  ({root, runtime} = bench);
});
afterEach(() => bench[Symbol.asyncDispose]());

const mycli: RuntimeBench['mycli'] = (args, env) => bench.mycli(args, env);

const staging = ['--target', 'staging'];

describe('where it runs', () => {
  test.each([
    ['legacy, v1', []],
    ['legacy, v2', ['--v2']],
    ['api', ['--runtime-backend', 'api']],
  ])('is the last line of a push (%s), and serves what was pushed', async (_, flags) => {
    const {code, stdout} = await mycli(['bundle:push', ...staging, '--wait', ...flags]);
    expect(code).toBe(0);
    const [, url = ''] = /\n(http\S+)\n$/.exec(stdout) ?? [];
    const {headers} = await sendRaw(url);
    const page = await sendRaw(new URL(headers.location ?? '', url).href);
    expect(page.body).toBe('<h1>hello</h1>\n');
  });

  test('is in the document, the outputs of a step and the dotenv file', async () => {
    const url = runtime.siteUrl('shop', 'staging');
    const files = {GITHUB_OUTPUT: join(root, 'github')};
    const pushed = await mycli(['bundle:push', ...staging, '--json', '--output-env', 'out.env'], files);
    expect(JSON.parse(pushed.stdout)).toMatchObject({url});
    expect(await readFile(files.GITHUB_OUTPUT, 'utf8')).toContain(`\nurl=${url}\n`);
    expect(await readFile(join(bench.project, 'out.env'), 'utf8')).toContain(`MYCLI_URL=${url}\n`);
    for (const args of [
      ['bundle:deploy', 'latest'],
      ['bundle:rollback', '--to', '1'],
    ]) {
      expect(JSON.parse((await mycli([...args, ...staging, '--json'])).stdout)).toMatchObject({url});
    }
  });

  test('is printed by open where nothing can be opened', async () => {
    await mycli(['bundle:push', ...staging]);
    const {code, stdout} = await mycli(['open', ...staging]);
    expect([code, stdout]).toEqual([0, `${runtime.siteUrl('shop', 'staging')}\n`]);
    const page = await mycli(['open', '/cart#total', ...staging, '--print']);
    expect(page.stdout).toBe(`${runtime.siteUrl('shop', 'staging')}cart#total\n`);
    const cart = await mycli(['open', '/cart?id=3&token=x#a', ...staging, '--print']);
    expect(cart.stdout).toMatch(/\/cart\?id=3&token=x#a\n$/);
    const {url} = JSON.parse((await mycli(['open', '/cart?id=3', ...staging, '--json'])).stdout) as {url: string};
    expect(url).toMatch(/\/cart\?id=3$/);
    const target = await mycli(['open', 'production', ...staging]);
    expect(target.code).toBe(2);
    expect(target.stderr).toContain(
      'The path must begin with a slash: /production\n  If it is the target, run it with --target production.',
    );
    const nothing = await mycli(['open', '--target', 'unused', '--quiet']);
    expect(nothing.code).toBe(7);
    expect(nothing.stderr).toContain('Error: The project "shop" has no target "unused".\n  Its targets: staging\n');
  });

  test.runIf(hasScript && process.platform === 'linux')(
    'is opened on a terminal with a display, unless --print',
    async () => {
      await mycli(['bundle:push', ...staging]);
      const opener = join(root, 'bin/xdg-open');
      await mkdir(join(root, 'bin'));
      await writeFile(
        opener,
        `#!/bin/sh\nprintf '%s|' "$@" > "${root}/opened.part"; mv "${root}/opened.part" "${root}/opened"\n`,
      );
      await chmod(opener, 0o755);
      const env = {...bench.env, TERM: 'xterm', DISPLAY: ':7', PATH: `${root}/bin:${String(process.env['PATH'])}`};
      const onTerminal = async (...args: readonly string[]) => {
        const run = shellLine(process.execPath, binary, 'open', ...staging, ...args);
        const command = `stty cols 80 rows 24; exec ${run}`;
        const child = spawn('script', ['-qefc', command, '/dev/null'], {cwd: bench.project, env});
        let sent = '';
        child.stdout.on('data', (chunk: Buffer) => (sent += chunk.toString()));
        expect(await once(child, 'close')).toEqual([0, null]);
        return sent;
      };
      const url = runtime.siteUrl('shop', 'staging');
      expect(await onTerminal('--print')).not.toContain('Opened');
      await expect(readFile(join(root, 'opened'))).rejects.toMatchObject({code: 'ENOENT'});
      expect(await onTerminal()).toContain(`Opened ${url}`);
      await expect.poll(() => readFile(join(root, 'opened'), 'utf8').catch(() => '')).toBe(`${url}|`);
    },
  );
});

describe('mycli status', () => {
  test.each(['legacy', 'api'])('is an error for a project that has nothing, or is not there (%s)', async (backend) => {
    const {code, stderr} = await mycli(['status', '--runtime-backend', backend]);
    expect([code, stderr]).toEqual([7, expect.stringContaining('"shop" has no targets, or does not exist.')]);
  });

  test('shows each target with what is live, and where', async () => {
    await mycli(['bundle:push', ...staging, '--wait', '-m', 'the first']);
    await mycli(['bundle:push', '--target', 'production', '--wait', '-m', 'the second']);
    const {code, stdout} = await mycli(['status']);
    expect(code).toBe(0);
    expect(stdout.replaceAll(/\d{4}-\S+Z/g, '<time>').split('\n')).toEqual([
      'production',
      '  Live: bundle 2 "the second", <time>, by api-key',
      `  URL: ${runtime.siteUrl('shop', 'production')}`,
      '',
      'staging',
      '  Live: bundle 1 "the first", <time>, by api-key',
      `  URL: ${runtime.siteUrl('shop', 'staging')}`,
      '',
    ]);
    const one = await mycli(['status', ...staging, '--json']);
    expect(JSON.parse(one.stdout)).toMatchObject({targets: [{targetSlug: 'staging', live: {bundleId: 1}}]});
    // A target that is only configured does not hide the others.
    const all = await mycli(['status', '--json'], {MYCLI_TARGET: 'staging'});
    expect(JSON.parse(all.stdout)).toMatchObject({targets: [{targetSlug: 'production'}, {targetSlug: 'staging'}]});
  });

  test('shows why the last deployment failed, and what is live in spite of it', async () => {
    const api = ['--runtime-backend', 'api', ...staging];
    await mycli(['bundle:push', ...api, '--wait', '-m', 'good']);
    runtime.addFault('failx1');
    await mycli(['bundle:push', ...api, '--wait', '-m', 'bad']);
    const {stdout} = await mycli(['status', ...api]);
    expect(stdout).toContain('  Live: bundle 1 "good", ');
    expect(stdout).toContain('  Failed: bundle 2 "bad", ');
    expect(stdout).toContain('    The deployment failed because of an injected fault.\n');
    const history = await mycli(['bundle:history', ...api]);
    expect(history.stdout).toMatch(/^2 +failed {2}/m);
    expect(history.stdout).toMatch(/^1 +finished, live {2}/m);
  });
});
