import {text} from 'node:stream/consumers';
import type * as v from 'valibot';
import {markFiles, type PatternLists} from '../../bundle/index.js';
import {isBelow, layoutProblem, type LayoutProblem} from '../../bundle/prebuilt/archive-layout.js';
import type {BundleV2MatchMode} from '../../bundle/types.js';
import {isRuntimeCliError} from '../../errors/index.js';
import {parseJson} from '../../errors/json.js';
import {HttpFailure, validate} from '../answer.js';
import type {ArchiveLimits} from '../options.js';
import {common} from '../wire/schemas.js';
import {readArchive, type ArchiveEntry} from './read-archive.js';

const maxConfigBytes = 1024 * 1024;

/** How to read a v2 bundle. */
interface V2BundleOptions {
  readonly rootDir: string;
  readonly configPath: string;
  readonly matchMode: BundleV2MatchMode;
  readonly limits: ArchiveLimits;
}

/** The contents of a checked bundle. */
export interface CheckedBundle {
  readonly ssrParameters: Readonly<Record<string, unknown>>;
  /** All its files except the configuration, relative to `root`. */
  readonly files: readonly string[];
  /** Files that match the patterns, relative to `root`. */
  readonly matches: {readonly ssrOnly: readonly string[]; readonly ssrShared: readonly string[]};
  readonly warnings: readonly string[];
  /** The folder of the archive that contains the files. */
  readonly root: string;
  /** Path of the configuration, relative to `root`. v2 only. */
  readonly configPath?: string;
}

/**
 * Checks a v2 archive and matches its patterns.
 * @throws HttpFailure 422 for an unsafe archive, a missing, duplicate or invalid configuration file, and, if strict, a
 * pattern that matches no file.
 */
export async function checkV2Bundle(archive: string, options: V2BundleOptions): Promise<CheckedBundle> {
  const {rootDir: root, matchMode, limits} = options;
  const configFile = `${root}/${options.configPath}`;
  const entries: ArchiveEntry[] = [];
  const configs: string[] = [];
  await readArchive(archive, {
    limits,
    async visit(entry, content) {
      entries.push(entry);
      if (entry.path === configFile && entry.type === 'file') configs.push(await readConfig(content, configFile));
    },
  });
  const [config, second] = configs;
  if (config === undefined || second !== undefined) {
    const found = config === undefined ? 'no' : 'more than one';
    throw new HttpFailure(422, `The archive contains ${found} configuration file "${configFile}".`);
  }
  checkLayout(entries, root);
  const {ssrOnly, ssrShared, ssrParameters} = parseConfig(config, configFile);
  const files = entries
    .filter(({path, type}) => type !== 'directory' && isBelow(path, root) && path !== configFile)
    .map(({path}) => path.slice(root.length + 1));
  const matched = await matchFiles({ssrOnly, ssrShared}, files);
  const missing = Object.entries(matched).flatMap(([key, {unmatched}]) =>
    unmatched.map((pattern) => `the ${key} pattern "${pattern}" matches no file`),
  );
  if (matchMode === 'strict' && missing.length > 0) {
    throw new HttpFailure(422, `The bundle was refused, because matchMode is strict: ${missing.join('; ')}.`);
  }
  const matches = {ssrOnly: matched.ssrOnly.files, ssrShared: matched.ssrShared.files};
  return {ssrParameters, files, matches, warnings: missing, root, configPath: options.configPath};
}

async function readConfig(content: AsyncIterable<Buffer>, name: string): Promise<string> {
  async function* limited(): AsyncGenerator<Buffer> {
    let size = 0;
    for await (const chunk of content) {
      size += chunk.length;
      if (size > maxConfigBytes) {
        throw new HttpFailure(422, `The configuration file "${name}" is larger than ${String(maxConfigBytes)} bytes.`);
      }
      yield chunk;
    }
  }
  return text(limited());
}

function parseConfig(content: string, name: string): v.InferOutput<typeof common.BundleConfig> {
  const what = `The configuration file "${name}"`;
  let value: unknown;
  try {
    value = parseJson(content);
  } catch {
    throw new HttpFailure(422, `${what} is not JSON.`);
  }
  return validate(common.BundleConfig, value, {status: 422, what});
}

