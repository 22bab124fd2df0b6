import {execFileSync, spawn, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {readFile, rm, stat, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {createInterface} from 'node:readline';
import {Readable} from 'node:stream';
import {text} from 'node:stream/consumers';
import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest';
import {RunEvents} from '../../../src/cli/output/run-events.js';
import {makeFolder} from '../../folder.js';
import {checkedEvents, eventsOf} from '../../event-schemas.js';
import {collectOutput} from '../collect-output.js';
import {binary, runCli, start} from '../spawn-cli.js';
import {runWarm} from '../warm-cli.js';
import {createStorefrontBench, type StorefrontBench} from '../with-storefront.js';

let folder: string;
beforeEach(async () => {
  folder = await makeFolder();
});

const open = (destination: string, output = collectOutput().output) => new RunEvents(destination, folder, output);

describe('a file of events', () => {
  test('is only for its owner, and runs are appended to it', async () => {
    const path = join(folder, 'appended');
    for (const message of ['one', 'two']) {
      const events = open('appended');
      events.emit({type: 'warning', message});
      events.succeed(undefined);
      events.close();
    }
    const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
    expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
      {type: 'warning', message: 'one', sequence: 1},
      {type: 'outcome', status: 'success'},
      {type: 'warning', message: 'two', sequence: 1},
      {type: 'outcome', status: 'success'},
    ]);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  test.each([
    ['nowhere/events', 'no such file or directory'],
    ['.', 'it exists and is not a regular file'],
    ['link', 'it exists and is not a regular file'],
    ['pipe', 'it exists and is not a regular file'],
  ])('that cannot be written is named: %s', async (destination, reason) => {
    const other = join(folder, 'other');
    await writeFile(other, 'kept');
    if (destination === 'link') await symlink(other, join(folder, 'link'));
    if (destination === 'pipe') execFileSync('mkfifo', [join(folder, 'pipe')]);
    expect(() => open(destination)).toThrow(expect.objectContaining({code: 'ERR_OUTPUT'}) as Error);
    expect(() => open(destination)).toThrow(`${join(folder, destination)} cannot be written: ${reason}.`);
    expect(await readFile(other, 'utf8')).toBe('kept');
  });

  test('is no other file of the user', async () => {
    const other = join(folder, 'package.json');
    await writeFile(other, '{"name": "app"}\n');
    expect(() => open('package.json')).toThrow(`${other} is not a file of --events, so it was not changed.`);
    // Before the rest of the command line is looked at.
    expect(await runWarm(['push', '--events', 'package.json', '--nonsense'], {cwd: folder})).toMatchObject({
      code: 3,
    });
    expect(await readFile(other, 'utf8')).toBe('{"name": "app"}\n');
  });

  test('has no secrets and no control characters', async () => {
    const {output} = collectOutput();
    output.addSecrets(['hunter2"x']);
    const events = open('hostile', output);
    output.warn('hunter2"x \u202E\u001B[2J');
    events.succeed({bundleId: 7, matches: {file: 'hunter2"x'}});
    events.close();
    const content = await readFile(join(folder, 'hostile'), 'utf8');
    expect(content).not.toContain('hunter2');
    expect(content).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u202E]/);
  });

  test.skipIf(process.platform === 'win32')('that may not grow ends with a warning', () => {
    const args = [process.execPath, binary, 'push', '--dry-run', '--static', '-p', 'shop', '--events', 'limited'];
    const {stderr, status} = spawnSync('bash', ['-c', 'mkdir -p build && ulimit -f 0 && exec "$0" "$@"', ...args], {
      cwd: folder,
      encoding: 'utf8',
      env: {PATH: process.env['PATH'], HOME: folder},
    });
    expect(stderr).toContain('The rest of the events cannot be written: file too large.');
    expect(status).toBe(3);
  });

  test('begins with the warnings so far', async () => {
    const {output} = collectOutput();
    output.warn('early');
    const events = open('early', output);
    events.close();
    expect(eventsOf(await readFile(join(folder, 'early'), 'utf8'))).toMatchObject([
      {type: 'warning', message: 'early'},
      {type: 'outcome', status: 'interrupted'},
    ]);
  });
});

