import {HttpFailure} from '../http-failure.js';
import {isBelow} from '../../../bundle/prebuilt/archive-layout.js';
import {checkLayout} from './archive-layout.js';
import type {ArchiveLimits} from './archive-limits.js';
import type {CheckedBundle} from './check-v2-bundle.js';
import {isGzip, readArchive, type ArchiveEntry} from './read-archive.js';

/** What the JSON of a v1 push says of its archive. */
export interface V1BundleOptions {
  readonly projectSlug: string;
  readonly ssrOnly: readonly string[];
  readonly ssrShared: readonly string[];
  readonly ssrParameters: Readonly<Record<string, unknown>>;
  readonly limits: ArchiveLimits;
}

/**
 * Checks a v1 archive: an uncompressed tar whose entries lie under `{projectSlug}/bld/`, with every file that the push
 * lists.
 * @throws HttpFailure 422 for anything else, naming it.
 */
export async function checkV1Bundle(archive: string, options: V1BundleOptions): Promise<CheckedBundle> {
  const {projectSlug, ssrOnly, ssrShared, ssrParameters, limits} = options;
  if (await isGzip(archive)) throw new HttpFailure(422, 'The archive of a v1 push is an uncompressed tar, not a gzip.');
  const root = `${projectSlug}/bld`;
  const entries: ArchiveEntry[] = [];
  await readArchive(archive, {limits, visit: (entry) => void entries.push(entry)});
  await checkLayout(entries, root);
  const stranger = entries.find((entry) => !belongsTo(root, entry));
  if (stranger) throw new HttpFailure(422, `"${stranger.path}" in the archive does not lie under "${root}/".`);
  const files = new Set(
    entries
      .filter(({path, type}) => type !== 'directory' && isBelow(path, root))
      .map(({path}) => path.slice(root.length + 1)),
  );
  if (files.size === 0) throw new HttpFailure(422, `The archive holds no file under "${root}/".`);
  for (const [key, list] of Object.entries({ssr_only: ssrOnly, ssr_shared: ssrShared})) {
    const missing = list.find((file) => !files.has(file));
    if (missing !== undefined) {
      throw new HttpFailure(422, `"${missing}" of ${key} is no file of the archive under "${root}/".`);
    }
  }
  return {ssrParameters, files: [...files], matches: {ssrOnly, ssrShared}, warnings: [], root};
}

function belongsTo(root: string, {path, type}: ArchiveEntry): boolean {
  return isBelow(path, root) || (type === 'directory' && isBelow(`${root}/`, path));
}
