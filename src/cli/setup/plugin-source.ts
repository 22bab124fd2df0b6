import {existsSync} from 'node:fs';
import {access, constants, cp, mkdir, rename} from 'node:fs/promises';
import {isAbsolute, join, resolve} from 'node:path';
import {pathToFileURL} from 'node:url';
import {amendError, createError} from '../../errors/index.js';
import {outputError} from '../../errors/system-failure.js';
import {createSweptDirectory} from '../../files/temporary-directory.js';
import {homeVariable} from '../../text/platform.js';
import {decoded} from '../../text/percent-encoding.js';
import {asSentence} from '../../text/sentence.js';
import {packageProblem} from '../command/plugins.js';
import type {Session} from '../command/session.js';
import {confirm, isAttended} from './prompts.js';

export interface PluginSource {
  /** What oclif takes for the same. */
  readonly spec: string;
  /** Where it comes from, unless that is the registry. */
  readonly from?: string | undefined;
}

/** Where a plugin comes from. What exists here, or looks like a path, is never the repository of a stranger. */
export function locatePlugin(name: string, cwd: string): PluginSource {
  const given = resolve(cwd, name.replace(/^file:(?:\/\/(?:\/(?=\w:))?)?/, ''));
  const path = name.startsWith('file://') && !existsSync(given) ? (decoded(given) ?? given) : given;
  // npm takes what it gets for a path after `file://`, where `%20` would be a name.
  if (existsSync(path)) return {spec: decodeURIComponent(pathToFileURL(path).href), from: path};
  if (name.startsWith('file:') || name.startsWith('.') || isAbsolute(name))
    throw createError('ERR_USAGE', `${path} does not exist.`, {
      suggestions: ['Pass a package, or a folder that exists.'],
    });
  if (/^@[^/]+\/[^/]+$/.test(name) || !/[/:]/.test(name)) return {spec: name};
  return {spec: name, from: name.includes(':') ? name : `https://github.com/${name}`};
}

export function requirePlugin(folder: string): void {
  const problem = packageProblem(folder);
  if (problem === undefined) return;
  throw createError('ERR_USAGE', `This is not a plugin: ${problem}.`, {
    suggestions: ['Pass the folder of a plugin, which has a package.json with "oclif".'],
  });
}

/** Says what does not come from the registry, and asks in a terminal. */
export async function confirmSources(sources: readonly PluginSource[], session: Session): Promise<void> {
  const {output} = session;
  const places = sources.flatMap(({from}) => from ?? []).join(' and ');
  if (places === '') return;
  const what = asSentence(`Not from the registry: installing ${places}`);
  if (!isAttended(session)) output.info(what);
  else
    await confirm(
      `${what} Its code will run with your permissions. Install it?`,
      'Cancelled. Nothing was installed.',
      session,
    );
}

/** Requires the folder of plugins to be writable: oclif would only quote the system. */
export async function requireDataFolder(directory: string): Promise<void> {
  try {
    await mkdir(directory, {recursive: true});
    await access(directory, constants.W_OK);
  } catch (error) {
    const advice = `Plugins are stored in ${homeVariable}, or in XDG_DATA_HOME if it is set. Make it writable.`;
    throw amendError(outputError(directory, error), {advice: [advice]});
  }
}

/** How long npm may take to end after an interrupt, which it gets from the terminal, too. */
const npmEndsMs = 300;

/**
 * Installs plugins. If that fails or is interrupted, those that were there are again: oclif removes the version that
 * worked, and what it would do after an interrupt takes longer than a command may.
 */
export async function installOrRestore(
  dataDirectory: string,
  signal: AbortSignal,
  install: () => Promise<void>,
): Promise<void> {
  await requireDataFolder(dataDirectory);
  const before = await createSweptDirectory(dataDirectory);
  const names = ['package.json', 'package-lock.json', 'node_modules'].map((name) => ({
    now: join(dataDirectory, name),
    then: join(before.path, name),
  }));
  for (const {now, then} of names.filter((name) => existsSync(name.now)))
    await cp(now, then, {recursive: true, verbatimSymlinks: true});
  const interrupted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => setTimeout(() => reject(signal.reason as Error), npmEndsMs));
  });
  try {
    await Promise.race([install(), interrupted]);
  } catch (error) {
    for (const {now, then} of names) {
      // A large folder is quicker moved than removed.
      if (existsSync(now)) await rename(now, `${then}.failed`);
      if (existsSync(then)) await rename(then, now);
    }
    throw error;
  } finally {
    await before.remove();
  }
}
