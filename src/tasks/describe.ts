import prettyBytes from 'pretty-bytes';
import type {BundlePlan} from '../bundle/index.js';
import type {Bundle} from '../bundle/types.js';
import type {RetryEvent} from '../http/types.js';

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

/** `85 ms`, `2.3 s`, `4 min 5 s` */
export function describeDuration(ms: number): string {
  if (ms < 1000) return `${String(Math.round(ms))} ms`;
  if (ms < 59_950) return `${String(Math.round(ms / 100) / 10)} s`;
  const seconds = Math.round(ms / 1000);
  return `${String(Math.floor(seconds / 60))} min ${String(seconds % 60)} s`;
}

/** `rate limited (429), next try in 12 s, attempt 2 of 3`, when `leftMs` of the wait are left. */
export function describeRetry({status, reason, attempt, maxRetries}: RetryEvent, leftMs: number): string {
  const cause = status === 429 ? 'rate limited (429)' : reason;
  return `${cause}, next try in ${String(Math.ceil(leftMs / 1000))} s, attempt ${String(attempt)} of ${String(maxRetries)}`;
}

/** `1 file`, `2 files` */
export function count(number: number, noun: string): string {
  return `${String(number)} ${noun}${number === 1 ? '' : 's'}`;
}
