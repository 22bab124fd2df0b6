import type {Stats} from 'node:fs';
import {readdir, stat} from 'node:fs/promises';
import {dirname, join, relative} from 'node:path';
import {createError} from '../../errors/index.js';
import {reasonOf, systemCode} from '../../errors/system-failure.js';

/** Folders that frameworks build into, the most distinctive first. */
const outputFolders = ['.next/standalone', '.output', 'build', 'dist', 'out', '_site'];

/** Finds the folders in a project that look like builds: those that frameworks use and that are not empty. */
export async function findBuildOutputs(projectDirectory: string): Promise<readonly string[]> {
  const entries = await Promise.all(
    outputFolders.map((folder) => readdir(join(projectDirectory, folder)).catch((): string[] => [])),
  );
  return outputFolders.filter((_, index) => entries[index]?.some((name) => name !== '.gitignore'));
}

/**
 * Verifies that the build directory exists. If it does not, the error suggests the builds next to it.
 * @param cwd The directory that suggested paths are relative to.
 * @throws RuntimeCliError `ERR_BUILD_DIRECTORY`.
 */
export async function verifyBuildDirectory(directory: string, cwd: string): Promise<void> {
  let stats: Stats;
  try {
    stats = await stat(directory);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') throw await missingError(directory, cwd);
    throw createError('ERR_BUILD_DIRECTORY', `The build directory ${directory} can't be read: ${reasonOf(error)}.`, {
      cause: error,
    });
  }
  if (stats.isDirectory()) return;
  throw createError('ERR_BUILD_DIRECTORY', `The build directory ${directory} is a file.`, {
    suggestions: ['Pass the folder with --build-directory DIR.'],
  });
}

async function missingError(directory: string, cwd: string): Promise<Error> {
  const project = dirname(directory);
  const found = await findBuildOutputs(project);
  const hints = await Promise.all(
    (found.length > 0 ? found : ['.']).map(async (folder) => {
      const path = relative(cwd, join(project, folder)) || '.';
      const isSite = await isStaticBuild(join(project, folder));
      if (folder === '.' && !isSite) return [];
      const flags = `${isSite ? '--static ' : ''}--build-directory ${path}`;
      return [
        `The folder ${path} looks like a ${isSite ? 'static site' : 'build'}. To use it, pass ${flags}${path === '.' ? '' : '.'}`,
      ];
    }),
  );
  const suggestions = hints.flat();
  return createError('ERR_BUILD_DIRECTORY', `The build directory ${directory} does not exist.`, {
    suggestions: [
      ...suggestions,
      suggestions.length > 0
        ? 'Or set buildDirectory in mycli.config.'
        : 'Build the application first, or pass the folder it builds into with --build-directory DIR.',
    ],
  });
}

/** Whether a build is a site without server code. */
export async function isStaticBuild(directory: string): Promise<boolean> {
  const names = await readdir(directory).catch((): string[] => []);
  return names.includes('index.html') && !['ssr.js', 'ssr.mjs', 'server'].some((name) => names.includes(name));
}
