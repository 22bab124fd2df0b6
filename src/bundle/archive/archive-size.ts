import type {BundlePlan} from '../plan.js';
import {tarEntries, type TarEntry} from './tar-entries.js';
import {contentSize, endBytes, fitsOneHeader, inGroups, longHeaders, recordBytes, wholeRecords} from './tar-header.js';

/** The exact size of a bundle's tar: that of a v1 archive, and about the most that a compressed one can have. */
export function archiveSize(plan: BundlePlan): Promise<number> {
  return tarSize(tarEntries(plan), plan.modifiedAt);
}

/** The exact size of the tar that `writeTar` makes of `entries`. A v1 upload must declare it before the first byte. */
export async function tarSize(entries: Iterable<TarEntry>, modifiedAt: Date): Promise<number> {
  let size = endBytes;
  for (const group of inGroups(entries)) {
    const long = group.every(fitsOneHeader) ? undefined : await longHeaders(group, modifiedAt);
    for (const entry of group) size += (long?.get(entry)?.length ?? recordBytes) + wholeRecords(contentSize(entry));
  }
  return size;
}
