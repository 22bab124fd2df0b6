import {execFile} from 'node:child_process';
import {mkdir, symlink, writeFile} from 'node:fs/promises';
import {delimiter, join} from 'node:path';
import {promisify} from 'node:util';
import {expect, onTestFinished, test} from 'vitest';
import {startLocalRuntime} from '../../src/local-runtime/start-local-runtime.js';
import {binary} from '../cli/spawn-cli.js';

/** Where run.sh has installed examples/monorepo, with five storefronts. */
const monorepo = join(process.env['MYCLI_TEST_CLIENTS'] ?? '', 'monorepo');

test('examples/monorepo: Turborepo pushes what has changed, in parallel, past a rate limit', async () => {
  const uploads: string[] = [];
  const runtime = await startLocalRuntime({
    faults: ['429x3:route=upload,retry-after=1'],
    deploymentSeconds: 0,
    onRequest: ({method, path, status}) => {
      if (method === 'POST' && /\/(?:bundles|builds)\//.test(path)) uploads.push(`${status} ${path}`);
    },
  });
  onTestFinished(() => runtime.close());
  const commands = join(monorepo, 'bin');
  await mkdir(commands);
  await symlink(binary, join(commands, 'mycli'));
  const env = {
    PATH: [commands, process.env['PATH']].join(delimiter),
    HOME: monorepo,
    TURBO_TELEMETRY_DISABLED: '1',
    MYCLI_RUNTIME_ORIGIN: runtime.origin,
    MYCLI_API_KEY: runtime.credentials.apiKey,
    MYCLI_TARGET: 'staging',
  };
  /** How many tasks there were and how many came from the cache, and the uploads by their status. */
  const push = async (...flags: readonly string[]) => {
    uploads.length = 0;
    const {stdout} = await promisify(execFile)('npm', ['run', 'push', '--', ...flags], {cwd: monorepo, env});
    const [, cached, tasks] = /(\d+) cached, (\d+) total/.exec(stdout) ?? [];
    const taken = uploads.filter((upload) => upload.startsWith('2'));
    return {cached: Number(cached), tasks: Number(tasks), taken: taken.length, refused: uploads.length - taken.length};
  };

  expect(await push()).toEqual({cached: 0, tasks: 10, taken: 5, refused: 3});
  // Nothing has changed: no task runs.
  expect(await push()).toEqual({cached: 10, tasks: 10, taken: 0, refused: 0});
  // The cache is not there: each storefront is built, and none uploaded.
  expect(await push('--force')).toEqual({cached: 0, tasks: 10, taken: 0, refused: 0});
  await writeFile(join(monorepo, 'storefronts/shop-04/greeting.txt'), 'Good morning from');
  expect(await push()).toEqual({cached: 8, tasks: 10, taken: 1, refused: 0});
});
