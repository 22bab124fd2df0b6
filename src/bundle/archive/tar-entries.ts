import {configJson} from '../config/content-schema.js';
import {comparePaths, sourceOf} from '../../text/entry-names.js';
import type {BundlePlan} from '../plan.js';
import {entryPrefix} from './manifest.js';
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

/** The entries of a bundle's archive, sorted by path: its files, empty folders and, for v2, its configuration. */
export function* tarEntries(plan: BundlePlan): Generator<TarEntry> {
  const {buildDirectory, files, emptyFolders, config, configPath} = plan;
  const prefix = entryPrefix(plan);
  const others: TarEntry[] = emptyFolders.map((path) => ({kind: 'folder', name: `${prefix}/${path}`}));
  if (configPath !== undefined)
    others.push({kind: 'content', name: `${prefix}/${configPath}`, content: Buffer.from(configJson(config))});
  others.sort((a, b) => comparePaths(a.name, b.name));
  let next = others.shift();
  for (const {path, size, executable, linkTarget, modifiedMs} of files) {
    const name = `${prefix}/${path}`;
    for (; next !== undefined && comparePaths(next.name, name) < 0; next = others.shift()) yield next;
    if (linkTarget !== undefined) yield {kind: 'link', name, target: linkTarget};
    else yield {kind: 'file', name, source: sourceOf(buildDirectory, path), size, modifiedMs, executable};
  }
  for (; next !== undefined; next = others.shift()) yield next;
}
