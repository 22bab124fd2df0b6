import {join} from 'node:path';
import {configJson} from '../config/content-schema.js';
import {comparePaths} from '../files/entry-names.js';
import type {BundlePlan} from '../plan.js';
import type {PlannedFile} from './read-files.js';

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
function entryPrefix({rootDir, projectSlug = ''}: Pick<BundlePlan, 'rootDir' | 'projectSlug'>): string {
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

/** A tar is made of records of this many bytes. */
const recordBytes = 512;
/** What the archive library ends a tar with. */
const endBytes = 2 * recordBytes;
/** Names up to this length, ASCII only, fit into one record with all else that there is to say of an entry. */
const plainName = /^[\0-\x7f]{0,100}$/;

/**
 * Bytes of the tar that `writeTar` makes of `entries`, to the last one: a v1 upload has to tell them before its first.
 */
export async function tarSize(entries: Iterable<TarEntry>): Promise<number> {
  let size = endBytes;
  const unusual: TarEntry[] = [];
  for (const entry of entries) {
    size += Math.ceil(contentSize(entry) / recordBytes) * recordBytes;
    if (plainName.test(entry.name) && (entry.kind !== 'link' || plainName.test(entry.target))) size += recordBytes;
    else unusual.push(entry);
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

/** Bytes of the headers of entries with long or non-ASCII names: asked of the library that writes them. */
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
