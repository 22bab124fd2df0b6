import {join} from 'node:path';
import {configJson} from '../config/config-json.js';
import {comparePaths} from '../files/entry-names.js';
import type {BundlePlan} from '../plan.js';
import type {PlannedFile} from './read-exactly.js';

/** An entry of the archive, in the order of writing. */
export type TarEntry = {
  /** Path in the archive. */
  readonly name: string;
} & (
  | ({readonly kind: 'file'; readonly executable: boolean} & PlannedFile)
  | {readonly kind: 'link'; readonly target: string}
  | {readonly kind: 'content'; readonly content: Buffer}
);

/** The prefix of a bundle's entries: v2 `rootDir`, v1 `{projectSlug}/bld`. */
export function entryPrefix({rootDir, projectSlug = ''}: Pick<BundlePlan, 'rootDir' | 'projectSlug'>): string {
  return rootDir ?? `${projectSlug}/bld`;
}

/**
 * The entries of a bundle's archive, sorted by path: its files, and in v2 its configuration, exactly once. Each is made
 * when it is asked for: a list of them would be as large as that of the files.
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
    else yield {kind: 'file', name, source: join(plan.buildDirectory, path), size, modifiedMs, executable};
  }
  if (config !== undefined) yield config;
}
