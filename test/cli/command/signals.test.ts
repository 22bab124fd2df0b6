import {once} from 'node:events';
import {access, mkdtemp, readdir, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {fixtureBinary, start, type Running} from '../spawn-cli.js';

let temporary: string;
beforeAll(async () => {
  temporary = await mkdtemp(join(tmpdir(), 'mycli-signals-'));
});
afterAll(() => rm(temporary, {recursive: true}));

/** Starts the command that works until it is told to stop, and waits until it does. */
async function startWork(...flags: readonly string[]): Promise<Running> {
  const running = start(fixtureBinary, ['work', ...flags], {env: {TMPDIR: temporary}});
  if (running.child.stderr === null) throw new Error('stderr is not a pipe');
  const [line] = (await once(running.child.stderr, 'data')) as [Buffer];
  const directory = /working in (.*)/.exec(String(line))?.[1] ?? '';
  await access(join(directory, 'archive'));
  return running;
}

const exitCodes = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const;

describe.each(exitCodes)('%s', (signal, code) => {
  test.each([[[]], [['--careless']], [['--stubborn']]])(
    `ends with ${String(code)} and leaves nothing behind, however the command takes it (%j)`,
    async (flags) => {
      const {child, ended} = await startWork(...flags);
      child.kill(signal);
      expect(await ended).toMatchObject({
        code,
        stdout: '',
        stderr: expect.stringContaining(`Interrupted by ${signal}.`) as string,
      });
      expect(await readdir(temporary)).toEqual([]);
    },
  );
});

test('with --json the interruption is the document', async () => {
  const {child, ended} = await startWork('--json');
  child.kill('SIGTERM');
  expect(JSON.parse((await ended).stdout)).toEqual({
    schemaVersion: 1,
    error: {code: 'ERR_INTERRUPTED', message: 'Interrupted by SIGTERM.', exitCode: 143, suggestions: []},
  });
});

test('a command that ends its work on a signal has succeeded, and its folders are removed for it', async () => {
  const {child, ended} = await startWork('--graceful', '--json');
  child.kill('SIGINT');
  const {code, stdout} = await ended;
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual({schemaVersion: 1, stopped: true});
  expect(await readdir(temporary)).toEqual([]);
});

test('a second signal ends at once, and still leaves nothing behind', async () => {
  const {child, ended} = await startWork('--stubborn');
  child.kill('SIGINT');
  child.kill('SIGTERM');
  const {code, stderr} = await ended;
  expect([130, 143]).toContain(code);
  expect(stderr).not.toContain('Interrupted');
  expect(await readdir(temporary)).toEqual([]);
});
