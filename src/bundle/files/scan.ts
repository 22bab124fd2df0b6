import {lstatSync, readlinkSync, type Stats} from 'node:fs';
import {posix, sep} from 'node:path';
import type {Entry} from 'fast-glob';
import {createError, isRuntimeCliError} from '../../errors/index.js';
import {asSentence} from '../../text/sentence.js';
import {reasonOf} from '../../errors/system-failure.js';
import type {PlannedBundleFile} from '../types.js';
import {comparePaths, entryNameProblem, listFirst, showPath, sourceOf} from '../../text/entry-names.js';
import {followLink} from './follow-link.js';
import type {FoundPath, IgnoreRules} from './ignore-rules.js';
import {noMarks, type MatchableFile} from './patterns.js';

/** The contents of a build directory. */
export interface Scan {
  /** The files of the bundle, sorted by path. They have not been matched against patterns yet. */
  readonly files: readonly ScannedFile[];
  /** The folders with nothing in them, sorted. */
  readonly emptyFolders: readonly string[];
  /** What rules exclude. */
  readonly ignored: readonly {readonly path: string; readonly rule: string}[];
  readonly warnings: readonly string[];
}

/** A file whose marks are yet to be made. */
type ScannedFile = PlannedBundleFile & MatchableFile;

interface Findings {
  readonly files: ScannedFile[];
  readonly folders: string[];
  readonly ignored: {path: string; rule: string}[];
  /** Paths that cannot be archived, and why. */
  readonly unsupported: {path: string; reason: string}[];
}

/**
 * Lists the build directory, including dotfiles but not `.git`. Links are listed as links.
 * @throws RuntimeCliError `ERR_BUILD_DIRECTORY` when it is empty; `ERR_FILE_UNSUPPORTED` naming everything that cannot
 * be archived; `signal.reason` when aborted.
 */
