import {dirname, join, relative, resolve, sep} from 'node:path';
import {createError} from '../../errors/index.js';
import {applicationsBelow, certainBuild} from '../../projects/detect-build.js';
import {unfitError, withoutFolder, type Places} from '../../projects/unfit-build.js';
import {listPaths} from '../../text/entry-names.js';
import {folderFrom} from '../../text/paths.js';
import {configIn} from '../settings/config-file.js';
import {isTyped, type Settings} from '../settings/settings.js';

/**
 * Refuses the build of a project below this folder that has a configuration of its own, unless the run names the
 * project that gets it, or the configuration the build.
 */
export async function refuseBuildBelow(
  {projectSlug, buildDirectory, projectDirectory}: Settings,
  {cwd, command = ['bundle:push']}: Pick<Places, 'cwd' | 'command'>,
  build?: string,
): Promise<void> {
  if (isTyped(projectSlug)) return;
  const path = build === undefined ? [buildDirectory, projectDirectory].find(isTyped)?.value : resolve(cwd, build);
  if (path === undefined || (path === buildDirectory.value && buildDirectory.source.kind === 'config')) return;
  for (let project = path; project.startsWith(join(cwd, sep)); project = dirname(project)) {
    if ((await configIn(project).catch(() => undefined)) === undefined) continue;
    const name = folderFrom(cwd, project);
    const run = project === path ? withoutFolder(command) : [...command, folderFrom(project, path)];
    throw createError('ERR_USAGE', `${folderFrom(cwd, path)} belongs to the project in ${name}.`, {
      suggestions: [['Run ', {run, again: true, project: name}]],
    });
  }
}

/** Refuses to push the root of a workspace, whose members are what can be pushed. */
export async function refuseRoot(cwd: string): Promise<void> {
  const names = await applicationsBelow(cwd);
  const [first] = names;
  if (first === undefined) return;
  const message = `This is the root of a workspace with applications in ${listPaths(names)}.`;
  const choose = ['Choose one of them: run ', {run: ['bundle:push'], again: true, project: first}];
  const setUp = ['To set up the root instead, run ', {run: ['init']}];
  throw createError('ERR_BUILD_DIRECTORY', message, {suggestions: [choose, setUp]});
}

/** Refuses the folder of a project as what to push if another is known to be its build. */
export async function refuseSources(
  given: string,
  {buildDirectory: {value, source}, ssrOnly, ssrShared}: Settings,
  {cwd, command = ['bundle:push']}: Pick<Places, 'cwd' | 'command'>,
): Promise<void> {
  const project = resolve(cwd, given);
  const isSet = source.kind === 'config' && join(value, sep).startsWith(join(project, sep));
  // Patterns say what is the server's, so there may be one in the sources.
  const detected = isSet || (ssrOnly ?? ssrShared) !== undefined ? undefined : await certainBuild(project);
  const build = isSet ? value : detected && resolve(project, detected.buildDirectory);
  if (build === undefined || build === project) return;
  const name = project === cwd ? 'This folder' : folderFrom(cwd, project);
  const problem = `${name} has the sources of a project, whose build is in ${folderFrom(cwd, build)}.`;
  const sources = {problem, advice: 'To use it, run', instead: {folder: relative(project, build)}};
  throw unfitError(detected?.unfit ?? sources, {cwd, project, command});
}
