import {execFile} from 'node:child_process';
import {existsSync} from 'node:fs';
import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {promisify} from 'node:util';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {fixtureBinary, runCli, type Ended, type SpawnOptions} from '../spawn-cli.js';
import {runWarm} from '../warm-cli.js';

const run = (args: readonly string[], options: SpawnOptions = {}) => runWarm(args, options, dirname(fixtureBinary));
/** In a process of its own, for what comes from outside the command. */
const runProcess = (args: readonly string[], options: SpawnOptions = {}) => runCli(fixtureBinary, args, options);

function parsed(ended: Ended): Record<string, unknown> {
  return JSON.parse(ended.stdout) as Record<string, unknown>;
}

describe('what oclif complains about', () => {
  const complaints: [args: string[], message: string, hint?: string][] = [
    [['show', '--tarjet', 'x'], 'Unknown flag: --tarjet', 'Did you mean --target?'],
    [['show', '--api-keyy=canary'], 'Unknown flag: --api-keyy', 'Did you mean --api-key?'],
    [['show', '--target-slug', 'x'], 'Unknown flag: --target-slug', 'Did you mean --target?'],
    [['show', '--dry-run'], 'Unknown flag: --dry-run', 'This command has no dry run.'],
    [['show', '-a', 'x'], 'Unknown flag: -a'],
    [['show', '-e', 'x'], 'Unknown flag: -e', 'Did you mean --target?'],
    [
      ['show', 'a', 'My shop'],
      'Unexpected argument: My shop',
      "If it is the target or the project, pass --target 'My shop' or --project 'My shop'.",
    ],
    [['require'], 'Missing argument: BUNDLE', 'Run mycli bundle:list to list the bundles.'],
    [['fail'], 'Missing flag: --how VALUE'],
    [['show', '--color', 'blue'], 'Expected --color to be one of: red, green.'],
    [['show', '--number', 'x'], '--number: Expected an integer but received: x.'],
    [['show', '--need', 'x'], 'All of the following must be provided when using --need: --color.'],
    [['show', '--target'], 'Flag --target expects a value.'],
    [['show', '--target', 'a', '--target', 'b'], 'Flag --target can only be specified once.'],
  ];

  const suggestionsOf = (args: readonly string[], hint: string | undefined) => [
    ...(hint === undefined ? [] : [hint]),
    `Run mycli ${String(args[0])} --help for usage.`,
  ];

  // What is shown of the two is the same for all of them.
  test.each(complaints.slice(0, 2))('%j is a usage error as text', async (args, message, hint) => {
    const text = await run(args);
    expect(text).toMatchObject({code: 2, stdout: ''});
    const lines = suggestionsOf(args, hint).map((line) => `  ${line}\n`);
    expect(text.stderr).toBe(`Error: ${message}\n${lines.join('')}`);
  });

  test.each(complaints)('%j is a usage error as JSON', async (args, message, hint) => {
    const suggestions = suggestionsOf(args, hint);
    const json = await run([...args.slice(0, 1), '--json', ...args.slice(1)]);
    expect(json.code).toBe(2);
    expect(parsed(json)).toEqual({schemaVersion: 1, error: {code: 'ERR_USAGE', message, exitCode: 2, suggestions}});
  });

  test('an unknown command names the nearest, and neither asks nor runs it', async () => {
    const error = {
      code: 'ERR_COMMAND_NOT_FOUND',
      message: 'Unknown command: shwo',
      exitCode: 2,
      suggestions: ['Did you mean mycli show --json?'],
    };
    const ended = await run(['shwo', '--json']);
    expect(ended.code).toBe(2);
    expect(parsed(ended)).toEqual({schemaVersion: 1, error});
    expect(await run(['shwo'])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('mycli show?') as string,
    });
  });

  test('--json after -- is an argument', async () => {
    const ended = await run(['require', '--', '--json']);
    expect(ended).toMatchObject({code: 0, stdout: ''});
  });

  test.each([[['--help']], [['show', '--help']], [['--version']], [['-V']], [[]]])(
    '%j is answered on stdout',
    async (args) => {
      const ended = await run(args);
      expect(ended).toMatchObject({code: 0, stderr: ''});
      expect(ended.stdout).toMatch(/mycli|fixture-cli/);
    },
  );
});

describe('failures of commands', () => {
  const env = {MYCLI_API_KEY: 'canary-11'};

  test('an error of ours has its exit code, and its document everything but secrets', async () => {
    const ended = await run(['fail', '--how', 'own', '--json'], {env});
    expect(ended.code).toBe(7);
    expect(parsed(ended)).toEqual({
      schemaVersion: 1,
      error: {
        code: 'ERR_REJECTED',
        message: 'The server refused ***.',
        exitCode: 7,
        status: 409,
        suggestions: ['Try another bundle.'],
        details: {bundleId: 7, key: '***', method: 'POST', path: '/x', requestId: 'r-1'},
      },
      warnings: ['something was odd'],
    });
    expect(ended.stderr).toBe(
      'Warning: something was odd\nError: The server refused ***.\n  Try another bundle.\n  Request ID: r-1\n',
    );
  });

  test.each(['bug', 'uncaught'])('a bug (%s) is one sentence and how to report it', async (how) => {
    const ended = await runProcess(['fail', '--how', how], {env});
    expect(ended).toMatchObject({code: 1, stdout: ''});
    expect(ended.stderr).toMatch(/^Warning: .*\nError: mycli failed unexpectedly: .*\n {2}This is a bug\..*\n$/);
    expect(ended.stderr).not.toContain('canary');
  });

  test('its stack is shown once with --debug, although it gets more advice', async () => {
    const {stderr} = await runProcess(['--debug', '--target', 'qa', 'psuh']);
    expect(stderr.match(/^debug: .*There is no command before --debug/gm)).toHaveLength(1);
  });

  test('its stack is shown with --debug, without secrets', async () => {
    const ended = await runProcess(['fail', '--how', 'uncaught', '--debug'], {env});
    expect(ended.stderr).toMatch(/debug: Error: nobody caught \*\*\*\n +at /);
    expect(ended.stderr).not.toContain('canary');
  });

  test('there is one document, even if the command fails after it', async () => {
    const ended = await run(['fail', '--how', 'after-document', '--json']);
    expect(ended.code).toBe(7);
    expect(parsed(ended)).toMatchObject({ready: true});
    expect(ended.stderr).toContain('Error: It broke later.');
  });

  test("an exit code that a command asks oclif for is the process's", async () => {
    const ended = await run(['fail', '--how', 'oclif', '--json']);
    expect(ended.code).toBe(42);
    expect(parsed(ended)).toMatchObject({error: {message: 'oclif says no', exitCode: 42}});
  });
});

