import prettyBytes from 'pretty-bytes';
import type {BundlePlan} from '../bundle/index.js';
import type {Bundle} from '../bundle/types.js';

/** `12 files, 3.2 MB` */
export function describeFiles({files, totalBytes}: Pick<BundlePlan, 'files' | 'totalBytes'>): string {
  return `${count(files.length, 'file')}, ${prettyBytes(totalBytes)}`;
}

/** `v2 archive, 12 files, 1.1 MB, sha256 0123456789ab` */
export function describeArchive(bundle: Bundle): string {
  return `${describeSize(bundle)}, sha256 ${bundle.sha256.slice(0, 12)}`;
}

/** `v2 archive, 12 files, 1.1 MB` */
export function describeSize({format, files, size}: Pick<Bundle, 'format' | 'files' | 'size'>): string {
  return `${format} archive, ${count(files.length, 'file')}, ${prettyBytes(size)}`;
}

/** `1 file`, `2 files` */
export function count(number: number, noun: string): string {
  return `${String(number)} ${noun}${number === 1 ? '' : 's'}`;
}
