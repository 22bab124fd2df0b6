import {statSync} from 'node:fs';
import {mkdir, mkdtemp, realpath, rm, stat, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {onTestFinished} from 'vitest';

/** What a folder of a test holds: contents by path. */
export type Tree = Readonly<Record<string, string | Buffer>>;

/** Makes a folder that is gone when the test has ended, also in `beforeEach`. */
export async function makeFolder(tree: Tree = {}, onFinished = onTestFinished): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'mycli-test-')));
  // A process that a test has killed may still be writing.
  onFinished(() => rm(folder, {recursive: true, force: true, maxRetries: 10}));
  await writeTree(folder, tree);
  return folder;
}

/** Whether users other than the tester may enter a folder. */
export function isForAll(folder: string): boolean {
  const {mode} = statSync(folder);
  return (mode & 0o1) !== 0 && (dirname(folder) === folder || isForAll(dirname(folder)));
}

/** The folder for temporary files, or another one if only the tester may enter it. */
export function sharedTemporary(): string {
  return [tmpdir(), '/tmp', '/var/tmp'].find((folder) => isForAll(folder)) ?? tmpdir();
}

/** Writes files below a folder. */
export async function writeTree(folder: string, tree: Tree): Promise<void> {
  for (const [path, content] of Object.entries(tree)) {
    const file = join(folder, path);
    await mkdir(dirname(file), {recursive: true});
    await writeFile(file, content);
  }
}

/** What the tester's umask leaves of the permissions of a new file. */
export async function masked(mode: number): Promise<number> {
  const file = join(await makeFolder(), 'file');
  await writeFile(file, '', {mode});
  return (await stat(file)).mode & 0o777;
}

/** A pattern that matches a text, such as a path, and nothing else. */
export function literally(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
}
