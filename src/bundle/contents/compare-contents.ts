import {isDeepStrictEqual} from 'node:util';
import type {BundleFileCategory} from '../types.js';
import {isRecord} from '../../text/json.js';
import {comparePaths} from '../../text/entry-names.js';
import type {BundleContents, ContentFile} from './bundle-contents.js';

/** A file of one of two bundles. */
export type FileState = Omit<ContentFile, 'path'>;

/** How a file differs: its content, being a link or its target, whether it is executable, or how it is used. */
export type FileDifference = 'content' | 'link' | 'mode' | 'category';

/** A file that differs between two bundles. */
export interface FileChange {
  /** Relative to the build folder, `/` on every platform. */
  readonly path: string;
  /** What happened to it between the two. */
  readonly change: 'added' | 'removed' | 'changed';
  /** By how many bytes it grew; negative if it shrank. */
  readonly bytes: number;
  /** How it differs; empty unless it is `changed`. */
  readonly differs: readonly FileDifference[];
  /** Undefined if it was added. */
  readonly before?: FileState | undefined;
  /** Undefined if it was removed. */
  readonly after?: FileState | undefined;
}

/** How many files there are, and their size. */
export interface FileTotal {
  /** How many there are. */
  readonly files: number;
  /** Total size of the files, in bytes. */
  readonly bytes: number;
}

/** How many files differ, and all of them before and after. */
export interface DiffTotal {
  /** Number of files that only the second bundle has. */
  readonly added: number;
  /** Number of files that only the first bundle has. */
  readonly removed: number;
  /** Number of files that both have, and that differ. */
  readonly changed: number;
  /** All files of the first bundle. */
  readonly before: FileTotal;
  /** All files of the second bundle. */
  readonly after: FileTotal;
}

/** The part of a category. */
export interface CategoryDiff extends DiffTotal {
  /** `unknown`: the files of a v1 archive without a manifest. */
  readonly category: BundleFileCategory | 'unknown';
}

/** A value of the configuration that differs, or the format, rootDir, configPath or matchMode. */
export interface ConfigChange {
  /** Such as `ssrParameters.SSRFunctionNodeVersion`. */
  readonly key: string;
  /** Undefined if it was added. */
  readonly before?: unknown;
  /** Undefined if it was removed. */
  readonly after?: unknown;
}

/** The difference between the contents of two bundles. */
export interface ContentsDiff {
  /** Whether no difference was found. */
  readonly identical: boolean;
  /** The files that differ, the largest differences first. */
  readonly changes: readonly FileChange[];
  /** Sums over all files. */
  readonly total: DiffTotal;
  /**
   * The total by category. Those without files are missing, and all of them if the files of one bundle have none, as in
   * a v1 archive. A changed file counts in its new category.
   */
  readonly categories: readonly CategoryDiff[];
  /** Differences of the configurations. */
  readonly config: readonly ConfigChange[];
  /** Whether the configuration of both is known. A v1 archive does not contain it. */
  readonly configKnown: boolean;
}

/** Compares two bundles by the digests of their files. */
export function compareContents(before: BundleContents, after: BundleContents): ContentsDiff {
  const old = byPath(before);
  const current = byPath(after);
  const paths = new Set([...current.keys(), ...old.keys()]);
  const changes = [...paths]
    .flatMap((path) => changeOf(path, old.get(path), current.get(path)) ?? [])
    .sort(largestFirst);
  const config = configChanges(before, after);
  const files = [[...old.values()], [...current.values()], changes] as const;
  const total = totalOf(...files);
  return {
    identical: changes.length === 0 && config.length === 0,
    changes,
    total,
    categories: comparable({categories: byCategory(...files), total}),
    config,
    configKnown: before.config !== undefined && after.config !== undefined,
  };
}

/** The categories, unless one of the bundles has none: their sizes would seem to have changed. */
function comparable({categories: all, total}: Pick<ContentsDiff, 'categories' | 'total'>): readonly CategoryDiff[] {
  const unknown = all.find(({category}) => category === 'unknown');
  const lacks = (side: 'before' | 'after') => total[side].files > 0 && unknown?.[side].files === total[side].files;
  return lacks('before') || lacks('after') ? [] : all;
}

