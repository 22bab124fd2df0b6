import prettyBytes from 'pretty-bytes';
import {categoryOf, categoryWords, type BundlePlan} from '../bundle/index.js';
import type {Bundle, BundleFile} from '../bundle/types.js';
import {count} from '../text/sentence.js';

/** `12 files (2 server-only, 9 shared, 1 other), 3.2 MB` */
export function describeFiles({files, totalBytes}: Pick<BundlePlan, 'files' | 'totalBytes'>): string {
  return `${countFiles(files)}, ${prettyBytes(totalBytes)}`;
}

/** `12 files (2 server-only, 9 shared, 1 other)` */
export function countFiles(files: readonly Pick<BundleFile, 'ssrOnly' | 'ssrShared'>[]): string {
  const counts = {ssrOnly: 0, shared: 0, static: 0};
  for (const file of files) counts[categoryOf(file)] += 1;
  const kinds = (['ssrOnly', 'shared', 'static'] as const).map(
    (kind) => `${String(counts[kind])} ${categoryWords[kind]}`,
  );
  return `${count(files.length, 'file')} (${kinds.join(', ')})`;
}

/** `archive, 12 files, 1.1 MB, sha256 0123456789ab` */
export function describeArchive(bundle: Bundle, files?: string): string {
  return `archive, ${describeSize(bundle, files)}, sha256 ${bundle.sha256.slice(0, 12)}`;
}

/** `12 files, 1.1 MB` */
export function describeSize(
  {files, size}: Pick<Bundle, 'files' | 'size'>,
  counted = count(files.length, 'file'),
): string {
  return `${counted}, ${prettyBytes(size)}`;
}
