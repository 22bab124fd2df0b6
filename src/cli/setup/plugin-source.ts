import {existsSync} from 'node:fs';
import {isAbsolute, resolve} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {createError} from '../../errors/index.js';
import {asSentence} from '../../text/sentence.js';
import type {Session} from '../command/session.js';
import {confirm, isAttended} from './prompts.js';

export interface PluginSource {
  /** What oclif takes for the same. */
  readonly spec: string;
  /** Where it comes from, unless that is the registry. */
  readonly from?: string | undefined;
}

/**
 * Where a plugin to install comes from. What exists here is meant, and so is what looks like a path: never the
 * repository of a stranger that has the same name.
 * @throws RuntimeCliError `ERR_USAGE` when there is nothing at a path.
 */
export function locatePlugin(name: string, cwd: string): PluginSource {
  const path = pathOf(name, cwd);
  // npm takes what it gets for a path after `file://`, where `%20` would be a name.
  if (existsSync(path)) return {spec: decodeURIComponent(pathToFileURL(path).href), from: path};
  if (name.startsWith('file:') || name.startsWith('.') || isAbsolute(name))
    throw createError('ERR_USAGE', `${path} does not exist.`, {
      suggestions: ['Pass a package, or a folder that is there.'],
    });
  if (/^@[^/]+\/[^/]+$/.test(name) || !/[/:]/.test(name)) return {spec: name};
  return {spec: name, from: name.includes(':') ? name : `https://github.com/${name}`};
}

/** A path, or what a URL of a file names: with `%20` for a blank, or as people type it. */
function pathOf(name: string, cwd: string): string {
  const path = resolve(cwd, name.replace(/^file:(?:\/\/)?/, ''));
  if (!name.startsWith('file://') || existsSync(path)) return path;
  try {
    return fileURLToPath(name);
  } catch {
    return path;
  }
}

/**
 * Says what does not come from the registry, and asks in a terminal.
 * @throws RuntimeCliError `ERR_USAGE` if the answer is no.
 */
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
