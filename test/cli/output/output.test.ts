import {describe, expect, test} from 'vitest';
import type {OutputOptions} from '../../../src/cli/output/output.js';
import {collectOutput} from '../collect-output.js';

const collect = (options: Partial<OutputOptions> = {}) => collectOutput({interactive: true, ...options});

/** DEL, C1, what changes the direction of text, separators of lines and paragraphs. */
const controls = '\u007F\u0080\u009B31m\u009F\u061C\u200E\u200F\u2028\u2029\u202A\u202E\u2066\u2069';
const anyControl = /[\u007F-\u009F\u061C\u200E\u200F\u2028\u2029\u202A-\u202E\u2066-\u2069]/;

test('control characters of a server are escaped in the document, which says the same', () => {
  const {output, texts} = collect({json: true});
  const document = {message: `a\u001B[2J\r\n${controls}b`, raw: {[controls]: [controls]}};
  output.document(document);
  const {stdout} = texts();
  expect(stdout).not.toMatch(anyControl);
  expect(JSON.parse(stdout)).toEqual({schemaVersion: 1, ...document});
});

test.each([false, true])('a warning stays one line without control characters, annotating: %s', (annotating) => {
  const {output, texts} = collect({annotating});
  output.warn(`one\r\nError: two\n::error::three\u0085four${controls}\n\n##[error]five`);
  const {stderr} = texts();
  expect(stderr.trimEnd()).not.toMatch(/\n/);
  expect(stderr).not.toMatch(anyControl);
});

describe('for people', () => {
  test('results go to stdout, remarks, warnings and errors to stderr', () => {
    const {output, texts} = collect();
    output.result('result');
    output.info('remark');
    output.warn('careful');
    output.debug('detail');
    output.error('It failed.', ['Do this.']);
    output.document({a: 1});
    expect(texts()).toEqual({stdout: 'result\n', stderr: 'remark\nWarning: careful\nError: It failed.\n  Do this.\n'});
  });

  test('results go to stderr when stdout carries data, with the colors of stderr', () => {
    const {output, texts} = collect({colorsResults: true});
    output.claimStdout();
    output.result('result', {style: 'bold'});
    expect(texts()).toEqual({stdout: '', stderr: 'result\n'});
  });

  test('--quiet leaves results, warnings and errors', () => {
    const {output, texts} = collect({quiet: true});
    output.result('result');
    output.info('remark');
    output.warn('careful');
    output.error('failed', []);
    expect(texts()).toEqual({stdout: 'result\n', stderr: 'Warning: careful\nError: failed\n'});
  });

  test('a task list may redraw a terminal, but neither with --quiet nor with --json', () => {
    expect(collect().output.redraws).toBe(true);
    expect(collect({quiet: true}).output.redraws).toBe(false);
    expect(collect({json: true}).output.redraws).toBe(false);
    expect(collect({interactive: false}).output.redraws).toBe(false);
  });

  test('the same warning is said once', () => {
    const {output, texts} = collect();
    output.warn('careful');
    output.warn('careful');
    expect(texts().stderr).toBe('Warning: careful\n');
  });

  test('escape sequences and control characters of others never reach the terminal', () => {
    const {output, texts} = collect();
    output.result('a\u001B[31mb\u001B]0;title\u0007c\rd\be\u202Ef\u009B1mg');
    output.warn('x\u001B[2Ky');
    const {stdout, stderr} = texts();
    expect(stdout).toBe('abcdefg\n');
    expect(stderr).toBe('Warning: xy\n');
  });

  test('colour marks what is a warning, an error or a detail, and only that', () => {
    const {output, texts} = collect({color: true, debugging: true});
    output.warn('careful');
    output.error('failed', []);
    output.debug('detail');
    expect(texts().stderr).toBe(
      '\u001B[33mWarning:\u001B[39m careful\n\u001B[31mError:\u001B[39m failed\n\u001B[2mdebug: detail\u001B[22m\n',
    );
  });

  const shop = ['--project', 'shop'];
  test.each([
    {run: ['bundle:rollback', ...shop], told: 'npx mycli rollback'},
    {
      run: ['bundle:rollback', ...shop, '--target', 'my target', '--runtime-backend', 'legacy'],
      told: 'npx mycli rollback',
    },
    // What the configuration does not give, or gives otherwise, stays.
    {run: ['bundle:rollback', '--project', 'x', '--to', 3], told: 'npx mycli rollback --project x --to 3'},
    {run: ['bundle:history', ...shop, '--limit', 3], told: 'npx mycli bundle:history --limit 3'},
    // Status without a target shows all of them.
    {run: ['status', ...shop, '--target', 'my target'], told: "npx mycli status --target 'my target'"},
  ])('the command to type is as short as it can be: $told', ({run, told}) => {
    const {output, texts} = collect();
    output.completeHints({
      program: ['npx', 'mycli'],
      aliases: new Map([['bundle:rollback', 'rollback']]),
      settings: [
        ['--project', 'shop'] as const,
        ['--target', 'my target'] as const,
        ['--runtime-backend', 'legacy'] as const,
      ].map(([flag, value]) => ({flag, run: [value], fresh: [value]})),
    });
    output.error('It failed.', [['Run ', {run}, '.']]);
    expect(texts().stderr).toBe(`Error: It failed.\n  Run ${told}.\n`);
  });

  test.each([
    ['sftp://me@a.example', 'sftp://me@a.example'],
    ['mariadb://shop@127.0.0.1:33306/other', 'mariadb://shop@127.0.0.1:33306/other'],
    ['postgresql://shop@db.example/other', 'postgresql://shop@db.example/other'],
    ['mariadb://shop:pw@127.0.0.1:33306/other', '…'],
    ['postgres://db.example/other?password=pw', '…'],
    ['https://me@c.example', '…'],
    ['canary-1', '…'],
  ])('the command to type has the option %s as %s: what would be masked has to be passed', (value, shown) => {
    const {output, texts} = collect();
    output.addSecrets(['canary-1']);
    output.completeHints({settings: [{flag: '--backend-option', run: [`url=${value}`], fresh: []}]});
    const run = ['bundle:rollback', '--runtime-backend', 'acme'];
    const command = `mycli bundle:rollback --runtime-backend acme --backend-option url=${shown}`;
    output.error('It failed.', [[{run}]]);
    expect(texts().stderr).toBe(`Error: It failed.\n  ${command}\n`);
    expect(output.texts([[{run}]])).toEqual([command]);
  });

  test('the command to type keeps a flag whose value would be masked, unless the folder has it', () => {
    const {output, texts} = collect();
    const check = 'https://shop.example/health?token=canary';
    const commands = ['bundle:push'];
    output.completeHints({
      typed: [
        {flag: '--check', words: ['--check', check], commands},
        {flag: '--message', words: [`--message=-${check}`], commands},
      ],
      settings: [{flag: '--project', run: [check], fresh: [check]}],
    });
    output.error('It failed.', [[{run: ['bundle:push', 'build'], again: true}]]);
    expect(texts().stderr).toBe('Error: It failed.\n  mycli bundle:push build --check … --message=…\n');
  });

  test('secrets are masked in every line', () => {
    const {output, texts} = collect({debugging: true});
    output.addSecrets(['canary-1']);
    output.addSecrets(['canary-2']);
    for (const say of ['result', 'info', 'warn', 'debug'] as const) output[say](`${say} canary-1 canary-2`);
    output.error('canary-1', ['canary-2']);
    const {stdout, stderr} = texts();
    expect(stdout + stderr).not.toContain('canary');
    expect(stdout).toBe('result *** ***\n');
  });
});