describe('what a command is given', () => {
  let cwd: string;
  beforeAll(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'mycli-run-'));
    await writeFile(
      join(cwd, 'mycli.config.mjs'),
      'export default {targetSlug: "configured", message: "from the file"};',
    );
    await writeFile(join(cwd, 'other.json'), '{"targetSlug": "other"}');
  });
  afterAll(() => rm(cwd, {recursive: true}));

  test('settings tell flags, variables and the configuration file apart', async () => {
    const env = {MYCLI_TARGET: 'variable', MYCLI_SSR_ONLY: 'a,b', MYCLI_WAIT: 'true', MYCLI_MESSAGE: ''};
    const {settings, flags} = parsed(await run(['show', '--json', '--ssr-only', 'c', '--no-wait'], {cwd, env}));
    expect(settings).toMatchObject({
      targetSlug: {value: 'variable', source: {kind: 'environment', name: 'MYCLI_TARGET'}},
      ssrOnly: {value: ['c'], source: {kind: 'flag', name: '--ssr-only'}},
      wait: {value: false, source: {kind: 'flag', name: '--wait'}},
      message: {
        value: 'from the file',
        source: {kind: 'config', name: expect.stringMatching(/mycli\.config\.mjs$/) as string},
      },
      timeout: {value: 600, source: {kind: 'default'}},
    });
    expect(flags).toEqual({json: true, 'ssr-only': ['c'], wait: false});
  });

  test('a repeatable flag leaves the arguments after it alone', async () => {
    const {thing, settings} = parsed(await run(['show', '--json', '--ssr-only', 'a', 'b'], {cwd}));
    expect(thing).toBe('b');
    expect(settings).toMatchObject({ssrOnly: {value: ['a']}});
  });

  test('--cwd moves the search for the configuration file and relative paths', async () => {
    const {settings, cwd: given} = parsed(await run(['show', '--json', '-C', cwd, '-b', 'out']));
    expect(given).toBe(cwd);
    expect(settings).toMatchObject({targetSlug: {value: 'configured'}, buildDirectory: {value: join(cwd, 'out')}});
    expect(await run(['show', '-C', join(cwd, 'absent')])).toMatchObject({code: 2});
  });

  test('--config names the configuration file, relative to the working directory', async () => {
    const {settings} = parsed(await run(['show', '--json', '--config', 'other.json'], {cwd}));
    expect(settings).toMatchObject({targetSlug: {value: 'other', source: {name: join(cwd, 'other.json')}}});
  });

  test('a missing argument is not taken from stdin, where a secret may wait', async () => {
    const ended = await run(['show', '--json', '--api-key', '-', '--debug'], {cwd, stdin: 'canary-11\n'});
    const {thing, settings} = parsed(ended);
    expect(thing).toBeUndefined();
    expect(settings).toMatchObject({apiKey: {value: '********', source: {name: '--api-key'}}});
    expect(ended.stderr).toContain('debug: secret ***');
    expect(ended.stdout + ended.stderr).not.toContain('canary');
  });

  test('no logger of oclif prints the arguments, whatever DEBUG says', async () => {
    const ended = await runProcess(['show', '--api-key', 'canary-11'], {cwd, env: {DEBUG: '*', CLI_FLAGS_DEBUG: '1'}});
    expect(ended.code).toBe(0);
    expect(ended.stdout + ended.stderr).not.toContain('canary');
  });
});

describe('stdout', () => {
  test.each(['', '--json'])('a reader that has read enough ends the command quietly (%s)', async (flag) => {
    const script = `"$0" "$1" print ${flag} | head -n 1; exit "\${PIPESTATUS[0]}"`;
    const ended = await promisify(execFile)('bash', ['-c', script, process.execPath, fixtureBinary]);
    expect(ended).toMatchObject({stdout: flag === '' ? 'line 0\n' : '{\n', stderr: ''});
  });

  test.runIf(existsSync('/dev/full'))('a full disk is an error', async () => {
    const script = '"$0" "$1" print > /dev/full';
    const ended = promisify(execFile)('bash', ['-c', script, process.execPath, fixtureBinary]);
    await expect(ended).rejects.toMatchObject({
      code: 3,
      stderr: expect.stringContaining('stdout cannot be written') as string,
    });
  });

  test('everything is written before the process ends, also through a pipe', async () => {
    const ended = await runProcess(['print', '--json']);
    expect((parsed(ended)['lines'] as string[]).length).toBe(20_000);
  });
});
