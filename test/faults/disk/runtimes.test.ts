import {once} from 'node:events';
import {readdir} from 'node:fs/promises';
import {basename, join} from 'node:path';
import {createInterface} from 'node:readline';
import {expect, onTestFinished, test} from 'vitest';
import {startLocalRuntime} from '../../../src/testing.js';
import {makeFolder} from '../../folder.js';
import {binary, runCli, start} from '../../cli/spawn-cli.js';

/** Starts `runtime:start`, to be killed. */
async function startRuntime(temporary: string, ...args: readonly string[]) {
  const {child, ended} = start(binary, ['runtime:start', '--json', ...args], {env: {TMPDIR: temporary}});
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  if (child.stdout === null) throw new Error('stdout is not a pipe');
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
  };
  return {pid: child.pid, kill, ...(JSON.parse(line) as {dataDirectory: string; origin: string})};
}

test('a data folder is for one runtime at a time, and for the next one after a kill -9', async () => {
  const folder = await makeFolder();
  const first = await startRuntime(folder, '--data', join(folder, 'data'));
  const {code, stderr} = await runCli(binary, ['runtime:start', '--data', join(folder, 'data')]);
  expect([code, stderr]).toEqual([3, expect.stringContaining('A local runtime is already running on the data folder')]);
  expect((await fetch(first.origin)).status).toBe(200);
  await first.kill();
  const next = await startLocalRuntime({dataDirectory: join(folder, 'data')});
  await expect(startLocalRuntime({dataDirectory: join(folder, 'data')})).rejects.toMatchObject({
    code: 'ERR_OPTION_INVALID',
  });
  await next.close();
});

test('a file in the place of a data folder is an error that names it', async () => {
  const folder = await makeFolder({file: ''});
  await expect(startLocalRuntime({dataDirectory: join(folder, 'file')})).rejects.toMatchObject({
    code: 'ERR_OPTION_INVALID',
    message: `The data folder ${join(folder, 'file')} cannot be used: not a directory.`,
  });
});

test('a temporary data folder of a runtime that was killed is removed by the next one, others are not', async () => {
  const temporary = await makeFolder({}, onTestFinished);
  const killed = await startRuntime(temporary);
  const second = await startRuntime(temporary);
  expect(await readdir(temporary)).toHaveLength(2);
  await killed.kill();
  const third = await startRuntime(temporary);
  const left = [second, third].map(({dataDirectory}) => basename(dataDirectory));
  expect((await readdir(temporary)).sort()).toEqual(left.sort());
});
