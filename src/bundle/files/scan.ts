import {lstatSync, readlinkSync, type Stats} from 'node:fs';
import {join, sep, isAbsolute} from 'node:path';
import type {Entry} from 'fast-glob';
import {createError} from '../../errors/index.js';
import {reasonOf, systemCode} from '../../errors/system-failure.js';
import type {PlannedBundleFile} from '../types.js';
import {comparePaths, entryNameProblem, listFirst, showPath} from './entry-names.js';
import type {IgnoreRules} from './ignore-rules.js';
import type {MatchableFile} from './patterns.js';
import {asSentence} from '../../errors/sentence.js';

/** A file that was found, not yet matched against patterns. */
type ScannedFile = PlannedBundleFile & MatchableFile;

/** What is in a build directory. */
export interface Scan {
  /** What goes into the bundle, sorted by path. */
  readonly files: readonly ScannedFile[];
  /** What a rule leaves out. */
  readonly ignored: readonly {readonly path: string; readonly rule: string}[];
  readonly warnings: readonly string[];
}

interface Findings {
  readonly files: ScannedFile[];
  readonly ignored: {path: string; rule: string}[];
  readonly directories: Set<string>;
  /** Paths that no archive can hold, and why. */
  readonly unsupported: {path: string; reason: string}[];
}

/**
 * Lists the build directory: dotfiles too, `.git` not, links as links. Directories without files are not part of a
 * bundle.
 * @throws RuntimeCliError `ERR_BUILD_DIRECTORY` when it is empty; `ERR_FILE_UNSUPPORTED` that
 * names everything an archive cannot hold; `signal.reason` when aborted.
 */
export async function scanBuildDirectory(directory: string, rules: IgnoreRules, signal?: AbortSignal): Promise<Scan> {
  const findings: Findings = {files: [], ignored: [], directories: new Set(['']), unsupported: []};
  for await (const {path, isDirectory} of list(directory)) {
    signal?.throwIfAborted();
    if (isDirectory) findings.directories.add(path);
    const rule = rules.ruleFor(isDirectory ? `${path}/` : path);
    if (rule === undefined) examine(directory, path, findings);
    else if (!isDirectory) findings.ignored.push({path, rule});
  }
  const warnings = followLinks(findings);
  rejectUnsupported(findings.unsupported);
  if (findings.files.length === 0) throw emptyError(directory, findings.ignored.length);
  return {
    files: findings.files.sort((a, b) => comparePaths(a.path, b.path)),
    ignored: findings.ignored,
    warnings,
  };
}

/** Everything below `directory`, one at a time: a list of it all would be the largest thing in memory. */
async function* list(directory: string): AsyncGenerator<{readonly path: string; readonly isDirectory: boolean}> {
  const {default: fastGlob} = await import('fast-glob');
  const entries = fastGlob.globStream('**/*', {
    cwd: directory,
    dot: true,
    onlyFiles: false,
    followSymbolicLinks: false,
    objectMode: true,
    // One pattern finds nothing twice; to be sure of it would take a list of all paths.
    unique: false,
    ignore: ['**/.git'],
  });
  try {
    // What the stream gives in object mode, its type does not say.
    for await (const {path, dirent} of entries as AsyncIterable<Entry>) yield {path, isDirectory: dirent.isDirectory()};
  } catch (error) {
    throw unreadableError(directory, error);
  }
}

function examine(directory: string, path: string, {files, directories, unsupported}: Findings): void {
  const nameProblem = entryNameProblem(path);
  if (nameProblem !== undefined) {
    unsupported.push({path, reason: nameProblem});
    return;
  }
  const file = join(directory, path);
  const stats = lookAt(directory, file);
  if (stats === undefined) {
    // Node reads what is not UTF-8 as U+FFFD, and then there is no such file.
    if (!path.includes('\uFFFD'))
      throw createError('ERR_FILE_CHANGED', `${file} disappeared while the build was being scanned.`);
    unsupported.push({path, reason: 'has a name that is not UTF-8'});
    return;
  }
  if (directories.has(path)) return;
  if (stats.isFile()) {
    const executable = (stats.mode & 0o100) !== 0;
    // A spread would take half as much memory again.
    files.push({path, size: stats.size, modifiedMs: stats.mtimeMs, executable, ssrOnly: false, ssrShared: false});
  } else if (stats.isSymbolicLink()) {
    files.push({
      path,
      size: 0,
      modifiedMs: stats.mtimeMs,
      executable: false,
      linkTarget: readlinkSync(file).replaceAll(sep, '/'),
      ssrOnly: false,
      ssrShared: false,
    });
  } else {
    unsupported.push({path, reason: `is a ${kindOf(stats)}`});
  }
}

function lookAt(directory: string, file: string): Stats | undefined {
  try {
    return lstatSync(file, {throwIfNoEntry: false});
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
  return stats.isDirectory() ? 'directory that replaced a file' : 'device';
}

/** Adds the links that leave the build directory to what is not supported; returns warnings of those to nothing. */
function followLinks({files, directories, unsupported}: Findings): string[] {
  const targets = new Map(
    files.flatMap(({path, linkTarget}) => (linkTarget === undefined ? [] : [[path, linkTarget]])),
  );
  if (targets.size === 0) return [];
  const paths = new Set(files.map(({path}) => path));
  const exists = (path: string): boolean => paths.has(path) || directories.has(path);
  const warnings: string[] = [];
  for (const [path, target] of targets) {
    const destination = followLink(path, targets, exists);
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

/** Where a symbolic link leads, seen from inside the build directory. */
type LinkDestination = 'inside' | 'outside' | 'nowhere';

/** More links than this on one way are a circle. */
const maxHops = 40;

/**
 * Follows a link by name, step by step as the file system would, through the other links of the build. A way that
 * leaves the build directory in any of its steps leads outside, even when it comes back: unpacked elsewhere it would
 * not.
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
