import {execFileSync} from 'node:child_process';
import {EventEmitter, once} from 'node:events';
import {constants} from 'node:fs';
import {access, mkdtemp, open, readdir, rm, writeFile, type FileHandle} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, onTestFinished, test, vi} from 'vitest';
import {ownSignals} from '../../../src/cli/command/signals.js';
import {makeFolder} from '../../folder.js';
import {binary, fixtureBinary, start, type Running} from '../spawn-cli.js';

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

/** Announces on stderr that it runs, then never lets the process do anything else. */
const looping = 'console.error("looping");\nwhile (true) {}\n';

/** Starts a command in a project, and waits until code of the project says that it runs. */
async function startLooping(files: Readonly<Record<string, string>>, args: readonly string[]): Promise<Running> {
  const running = start(binary, args, {cwd: await makeFolder(files)});
  if (running.child.stderr === null) throw new Error('stderr is not a pipe');
  await once(running.child.stderr, 'data');
  return running;
}

test.each([
  ['a configuration', {'mycli.config.mjs': looping}, ['status']],
  ['a configuration in TypeScript', {'mycli.config.ts': looping}, ['config:show']],
  [
    "a project's own configuration of its bundle",
    {'config.server.js': looping, 'build/ssr.js': '', 'package.json': '{"type": "module"}'},
    ['build', '--dry-run'],
  ],
] as const)('a signal ends a command whose %s loops', async (_what, files, args) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    const {child, ended} = await startLooping(files, args);
    child.kill(signal);
    expect(await ended).toMatchObject({signal});
  }
});

test.each(['--from', 'KEY=@'])('a signal ends env:set that waits for the writer of a pipe (%s)', async (given) => {
  const cwd = await makeFolder({});
  const pipe = join(cwd, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const argument = given === '--from' ? [given, pipe] : [`${given}${pipe}`];
  const {child, ended} = start(binary, ['env:set', ...argument, '--debug', '-p', 'shop', '-t', 'staging'], {cwd});
  // It is open for reading once a writer that does not wait can open it.
  const writers: FileHandle[] = [];
  const connect = async () => writers.push(await open(pipe, constants.O_WRONLY | constants.O_NONBLOCK));
  await expect.poll(connect, {timeout: 20_000}).toBe(1);
  child.kill('SIGINT');
  expect(await ended).toMatchObject({code: 130});
  for (const writer of writers) await writer.close();
});

test('env:set reads what the writer of a pipe sends, however late', async () => {
  const cwd = await makeFolder({});
  const pipe = join(cwd, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const {ended} = start(binary, ['env:set', '--from', pipe, '--json', '-p', 'shop', '-t', 'staging'], {cwd});
  await writeFile(pipe, 'A=1\n');
  expect(JSON.parse((await ended).stdout)).toMatchObject({error: {code: 'ERR_CREDENTIALS_MISSING'}});
});