describe('for programs', () => {
  test('stdout holds one document, with the version of its schema first, and nothing else', () => {
    const {output, texts} = collect({json: true});
    output.result('result');
    output.info('remark');
    output.document({bundles: []});
    output.document({bundles: [1]});
    const {stdout, stderr} = texts();
    expect(stdout).toBe('{\n  "schemaVersion": 1,\n  "bundles": []\n}\n');
    expect(stderr).toBe('remark\n');
  });

  test('a document of a command that is endless is a line', () => {
    const {output, texts} = collect({json: true});
    output.expectLines();
    output.document({a: {b: 1}});
    expect(texts().stdout).toBe('{"schemaVersion":1,"a":{"b":1}}\n');
  });

  test('warnings are in the document too, none twice', () => {
    const {output, texts} = collect({json: true});
    output.warn('from the server');
    output.warn('from us');
    output.document({warnings: ['from the server', 'kept']});
    expect(JSON.parse(texts().stdout)).toEqual({schemaVersion: 1, warnings: ['from the server', 'kept', 'from us']});
  });

  test('secrets are masked in values and keys, also where JSON would escape them', () => {
    const {output, texts} = collect({json: true});
    output.addSecrets(['can"ary', 'canary-2']);
    output.document({raw: {text: 'x can"ary', list: ['canary-2'], 'canary-2': 1, at: new Date(0), none: null}});
    expect(JSON.parse(texts().stdout)).toEqual({
      schemaVersion: 1,
      raw: {text: 'x ***', list: ['***'], '***': 1, at: '1970-01-01T00:00:00.000Z', none: null},
    });
  });
});
