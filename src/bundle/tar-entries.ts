import {join} from 'node:path';
import {configJson} from './config-json.js';
import {comparePaths} from './names.js';
import type {BundlePlan} from './plan.js';
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

/** The entries of a bundle's archive, sorted by path: its files, and in v2 its configuration, exactly once. */
export function tarEntries(plan: BundlePlan): readonly TarEntry[] {
  const prefix = entryPrefix(plan);
  const entries = plan.files.map(({path, size, executable, linkTarget}): TarEntry => {
    const name = `${prefix}/${path}`;
    if (linkTarget !== undefined) return {kind: 'link', name, target: linkTarget};
    return {kind: 'file', name, source: join(plan.buildDirectory, path), size, executable};
  });
  if (plan.configPath !== undefined) {
    const content = Buffer.from(configJson(plan.config));
    entries.push({kind: 'content', name: `${prefix}/${plan.configPath}`, content});
  }
  return entries.sort((a, b) => comparePaths(a.name, b.name));
}