/** What the JSON of a v1 push says about its archive. */
interface V1BundleOptions {
  readonly projectSlug: string;
  readonly ssrOnly: readonly string[];
  readonly ssrShared: readonly string[];
  readonly ssrParameters: Readonly<Record<string, unknown>>;
  readonly limits: ArchiveLimits;
}

/**
 * Checks a v1 archive: an uncompressed tar with all entries inside `{projectSlug}/bld/`, and every file that the push
 * lists.
 * @throws HttpFailure 422 for anything else, naming it.
 */
export async function checkV1Bundle(archive: string, options: V1BundleOptions): Promise<CheckedBundle> {
  const {projectSlug, ssrOnly, ssrShared, ssrParameters, limits} = options;
  const root = `${projectSlug}/bld`;
  const entries: ArchiveEntry[] = [];
  await readArchive(archive, {limits, mayBeGzip: false, visit: (entry) => void entries.push(entry)});
  checkLayout(entries, root);
  const stranger = entries.find((entry) => !belongsTo(root, entry));
  if (stranger) throw new HttpFailure(422, `"${stranger.path}" in the archive is not inside "${root}/".`);
  const files = new Set(
    entries
      .filter(({path, type}) => type !== 'directory' && isBelow(path, root))
      .map(({path}) => path.slice(root.length + 1)),
  );
  if (files.size === 0) throw new HttpFailure(422, `The archive contains no files inside "${root}/".`);
  for (const [key, list] of Object.entries({ssr_only: ssrOnly, ssr_shared: ssrShared})) {
    const missing = list.find((file) => !files.has(file));
    if (missing !== undefined) {
      throw new HttpFailure(422, `The archive has no file "${missing}" inside "${root}/", but ${key} lists it.`);
    }
  }
  return {ssrParameters, files: [...files], matches: {ssrOnly, ssrShared}, warnings: [], root};
}

function belongsTo(root: string, {path, type}: ArchiveEntry): boolean {
  return isBelow(path, root) || (type === 'directory' && isBelow(`${root}/`, path));
}

/**
 * Checks the layout of entries, so that unpacking them writes nothing twice and nothing through a link. `root` is the
 * folder of the archive that its links must stay in; links outside it must stay in the archive.
 * @throws HttpFailure 422 for a duplicate path, a path inside a file or a link, and a link that leads out.
 */
function checkLayout(entries: readonly ArchiveEntry[], root: string): void {
  const problem = layoutProblem(entries, {root, mayRepeat: false});
  if (problem) throw new HttpFailure(422, describe(problem));
}

function describe({kind, entry: {path}, parent = ''}: LayoutProblem): string {
  switch (kind) {
    case 'twice':
      return `The archive contains "${path}" twice.`;
    case 'below':
      return `"${path}" in the archive is inside "${parent}", which is not a folder.`;
    case 'leads-out':
      return `The symbolic link "${path}" does not resolve inside the archive.`;
  }
}

/** What the patterns of a list match. */
interface MatchedFiles {
  readonly files: readonly string[];
  /** The patterns that match nothing. */
  readonly unmatched: readonly string[];
}

/**
 * Matches patterns that a client sent, while the server continues to answer others.
 * @throws HttpFailure 422 for patterns that are invalid or take too long.
 */
async function matchFiles(
  patterns: PatternLists,
  paths: readonly string[],
): Promise<Readonly<Record<keyof PatternLists, MatchedFiles>>> {
  try {
    const files = paths.map((path) => ({path, ssrOnly: false, ssrShared: false}));
    const unmatched = await markFiles(files, patterns);
    const matched = (setting: keyof PatternLists): MatchedFiles => ({
      files: files.filter((file) => file[setting]).map(({path}) => path),
      unmatched: unmatched[setting],
    });
    return {ssrOnly: matched('ssrOnly'), ssrShared: matched('ssrShared')};
  } catch (error) {
    if (isRuntimeCliError(error) && error.code === 'ERR_PATTERN_INVALID') throw new HttpFailure(422, error.message);
    throw error;
  }
}
