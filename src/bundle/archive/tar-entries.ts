import {configJson} from '../config/content-schema.js';
import {comparePaths, sourceOf} from '../files/entry-names.js';
import type {BundlePlan} from '../plan.js';
import type {BundleContent} from '../types.js';
import type {PlannedFile} from './read-files.js';

/** An entry to write to the archive. */
export type TarEntry = {
  /** Path in the archive. */
  readonly name: string;
} & (
  | ({readonly kind: 'file'; readonly executable: boolean} & PlannedFile)
  | {readonly kind: 'link'; readonly target: string}
  | {readonly kind: 'folder'}
  | {readonly kind: 'content'; readonly content: Buffer}
);

/** The path prefix of a bundle's entries: `rootDir` for v2, `{projectSlug}/bld` for v1. */
export function entryPrefix({rootDir, projectSlug = ''}: Pick<BundleContent, 'rootDir' | 'projectSlug'>): string {
  return rootDir ?? `${projectSlug}/bld`;
}

/**
 * The entries of a bundle's archive, sorted by path: its files, its empty folders and, for v2, its configuration,
 * exactly once.
 */
export function tarEntries(plan: BundlePlan): readonly TarEntry[] {
  const {buildDirectory, files, emptyFolders, config, configPath} = plan;
  const prefix = entryPrefix(plan);
  const nameOf = (path: string) => `${prefix}/${path}`;
  const entries: TarEntry[] = files.map(({path, size, modifiedMs, executable, linkTarget}) =>
    linkTarget === undefined
      ? {kind: 'file', name: nameOf(path), source: sourceOf(buildDirectory, path), size, modifiedMs, executable}
      : {kind: 'link', name: nameOf(path), target: linkTarget},
  );
  for (const path of emptyFolders) entries.push({kind: 'folder', name: nameOf(path)});
  if (configPath !== undefined)
    entries.push({kind: 'content', name: nameOf(configPath), content: Buffer.from(configJson(config))});
  return entries.sort((a, b) => comparePaths(a.name, b.name));
}
