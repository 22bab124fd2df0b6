import {lstatSync, readdir, readlinkSync, realpathSync, statSync, type Dirent, type Stats} from 'node:fs';
import {isAbsolute, relative, sep} from 'node:path';
import {createError, isRuntimeCliError} from '../../errors/index.js';
import {dataMarks, mayBeOwn, ownKind, readHead} from '../../files/own-files.js';
import {asSentence} from '../../text/sentence.js';
import {reasonOf} from '../../errors/system-failure.js';
import {onWindows} from '../../text/platform.js';
import type {PlannedBundleFile} from '../types.js';
import {comparePaths, entryNameProblem, listFirst, listPaths, showPath, sourceOf} from '../../text/entry-names.js';
import {isAppleDouble, isDebrisName} from './debris.js';
import {withExecutables} from './executables.js';
import {followLink, linkProblem, linkWork} from './follow-link.js';
import type {FoundPath, IgnoreRules} from './ignore-rules.js';
import {noMarks, type MatchableFile} from './patterns.js';

/** The contents of a build directory. */
export interface Scan {
  /** The files of the bundle, sorted by path. They have not been matched against patterns yet. */
  readonly files: readonly ScannedFile[];
  /** The folders with nothing in them, which the archive keeps. Sorted. */
  readonly emptyFolders: readonly string[];
  /** What rules exclude. Of a folder, which ends with a slash, that is everything in it. */
  readonly ignored: readonly {readonly path: string; readonly rule: string}[];
  /** What needs attention, a sentence each. */
  readonly warnings: readonly string[];
  /** The files that have appeared since the folders were listed, which are not in the bundle. */
  readonly laterFiles: () => Promise<readonly string[]>;
}

