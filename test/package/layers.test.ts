import {execFile} from 'node:child_process';
import {cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {promisify} from 'node:util';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');

interface Cruise {
  readonly summary: {
    readonly totalCruised: number;
    readonly violations: readonly {readonly from: string; readonly rule: {readonly name: string}}[];
    readonly ruleSetUsed: {readonly forbidden: readonly {readonly name: string}[]};
  };
}

/** Cruises src/ of `folder` with the project's rules. */
async function cruise(folder: string): Promise<Cruise['summary']> {
  const depcruise = path.join(root, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
  const run = promisify(execFile)(
    process.execPath,
    [depcruise, '--config', path.join(root, '.dependency-cruiser.js'), '--output-type', 'json', 'src'],
    {cwd: folder, maxBuffer: 64 * 1024 * 1024},
  );
  // It exits with the number of violations, and prints the same report.
  const {stdout} = await run.catch((error: unknown) => error as {stdout: string});
  return (JSON.parse(stdout) as Cruise).summary;
}

/** Every rule with a file that breaks it and what the file imports. */
const planted: readonly (readonly [rule: string, file: string, content: string])[] = [
  ['layer-errors', 'src/errors/planted.ts', `import '../bundle/target.js';`],
  ['layer-version', 'src/version.ts', `import './errors/planted.js';`],
  ['layer-config', 'src/config.ts', `import './errors/planted.js';`],
  ['layer-modules', 'src/modules/planted.ts', `import '../bundle/target.js';`],
  ['layer-files', 'src/files/planted.ts', `import '../bundle/target.js';`],
  ['layer-bundle', 'src/bundle/planted.ts', `import '../http/target.js';`],
  ['layer-http', 'src/http/planted.ts', `import '../bundle/target.js';`],
  ['layer-contract', 'src/backends/contract.ts', `import './api/target.js';`],
  ['types-only-contract', 'src/backends/contract.ts', `import '../http/target.js';`],
  ['layer-wire', 'src/backends/answers.ts', `import './api/target.js';`],
  ['types-only-wire', 'src/backends/answers.ts', `import '../bundle/target.js';`],
  ['layer-api', 'src/backends/api/planted.ts', `import '../legacy/target.js';`],
  ['types-only-api', 'src/backends/api/planted.ts', `import '../../bundle/target.js';`],
  ['layer-legacy', 'src/backends/legacy/planted.ts', `import '../api/target.js';`],
  ['types-only-legacy', 'src/backends/legacy/planted.ts', `import '../../bundle/target.js';`],
  ['layer-backends', 'src/backends/planted.ts', `import '../operations/target.js';`],
  ['types-only-backends', 'src/backends/planted.ts', `import '../bundle/target.js';`],
  ['layer-operations', 'src/operations/planted.ts', `import '../progress/target.js';`],
  ['types-only-operations', 'src/operations/planted.ts', `await import('../http/target.js');`],
  ['layer-html', 'src/html/planted.ts', `import '../cli/target.js';`],
  ['types-only-html', 'src/html/planted.ts', `import '../operations/target.js';`],
  ['layer-progress', 'src/progress/planted.ts', `import '../cli/target.js';`],
  ['types-only-progress', 'src/progress/planted.ts', `import '../operations/target.js';`],
  ['layer-cli', 'src/cli/planted.ts', `import '../commands/bundle/target.js';`],
  ['types-only-cli', 'src/cli/planted.ts', `import '../operations/target.js';`],
  ['layer-commands', 'src/commands/bundle/planted.ts', `import '../../local-runtime/target.js';`],
  ['types-only-commands', 'src/commands/bundle/planted.ts', `import '../../bundle/target.js';`],
  ['layer-runtimeCommands', 'src/commands/runtime/planted.ts', `import '../bundle/target.js';`],
  ['types-only-runtimeCommands', 'src/commands/runtime/planted.ts', `import '../../http/target.js';`],
  ['layer-testing', 'src/testing/planted.ts', `import '../index.js';`],
  ['layer-index', 'src/index.ts', `import './testing/target.js';`],
  ['owner-got', 'src/operations/planted.ts', `import type {Got} from 'got'; export type Client = Got;`],
  ['owner-archiver', 'src/http/planted.ts', `await import('archiver');`],
  ['owner-fast-glob', 'src/http/planted.ts', `await import('fast-glob');`],
  ['owner-jiti', 'src/bundle/planted.ts', `await import('jiti');`],
  ['owner-listr2', 'src/commands/bundle/planted.ts', `await import('listr2');`],
  ['owner-@oclif/core', 'src/progress/planted.ts', `import '@oclif/core';`],
  ['types-only-@oclif/core', 'src/commands/planted.ts', `import '@oclif/core';`],
  ['owner-busboy', 'src/http/planted.ts', `await import('busboy');`],
  ['owner-mime', 'src/http/planted.ts', `await import('mime');`],
  ['no-circular', 'src/modules/round.ts', `import type {Trip} from './trip.js'; export type Round = Trip;`],
  ['not-to-unresolvable', 'src/errors/planted.ts', `import './missing.js';`],
];

const targets = ['bundle', 'http', 'backends/api', 'backends/legacy', 'operations', 'progress', 'cli', 'testing'];

describe('the layers', () => {
  let folder: string;
  let violations: readonly string[];
  let rules: readonly string[];

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'mycli-layers-'));
    await symlink(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
    for (const name of ['package.json', 'tsconfig.json']) await cp(path.join(root, name), path.join(folder, name));
    const files = new Map(targets.map((target) => [`src/${target}/target.ts`, 'export const target = 1;']));
    files.set('src/commands/bundle/target.ts', 'export const target = 1;');
    files.set('src/modules/trip.ts', `import type {Round} from './round.js'; export type Trip = Round;`);
    files.set(
      'src/operations/allowed.ts',
      `import type {target} from '../http/target.js'; export type T = typeof target;`,
    );
    for (const [, file, content] of planted) files.set(file, `${files.get(file) ?? ''}\n${content}`);
    for (const [file, content] of files) {
      await mkdir(path.dirname(path.join(folder, file)), {recursive: true});
      await writeFile(path.join(folder, file), content);
    }
    const summary = await cruise(folder);
    violations = summary.violations.map(({from, rule}) => `${rule.name} ${from}`);
    rules = summary.ruleSetUsed.forbidden.map(({name}) => name);
  });

  afterAll(() => rm(folder, {recursive: true, force: true}));

  test('are kept by every file of src', async () => {
    const files = await readdir(path.join(root, 'src'), {recursive: true});
    const {totalCruised, violations: found} = await cruise(root);
    expect(found).toEqual([]);
    expect(totalCruised).toBeGreaterThanOrEqual(files.filter((file) => file.endsWith('.ts')).length);
  });

  test.each(planted)('%s is violated by what is planted in %s', (rule, file) => {
    expect(violations).toContain(`${rule} ${file}`);
  });

  test('have no rule without a planted violation', () => {
    expect(new Set(planted.map(([rule]) => rule))).toEqual(new Set(rules));
  });

  test('allow types where only types are allowed', () => {
    expect(violations.filter((violation) => violation.includes('src/operations/allowed.ts'))).toEqual([]);
  });
});
