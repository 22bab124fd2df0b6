import {execFileSync, spawn} from 'node:child_process';
import {once} from 'node:events';
import {closeSync, constants, openSync, readSync} from 'node:fs';
import {mkdtemp, readFile, rm, stat, symlink, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {createInterface} from 'node:readline';
import {PassThrough, Readable} from 'node:stream';
import {text} from 'node:stream/consumers';
import {afterAll, afterEach, beforeAll, describe, expect, test} from 'vitest';
import {createRedactor} from '../../../src/http/redact.js';
import {Output} from '../../../src/cli/output/output.js';
import {openRunEvents} from '../../../src/cli/output/run-events.js';
import {checkedEvents, eventsOf} from '../../event-schemas.js';
import {binary, runCli} from '../spawn-cli.js';
import {createStorefrontBench, type StorefrontBench} from '../with-storefront.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mycli-events-'));
});
afterAll(() => rm(folder, {recursive: true}));

function createOutput() {
  const stderr = new PassThrough({encoding: 'utf8'});
  const output = new Output({
    stdout: new PassThrough(),
    stderr,
    json: false,
    quiet: false,
    debugging: false,
    interactive: false,
    color: false,
    unicode: true,
    annotating: false,
    createRedactor,
    runningPlugin: () => undefined,
  });
  return {output, said: () => String(stderr.read() ?? '')};
}

const open = (destination: string, output = createOutput().output) => openRunEvents(destination, folder, output);

describe('a file of events', () => {
  test('is only for its owner, and replaces an earlier one', async () => {
    const path = join(folder, 'replaced');
    for (const message of ['one, which is longer', 'two']) {
      const events = open('replaced');
      events.feed.warn(message);
      events.succeed(undefined);
      events.close();
    }
    expect(eventsOf(await readFile(path, 'utf8'))).toMatchObject([
      {type: 'warning', message: 'two'},
      {type: 'outcome', status: 'success'},
    ]);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  test('is not written over anything else, or through a link to it', async () => {
    await writeFile(join(folder, 'other'), 'precious');
    await symlink('other', join(folder, 'link'));
    for (const name of ['other', 'link']) expect(() => open(name)).toThrow('contains something other than events');
    expect(await readFile(join(folder, 'other'), 'utf8')).toBe('precious');
  });

  test.each([
    ['nowhere/events', 'ERR_OUTPUT'],
    ['.', 'ERR_OUTPUT'],
    ['3', 'ERR_USAGE'],
    ['fd:x', 'ERR_USAGE'],
    ['fd:0', 'ERR_USAGE'],
    ['fd:2', 'ERR_USAGE'],
    ['/dev/fd/987654', 'ERR_OUTPUT'],
  ])('that cannot be one is refused: %s', (destination, code) => {
    expect(() => open(destination)).toThrow(expect.objectContaining({code}) as Error);
  });

  test('that cannot be written is named', () => {
    const path = join(folder, 'nowhere/events');
    expect(() => open('nowhere/events')).toThrow(`The --events file ${path} cannot be written: no such file`);
  });

  test('has no secrets, no control characters and no line that a pipe could tear', async () => {
    const {output} = createOutput();
    output.addSecrets(['hunter2"x']);
    const events = open('hostile', output);
    output.warn(`hunter2"x \u202E\u001B[2J${'é'.repeat(5000)}`);
    const matches = Object.fromEntries(Array.from({length: 500}, (_, at) => [`file ${String(at)}`, 'hunter2"x']));
    events.succeed({bundleId: 7, matches, raw: {long: 'x'.repeat(4000)}});
    events.close();
    const content = await readFile(join(folder, 'hostile'), 'utf8');
    expect(content).not.toContain('hunter2');
    expect(content).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u202E]/);
    for (const line of content.split('\n')) expect(Buffer.byteLength(line)).toBeLessThan(4096);
    expect(eventsOf(content)).toMatchObject([
      {type: 'warning', message: expect.stringMatching(/^\*+ é+…/) as string},
      {type: 'outcome', result: {bundleId: 7}, omitted: expect.arrayContaining(['matches', 'raw']) as string[]},
    ]);
  });

  test('has an error without what makes it too long', async () => {
    const events = open('long-error');
    const error = {code: 'ERR_REJECTED', message: 'm'.repeat(5000), exitCode: 7};
    const details = {files: Array(1000).fill('a file'), status: 'failed'};
    events.fail({...error, suggestions: ['s'.repeat(5000)], details}, 'error');
    events.succeed({late: true});
    events.close();
    const [outcome, ...more] = eventsOf(await readFile(join(folder, 'long-error'), 'utf8'));
    expect(more).toEqual([]);
    expect(outcome).toMatchObject({error: {code: 'ERR_REJECTED', exitCode: 7}});
    expect(outcome).toHaveProperty('omitted', expect.arrayContaining(['details.files', 'suggestions']));
  });

  test('says when the disk is full, and ends with a whole line', () => {
    const {output, said} = createOutput();
    const events = open('/dev/full', output);
    events.feed.warn('one');
    events.close();
    expect(said()).toContain('The rest of the events cannot be written: no space left on device.');
  });

  test('begins with the warnings so far', async () => {
    const {output} = createOutput();
    output.warn('early');
    const events = open('early', output);
    events.close();
    expect(eventsOf(await readFile(join(folder, 'early'), 'utf8'))).toMatchObject([
      {type: 'warning', message: 'early'},
      {type: 'outcome', status: 'interrupted'},
    ]);
  });
});

