import {lstatSync, readdirSync, readlinkSync, Stats, statSync, type lstat, type readdir} from 'node:fs';
import {isAbsolute, relative, sep} from 'node:path';
import type {Readable} from 'node:stream';
import {finished} from 'node:stream/promises';
import {setImmediate as nextTurn} from 'node:timers/promises';
import {createError, isRuntimeCliError} from '../../errors/index.js';
import {reasonOf} from '../../errors/system-failure.js';
import {comparePaths, entryNameProblem, listFirst, showPath, sourceOf} from './entry-names.js';
import {FileTable} from './file-table.js';
import type {IgnoreRules} from './ignore-rules.js';
import {inTurns, type Turnwise} from './in-turns.js';
import {noMarks} from './patterns.js';
import {asSentence} from '../../errors/sentence.js';

/** The contents of a build directory. */
export interface Scan {
  /** The files of the bundle, sorted by path. They have not been matched against patterns yet. */
  readonly files: FileTable;
  /** What rules exclude. */
  readonly ignored: readonly {readonly path: string; readonly rule: string}[];
  readonly warnings: readonly string[];
}

interface Findings {
  readonly files: FileTable;
  readonly ignored: {path: string; rule: string}[];
  readonly directories: Set<string>;
  /** Targets of links, by their paths. */
  readonly links: Map<string, string>;
  /** Paths that cannot be archived, and why. */
  readonly unsupported: {path: string; reason: string}[];
}

/**
 * Lists the build directory, including dotfiles but not `.git`. Links are listed as links. Empty directories are not
 * part of a bundle.
 * @throws RuntimeCliError `ERR_BUILD_DIRECTORY` when it is empty; `ERR_FILE_UNSUPPORTED` naming everything that cannot
 * be archived; `signal.reason` when aborted.
 */
export async function scanBuildDirectory(directory: string, rules: IgnoreRules, signal?: AbortSignal): Promise<Scan> {
  const findings: Findings = {
    ...{files: new FileTable(), ignored: [], unsupported: []},
    ...{directories: new Set(['']), links: new Map<string, string>()},
  };
  try {
    await walk(directory, (path) => {
      signal?.throwIfAborted();
      return examine(directory, path, rules, findings);
    });
  } catch (error) {
    signal?.throwIfAborted();
    throw isRuntimeCliError(error) ? error : unreadableError(directory, error);
  }
  const warnings = followLinks(findings);
  rejectUnsupported(findings.unsupported);
  if (findings.files.length === 0) throw emptyError(directory, findings.ignored.length);
  findings.files.sort();
  return {files: findings.files, ignored: findings.ignored, warnings};
}

type Callback<Result> = (error: unknown, result: Result) => void;

/**
 * Visits everything below `directory` but `.git`. fast-glob only finds the folders, because what it reports passes
 * through three streams. Folders are read one at a time, synchronously, as waiting for a thread would take longer;
 * everything else gets turns in between. Only names are read: with an object for each entry, V8's heap would grow.
 * @param visit Returns whether there is a folder at a path, which is relative to `directory`.
 */
async function walk(directory: string, visit: (path: string) => boolean): Promise<void> {
  function* visiting(path: string, names: readonly string[]): Turnwise<readonly string[]> {
    const folder = relative(directory, path).replaceAll(sep, '/');
    const prefix = folder === '' ? '' : `${folder}/`;
    const folders: string[] = [];
    for (const name of names) {
      if (name !== '.git' && visit(`${prefix}${name}`)) folders.push(name);
      yield;
    }
    return folders;
  }
  const readFolder = async (path: string, done: Callback<readonly string[]>): Promise<void> => {
    await nextTurn();
    let names: readonly string[];
    try {
      names = readdirSync(path);
    } catch (error) {
      // fast-glob goes on if a folder has disappeared.
      done(error, []);
      return;
    }
    try {
      done(null, await inTurns(visiting(path, names)));
    } catch (error) {
      walking.destroy(error instanceof Error ? error : new Error(String(error)));
    }
  };
  const anyFolder = statSync(directory);
  const lookAtFolder = (_path: string, done: Callback<Stats>): void => {
    done(null, anyFolder);
  };
  const {default: fastGlob} = await import('fast-glob');
  // It looks for files and sees none, so it has nothing to report.
  const walking = fastGlob.globStream('**', {
    cwd: directory,
    dot: true,
    followSymbolicLinks: false,
    concurrency: 1,
    // Makes it ask for names alone, then for what each is: a folder, since it gets no others.
    stats: true,
    fs: {readdir: readFolder as unknown as typeof readdir, lstat: lookAtFolder as typeof lstat},
  }) as Readable;
  await finished(walking.resume());
}

