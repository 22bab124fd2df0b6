import {mkdir, mkdtemp, rm} from 'node:fs/promises';
import path from 'node:path';
import {build} from 'rolldown';
import {onTestFinished} from 'vitest';

const root = path.resolve(import.meta.dirname, '..');

/**
 * Compiles a module of the sources into one file, for a process of its own: it starts at once, where a loader of
 * TypeScript takes seconds. Packages are those of the repository. The file is gone when the test has ended.
 */
export async function compiled(module: string): Promise<string> {
  await mkdir(path.join(root, 'coverage'), {recursive: true});
  const folder = await mkdtemp(path.join(root, 'coverage/compiled-'));
  onTestFinished(() => rm(folder, {recursive: true, force: true}));
  const file = path.join(folder, 'module.mjs');
  // What is neither relative nor absolute is a package.
  await build({
    input: path.resolve(root, module),
    platform: 'node',
    external: /^[^./]/,
    output: {file, codeSplitting: false},
    logLevel: 'warn',
  });
  return file;
}
