import {execFile} from 'node:child_process';
import {mkdir, readdir, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {promisify} from 'node:util';

/** Runs a program to its end; rejects when it fails. */
export const run = promisify(execFile);

/** The repository. */
export const root = path.resolve(import.meta.dirname, '../..');
/** The example plugin that the packed host is tested with. */
const directoryPlugin = path.join(root, 'examples/mycli-plugin-directory');

/** Packs mycli, built already, into the new folder `destination`. Resolves to the tarball. */
export async function packHost(destination: string): Promise<string> {
  await run('npm', ['run', 'pack', '--', destination], {cwd: root});
  return tarballIn(destination);
}

async function tarballIn(destination: string): Promise<string> {
  const tarball = (await readdir(destination)).find((name) => name.endsWith('.tgz')) ?? 'no tarball';
  return path.join(destination, tarball);
}

/** Builds the example plugin, which nothing else does, and packs it. */
export async function packDirectoryPlugin(destination: string): Promise<string> {
  await mkdir(destination, {recursive: true});
  await run('npm', ['run', 'build'], {cwd: directoryPlugin});
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', destination], {cwd: directoryPlugin});
  return tarballIn(destination);
}

/** As the careful install: no script of any package runs. */
export const installOptions = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];

/** Installs packages into the new or empty folder `folder`. */
export async function install(folder: string, ...tarballs: readonly string[]): Promise<void> {
  await mkdir(folder, {recursive: true});
  await writeFile(path.join(folder, 'package.json'), '{"private": true, "type": "module"}');
  await run('npm', ['install', ...installOptions, ...tarballs], {cwd: folder});
}

/** Variables that keep what mycli and oclif write below `folder`. */
export function foldersOf(folder: string): Readonly<Record<string, string>> {
  return {
    HOME: folder,
    MYCLI_DATA_DIR: path.join(folder, 'data'),
    MYCLI_CONFIG_DIR: path.join(folder, 'config'),
    MYCLI_CACHE_DIR: path.join(folder, 'cache'),
  };
}