interface ScanOptions {
  /** Absolute paths of files that are being written. */
  readonly ownFiles?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A file whose marks are yet to be made. */
type ScannedFile = PlannedBundleFile & MatchableFile;

interface Findings {
  readonly files: ScannedFile[];
  /** The permissions of the files. */
  readonly modes: Set<number>;
  readonly folders: string[];
  readonly emptyFolders: string[];
  /** When the listed folders, by their absolute paths, had last got or lost an entry. In milliseconds since 1970. */
  readonly listed: Map<string, number | undefined>;
  readonly ignored: {path: string; rule: string}[];
  /** Data of other programs about a folder, which is never part of a build. */
  readonly leftOut: string[];
  /** What systems and editors leave in folders. */
  readonly debris: string[];
  /** What mycli has written. */
  readonly own: string[];
  /** Paths that cannot be archived, and why. */
  readonly unsupported: {path: string; reason: string}[];
}

/** Characters of a path in a message. */
const longPath = 300;
/** Where version control keeps what it knows. That a build has one of git is usual. */
const repositories = ['.git', '.svn', '.hg'];

/**
 * Lists the build directory, including dotfiles but not `.git` and what mycli itself wrote. Links are listed as links.
 * @throws RuntimeCliError `ERR_BUILD_DIRECTORY` when it is empty or has what cannot be read; `ERR_FILE_UNSUPPORTED`
 * naming everything that cannot be archived; `signal.reason` when aborted.
 */
export async function scanBuildDirectory(
  directory: string,
  rules: IgnoreRules,
  {ownFiles = [], signal}: ScanOptions = {},
): Promise<Scan> {
  const findings: Findings = {
    ...{files: [], modes: new Set(), folders: [], emptyFolders: [], listed: new Map()},
    ...{ignored: [], leftOut: [], debris: [], own: [], unsupported: []},
  };
  try {
    for await (const path of findPaths(directory, rules, findings, signal)) {
      signal?.throwIfAborted();
      add(directory, path, findings, ownFiles);
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw isRuntimeCliError(error) ? error : unreadableError(directory, error);
  }
  const {folders, emptyFolders, ignored, leftOut, debris, own, unsupported} = findings;
  // With the archives that manifests are of.
  const ownPaths = new Set(own.flatMap((path) => [path, path.replace(/\.json$/, '')]));
  const files = findings.files.filter(({path}) => !ownPaths.has(path));
  const warnings = followLinks(files, folders, unsupported);
  rejectUnsupported(unsupported);
  if (files.length === 0) throw emptyError(directory, ignored.length);
  return {
    files: withExecutables(directory, files, findings.modes).toSorted((a, b) => comparePaths(a.path, b.path)),
    emptyFolders: emptyFolders.sort(comparePaths),
    ignored,
    warnings: [
      ...(own.length === 0 ? [] : [`Left out what mycli wrote: ${listPaths(own.toSorted(comparePaths))}.`]),
      ...(debris.length === 0
        ? []
        : [`Left out leftovers of systems and editors: ${listPaths(debris.sort(comparePaths))}.`]),
      ...(leftOut.length === 0 ? [] : [`Left out data of version control: ${listPaths(leftOut)}.`]),
      ...warnings,
    ],
    async laterFiles() {
      if ([...findings.listed].every(([path, time]) => changeTime(path) === time)) return [];
      const known = new Set(files.map(({path}) => path));
      // What is wrong with the build by now is not about the bundle.
      const now = await scanBuildDirectory(directory, rules, {ownFiles}).catch(() => ({files: []}));
      return now.files.flatMap(({path}) => (known.has(path) ? [] : [path]));
    },
  };
}

function changeTime(folder: string): number | undefined {
  return statSync(folder, {throwIfNoEntry: false})?.mtimeMs;
}

/**
 * Everything in a folder that no rule excludes, with paths relative to it. Of each, fast-glob only says whether it is a
 * folder: if one of them vanished before it had looked, it would leave out all the others of that folder without a
 * word. Rules depend on their order, so they are no patterns for fast-glob: they are applied to each folder that it
 * lists, so that it enters none that they exclude.
 */
async function* findPaths(
  directory: string,
  rules: IgnoreRules,
  {emptyFolders, listed, ignored, leftOut, debris, own}: Findings,
  signal: AbortSignal | undefined,
): AsyncGenerator<string> {
  const {default: fastGlob} = await import('fast-glob');
  const keep = async (folder: string, entries: readonly Dirent[]): Promise<Dirent[]> => {
    if (dataMarks.every((name) => entries.some((entry) => entry.name === name))) {
      own.push(folder);
      return [];
    }
    const found = entries.map((entry): FoundPath & {readonly entry: Dirent} => {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      return {entry, path, isFolder: entry.isDirectory()};
    });
    await rules.mark(found, signal);
    const others = found.filter(({entry, path, rule}) => {
      const {name} = entry;
      const isRepository = repositories.includes(name);
      const isDebris = isDebrisName(name) || (entry.isFile() && isAppleDouble(sourceOf(directory, path)));
      if (!isRepository && !isDebris) return true;
      if (name !== '.git' && rule === undefined) (isRepository ? leftOut : debris).push(path);
      return false;
    });
    if (others.length === 0 && folder !== '') emptyFolders.push(folder);
    return others.flatMap(({entry, path, isFolder, rule}) => {
      if (rule !== undefined) ignored.push({path: isFolder ? `${path}/` : path, rule});
      return rule === undefined ? [entry] : [];
    });
  };
  const list: ListFolder = (path, options, done) => {
    listed.set(path, changeTime(path));
    readdir(path, options, (failure, entries) => {
      const folder = relative(directory, path).split(sep).join('/');
      if (failure !== null) done(failure, []);
      else
        keep(folder, entries).then(
          (kept) => {
            done(null, kept);
          },
          (error: unknown) => {
            done(error instanceof Error ? error : new Error(String(error)), []);
          },
        );
    });
  };
  // In other patterns, no wildcard matches a line break.
  const entries = fastGlob.stream('**/@(*)', {
    cwd: directory,
    dot: true,
    fs: {readdir: list as typeof readdir},
    onlyFiles: false,
    followSymbolicLinks: false,
    // A single pattern finds nothing twice.
    unique: false,
  });
  for await (const path of entries) yield String(path);
}

type ListFolder = (
  path: string,
  options: {readonly withFileTypes: true},
  done: (error: Error | null, entries: Dirent[]) => void,
) => void;

function add(
  directory: string,
  path: string,
  {files, modes, folders, own, unsupported}: Findings,
  ownFiles: readonly string[],
): void {
  const nameProblem = entryNameProblem(path);
  if (nameProblem !== undefined) {
    unsupported.push({path, reason: nameProblem});
    return;
  }
  const file = sourceOf(directory, path);
  const {stats, linkTarget} = lookAt(directory, path);
  if (stats === undefined) {
    // Node decodes invalid UTF-8 as U+FFFD, and finds no such file.
    if (!path.includes('\uFFFD'))
      throw createError('ERR_FILE_CHANGED', `${file} disappeared while the build was being scanned.`);
    unsupported.push({path, reason: 'has a name that is not UTF-8'});
  } else if (stats.isFile() && isOwn(file, ownFiles)) {
    own.push(path);
  } else if (stats.isFile()) {
    const executable = (stats.mode & 0o100) !== 0;
    modes.add(stats.mode & 0o777);
    files.push({path, size: stats.size, modifiedMs: stats.mtimeMs, executable, ssrOnly: false, ssrShared: false});
  } else if (linkTarget !== undefined) {
    files.push({path, size: 0, modifiedMs: stats.mtimeMs, executable: false, linkTarget, ...noMarks});
  } else if (stats.isDirectory()) {
    folders.push(path);
  } else {
    unsupported.push({path, reason: `is a ${kindOf(stats)}`});
  }
}

/** Whether mycli writes a file, or an earlier run did. What can't be read is reported when it is packed. */
function isOwn(file: string, ownFiles: readonly string[]): boolean {
  if (ownFiles.includes(file)) return true;
  if (!mayBeOwn(file)) return false;
  try {
    return ownKind(readHead(file)) !== undefined;
  } catch {
    return false;
  }
}

/** What is at a path of the build, if anything, and where it leads if it is a link. */
function lookAt(
  directory: string,
  path: string,
): {readonly stats: Stats | undefined; readonly linkTarget?: string | undefined} {
  const file = sourceOf(directory, path);
  try {
    const stats = lstatSync(file, {throwIfNoEntry: false});
    return {
      stats,
      linkTarget: stats?.isSymbolicLink() ? relativeTarget(directory, path, readlinkSync(file)) : undefined,
    };
  } catch (error) {
    throw unreadableError(file, error);
  }
}

/** The target of a link. An absolute one into the build is the relative one that it amounts to. */
function relativeTarget(directory: string, path: string, target: string): string {
  // A junction of Windows ends with a backslash.
  const text = (onWindows ? target.replace(/\\$/, '') : target).replaceAll(sep, '/');
  if (!isAbsolute(target)) return text;
  const roots = [directory, realpathSync(directory)].map((root) => root.split(sep).join('/'));
  const comparable = (folder: string) => (onWindows ? `${folder}/`.toLowerCase() : `${folder}/`);
  const root = roots.find((one) => comparable(text).startsWith(comparable(one)));
  if (root === undefined) return text;
  return `${'../'.repeat(path.split('/').length - 1)}${text.slice(root.length + 1)}` || '.';
}

/** @param path What was looked at, unless the error names it. */
function unreadableError(path: string, error: unknown): Error {
  const named = error instanceof Error && 'path' in error ? String(error.path) : path;
  const shown = named.length > longPath ? `${named.slice(0, longPath)}...` : named;
  return createError('ERR_BUILD_DIRECTORY', asSentence(`${showPath(shown)} cannot be read: ${reasonOf(error)}`), {
    suggestions: ['Check its permissions, or exclude it with --ignore PATTERN or in .bundleignore.'],
    cause: error,
  });
}

function kindOf(stats: Stats): string {
  if (stats.isFIFO()) return 'named pipe';
  if (stats.isSocket()) return 'socket';
  return 'device';
}

/** Adds links that no archive can have to `unsupported`. Returns warnings about dangling ones. */
function followLinks(
  files: readonly ScannedFile[],
  folders: readonly string[],
  unsupported: Findings['unsupported'],
): string[] {
  const links = new Map(files.flatMap(({path, linkTarget}) => (linkTarget === undefined ? [] : [[path, linkTarget]])));
  if (links.size === 0) return [];
  const there = new Set(['', ...folders, ...files.map(({path}) => path)]);
  const work = linkWork();
  const warnings: string[] = [];
  for (const [path, target] of [...links].sort(([one], [other]) => comparePaths(one, other))) {
    const problem = linkProblem(path, links, work);
    if (problem !== undefined) {
      unsupported.push({path, reason: `is a symbolic link to ${showPath(target)}, ${linkReasons[problem]}`});
    } else if (followLink(path, links, (found) => there.has(found)) === 'nowhere') {
      warnings.push(`${path} is a symbolic link to ${showPath(target)}, which the bundle does not contain.`);
    }
  }
  return warnings;
}

const linkReasons = {
  outside: 'which leads outside the build directory',
  circle: 'which leads in a circle, or through too many others',
  unsafe: 'a target that other systems read differently',
} as const;

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