/** Adds what is at a path to the findings. Returns whether it is a folder. */
function examine(directory: string, path: string, rules: IgnoreRules, findings: Findings): boolean {
  const file = sourceOf(directory, path);
  const stats = lookAt(file);
  const isDirectory = stats instanceof Stats && stats.isDirectory();
  if (isDirectory) findings.directories.add(path);
  const rule = rules.ruleFor(isDirectory ? `${path}/` : path);
  if (rule === undefined) add({directory, path, file, stats}, findings);
  else if (!isDirectory) findings.ignored.push({path, rule});
  return isDirectory;
}

interface Found {
  readonly directory: string;
  readonly path: string;
  /** Absolute path. */
  readonly file: string;
  readonly stats: Looked;
}

function add({directory, path, file, stats}: Found, {files, links, unsupported}: Findings): void {
  const nameProblem = entryNameProblem(path);
  if (nameProblem !== undefined) {
    unsupported.push({path, reason: nameProblem});
  } else if (stats === undefined) {
    // Node decodes invalid UTF-8 as U+FFFD, and finds no such file.
    if (!path.includes('\uFFFD'))
      throw createError('ERR_FILE_CHANGED', `${file} disappeared while the build was being scanned.`);
    unsupported.push({path, reason: 'has a name that is not UTF-8'});
  } else if (!(stats instanceof Stats)) {
    throw unreadableError(directory, stats.error);
  } else if (stats.isFile()) {
    const executable = (stats.mode & 0o100) !== 0;
    files.add({path, size: stats.size, modifiedMs: stats.mtimeMs, executable, ...noMarks});
  } else if (stats.isSymbolicLink()) {
    const linkTarget = readlinkSync(file).replaceAll(sep, '/');
    files.add({path, size: 0, modifiedMs: stats.mtimeMs, executable: false, linkTarget, ...noMarks});
    links.set(path, linkTarget);
  } else if (!stats.isDirectory()) {
    unsupported.push({path, reason: `is a ${kindOf(stats)}`});
  }
}

/** What is known about a path. Undefined if there is nothing. */
type Looked = Stats | {readonly error: unknown} | undefined;

function lookAt(file: string): Looked {
  try {
    return lstatSync(file, {throwIfNoEntry: false});
  } catch (error) {
    // It may be ignored.
    return {error};
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
function followLinks({files, directories, links, unsupported}: Findings): string[] {
  if (links.size === 0) return [];
  // A set of all paths would be larger than the table.
  const destinations = new Set<string>();
  for (const path of links.keys()) {
    followLink(path, links, (destination) => {
      destinations.add(destination);
      return true;
    });
  }
  const found = new Set<string>();
  for (const {path} of files) if (destinations.has(path)) found.add(path);
  const exists = (path: string): boolean => found.has(path) || directories.has(path);
  const warnings: string[] = [];
  for (const [path, target] of [...links].sort(([one], [other]) => comparePaths(one, other))) {
    const destination = followLink(path, links, exists);
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

/** Where a symbolic link leads, as seen from the build directory. */
type LinkDestination = 'inside' | 'outside' | 'nowhere';

/** More links than this in a row count as a cycle. */
const maxHops = 40;

/**
 * Follows a link by name through the other links of the build, step by step as the file system would. If any step
 * leaves the build directory, the link leads outside, even if a later one returns: unpacked elsewhere, it would not.
 * @param path The link, relative to the build directory.
 * @param links Targets of all links of the build, by their paths.
 * @param exists Whether a file or a directory of the build is at a path; '' is the build directory.
 */
export function followLink(
  path: string,
  links: ReadonlyMap<string, string>,
  exists: (path: string) => boolean,
): LinkDestination {
  const position: string[] = [];
  const steps = path.split('/');
  let hops = 0;
  for (let step = steps.shift(); step !== undefined; step = steps.shift()) {
    if (step === '' || step === '.') continue;
    if (step === '..') {
      if (position.length === 0) return 'outside';
      position.pop();
      continue;
    }
    position.push(step);
    const target = links.get(position.join('/'));
    if (target === undefined) continue;
    if (isAbsolute(target)) return 'outside';
    hops += 1;
    if (hops > maxHops) return 'nowhere';
    position.pop();
    steps.unshift(...target.split('/'));
  }
  return exists(position.join('/')) ? 'inside' : 'nowhere';
}
