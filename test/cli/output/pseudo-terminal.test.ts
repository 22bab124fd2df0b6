import {spawn, spawnSync, type ChildProcess} from 'node:child_process';
import {randomBytes} from 'node:crypto';
import {once} from 'node:events';
import {existsSync} from 'node:fs';
import {mkdir, readFile, writeFile} from 'node:fs/promises';
import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import {basename, join} from 'node:path';
import {stripVTControlCharacters} from 'node:util';
import {beforeEach, describe, expect, onTestFinished, test} from 'vitest';
import type {LocalRuntime, LocalRuntimeOptions} from '../../../src/testing.js';
import {binary, runCli} from '../spawn-cli.js';
import {makeFolder} from '../../folder.js';
import {startRuntime} from '../../local-runtime/with-runtime.js';
import {createPluginBench} from '../with-plugins.js';

// script(1) of util-linux gives the binary a pseudo-terminal.
const hasScript = spawnSync('script', ['--version'], {encoding: 'utf8'}).stdout.includes('util-linux');

const escape = '\u001B';
const [hideCursor, showCursor] = [`${escape}[?25l`, `${escape}[?25h`];

let root: string;
let runtime: LocalRuntime;

beforeEach(async () => {
  root = await makeFolder();
  await mkdir(join(root, 'build'));
  await writeFile(join(root, 'build/ssr.js'), 'export default 1;\n');
});

async function environment(options: LocalRuntimeOptions = {}): Promise<Record<string, string>> {
  ({runtime} = await startRuntime({...options}));
  return {
    TMPDIR: root,
    PATH: process.env['PATH'] ?? '',
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
    MYCLI_RUNTIME_ORIGIN: runtime.origin,
    MYCLI_API_KEY: runtime.credentials.apiKey,
    MYCLI_PROJECT: 'shop',
    MYCLI_POLL_INTERVAL: '0.05',
  };
}

/** What a terminal was sent, its process, and how it ended. */
interface Screen {
  readonly child: ChildProcess;
  /** Everything sent so far, the escapes among it. */
  text(): string;
  /** Id of the process of the binary. */
  pid(): number;
  /** Waits until the terminal was sent a text. */
  shows(text: string): Promise<void>;
  readonly ended: Promise<number | null>;
}

function onTerminal(args: readonly string[], env: Readonly<Record<string, string>>, columns = 80): Screen {
  const command = `stty cols ${String(columns)} rows 24; echo pid $$; exec "${process.execPath}" "${binary}" ${args.join(' ')}`;
  const child = spawn('script', ['-qefc', command, '/dev/null'], {cwd: root, env});
  let sent = '';
  child.stdout.on('data', (chunk: Buffer) => (sent += chunk.toString()));
  child.stdin.on('error', () => undefined);
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return {
    child,
    ended,
    text: () => sent.replace(/^pid \d+\r\n/, ''),
    pid: () => Number(/^pid (\d+)/.exec(sent)?.[1]),
    async shows(text) {
      while (!sent.includes(text)) await once(child.stdout, 'data');
    },
  };
}

/** The lines that stay: those of the last frame of the list, and what came after it. */
function remaining(text: string): readonly string[] {
  const last = text.slice(Math.max(0, text.lastIndexOf(`${escape}[G`)));
  return stripVTControlCharacters(last)
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '');
}