/** In a foreign archive, a path may occur several times. Unpacking leaves the last one. */
function byPath({files}: BundleContents): ReadonlyMap<string, ContentFile> {
  return new Map(files.map((file) => [file.path, file]));
}

function changeOf(
  path: string,
  before: ContentFile | undefined,
  after: ContentFile | undefined,
): FileChange | undefined {
  const bytes = (after?.size ?? 0) - (before?.size ?? 0);
  const states = {...(before && {before: stateOf(before)}), ...(after && {after: stateOf(after)})};
  if (before === undefined || after === undefined) {
    return {path, change: after === undefined ? 'removed' : 'added', bytes, differs: [], ...states};
  }
  const differs = differences(before, after);
  return differs.length === 0 ? undefined : {path, change: 'changed', bytes, differs, ...states};
}

function stateOf({size, sha256, category, executable, linkTarget}: ContentFile): FileState {
  return {size, sha256, category, executable, linkTarget};
}

function differences(before: ContentFile, after: ContentFile): readonly FileDifference[] {
  const differs: FileDifference[] = [];
  const isLink = before.linkTarget !== undefined || after.linkTarget !== undefined;
  if (before.linkTarget !== after.linkTarget) differs.push('link');
  // A manifest may state any size.
  if (!isLink && (before.sha256 !== after.sha256 || before.size !== after.size)) differs.push('content');
  if (!isLink && before.executable !== after.executable) differs.push('mode');
  if (before.category !== undefined && after.category !== undefined && before.category !== after.category)
    differs.push('category');
  return differs;
}

function largestFirst(a: FileChange, b: FileChange): number {
  return Math.abs(b.bytes) - Math.abs(a.bytes) || sizeOf(b) - sizeOf(a) || comparePaths(a.path, b.path);
}

function sizeOf({before, after}: FileChange): number {
  return Math.max(before?.size ?? 0, after?.size ?? 0);
}

const categories = ['ssrOnly', 'shared', 'static', 'unknown'] as const;

function totalOf(before: readonly FileState[], after: readonly FileState[], changes: readonly FileChange[]): DiffTotal {
  const size = (files: readonly FileState[]) => ({
    files: files.length,
    bytes: files.reduce((bytes, file) => bytes + file.size, 0),
  });
  const count = (kind: FileChange['change']) => changes.filter(({change}) => change === kind).length;
  return {
    added: count('added'),
    removed: count('removed'),
    changed: count('changed'),
    before: size(before),
    after: size(after),
  };
}

function byCategory(
  before: readonly FileState[],
  after: readonly FileState[],
  changes: readonly FileChange[],
): readonly CategoryDiff[] {
  return categories.flatMap((category) => {
    const isOfIt = (file: FileState) => (file.category ?? 'unknown') === category;
    const [old, current] = [before.filter(isOfIt), after.filter(isOfIt)];
    const changed = changes.filter(({before: then, after: now = then}) => now !== undefined && isOfIt(now));
    return old.length + current.length === 0 ? [] : [{category, ...totalOf(old, current, changed)}];
  });
}

const layoutKeys = ['format', 'rootDir', 'configPath', 'matchMode'] as const;

function configChanges(before: BundleContents, after: BundleContents): readonly ConfigChange[] {
  const layout = layoutKeys.flatMap((key) =>
    before[key] === undefined || after[key] === undefined || before[key] === after[key]
      ? []
      : [{key, before: before[key], after: after[key]}],
  );
  if (before.config === undefined || after.config === undefined) return layout;
  const [old, current] = [leavesOf(before.config), leavesOf(after.config)];
  const keys = [...new Set([...old.keys(), ...current.keys()])].sort(comparePaths);
  const changed = keys.filter((key) => !isDeepStrictEqual(old.get(key), current.get(key)));
  return [...layout, ...changed.map((key) => ({key, before: old.get(key), after: current.get(key)}))];
}

/** The values in a configuration that are no objects, by their keys. */
function leavesOf(config: Readonly<Record<string, unknown>>): ReadonlyMap<string, unknown> {
  const leaves = new Map<string, unknown>();
  const visit = (value: unknown, key: string): void => {
    if (!isRecord(value)) leaves.set(key, value);
    else for (const [name, item] of Object.entries(value)) visit(item, key === '' ? name : `${key}.${name}`);
  };
  visit(config, '');
  return leaves;
}
