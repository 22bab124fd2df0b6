import {readFile, utimes} from 'node:fs/promises';
import path from 'node:path';
import {describe, expect, test} from 'vitest';
import {shellLine} from '../../src/text/suggest.js';
import {hasScript, openTerminal} from '../cli/pseudo-terminal.js';
import {binary} from '../cli/spawn-cli.js';
import {makeFolder} from '../folder.js';
import {root, run} from './install.js';

describe('prepare', () => {
  /** Runs the script in a clone whose build only says so, as npm does for an install in the folder `initCwd`. */
  async function prepare(
    tree: Readonly<Record<string, string>>,
    initCwd = '.',
    change?: (clone: string) => Promise<void>,
  ): Promise<string> {
    const script = async (name: string) => readFile(path.join(root, 'scripts', name), 'utf8');
    const clone = await makeFolder({
      'package.json': '{"type": "module"}',
      'scripts/prepare.js': await script('prepare.js'),
      'scripts/state-of-dist.js': await script('state-of-dist.js'),
      'scripts/build.js': "console.log('built');",
      ...tree,
    });
    await change?.(clone);
    const env = {...process.env, INIT_CWD: path.resolve(clone, initCwd)};
    const {stdout, stderr} = await run(process.execPath, ['scripts/prepare.js'], {cwd: clone, env});
    return (stdout + stderr).replace(clone, 'CLONE').trim();
  }

  test('builds in a clone, built before or not', async () => {
    expect(await prepare({})).toBe('built');
    expect(await prepare({'dist/index.js': ''})).toBe('built');
    expect(await prepare({'dist/index.js': '', 'docs/a.md': ''}, 'docs')).toBe('built');
  });

  test('builds a clone that another project links only if it has not been built', async () => {
    expect(await prepare({}, '/')).toBe('built');
    expect(await prepare({'dist/index.js': ''}, '/')).toBe('');
    const example = {'dist/index.js': '', 'examples/a/package.json': '{}'};
    expect(await prepare(example, 'examples/a')).toBe('');
    const built = {'src/a.ts': '', 'dist/index.js': '', 'oclif.manifest.json': ''};
    expect(await prepare(built, '/')).toBe('');
  });

  test('is there, with nothing to do, for plugins of a package that plain `npm pack` has packed', async () => {
    const manifest = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as {files: string[]};
    expect(manifest.files.filter((name) => name.startsWith('scripts/'))).toEqual(['scripts/prepare.js']);
    const unpacked = {'dist/index.js': '', 'scripts/state-of-dist.js': 'throw new Error("not packed");'};
    expect(await prepare(unpacked, '/')).toBe('');
  });

  test('says that a linked clone was updated and not built', async () => {
    const stale = {'dist/index.js': '', 'oclif.manifest.json': '', 'src/cli/a.ts': ''};
    const later = new Date(Date.now() + 60_000);
    expect(await prepare(stale, '/', (clone) => utimes(path.join(clone, 'src/cli/a.ts'), later, later))).toBe(
      'dist is older than src. Run npm run build in CLONE.',
    );
  });
});

test('pack: what is not built is not packed', async () => {
  const script = async (name: string) => readFile(path.join(root, 'scripts', name), 'utf8');
  const clone = await makeFolder({
    'package.json': '{"type": "module"}',
    'scripts/pack.js': await script('pack.js'),
    'src/a.ts': '',
  });
  const env = {...process.env, INIT_CWD: clone};
  await expect(run(process.execPath, ['scripts/pack.js'], {cwd: clone, env})).rejects.toMatchObject({
    code: 1,
    stderr: 'There is no build: nothing was packed. Run: npm run build\n',
  });
});

describe.skipIf(!hasScript)('a clone that was updated and not built', () => {
  /** What the binary of a clone prints in a terminal, called in a folder inside it. */
  async function start(names: Readonly<Record<string, string>>, updated: string): Promise<string> {
    const clone = await makeFolder({
      'package.json': '{"type": "module"}',
      'bin/package.json': '{"type": "commonjs"}',
      'bin/run.js': await readFile(binary, 'utf8'),
      'dist/cli/command/compile-cache.js': 'export const keepCompiledCode = () => {};',
      'dist/cli/command/run.js': "export const run = () => console.log('it runs');",
      'src/cli/a.ts': '',
      'oclif.manifest.json': '',
      ...names,
    });
    const later = new Date(Date.now() + 60_000);
    await utimes(path.join(clone, updated), later, later);
    const command = shellLine(process.execPath, '../bin/run.js');
    const terminal = openTerminal(command, {cwd: path.join(clone, 'src'), env: {PATH: process.env['PATH'] ?? ''}});
    expect(await terminal.ended).toBe(0);
    return terminal.shown().replace(clone, 'CLONE').trim();
  }

  test('says so in a terminal, and runs', async () => {
    const script = {'scripts/state-of-dist.js': await readFile(path.join(root, 'scripts/state-of-dist.js'), 'utf8')};
    expect(await start(script, 'src/cli/a.ts')).toMatch(
      /^dist is older than src\. Run npm run build in CLONE\.\s+it runs$/,
    );
    expect(await start(script, 'oclif.manifest.json')).toBe('it runs');
  });

  test.each([
    ['has no scripts', {}],
    ['was packed by npm itself, and has one', {'scripts/prepare.js': ''}],
  ])('is no matter of an installed package that %s', async (_, scripts) => {
    expect(await start(scripts, 'src/cli/a.ts')).toBe('it runs');
  });
});
