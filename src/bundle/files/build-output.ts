import type {Stats} from 'node:fs';
import {stat} from 'node:fs/promises';
import {dirname, join, relative, sep} from 'node:path';
import {createError} from '../../errors/index.js';
import {detectBuild, type DetectedBuild} from '../../projects/detect-build.js';
import {unfitError} from '../../projects/unfit-build.js';
import {reasonOf, systemCode} from '../../errors/system-failure.js';

interface Places {
  /** The directory that suggested paths are relative to. */
  readonly cwd: string;
  /** That of the application. */
  readonly project: string;
}

/**
 * Verifies that the build directory exists. If it does not, the error suggests the builds of its project.
 * @throws RuntimeCliError `ERR_BUILD_DIRECTORY`.
 */
export async function verifyBuildDirectory(directory: string, places: Places): Promise<void> {
  let stats: Stats;
  try {
    stats = await stat(directory);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') throw await missingError(directory, places);
    throw createError('ERR_BUILD_DIRECTORY', `The build directory ${directory} can't be read: ${reasonOf(error)}.`, {
      cause: error,
    });
  }
  if (stats.isDirectory()) return;
  throw createError('ERR_BUILD_DIRECTORY', `The build directory ${directory} is a file.`, {
    suggestions: ['Pass the folder with --build-directory DIR.'],
  });
}

async function missingError(directory: string, {cwd, project: given}: Places): Promise<Error> {
  const isInside = directory.startsWith(`${given}${sep}`);
  const ofProject = isInside ? await detectBuild(given) : undefined;
  const project = ofProject === undefined ? dirname(directory) : given;
  const detected = ofProject ?? (await detectBuild(project));
  if (detected?.unfit !== undefined) return unfitError(detected.unfit);
  return createError('ERR_BUILD_DIRECTORY', `The build directory ${directory} does not exist.`, {
    suggestions: suggestionsFor(detected, {
      isWanted: detected !== undefined && join(project, detected.buildDirectory) === directory,
      show: (folder) => relative(cwd, join(project, folder)) || '.',
    }),
  });
}

/** @param isWanted Whether the missing folder is the one that the framework builds into. */
function suggestionsFor(
  detected: DetectedBuild | undefined,
  {isWanted, show}: {readonly isWanted: boolean; readonly show: (folder: string) => string},
): readonly string[] {
  if (detected === undefined) {
    return ['Build the application first, or pass the folder it builds into with --build-directory DIR.'];
  }
  const {framework, buildDirectory, buildCommand, exists, static: isStatic} = detected;
  const folder = show(buildDirectory);
  // Not followed by a full stop where it would read as part of the path.
  const flags = `${isStatic ? '--static ' : ''}--build-directory ${folder}${folder === '.' ? '' : '.'}`;
  if (!exists && framework !== undefined) {
    return [
      buildCommand === undefined
        ? `package.json has no build script. Write one that puts an ssr.mjs which exports the app, its packages and its ` +
          `public files into ${folder} (docs/guides/frameworks.md, What a server needs).`
        : `Build the application first: ${buildCommand}.`,
      ...(isWanted ? [] : [`${framework.name} builds into ${folder}. To push it, pass ${flags}`]),
    ];
  }
  return [
    `The folder ${folder} looks like a ${isStatic ? 'static site' : 'build'}. To use it, pass ${flags}`,
    'Or set buildDirectory in mycli.config.',
  ];
}