export async function scanBuildDirectory(directory: string, rules: IgnoreRules, signal?: AbortSignal): Promise<Scan> {
  const findings: Findings = {files: [], folders: [], ignored: [], unsupported: []};
  const found: FoundPath[] = [];
  try {
    for await (const one of findPaths(directory)) {
      signal?.throwIfAborted();
      found.push(one);
    }
    await rules.mark(found, signal);
    for (const {path, isFolder, rule} of found) {
      if (rule === undefined) add(directory, path, findings);
      else if (!isFolder) findings.ignored.push({path, rule});
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw isRuntimeCliError(error) ? error : unreadableError(directory, error);
  }
  const parents = new Set(found.map(({path}) => posix.dirname(path)));
  const {files, folders, ignored, unsupported} = findings;
  const warnings = followLinks(files, new Set([...folders, ...parents]), unsupported);
  rejectUnsupported(unsupported);
  if (files.length === 0) throw emptyError(directory, ignored.length);
  files.sort((a, b) => comparePaths(a.path, b.path));
  return {files, emptyFolders: folders.filter((path) => !parents.has(path)).sort(comparePaths), ignored, warnings};
}

/**
 * Everything in a folder but `.git`, with paths relative to it. Of each, fast-glob only says whether it is a folder: if
 * one of them vanished before it had looked, it would leave out all the others of that folder without a word.
 */
async function* findPaths(directory: string): AsyncGenerator<FoundPath> {
  const {default: fastGlob} = await import('fast-glob');
  // In other patterns, no wildcard matches a line break.
  const entries = fastGlob.stream('**/@(*)', {
    cwd: directory,
    dot: true,
    ignore: ['**/.git'],
    objectMode: true,
    onlyFiles: false,
    followSymbolicLinks: false,
    // A single pattern finds nothing twice.
    unique: false,
  });
  for await (const entry of entries) {
    const {path, dirent} = entry as unknown as Entry;
    yield {path, isFolder: dirent.isDirectory()};
  }
}

function add(directory: string, path: string, {files, folders, unsupported}: Findings): void {
  const nameProblem = entryNameProblem(path);
  if (nameProblem !== undefined) {
    unsupported.push({path, reason: nameProblem});
    return;
  }
  const file = sourceOf(directory, path);
  const {stats, linkTarget} = lookAt(directory, file);
  if (stats === undefined) {
    // Node decodes invalid UTF-8 as U+FFFD, and finds no such file.
    if (!path.includes('\uFFFD'))
      throw createError('ERR_FILE_CHANGED', `${file} disappeared while the build was being scanned.`);
    unsupported.push({path, reason: 'has a name that is not UTF-8'});
  } else if (stats.isFile()) {
    const executable = (stats.mode & 0o100) !== 0;
    files.push({path, size: stats.size, modifiedMs: stats.mtimeMs, executable, ssrOnly: false, ssrShared: false});
  } else if (linkTarget !== undefined) {
    files.push({path, size: 0, modifiedMs: stats.mtimeMs, executable: false, linkTarget, ...noMarks});
  } else if (stats.isDirectory()) {
    folders.push(path);
  } else {
    unsupported.push({path, reason: `is a ${kindOf(stats)}`});
  }
}

/** What is at a path, if anything, and where it leads if it is a link. */
function lookAt(
  directory: string,
  file: string,
): {readonly stats: Stats | undefined; readonly linkTarget?: string | undefined} {
  try {
    const stats = lstatSync(file, {throwIfNoEntry: false});
    return {stats, linkTarget: stats?.isSymbolicLink() ? readlinkSync(file).replaceAll(sep, '/') : undefined};
  } catch (error) {
    throw unreadableError(directory, error);
  }
}

function unreadableError(directory: string, error: unknown): Error {
  return createError(
    'ERR_BUILD_DIRECTORY',
    asSentence(`The build directory ${directory} cannot be read: ${reasonOf(error)}`),
    {
      suggestions: ['Check its permissions.'],
      cause: error,
    },
  );
}

function kindOf(stats: Stats): string {
  if (stats.isFIFO()) return 'named pipe';
  if (stats.isSocket()) return 'socket';
  return 'device';
}

/** Adds links that leave the build directory to `unsupported`. Returns warnings about dangling ones. */
function followLinks(
  files: readonly ScannedFile[],
  folders: ReadonlySet<string>,
  unsupported: Findings['unsupported'],
): string[] {
  const links = new Map(files.flatMap(({path, linkTarget}) => (linkTarget === undefined ? [] : [[path, linkTarget]])));
  if (links.size === 0) return [];
  const there = new Set(['', ...folders, ...files.map(({path}) => path)]);
  const warnings: string[] = [];
  for (const [path, target] of [...links].sort(([one], [other]) => comparePaths(one, other))) {
    const destination = followLink(path, links, (found) => there.has(found));
    if (destination === 'outside') {
      unsupported.push({
        path,
        reason: `is a symbolic link that points outside the build directory, to ${showPath(target)}`,
      });
    } else if (destination === 'nowhere') {
      warnings.push(`${path} is a symbolic link to ${showPath(target)}, which the bundle does not contain.`);
    }
  }
  return warnings;
}

function rejectUnsupported(unsupported: Findings['unsupported']): void {
  if (unsupported.length === 0) return;
  const reasons = listFirst(unsupported, '; ', ({path, reason}) => `${showPath(path)} ${reason}`);
  throw createError('ERR_FILE_UNSUPPORTED', `The build contains files that cannot be archived: ${reasons}.`, {
    suggestions: ['Remove them from the build, or exclude them with --ignore PATTERN or in .bundleignore.'],
    details: {files: unsupported},
  });
}

function emptyError(directory: string, ignored: number): Error {
  const what = ignored === 0 ? 'is empty' : `contains only ignored files (${String(ignored)})`;
  return createError('ERR_BUILD_DIRECTORY', `The build directory ${directory} ${what}.`, {
    suggestions: ['Build the application first, or check the ignore rules.'],
  });
}
