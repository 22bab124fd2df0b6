import type {Stats} from 'node:fs';
import {stat} from 'node:fs/promises';
import {dirname, join, relative, sep} from 'node:path';
import {createError, type Suggestion} from '../../errors/index.js';
import {dataFiles, dataFolders, dataMarks} from '../../files/own-files.js';
import {builtSites} from '../../projects/built-sites.js';
import {detectBuild, isBuildOf, type DetectedBuild} from '../../projects/detect-build.js';
import {namesIn} from '../../projects/read-project.js';
import {unfitError, type Places} from '../../projects/unfit-build.js';
import {reasonOf, systemCode} from '../../errors/system-failure.js';
import {folderFrom} from '../../text/paths.js';

/** @throws RuntimeCliError `ERR_BUILD_DIRECTORY` suggesting the builds of the project. */
export async function verifyBuildDirectory(directory: string, places: Places): Promise<void> {
  let stats: Stats;
  try {
    stats = await stat(directory);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') throw await missingError(directory, places);
    throw createError('ERR_BUILD_DIRECTORY', `The build folder ${directory} can't be read: ${reasonOf(error)}.`, {
      cause: error,
    });
  }
  const names = await namesIn(directory);
  const isData = dataMarks.every((mark) => names.includes(mark));
  if (stats.isDirectory() && !isData) return;
  const what = isData ? 'has the data of a local runtime, which is never pushed' : 'is a file';
  throw createError('ERR_BUILD_DIRECTORY', `The build folder ${directory} ${what}.`, {
    suggestions: [
      isData
        ? `Remove ${[...dataFolders, ...dataFiles].join(', ')} from it, and start the runtime with another --data.`
        : 'Set buildDirectory to the folder that the application builds into.',
    ],
  });
}

async function missingError(
  directory: string,
  {cwd, shell = cwd, project: given, command = ['bundle:push']}: Places,
): Promise<Error> {
  const isInside = directory.startsWith(`${given}${sep}`);
  const isOfFolderAbove = await isBuildOf(dirname(directory), directory);
  const ofProject = isInside && !isOfFolderAbove ? await detectBuild(given) : undefined;
  const project = ofProject === undefined ? dirname(directory) : given;
  const detected = ofProject ?? (await detectBuild(project));
  if (detected?.unfit !== undefined) return unfitError(detected.unfit, {cwd, project, command});
  const show = (folder: string) => folderFrom(cwd, join(project, folder));
  // The pages of a server that nothing builds are no site.
  const isServer = detected?.framework !== undefined && detected.buildCommand === undefined;
  const sites = isInside && detected?.exists !== true && !isServer ? await builtSites(given) : [];
  const toUse = (found: string, folder: string, or = '. To use it, run '): Suggestion =>
    command.length === 0 ? `${found}.` : [found, or, {run: [...command, folder], again: true}];
  const isWanted = detected !== undefined && join(project, detected.buildDirectory) === directory;
  return createError('ERR_BUILD_DIRECTORY', `The build folder ${directory} does not exist.`, {
    suggestions: [
      ...sites.map((site) => toUse(`${show(site)} looks like a site that was built`, show(site))),
      ...suggestionsFor(detected, {place: relative(shell, project), isWanted, show, toUse}),
    ],
  });
}

/** What a server that nothing builds needs. */
export function buildScriptAdvice(folder: string): string {
  return (
    'package.json has no build script. Write one that puts these into ' +
    `${folder}: an ssr.js that exports the app, its packages, its public files (docs/guides/frameworks.md, What a server needs).`
  );
}

interface Advising {
  /** Where to build the application: empty if users are there. */
  readonly place: string;
  /** Whether the missing folder is the one that the framework builds into. */
  readonly isWanted: boolean;
  readonly show: (folder: string) => string;
  readonly toUse: (found: string, folder: string, or?: string) => Suggestion;
}

function suggestionsFor(
  detected: DetectedBuild | undefined,
  {place, isWanted, show, toUse}: Advising,
): readonly Suggestion[] {
  if (detected === undefined) {
    const advice = 'Build the application first. If it builds into another folder, set buildDirectory in mycli.config';
    return [toUse(advice, 'DIR', ', or run ')];
  }
  const {framework, buildDirectory, buildCommand, exists, static: isStatic} = detected;
  const folder = show(buildDirectory);
  const where = place === '' ? '' : `, in ${place}`;
  if (!exists && framework !== undefined) {
    return [
      buildCommand === undefined ? buildScriptAdvice(folder) : `Build the application first${where}: ${buildCommand}`,
      ...(isWanted ? [] : [toUse(`${framework.name} builds into ${folder}`, folder)]),
    ];
  }
  return [
    toUse(`The folder ${folder} looks like a ${isStatic ? 'static site' : 'build'}`, folder),
    'To use it always, set buildDirectory in mycli.config.',
  ];
}
