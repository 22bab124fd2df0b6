import {EventEmitter, once} from 'node:events';
import {access, mkdtemp, readdir, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, onTestFinished, test, vi} from 'vitest';
import {ownSignals} from '../../../src/cli/command/run.js';
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

test('an interruption is the document with --json', async () => {
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

test.each([['SIGTERM'], ['SIGINT', 'SIGTERM'], ['SIGHUP', 'SIGHUP', 'SIGTERM']] as const)(
  'repeats of a signal are the first one: SIGTERM, then %s',
  async (...repeats) => {
    const {child, ended} = await startWork('--stubborn', '--json');
    child.kill('SIGTERM');
    for (const signal of repeats) child.kill(signal);
    const {code, stdout} = await ended;
    expect([129, 130, 143]).toContain(code);
    expect(JSON.parse(stdout)).toMatchObject({error: {code: 'ERR_INTERRUPTED', exitCode: code}});
    expect(await readdir(temporary)).toEqual([]);
  },
);

test('a second signal, a second later, ends at once', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const host = new EventEmitter();
  const ends: number[] = [];
  const {signal, overdue} = ownSignals(host, (exitCode) => ends.push(exitCode));
  overdue.catch(() => undefined);
  host.emit('SIGINT');
  host.emit('SIGTERM');
  vi.advanceTimersByTime(1000);
  host.emit('SIGTERM');
  expect([signal.aborted, ends]).toEqual([true, []]);
  vi.advanceTimersByTime(1);
  host.emit('SIGTERM');
  expect(ends).toEqual([143]);
});
