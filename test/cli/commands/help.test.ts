import {tmpdir} from 'node:os';
import {fileURLToPath} from 'node:url';
import {Config} from '@oclif/core/config';
import {describe, expect, onTestFinished, test, vi} from 'vitest';
import {GroupedHelp} from '../../../src/cli/command/help.js';
import {hasScript, openTerminal} from '../pseudo-terminal.js';
import {ownCommands} from '../own-commands.js';
import {binary} from '../spawn-cli.js';
import {runWarm} from '../warm-cli.js';

describe.each(Object.keys(ownCommands))('the help of %s', (id) => {
  const flags = Object.values(ownCommands[id]?.flags ?? {});

  test('has a summary for every flag', () => {
    expect(flags.filter(({summary}) => summary === undefined)).toEqual([]);
  });

  test('fits one screen when short, with two examples and the way to the rest', async () => {
    const {code, stdout} = await runWarm([id, '-h'], {cwd: '/'});
    const lines = stdout.trimEnd().split('\n');
    expect(code).toBe(0);
    // The last row is the prompt's.
    expect(lines.length).toBeLessThan(24);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(lines.filter((line) => line.startsWith(`  $ mycli ${id}`)).length).toBeGreaterThan(1);
    for (const {name, multiple} of Object.values(ownCommands[id]?.args ?? {}))
      expect(lines[3]?.includes(`${name.toUpperCase()}...`), name).toBe(multiple === true);
    const [list = '', examples = ''] = stdout.split('\nEXAMPLES\n');
    for (const [flag] of examples.matchAll(/--[a-z][\w-]*(?=[ \n])/g)) {
      if (!['--help', '--json'].includes(flag))
        expect(list).toMatch(new RegExp(`${flag.replace('--', '--(?:\\[no-\\])?')}\\b`));
    }
    const count = flags.filter(({hidden}) => hidden !== true).length;
    expect(lines.at(-1)).toBe(`Run mycli ${id} --help for all ${String(count)} flags.`);
    for (const {name, char, helpGroup, hidden} of flags) {
      if (helpGroup !== 'GLOBAL' && char !== undefined && hidden !== true)
        expect(stdout).toMatch(new RegExp(`--(?:\\[no-\\])?${name}\\b`));
    }
  });

  test('shows its own flags first, those of every command last, and none that is hidden', async () => {
    const {code, stdout} = await runWarm([id, '--help']);
    expect(code).toBe(0);
    for (const {name, hidden} of flags) {
      expect(new RegExp(`^ +(-\\w, +)?--(\\[no-\\])?${name}\\b(?!-)`, 'm').test(stdout), name).toBe(hidden !== true);
    }
    const headings: readonly string[] = stdout.match(/^.*FLAGS$/gm) ?? [];
    expect(headings.indexOf('FLAGS')).toBeLessThanOrEqual(0);
    expect(headings.at(-1)).toBe('GLOBAL FLAGS');
  });
});

