import {lstatSync, readlinkSync, realpathSync, statSync, type Stats} from 'node:fs';
import {basename, isAbsolute, sep} from 'node:path';
import {setImmediate as nextTurn} from 'node:timers/promises';
import {createError, isRuntimeCliError} from '../../errors/index.js';
import {begins, dataMarks, mayBeOwn, ownKind, ownSource, readHead} from '../../files/own-files.js';
import {asSentence} from '../../text/sentence.js';
import {reasonOf} from '../../errors/system-failure.js';
import {onWindows} from '../../text/platform.js';
import type {PlannedBundleFile} from '../types.js';
import {comparePaths, entryNameProblem, listFirst, listPaths, showPath, sourceOf} from '../../text/entry-names.js';
import {checkLinks} from './follow-link.js';
import type {FoundPath, IgnoreRules} from './ignore-rules.js';
import {noMarks, type MatchableFile} from './patterns.js';

/** The contents of a build folder. */
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
  /** The listed folders, and when each had last got or lost an entry before that. In milliseconds since 1970. */
  readonly folders: Map<string, number | undefined>;
  readonly emptyFolders: string[];
  readonly ignored: {path: string; rule: string}[];
  readonly leftOut: Readonly<Record<keyof typeof leftOutWords, string[]>>;
  readonly unsupported: {path: string; reason: string}[];
}

/** What is never part of a build. */
const leftOutWords = {
  own: 'what mycli wrote',
  data: 'the data of a local runtime',
  debris: 'leftovers of systems and editors',
  repositories: 'version control data',
} as const;
/** Where version control keeps what it knows. That a build has one of git is usual. */
const repositories = ['.git', '.svn', '.hg'];

/**
 * Lists the build folder, including dotfiles but not `.git` and what mycli itself reads or wrote.
 * @throws RuntimeCliError `ERR_BUILD_DIRECTORY`; `ERR_FILE_UNSUPPORTED` naming everything that cannot be archived.
 */
