import type {BundlePlan} from '../plan.js';
import {tarEntries, type TarEntry} from './tar-entries.js';
import {contentSize, endBytes, fitsOneHeader, longHeadersSize, recordBytes} from './tar-header.js';

/** Entries whose long headers are measured at a time: until they are, the archive library keeps all of them. */
const measuredAtATime = 100;

/** The exact size of a bundle's tar: that of a v1 archive, and about the most that a compressed one can have. */
export function archiveSize(plan: BundlePlan): Promise<number> {
  return tarSize(tarEntries(plan));
}

/** The exact size of the tar that `writeTar` makes of `entries`. A v1 upload must declare it before the first byte. */
export async function tarSize(entries: Iterable<TarEntry>): Promise<number> {
  let size = endBytes;
  let long: TarEntry[] = [];
  for (const entry of entries) {
    size += Math.ceil(contentSize(entry) / recordBytes) * recordBytes;
    if (fitsOneHeader(entry)) size += recordBytes;
    else long.push(entry);
    if (long.length < measuredAtATime) continue;
    size += await longHeadersSize(long);
    long = [];
  }
  return long.length === 0 ? size : size + (await longHeadersSize(long));
}