test('the help of bundle:push fits three screens, and names the variable of each setting', async () => {
  const {stdout} = await runWarm(['bundle:push', '--help']);
  const lines = stdout.trimEnd().split('\n');
  expect(lines.length).toBeLessThanOrEqual(3 * 32);
  for (const named of [/--api-key=KEY +\[env: MYCLI_API_KEY\]/, /--origin=URL +\[env: MYCLI_RUNTIME_ORIGIN\]/])
    expect(stdout).toMatch(named);
  expect(stdout).not.toMatch(/--dry-run +\[env/);
  expect(stdout).not.toMatch(/legacy backend|Api backend/);
});

test.each(Object.keys(ownCommands))('the help of %s aligns the flags of a group', async (id) => {
  const {stdout} = await runWarm([id, '--help']);
  for (const [group] of stdout.matchAll(/^(?:[A-Z]+ )?FLAGS\n(?: .+\n)+/gm)) {
    const starts = [...group.matchAll(/^( {2}(?:-\w, | {4})?)--/gm)].map(([, start = '']) => start.length);
    expect(new Set(starts).size, group).toBe(1);
  }
});

describe('mycli help', () => {
  test('lists every command with its aliases, in groups', async () => {
    for (const args of [['help'], ['--help'], ['help', '--nested-commands']]) {
      const {stdout} = await runWarm(args);
      expect(stdout.match(/^[A-Z ]+$/gm)).toEqual(['USAGE', 'SHIP', 'TARGETS', 'BUNDLES', 'PROJECT', 'ADVANCED']);
      for (const [id, {aliases = [], hidden}] of Object.entries(ownCommands)) {
        const line = `\n  ${[...aliases, id].join(', ')} `;
        if (hidden === true) expect(stdout).not.toContain(line);
        else expect(stdout).toContain(line);
      }
    }
  });

  test('fits one screen without a subject, and leads with what most people want', async () => {
    const [alone, short] = await Promise.all([runWarm([]), runWarm(['-h'])]);
    expect(alone).toMatchObject({code: 0, stderr: '', stdout: short.stdout});
    expect(alone.stdout.trimEnd().split('\n').length).toBeLessThan(24);
    expect(alone.stdout).toMatch(/MAIN COMMANDS\n( {2}[a-z]+ .*\n){4}\nEXAMPLES\n( {2}\$ mycli [a-z]+.*\n){2}/);
    expect(alone.stdout).toContain('mycli --help');
  });

  test.each([
    [['help', 'bundle', 'push']],
    [['help', 'push']],
    [['bundle', 'push', '--help']],
    [['push', '--help']],
    [['push', '--json', '--help']],
  ])('%j shows all that is to say of bundle:push', async (args) => {
    const {stdout} = await runWarm(args);
    expect(stdout).toBe((await runWarm(['bundle:push', '--help'])).stdout);
  });

  test.each([[['bundle', 'push', '-h']], [['push', '-h']], [['push', '--wait', '-h']]])(
    '%j shows the short help of bundle:push',
    async (args) => {
      const {stdout} = await runWarm(args);
      expect(stdout).toBe((await runWarm(['bundle:push', '-h'])).stdout);
      expect(stdout).toContain('$ mycli push');
    },
  );

  test('has nothing short to say of what is not ours', async () => {
    expect((await runWarm(['plugins', '-h'])).stdout).toContain('--core');
  });

  test.each([
    [['bundel:push', '--help'], 'Did you mean mycli push --help?'],
    [['help', 'bundel:push'], 'Did you mean mycli push --help?'],
    [['help', 'bundle', 'psuh'], 'Did you mean mycli push --help?'],
    [['bundle', 'psuh', '-h'], 'Did you mean mycli push -h?'],
    [['help', 'nothing'], 'Unknown command: nothing\n  Run mycli help to list all commands.'],
  ])('answers %j as an unknown command', async (args, suggestion) => {
    const {code, stdout, stderr} = await runWarm(args);
    expect({code, stdout}).toEqual({code: 2, stdout: ''});
    expect(stderr).toContain(suggestion);
  });
});

describe.each(['-h', '--help'])('%s of every command', (flag) => {
  test.each([40, 60])('fits a terminal of %i columns, with whole words', async (columns) => {
    const shown = vi.spyOn(console, 'log').mockReturnValue();
    onTestFinished(() => shown.mockRestore());
    const root = fileURLToPath(new URL('../../..', import.meta.url));
    const session = () => ({output: {program: ['mycli']}});
    const config = await Config.load({root, userPlugins: false, ...{session}});
    const help = async (id: string, maxWidth: number) => {
      shown.mockClear();
      await new GroupedHelp(config, {...config.pjson.oclif.helpOptions, maxWidth}).showHelp([id, flag]);
      return shown.mock.calls.join('\n');
    };
    for (const id of ['', ...config.topics.map(({name}) => name), ...config.commandIDs]) {
      const text = await help(id, columns);
      // Examples stay on one line, so that users can copy them.
      const lines = text.split('\n').filter((line) => !line.startsWith('  $ mycli '));
      const wide = lines.filter((line) => line.length > columns && line.trim().includes(' '));
      const whole = (await help(id, 1000)).split(/\s+/);
      const cut = text.split(/\s+/).filter((word) => word !== '\\' && !whole.includes(word));
      expect({id, wide, cut}).toEqual({id, wide: [], cut: []});
    }
  });
});

test.skipIf(!hasScript)('-h breaks between words on a narrow terminal', async () => {
  const command = `stty cols 40; '${process.execPath}' '${binary}' push -h`;
  const terminal = openTerminal(command, {cwd: tmpdir(), env: {PATH: process.env['PATH'] ?? '', TERM: 'xterm'}});
  expect(await terminal.ended).toBe(0);
  expect(terminal.shown()).toMatch(/--message=TEXT\s+Bundle description\s/);
  expect(terminal.shown()).toMatch(/and deploy it\r?\nif there is a target\./);
});
