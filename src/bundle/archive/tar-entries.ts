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

/** A tar consists of records of this many bytes. */
const recordBytes = 512;
/** Bytes that the archive library ends a tar with. */
const endBytes = 2 * recordBytes;
/** ASCII names up to this length fit into a single record with the rest of the entry's metadata. */
const plainName = /^[\0-\x7f]{0,100}$/;

/** Entries whose headers are measured at a time: until they are, the library keeps all of them. */
const measuredAtATime = 100;

/** The exact size of a bundle's tar: that of a v1 archive, and about the most that a compressed one can have. */
export function archiveSize(plan: BundlePlan): Promise<number> {
  return tarSize(tarEntries(plan));
}

/** The exact size of the tar that `writeTar` makes of `entries`. A v1 upload must declare it before the first byte. */
export async function tarSize(entries: Iterable<TarEntry>): Promise<number> {
  let size = endBytes;
  let unusual: TarEntry[] = [];
  for (const entry of entries) {
    size += Math.ceil(contentSize(entry) / recordBytes) * recordBytes;
    if (plainName.test(entry.name) && (entry.kind !== 'link' || plainName.test(entry.target))) size += recordBytes;
    else unusual.push(entry);
    if (unusual.length < measuredAtATime) continue;
    size += await headersSize(unusual);
    unusual = [];
  }
  return size + (await headersSize(unusual));
}

function contentSize(entry: TarEntry): number {
  switch (entry.kind) {
    case 'file':
      return entry.size;
    case 'content':
      return entry.content.length;
    case 'link':
      return 0;
  }
}

/** Bytes of the headers of entries with long or non-ASCII names, measured with the library that writes them. */
async function headersSize(entries: readonly TarEntry[]): Promise<number> {
  if (entries.length === 0) return 0;
  const {
    default: {pack},
  } = await import('tar-stream');
  const headers = pack();
  for (const entry of entries) {
    if (entry.kind === 'link') headers.entry({name: entry.name, type: 'symlink', linkname: entry.target});
    else headers.entry({name: entry.name}, '');
  }
  headers.finalize();
  let size = 0;
  for await (const chunk of headers) size += (chunk as Buffer).length;
  return size - endBytes;
}
