import {posix} from 'node:path';
import {countMatches, isExclusion, unmatchedWarnings} from '../index.js';
import {listPaths} from '../../text/entry-names.js';
import {hasSensitiveName, secretWarnings} from '../files/file-kinds.js';
import {readArchiveContents, type ArchiveContents, type ArchiveLayoutOptions} from './bundle-contents.js';

/** A pattern of the configuration, and how many files it matches on its own. */
export interface PatternMatches {
  /** As the configuration of the bundle has it. */
  readonly pattern: string;
  /** Number of files this pattern alone matches. */
  readonly files: number;
}

/** The contents of an archive. */
export interface ArchiveInspection extends Omit<ArchiveContents, 'matchMode'> {
  /** Matches of the configuration's patterns. */
  readonly matches: {
    /** Of each pattern of `ssrOnly`. */
    readonly ssrOnly: readonly PatternMatches[];
    /** Of each pattern of `ssrShared`. */
    readonly ssrShared: readonly PatternMatches[];
  };
  /** Things a server may refuse, and files that should not be in a bundle. */
  readonly problems: readonly string[];
}

/**
 * Inspects an archive.
 * @param archive absolute path
 */
export async function inspectFile(
  archive: string,
  options: ArchiveLayoutOptions & {readonly signal?: AbortSignal | undefined},
): Promise<ArchiveInspection> {
  const {matchMode, ...contents} = await readArchiveContents(archive, options);
  return {...contents, ...(await analyse(contents, options.signal))};
}

async function analyse(
  {config, files}: Pick<ArchiveContents, 'config' | 'files'>,
  signal?: AbortSignal,
): Promise<Pick<ArchiveInspection, 'matches' | 'problems'>> {
  const paths = files.map(({path}) => path);
  const common = [...duplicateProblems(paths), ...secretWarnings(files.filter(hasSensitiveName))];
  if (config === undefined) return {matches: {ssrOnly: [], ssrShared: []}, problems: common};
  const counts = await countMatches(config, paths, signal);
  const matchesOf = (setting: 'ssrOnly' | 'ssrShared') =>
    config[setting].map((pattern, index) => ({pattern, files: counts[setting][index] ?? 0}));
  const unmatchedOf = (setting: 'ssrOnly' | 'ssrShared') =>
    config[setting].filter((pattern, index) => counts[setting][index] === 0 && !isExclusion(pattern));
  const runs = config.ssrOnly.length === 0 || files.some(({category}) => category === 'ssrOnly');
  return {
    matches: {ssrOnly: matchesOf('ssrOnly'), ssrShared: matchesOf('ssrShared')},
    problems: [
      ...unmatchedWarnings({ssrOnly: unmatchedOf('ssrOnly'), ssrShared: unmatchedOf('ssrShared')}, paths),
      ...(runs ? [] : ['No file is server-only, so there is nothing to run on the server.']),
      ...common,
    ],
  };
}

/** Programs disagree on which duplicate wins. */
function duplicateProblems(paths: readonly string[]): readonly string[] {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const path of paths.map((name) => posix.normalize(name))) (seen.has(path) ? repeated : seen).add(path);
  if (repeated.size === 0) return [];
  return [`More than one entry is named ${listPaths([...repeated])}.`];
}
