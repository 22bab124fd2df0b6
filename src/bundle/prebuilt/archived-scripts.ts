import {buffer} from 'node:stream/consumers';
import {exists} from '../../files/read-file.js';
import {headBytes, mayBeScript, mayBeServerScript} from '../../projects/server-scripts.js';
import {manifestPathOf} from '../archive/manifest.js';
import {entryPrefix} from '../archive/tar-entries.js';
import {checkScripts, ownPaths} from '../files/server-code.js';
import type {Bundle} from '../types.js';
import {readTar} from './read-tar.js';

/** As `checkScripts`, for an archive without a manifest: one with a manifest was checked when it was built. */
export async function checkArchivedScripts(bundle: Bundle, signal?: AbortSignal): Promise<readonly string[]> {
  if (await exists(manifestPathOf(bundle.path))) return [];
  const {files, config} = bundle;
  const prefix = `${entryPrefix(bundle)}/`;
  const texts = new Map<string, string>();
  for await (const {header, content} of readTar(bundle.path, {signal})) {
    const path = header.name.slice(prefix.length);
    const text = header.name.startsWith(prefix) && mayBeScript(path) ? await buffer(content) : undefined;
    if (text && mayBeServerScript(path, text.toString('latin1', 0, headBytes))) texts.set(path, text.toString('utf8'));
  }
  const text = (path: string) => texts.get(path) ?? '';
  const source = {paths: ownPaths(files), head: text, text: (path: string) => Promise.resolve(text(path))};
  return checkScripts(files, {source, patterns: config.ssrOnly, isSite: config.ssrOnly.length === 0});
}
