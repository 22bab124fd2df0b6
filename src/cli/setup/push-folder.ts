import {stat} from 'node:fs/promises';
import {dirname, resolve} from 'node:path';
import {v2Defaults} from '../../settings/schemas.js';
import {createError} from '../../errors/index.js';
import {shellLine} from '../../text/suggest.js';
import {exists} from '../../files/read-file.js';
import {isLikelySecret} from '../../http/redact.js';
import {detectBuild, isBuildOf, isStaticBuild} from '../../projects/detect-build.js';
import {unfitError} from '../../projects/unfit-build.js';
import type {CommandContext} from '../command/command-context.js';
import {leaveOutDashes, passSecret} from '../command/error-report.js';
import {isTyped, type Settings} from '../settings/settings.js';
import {refuseSources} from './wrong-folder.js';

const configs = ['config.server.ts', 'config.server.js', 'config.server.mjs'];

interface PushContext {
  readonly cwd: string;
  readonly output: Pick<CommandContext['output'], 'info'>;
  /** The words before the folder. Empty: it is given for no other to take its place. @default bundle:push */
  readonly command?: readonly string[];
}

/**
 * The settings with the folder to push: the argument, else the configured one, else the one that the framework of the
 * project builds into. A site without server code is pushed as one, unless something says which files are for the
 * server.
 */
export async function withPushFolder(
  settings: Settings,
  argument: string | undefined,
  {cwd, output, command = ['bundle:push']}: PushContext,
): Promise<Settings> {
  if (argument !== undefined) {
    const value = await givenFolder(argument, settings, cwd, command[0] !== 'bundle:build');
    if (command.length > 0) await refuseSources(value, settings, {cwd, command});
    return withStatic({...settings, buildDirectory: {value, source: {kind: 'flag', name: 'DIR'}}}, output);
  }
  const project = settings.projectDirectory.value;
  const {value: usual, source} = settings.buildDirectory;
  if (isTyped(settings.buildDirectory)) await refuseSources(usual, settings, {cwd, command});
  if (source.kind !== 'default') return withStatic(settings, output);
  const detected = await detectBuild(project);
  if (detected === undefined || detected.isGuess === true) return withStatic(settings, output);
  const {framework, exists: isBuilt, unfit, buildDirectory} = detected;
  const value = resolve(project, buildDirectory);
  const isChosen = [settings.static, settings.ssrOnly, settings.ssrShared].some((setting) => setting !== undefined);
  const isKnown = framework !== undefined || (detected.static && !isChosen);
  const isFit = isBuilt && isKnown && (unfit === undefined || value === usual);
  if (!isFit && (await isFolder(usual))) return withStatic(settings, output);
  if (!isBuilt && framework === undefined) return withStatic(settings, output);
  if (unfit !== undefined) throw unfitError(unfit, {cwd, project, command});
  if (isBuilt && value !== usual) {
    output.info(`Using ${buildDirectory}, the build of ${framework?.name ?? 'this project'}.`);
  }
  return withStatic({...settings, buildDirectory: {value, source: {kind: 'default', name: 'detected'}}}, output);
}

async function givenFolder(
  argument: string,
  {buildDirectory, projectDirectory, projectSlug, message}: Settings,
  cwd: string,
  takesTarget: boolean,
): Promise<string> {
  if (buildDirectory.source.kind === 'flag') {
    throw createError('ERR_USAGE', 'Pass the build folder once: as an argument or with --build-directory.');
  }
  const path = resolve(cwd, argument);
  const verb = takesTarget ? 'push' : 'bundle';
  if (await isFolder(path)) return path;
  // What builds it is said where it is missing.
  for (const project of [projectDirectory.value, dirname(path)]) if (await isBuildOf(project, path)) return path;
  if (await exists(path)) {
    throw createError('ERR_USAGE', `${argument} is not a folder.`, {
      suggestions: [`If it is an archive, pass ${shellLine('--archive', argument)}.`],
    });
  }
  if (argument.startsWith('-'))
    throw createError('ERR_USAGE', `There is no folder ${argument} to ${verb}.`, {suggestions: [leaveOutDashes]});
  if (isLikelySecret(argument))
    throw createError('ERR_USAGE', `There is no such folder to ${verb}.`, {suggestions: [passSecret]});
  const passAs = (name: string) => `If it is the ${name}, pass ${shellLine(`--${name}`, argument)}.`;
  const asMessage = message?.source.kind === 'flag' ? ['If it is a part of the message, quote the whole message.'] : [];
  const asTarget = takesTarget ? passAs('target') : 'If it is a target, leave it out: a build has none.';
  throw createError('ERR_USAGE', `There is no folder ${argument} to ${verb}.`, {
    suggestions: argument.includes('/')
      ? ['Pass the build folder.']
      : [...asMessage, asTarget, ...(projectSlug === undefined ? [passAs('project')] : [])],
  });
}

/** Whether a build is a site is only looked at if neither a setting nor a configuration of project or build tells. */
async function withStatic(settings: Settings, output: Pick<CommandContext['output'], 'info'>): Promise<Settings> {
  const {static: given, ssrOnly, ssrShared, buildDirectory, projectDirectory} = settings;
  if (given !== undefined || ssrOnly !== undefined || ssrShared !== undefined) return settings;
  const build = buildDirectory.value;
  const own = [projectDirectory.value, build].flatMap((folder) => configs.map((name) => resolve(folder, name)));
  const isConfigured = await Promise.all(
    [...own, resolve(build, settings.configPath?.value ?? v2Defaults.configPath)].map(exists),
  );
  if (isConfigured.includes(true) || !(await isStaticBuild(build, projectDirectory.value))) return settings;
  output.info(
    'The build has no server code: bundling it as a static site. To choose, pass --static or --ssr-only GLOB.',
  );
  return {...settings, static: {value: true, source: {kind: 'default', name: 'detected'}}};
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
}
