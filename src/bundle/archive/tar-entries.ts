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
  | {readonly kind: 'content'; readonly content: Buffer}
);

/** The path prefix of a bundle's entries: `rootDir` for v2, `{projectSlug}/bld` for v1. */
export function entryPrefix({rootDir, projectSlug = ''}: Pick<BundleContent, 'rootDir' | 'projectSlug'>): string {
  return rootDir ?? `${projectSlug}/bld`;
}

/**
 * The entries of a bundle's archive, sorted by path: its files and, for v2, its configuration, exactly once. They are
 * created on demand, since a list of them would be as large as the list of files.
 */
export function* tarEntries(plan: BundlePlan): Generator<TarEntry> {
  const prefix = entryPrefix(plan);
  const {configPath} = plan;
  let config: TarEntry | undefined =
    configPath === undefined
      ? undefined
      : {kind: 'content', name: `${prefix}/${configPath}`, content: Buffer.from(configJson(plan.config))};
  for (const {path, size, executable, linkTarget, modifiedMs} of plan.files) {
    const name = `${prefix}/${path}`;
    if (config !== undefined && comparePaths(config.name, name) < 0) {
      yield config;
      config = undefined;
    }
    if (linkTarget !== undefined) yield {kind: 'link', name, target: linkTarget};
    else yield {kind: 'file', name, source: sourceOf(plan.buildDirectory, path), size, modifiedMs, executable};
  }
  if (config !== undefined) yield config;
}