describe('a named pipe', () => {
  let path: string;
  let reader: number | undefined;
  const openReader = () => {
    reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    return reader;
  };
  beforeAll(() => {
    path = join(folder, 'pipe');
    execFileSync('mkfifo', [path]);
  });
  afterEach(() => {
    if (reader !== undefined) closeSync(reader);
    reader = undefined;
  });

  test('gets everything once it has a reader', () => {
    const events = open('pipe');
    events.feed.warn('before');
    const from = openReader();
    events.succeed(undefined);
    events.close();
    const bytes = Buffer.alloc(65_536);
    expect(eventsOf(bytes.toString('utf8', 0, readSync(from, bytes)))).toMatchObject([
      {message: 'before'},
      {type: 'outcome'},
    ]);
  });

  test('whose reader is too slow loses events, but never a part of one', () => {
    const from = openReader();
    const {output, said} = createOutput();
    const events = open('pipe', output);
    for (let at = 0; at < 2000; at += 1) events.feed.warn('w'.repeat(3000));
    events.close();
    const bytes = Buffer.alloc(1_000_000);
    const lines = bytes.toString('utf8', 0, readSync(from, bytes)).split('\n');
    expect(lines.pop()).toBe('');
    expect(lines.length).toBeGreaterThan(10);
    for (const line of lines) expect(JSON.parse(line)).toHaveProperty('type', 'warning');
    expect(said()).toBe('');
  });

  test('whose reader has left is of no further interest', () => {
    closeSync(openReader());
    reader = undefined;
    const {output, said} = createOutput();
    const held = openReader();
    const events = open('pipe', output);
    events.feed.warn('one');
    closeSync(held);
    reader = undefined;
    events.feed.warn('two');
    events.close();
    expect(said()).toBe('');
  });
});

describe('the binary', () => {
  let bench: StorefrontBench;
  beforeAll(async () => {
    bench = await createStorefrontBench();
  });
  afterAll(() => bench[Symbol.asyncDispose]());

  const push = ['push', '--project', 'shop', '--target', 'staging', '--message', 'one'];

  /** Starts the binary with a descriptor 3 that is read. */
  function startWithDescriptor(args: readonly string[]) {
    const child = spawn(process.execPath, [binary, ...args], {
      cwd: bench.project,
      env: {PATH: process.env['PATH'], ...bench.env},
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    });
    const [, stdout, stderr, descriptor] = child.stdio;
    if (stdout === null || stderr === null || !(descriptor instanceof Readable)) throw new Error('not pipes');
    return {child, stdout, descriptor, ended: once(child, 'close'), stderr: text(stderr)};
  }

  test('writes what a push does, and the document as the last line', async () => {
    bench.runtime.addFault('429x1:route=upload,retry-after=0');
    const {stdout, code} = await runCli(binary, [...push, '--wait', '--json'], {
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

  test('writes to descriptor 3, and the interruption last after SIGTERM in the middle of an upload', async () => {
    bench.runtime.addFault('hangx1:route=upload');
    const {child, descriptor, ended} = startWithDescriptor([...push, '--events', 'fd:3']);
    const lines: string[] = [];
    for await (const line of createInterface({input: descriptor})) {
      lines.push(line);
      if (line.includes('"phase":"upload"')) child.kill('SIGTERM');
    }
    expect(await ended).toEqual([143, null]);
    const events = checkedEvents(lines.map((line): unknown => JSON.parse(line)));
    expect(events).toContainEqual(expect.objectContaining({type: 'step', step: 'upload', status: 'failed'}));
    expect(events.at(-1)).toMatchObject({
      type: 'outcome',
      status: 'interrupted',
      error: {exitCode: 143, message: expect.stringContaining('Interrupted by SIGTERM.') as string},
    });
  });

  test('writes to stdout, and text for people to stderr', async () => {
    const {stdout, stderr, code} = await runCli(binary, ['build', '--events', '-', '--message', 'one'], {
      cwd: bench.project,
      env: bench.env,
    });
    expect(code).toBe(0);
    expect(eventsOf(stdout).at(-1)).toMatchObject({type: 'outcome', status: 'success', result: {message: 'one'}});
    expect(stderr).toContain('bundle.tar.gz');
  });

  test('does not mind a reader that leaves', async () => {
    const {stdout, ended, stderr} = startWithDescriptor([...push, '--events', '-']);
    stdout.destroy();
    expect(await ended).toEqual([0, null]);
    expect(await stderr).toContain('Deploy');
  });

  test('ends with an outcome when the configuration ends the process, or the command line is wrong', async () => {
    await writeFile(join(bench.project, 'exits.config.mjs'), 'process.exit(0);\n');
    const env = {...bench.env, MYCLI_EVENTS: 'exits.ndjson'};
    const read = async () => eventsOf(await readFile(join(bench.project, 'exits.ndjson'), 'utf8'));
    const {code} = await runCli(binary, [...push, '--config', 'exits.config.mjs'], {cwd: bench.project, env});
    expect(code).toBe(3);
    expect((await read()).at(-1)).toMatchObject({status: 'error', error: {code: 'ERR_ENDED_EARLY', exitCode: 3}});
    await runCli(binary, [...push, '--bogus'], {cwd: bench.project, env});
    expect(await read()).toMatchObject([{type: 'outcome', error: {code: 'ERR_USAGE', exitCode: 2}}]);
  });

  test.each([
    [['build', '--events', '-', '--json'], '--events - and --json cannot be used together'],
    [['build', '--events', '-', '--output', '-'], '--events - and --output - cannot be used together'],
  ])('refuses two kinds of data on stdout: %j', async (args, message) => {
    const {code, stderr} = await runCli(binary, args, {cwd: bench.project, env: bench.env});
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});