describe('the binary', () => {
  let bench: StorefrontBench;
  beforeAll(async () => {
    bench = await createStorefrontBench();
  });
  afterAll(() => bench[Symbol.asyncDispose]());

  const push = ['push', '--project', 'shop', '--target', 'staging', '--message', 'one'];

  test('writes what a push does, and the document as the last line', async () => {
    bench.runtime.addFault('429x1:route=upload,retry-after=0');
    const {stdout, code} = await runWarm([...push, '--wait', '--json'], {
      cwd: bench.project,
      env: {...bench.env, MYCLI_EVENTS: 'push.ndjson'},
    });
    expect(code).toBe(0);
    const events = eventsOf(await readFile(join(bench.project, 'push.ndjson'), 'utf8'));
    expect(new Set(events.map(({type}) => type))).toEqual(new Set(['step', 'progress', 'wait', 'outcome']));
    const outcome = events.at(-1);
    const document = JSON.parse(stdout) as Record<string, unknown>;
    expect(document).toMatchObject(
      outcome?.type === 'outcome' && 'result' in outcome ? Object(outcome.result) : {no: 1},
    );
  });

  test('writes to a pipe, and the interruption last after SIGTERM in the middle of an upload', async () => {
    bench.runtime.addFault('hangx1:route=upload');
    const {child, ended} = start(binary, [...push, '--events', '-'], {cwd: bench.project, env: bench.env});
    const lines: string[] = [];
    for await (const line of createInterface({input: child.stdout ?? Readable.from([])})) {
      lines.push(line);
      if (line.includes('"phase":"upload"')) child.kill('SIGTERM');
    }
    expect(await ended).toMatchObject({code: 143});
    const events = checkedEvents(lines.map((line): unknown => JSON.parse(line)));
    expect(events).toContainEqual(expect.objectContaining({type: 'step', step: 'upload', status: 'failed'}));
    expect(events.at(-1)).toMatchObject({
      type: 'outcome',
      status: 'interrupted',
      error: {exitCode: 143, message: expect.stringContaining('Interrupted by SIGTERM.') as string},
    });
  });

  test('does not mind a reader that leaves', async () => {
    const env = {PATH: process.env['PATH'], ...bench.env};
    const child = spawn(process.execPath, [binary, ...push, '--events', '-'], {cwd: bench.project, env});
    child.stdout.destroy();
    const stderr = text(child.stderr);
    expect(await once(child, 'close')).toEqual([0, null]);
    expect(await stderr).toContain('Deploy');
  });

  test('ends with an outcome when the configuration ends the process, or the command line is wrong', async () => {
    await writeFile(join(bench.project, 'exits.config.mjs'), 'process.exit(0);\n');
    const env = {...bench.env, MYCLI_EVENTS: 'exits.ndjson'};
    const read = async () => eventsOf(await readFile(join(bench.project, 'exits.ndjson'), 'utf8'));
    const {code} = await runCli(binary, [...push, '--config', 'exits.config.mjs'], {cwd: bench.project, env});
    expect(code).toBe(1);
    expect((await read()).at(-1)).toMatchObject({status: 'error', error: {code: 'ERR_ENDED_EARLY', exitCode: 1}});
    await rm(join(bench.project, 'exits.ndjson'));
    await runWarm([...push, '--bogus'], {cwd: bench.project, env});
    expect(await read()).toMatchObject([{type: 'outcome', error: {code: 'ERR_USAGE', exitCode: 2}}]);
  });

  test.each([
    [['build', '--events', '-', '--json'], '--events - and --json cannot be used together'],
    [['build', '--events', '-', '--output', '-'], '--events - and --output - cannot be used together'],
  ])('refuses two kinds of data on stdout: %j', async (args, message) => {
    const {code, stderr} = await runWarm(args, {cwd: bench.project, env: bench.env});
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});