describe.skipIf(!hasScript)('on a terminal', () => {
  test('a push is a list with durations, and ends with what it came to and what to do next', async () => {
    const screen = onTerminal(['push', '--v2', '-t', 'staging', '--create', '--wait'], await environment(), 100);
    expect(await screen.ended).toBe(0);
    expect(remaining(screen.text())).toEqual([
      expect.stringMatching(/^✔ Backend: Runtime \(API key\) \[\d+ ms\]$/),
      expect.stringMatching(/origin +http.* +\(MYCLI_RUNTIME_ORIGIN\)/),
      expect.stringMatching(/project +shop +\(MYCLI_PROJECT\)/),
      expect.stringMatching(/target +staging +\(--target\)/),
      expect.stringMatching(/^✔ Verified: 1 file \(1 server-only, 0 shared, 0 other\), 18 B \[[\d.]+ m?s\]$/),
      expect.stringMatching(/^✔ Built archive, 1 file, .* \[[\d.]+ m?s\]$/),
      expect.stringMatching(/^✔ Uploaded bundle 1 to shop \[/),
      expect.stringMatching(/^✔ Deployment to staging accepted \[/),
      expect.stringMatching(/^✔ Deployed to staging \[/),
      expect.stringMatching(/^Pushed bundle 1 to shop in [\d.]+ m?s: .*, sha256 [0-9a-f]{12}$/),
      'Deployed to staging.',
      runtime.siteUrl('shop', 'staging'),
    ]);
    const text = screen.text();
    expect(text).toContain(hideCursor);
    expect(text.lastIndexOf(showCursor)).toBeGreaterThan(text.lastIndexOf(hideCursor));
    expect(text).toContain(`${escape}[32m✔`);
  });

  test('a push of many chunks is drawn ten times a second, and one list stays', async () => {
    await writeFile(join(root, 'build/large.bin'), randomBytes(40_000_000));
    const env = await environment();
    const started = performance.now();
    const screen = onTerminal(['bundle:push'], env, 100);
    expect(await screen.ended).toBe(0);
    const seconds = (performance.now() - started) / 1000;
    // A drawing begins where the one before has left the cursor.
    const drawings = screen.text().split(`${escape}8`).length - 1;
    expect(drawings).toBeLessThanOrEqual(10 * seconds + 2);
    expect(screen.text().length).toBeLessThanOrEqual(2000 * seconds + 4000);
    expect(remaining(screen.text()).filter((line) => line.includes('Uploaded'))).toHaveLength(1);
  });

  test('a warning stands below its step while one can still stop, once, and its lines keep their indentation', async () => {
    await writeFile(join(root, 'build/other.js'), '');
    await writeFile(join(root, 'build/page.html'), '');
    const push = ['bundle:push', '--create', '--ssr-only', 'ssr.js'];
    const screen = onTerminal(push, await environment({faults: ['hangx1:route=upload']}), 60);
    await screen.shows('Warning:');
    await screen.shows('Upload the bundle');
    expect(screen.text()).not.toContain('Uploaded');
    process.kill(screen.pid(), 'SIGINT');
    expect(await screen.ended).toBe(130);
    const pushed = onTerminal(push, await environment(), 60);
    expect(await pushed.ended).toBe(0);
    const lines = remaining(pushed.text());
    const at = lines.findIndex((line) => line.includes('Warning:'));
    expect(lines[at - 1]).toMatch(/^✔ Verified|^  .*\[\d+ ms\]$/);
    expect(lines[at]).toMatch(/^ {2}› Warning: /);
    expect(lines[at + 1]).toMatch(/^ {4}\S/);
    expect(lines.filter((line) => line.includes('Warning:'))).toHaveLength(1);
  });

  test('no line is longer than a narrow terminal is wide', async () => {
    const {MYCLI_RUNTIME_ORIGIN: origin = '', MYCLI_PROJECT: projectSlug, ...rest} = await environment();
    await writeFile(join(root, 'mycli.config.json'), JSON.stringify({origin, projectSlug}));
    const screen = onTerminal(['bundle:push', '--create'], {...rest, MYCLI_TRUSTED_ORIGINS: origin}, 40);
    expect(await screen.ended).toBe(0);
    const lines = remaining(screen.text());
    expect(lines.length).toBeGreaterThan(8);
    expect(lines.at(-1)).toBe('Deploy it: mycli deploy 1 --target SLUG');
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(40);
  });

  test('tables and errors fit the terminal, and no word of them is cut', async () => {
    const env = await environment();
    const message = 'Show a bundle that completed as completed everywhere';
    expect((await runCli(binary, ['bundle:push', '-m', message], {cwd: root, env})).code).toBe(0);
    for (const [args, expected] of [
      [['bundle:list'], /\b(?:now|\d+ (?:second|minute)s? ago)/],
      [['config:show', '--timeout', '5'], /MYCLI_RUNTIME_ORIGIN\b.*--timeout/s],
      [['backend:list'], /\(MYCLI_API_ORIGIN\),.*configured/s],
      [['bundle:download', '7'], /Request ID: +[\da-f-]{36}/],
    ] as const) {
      const screen = onTerminal(args, env);
      await screen.ended;
      const lines = remaining(screen.text());
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
      expect(lines.join('\n')).toMatch(expected);
    }
  });

  test('the steps that never ran are one line after the list', async () => {
    const screen = onTerminal(['bundle:push', '-t', 'staging'], await environment({faults: ['422x1:route=upload']}));
    expect(await screen.ended).toBe(7);
    const lines = remaining(screen.text());
    const at = lines.findIndex((line) => line.startsWith('Not run'));
    expect(lines.slice(at, at + 2)).toEqual(['Not run: Deploy to staging', expect.stringMatching(/^Error: /)]);
    expect(lines.slice(0, at)).not.toContainEqual(expect.stringContaining('Deploy to staging'));
  });

  test('a wait for a retry is told', async () => {
    const env = await environment({faults: ['429x1:route=upload,retry-after=1']});
    const screen = onTerminal(['bundle:push'], env);
    expect(await screen.ended).toBe(0);
    expect(screen.text()).toContain('429 Too Many Requests: retry 1 of');
  });

  test.each([{LANG: 'C'}, {TERM: 'linux'}])('%j: nothing but ASCII', async (more) => {
    const screen = onTerminal(['bundle:push'], {...(await environment()), ...more});
    expect(await screen.ended).toBe(0);
    expect(stripVTControlCharacters(screen.text())).toContain('+ Uploaded');
    expect(screen.text()).toMatch(/^\p{ASCII}*$/u);
  });

  test.each([{CI: 'true'}, {TERM: 'dumb'}])('%j: plain lines, without a single escape', async (more) => {
    const screen = onTerminal(['bundle:push', '-t', 'staging', '--wait'], {...(await environment()), ...more});
    expect(await screen.ended).toBe(0);
    expect(screen.text()).not.toContain(escape);
    expect(screen.text()).toMatch(/^Uploaded bundle 1 to shop \[/m);
  });

  test('SIGINT: the reason is told and the cursor comes back', async () => {
    const screen = onTerminal(['bundle:push'], await environment({faults: ['hangx1:route=upload']}));
    await screen.shows('Upload the bundle');
    process.kill(screen.pid(), 'SIGINT');
    expect(await screen.ended).toBe(130);
    const text = screen.text();
    expect(text).toContain('Interrupted by SIGINT.');
    expect(text.lastIndexOf(showCursor)).toBeGreaterThan(text.lastIndexOf(hideCursor));
  });

  test('a crash in the midst of the list is told, and the cursor comes back', async () => {
    const config = `
      import {existsSync} from 'node:fs';
      setInterval(() => { if (existsSync('crash')) throw new Error('boom'); }, 20);
      export const config = {ssrOnly: ['ssr.js']};
    `;
    await writeFile(join(root, 'config.server.mjs'), config);
    const server = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const {port} = server.address() as AddressInfo;
    const silent = {...(await environment()), MYCLI_RUNTIME_ORIGIN: `http://127.0.0.1:${String(port)}`};
    const screen = onTerminal(['bundle:push', '--create'], silent);
    await once(server, 'request');
    await writeFile(join(root, 'crash'), '');
    expect(await screen.ended).toBe(10);
    const text = screen.text();
    expect(text).toContain('config.server.mjs failed: boom.');
    expect(text.lastIndexOf(showCursor)).toBeGreaterThan(text.lastIndexOf(hideCursor));
  });
});

describe.skipIf(!hasScript)('on a terminal, in the small', () => {
  test('NO_COLOR wins over FORCE_COLOR without a word about it', async () => {
    const env = {...(await environment()), NO_COLOR: '1', FORCE_COLOR: '1'};
    await runCli(binary, ['bundle:push'], {cwd: root, env});
    for (const args of [['bundle:list'], ['bundle:push'], ['config:show']]) {
      const screen = onTerminal(args, env);
      expect(await screen.ended).toBe(0);
      expect(screen.text()).not.toContain('FORCE_COLOR');
      expect(screen.text()).not.toMatch(/\[\d+m/);
    }
  });

  test.each([
    ['', ['results', 'steps']],
    ['2> errors', ['results']],
    ['> results', ['steps']],
    ['> results 2> errors', []],
  ])('push %s: only what the terminal gets has colors', async (redirections, colored) => {
    const screen = onTerminal(['push', '-t', 'staging', '--create', '--wait', redirections], await environment());
    expect(await screen.ended).toBe(0);
    const colors = {results: `${escape}[1mhttp://staging`, steps: `${escape}[32m✔`};
    const shown = Object.entries(colors).filter(([, text]) => screen.text().includes(text));
    expect(shown.map(([name]) => name)).toEqual(colored);
    const written = redirections.split(/[ >2]+/).filter(Boolean);
    const contents = await Promise.all(written.map((name) => readFile(join(root, name), 'utf8')));
    for (const content of contents) expect(content).toMatch(/^[^\u001B]+$/);
  });

  test('Ctrl-C ends the line on which the terminal shows it', async () => {
    const env = await environment();
    const started = onTerminal(['runtime:start', '--port', '0'], env);
    await started.shows('Ctrl-C to stop');
    started.child.stdin?.write('\u0003');
    expect(await started.ended).toBe(0);
    expect(started.text()).toContain('^C\r\n');
    const commanded = onTerminal(['runtime:start', '--', 'sh', '-c', "'echo ready; exec sleep 60'"], env);
    await commanded.shows('ready\r\n');
    commanded.child.stdin?.write('\u0003');
    await commanded.ended;
    expect(commanded.text()).toContain('^C\r\n');
  });

  test('what a list leaves out is said above it, also if a program that draws on the terminal reads the list', async () => {
    const env = await environment();
    for (const message of ['first', 'second']) await runCli(binary, ['bundle:push', '-m', message], {cwd: root, env});
    const remark = 'Showing 1 of 2.';
    const piped = onTerminal(['bundle:list', '--limit', '1', '|', 'cat'], env);
    await piped.ended;
    expect(piped.text()).toContain('second');
    expect(piped.text().indexOf(remark)).toBeLessThan(piped.text().indexOf('second'));
  });
});

const hasTmux = spawnSync('tmux', ['-V']).status === 0;

test.runIf(hasTmux)('an Enter during a push and a narrower window leave no copies of lines', async () => {
  const env = await environment({faults: ['hangx1:route=upload']});
  const tmux = (...args: readonly string[]) =>
    spawnSync('tmux', ['-L', basename(root), '-f', '/dev/null', ...args], {cwd: root, env, encoding: 'utf8'}).stdout;
  const screen = () => tmux('capture-pane', '-p');
  const rows = () =>
    screen()
      .split('\n')
      .filter((line) => line.includes('Upload the bundle'));
  tmux('new-session', '-d', '-x', '100', '-y', '40', `seq 60; exec "${process.execPath}" "${binary}" bundle:push`);
  onTestFinished(() => void tmux('kill-server'));
  await expect.poll(rows, {timeout: 20_000}).toHaveLength(1);
  const spinner = () => rows()[0]?.trim()[0];
  const redrawn = async () => {
    const before = spinner();
    await expect.poll(spinner, {timeout: 20_000}).not.toBe(before);
  };
  for (const keys of [['Enter'], ['ls', 'Enter'], ['Enter']]) {
    tmux('send-keys', ...keys);
    await redrawn();
  }
  expect(rows()).toHaveLength(1);
  expect(screen()).not.toMatch(/^ls$/m);
  tmux('resize-window', '-x', '60', '-y', '40');
  await redrawn();
  await redrawn();
  expect(rows()).toHaveLength(1);
});

test.runIf(hasScript).each(['--quiet', '--json'])('a question is asked on a terminal with %s too', async (flag) => {
  const env = await environment();
  await runCli(binary, ['bundle:push'], {cwd: root, env});
  const screen = onTerminal(['bundle:delete', 'latest', flag], env);
  await screen.shows('(y/N)');
  screen.child.stdin?.write('y\n');
  expect(await screen.ended).toBe(0);
  expect(runtime.requests.filter(({route}) => route === 'delete')).toHaveLength(1);
});

test.runIf(hasScript)(
  'a new address in a configuration file is confirmed once, before it gets a secret of the environment',
  async () => {
    const {MYCLI_RUNTIME_ORIGIN: origin = '', ...rest} = await environment();
    const env = {...rest, HOME: root};
    await writeFile(join(root, 'mycli.config.json'), JSON.stringify({origin}));
    const question = 'Send the MYCLI_API_KEY there?';
    const asked = async (args: readonly string[], answer: string) => {
      const screen = onTerminal(args, env, 200);
      await screen.shows(`names ${origin}, which nobody has confirmed on this machine. ${question}`);
      screen.child.stdin?.write(answer);
      return screen.ended;
    };
    expect(await onTerminal(['bundle:push', '--dry-run'], env).ended).toBe(0);
    expect(await asked(['bundle:list'], 'n\n')).toBe(2);
    expect(await asked(['auth:status'], 'n\n')).toBe(2);
    expect(runtime.requests).toEqual([]);
    const listed = onTerminal(['bundle:list'], {...env, MYCLI_TRUSTED_ORIGINS: origin});
    expect([await listed.ended, listed.text()]).toEqual([0, expect.not.stringContaining(question)]);
    expect((await runCli(binary, ['bundle:list'], {cwd: root, env})).stderr).not.toContain(question);
    expect(await asked(['bundle:push'], 'y\n')).toBe(0);
    const again = onTerminal(['bundle:list'], env);
    expect([await again.ended, again.text()]).toEqual([0, expect.not.stringContaining(question)]);
  },
);

test.runIf(hasScript)("a plugin's address in a configuration file is confirmed once, too", async () => {
  await using bench = await createPluginBench('acme');
  const options = {memory: join(bench.root, 'memory'), url: 'https://ops:canary-pw@acme.example/store'};
  const file = {runtimeBackend: 'acme', backends: {acme: options}};
  await writeFile(join(bench.project, 'mycli.config.json'), JSON.stringify(file));
  const env = {...(await environment()), ...bench.env, MYCLI_BACKEND_OPTION: 'token=canary-token'};
  const push = (more = {}) => onTerminal(['bundle:push', '-C', bench.project], {...env, ...more}, 200);
  for (const [answer, code] of [
    ['n', 2],
    ['y', 0],
  ] as const) {
    const screen = push();
    await screen.shows('Send the token there?');
    expect(screen.text()).toContain('names https://***@acme.example/store');
    expect(existsSync(options.memory)).toBe(false);
    screen.child.stdin?.write(`${answer}\n`);
    expect(await screen.ended).toBe(code);
    expect(screen.text()).not.toContain('canary-pw');
  }
  const typed = {MYCLI_BACKEND_OPTION: 'token=canary-token,url=https://other.example'};
  for (const more of [{}, typed, {MYCLI_TRUSTED_ORIGINS: 'https://acme.example'}]) {
    const screen = push(more);
    expect([await screen.ended, screen.text()]).toEqual([0, expect.not.stringContaining('Send the')]);
  }
});

test.runIf(hasScript)('a question about pruning names the project as one about deleting does', async () => {
  const env = await environment();
  for (const message of ['first', 'second']) await runCli(binary, ['bundle:push', '-m', message], {cwd: root, env});
  const screen = onTerminal(['bundle:prune', '--keep', '1'], env);
  await screen.shows('Delete this bundle of shop?');
  screen.child.stdin?.write('n\n');
  expect(await screen.ended).toBe(2);
});

test('--debug tells each request, its answer, its time and its retries, on lines of their own and without secrets', async () => {
  const env = await environment({faults: ['429x1:route=upload,retry-after=0']});
  const {code, stderr} = await runCli(binary, ['bundle:push', '--debug'], {cwd: root, env});
  expect(code).toBe(0);
  const [first, second, ...rest] = stderr.split('\n').filter((line) => line.includes('POST /'));
  const path = '/api/projects/shop/builds/';
  const {host} = new URL(runtime.origin);
  expect(first).toMatch(new RegExp(`^debug: POST ${path} to ${host}, \\d+ bytes$`));
  expect(second).toMatch(new RegExp(`^debug: POST ${path}: 429 Too Many Requests after \\d+ ms$`));
  expect(rest).toEqual([first, expect.stringMatching(/: 200 OK after \d+ ms$/)]);
  expect(stderr).toContain('[RATE] 429 Too Many Requests: retry 1 of 3 in 0 ms');
  expect(stderr).not.toContain(runtime.credentials.apiKey);
});