export async function scanBuildDirectory(
  directory: string,
  rules: IgnoreRules,
  {ownFiles = [], signal}: ScanOptions = {},
): Promise<Scan> {
  const findings: Findings = {
    files: [],
    folders: new Map(),
    emptyFolders: [],
    ignored: [],
    leftOut: {own: [], data: [], debris: [], repositories: []},
    unsupported: [],
  };
  const found = [''];
  try {
    for (const folder of found) {
      const paths = await pathsIn(directory, folder, rules, findings, signal);
      found.push(...paths.filter((path) => add(directory, path, findings, ownFiles)));
      await nextTurn();
      signal?.throwIfAborted();
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw isRuntimeCliError(error) ? error : unreadableError(directory, error);
  }
  const {folders, emptyFolders, ignored, leftOut, unsupported} = findings;
  // With the archives that manifests are of.
  const ownPaths = new Set(leftOut.own.flatMap((path) => [path, path.replace(/\.json$/, '')]));
  const files = findings.files.filter(({path}) => !ownPaths.has(path)).sort((a, b) => comparePaths(a.path, b.path));
  const links = checkLinks(files, [...folders.keys()]);
  rejectUnsupported([...unsupported, ...links.unsupported]);
  if (files.length === 0) throw emptyError(directory, findings);
  return {
    files: withExecutables(directory, files),
    emptyFolders: emptyFolders.sort(comparePaths),
    ignored,
    warnings: [
      ...(['own', 'data', 'debris', 'repositories'] as const).flatMap((kind) => {
        const paths = leftOut[kind].sort(comparePaths);
        return paths.length === 0 ? [] : [`Left out ${leftOutWords[kind]}: ${listPaths(paths)}.`];
      }),
      ...links.warnings,
    ],
    async laterFiles() {
      if ([...folders].every(([path, time]) => changeTime(directory, path) === time)) return [];
      const known = new Set(files.map(({path}) => path));
      // What is wrong with the build by now is not about the bundle.
      const now = await scanBuildDirectory(directory, rules, {ownFiles}).catch(() => ({files: []}));
      return now.files.flatMap(({path}) => (known.has(path) ? [] : [path]));
    },
  };
}

function changeTime(directory: string, folder: string): number | undefined {
  return statSync(sourceOf(directory, folder), {throwIfNoEntry: false})?.mtimeMs;
}

/** What is in a folder and no rule excludes. Listed one by one, no folder is entered that a rule excludes. */
async function pathsIn(
  directory: string,
  folder: string,
  rules: IgnoreRules,
  {folders, emptyFolders, ignored, leftOut}: Findings,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  const {default: fastGlob} = await import('fast-glob');
  folders.set(folder, changeTime(directory, folder));
  // In other patterns, no wildcard matches a line break.
  const entries = fastGlob.sync('@(*)', {
    cwd: sourceOf(directory, folder),
    dot: true,
    objectMode: true,
    onlyFiles: false,
    followSymbolicLinks: false,
  });
  if (dataMarks.every((mark) => entries.some(({name}) => name === mark))) {
    leftOut.data.push(folder);
    return [];
  }
  const found = entries.map(({name, dirent}): FoundPath & {readonly name: string; readonly isFile: boolean} => {
    const path = folder === '' ? name : `${folder}/${name}`;
    return {name, path, isFolder: dirent.isDirectory(), isFile: dirent.isFile()};
  });
  await rules.mark(found, signal);
  const others = found.filter(({name, path, isFile, rule}) => {
    if (isFile && ownSource.test(path)) return false;
    const isRepository = repositories.includes(name);
    const isDebris = isDebrisName(name) || (isFile && isAppleDouble(sourceOf(directory, path)));
    if (!isRepository && !isDebris) return true;
    if (name !== '.git' && rule === undefined) leftOut[isRepository ? 'repositories' : 'debris'].push(path);
    return false;
  });
  if (others.length === 0) emptyFolders.push(folder);
  return others.flatMap(({path, isFolder, rule}) => {
    if (rule === undefined) return [path];
    ignored.push({path: isFolder ? `${path}/` : path, rule});
    return [];
  });
}

/** Names of what systems and editors leave in a folder, and nobody means to publish. */
const debris = new RegExp(
  `^(?:${[
    String.raw`\.DS_Store|\.AppleDouble|\.LSOverride|\.Spotlight-V100|\.Trashes|\.fseventsd|__MACOSX`,
    String.raw`(?:eh)?thumbs\.db|desktop\.ini|\$RECYCLE\.BIN|System Volume Information`,
    // Swap files and locks: of Vim, Emacs, LibreOffice, Microsoft Office, and of deleted files that are open.
    String.raw`\..+\.sw[a-p]|.+~|\.#.+|#.+#|\.~lock\..+#|~\$.+|\.nfs[0-9a-f]{16,}|\.fuse_hidden[0-9a-f]{16,}`,
  ].join('|')})$`,
  'i',
);

export function isDebrisName(name: string): boolean {
  return debris.test(name);
}

/** Whether macOS keeps in a file what other file systems have no room for. Other files may have such a name, too. */
function isAppleDouble(file: string): boolean {
  return basename(file).startsWith('._') && begins(file, /^\0\x05\x16\x07/);
}

/** A warning about debris in an archive, where a `._x` counts beside an `x`. */
export function debrisWarnings(paths: readonly string[]): readonly string[] {
  const all = new Set(paths);
  const isDouble = (path: string) => basename(path).startsWith('._') && all.has(path.replace(/\._(?=[^/]*$)/, ''));
  const found = paths.filter((path) => path.split('/').some(isDebrisName) || isDouble(path));
  if (found.length === 0) return [];
  return [`The archive contains leftovers of systems and editors: ${listPaths(found)}. Build it again without them.`];
}

/** Adds what is at a path to the findings. Returns whether it is a folder. */
function add(
  directory: string,
  path: string,
  {files, leftOut, unsupported}: Findings,
  ownFiles: readonly string[],
): boolean {
  const nameProblem = entryNameProblem(path);
  if (nameProblem !== undefined) {
    unsupported.push({path, reason: nameProblem});
    return false;
  }
  const file = sourceOf(directory, path);
  const stats = lstatSync(file, {throwIfNoEntry: false});
  if (stats === undefined) {
    // Node decodes invalid UTF-8 as U+FFFD, and finds no such file.
    if (!path.includes('\uFFFD'))
      throw createError('ERR_FILE_CHANGED', `${file} disappeared while the build was being scanned.`);
    unsupported.push({path, reason: 'has a name that is not UTF-8'});
  } else if (stats.isFile() && isOwn(file, ownFiles)) {
    leftOut.own.push(path);
  } else if (stats.isFile()) {
    const executable = (stats.mode & 0o100) !== 0;
    files.push({path, size: stats.size, modifiedMs: stats.mtimeMs, executable, ...noMarks});
  } else if (stats.isSymbolicLink()) {
    const linkTarget = relativeTarget(directory, path, readlinkSync(file));
    files.push({path, size: 0, modifiedMs: stats.mtimeMs, executable: false, linkTarget, ...noMarks});
  } else if (!stats.isDirectory()) {
    unsupported.push({path, reason: `is a ${kindOf(stats)}`});
  }
  return stats?.isDirectory() === true;
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

/** Where every file is executable, as on Windows and its drives (WSL), contents tell, so that archives are the same. */
function withExecutables(directory: string, files: readonly ScannedFile[]): readonly ScannedFile[] {
  const tellsNothing = files.every(({executable, linkTarget}) => executable || linkTarget !== undefined);
  if (!onWindows && !tellsNothing) return files;
  return files.map((file) => {
    const isFile = file.linkTarget === undefined;
    return {...file, executable: isFile && begins(sourceOf(directory, file.path), /^(?:#!|\x7FELF)/)};
  });
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
  return createError('ERR_BUILD_DIRECTORY', asSentence(`${showPath(named)} cannot be read: ${reasonOf(error)}`), {
    suggestions: ['Check its permissions, or exclude it in .bundleignore.'],
    cause: error,
  });
}

function kindOf(stats: Stats): string {
  if (stats.isFIFO()) return 'named pipe';
  if (stats.isSocket()) return 'socket';
  return 'device';
}

function rejectUnsupported(unsupported: Findings['unsupported']): void {
  if (unsupported.length === 0) return;
  const reasons = listFirst(unsupported, '; ', ({path, reason}) => `${showPath(path)} ${reason}`);
  throw createError('ERR_FILE_UNSUPPORTED', `The build contains files that cannot be archived: ${reasons}.`, {
    suggestions: ['Remove them from the build, or exclude them in .bundleignore.'],
    details: {files: unsupported},
  });
}

function emptyError(directory: string, {ignored, leftOut}: Findings): Error {
  const own = [...leftOut.own, ...leftOut.data];
  const only = ignored.length > 0 ? `ignored files (${String(ignored.length)})` : `what mycli wrote: ${listPaths(own)}`;
  const what = ignored.length + own.length === 0 ? 'is empty' : `contains only ${only}`;
  return createError('ERR_BUILD_DIRECTORY', `The build folder ${directory} ${what}.`, {
    suggestions: ['Build the application first, or check the ignore rules.'],
  });
}
