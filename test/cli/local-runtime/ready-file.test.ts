import {spawnSync} from 'node:child_process';
import {existsSync} from 'node:fs';
import {readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {openReadyFile} from '../../../src/cli/local-runtime/ready-file.js';
import {processSpace, startOf} from '../../../src/files/ownership.js';
import {makeFolder} from '../../bundle/project.js';

const runtime = {origin: 'http://127.0.0.1:1', appsOrigin: 'http://127.0.0.1:2', dataDirectory: '/data'};
const makePath = async () => join(await makeFolder(), 'ready.json');

/** The file of a runtime in another process. */
async function contentOf(owner: {readonly pid: number; readonly pidStart?: string; readonly pidSpace?: string}) {
  const pidStart = (await startOf(owner.pid)) ?? '';
  return `${JSON.stringify({...runtime, pidStart, pidSpace: await processSpace(), ...owner})}\n`;
}

test('a ready file of a runtime that is still running is left alone', async () => {
  const path = await makePath();
  const first = await openReadyFile(path);
  await first.write(runtime);
  const content = await readFile(path, 'utf8');
  await expect(openReadyFile(path)).rejects.toMatchObject({
    code: 'ERR_OUTPUT',
    message: `${path} is the ready file of the local runtime with process ID ${String(process.pid)}, which is still running.`,
  });
  expect(await readFile(path, 'utf8')).toBe(content);
  await first.remove();
  expect(existsSync(path)).toBe(false);
});

test('of two runtimes that start at the same time, the one that is ready first has the file', async () => {
  const path = await makePath();
  const [first, second] = [await openReadyFile(path), await openReadyFile(path)];
  await first.write(runtime);
  await expect(second.write({...runtime, dataDirectory: '/other'})).rejects.toMatchObject({code: 'ERR_OUTPUT'});
  await second.remove();
  expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject(runtime);
});

test('a runtime removes its own file only', async () => {
  const path = await makePath();
  const file = await openReadyFile(path);
  await file.remove();
  await file.write(runtime);
  const other = await contentOf({pid: process.pid, pidSpace: 'elsewhere'});
  await writeFile(path, other);
  await file.remove();
  expect(await readFile(path, 'utf8')).toBe(other);
});

const {pid: dead} = spawnSync('true');

test.each([
  ['a process that has ended', {pid: dead, pidStart: '1'}],
  ['a process in another container', {pid: process.pid, pidSpace: 'elsewhere'}],
  ...(existsSync('/proc/self/stat') ? [['an ID that was used again', {pid: process.pid, pidStart: '1'}] as const] : []),
] as const)('what %s left is removed', async (_, owner) => {
  const path = await makePath();
  await writeFile(path, await contentOf(owner));
  await openReadyFile(path);
  expect(existsSync(path)).toBe(false);
});
