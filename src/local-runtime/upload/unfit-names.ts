import path from 'node:path';
import {exists} from '../../files/read-file.js';
import {onWindows} from '../../text/platform.js';
import {HttpFailure} from '../answer.js';

/** Characters and endings that no name has on Windows, and the names of its devices. */
const notOnWindows = /[<>:"|?*]|[. ]$|^(?:con|prn|aux|nul|(?:com|lpt)[0-9¹²³])(?:\.|$)/i;

/**
 * Refuses a bundle that the disk of this runtime cannot hold: it would fail when it is deployed.
 * @param folder One on that disk, which contains `archive`.
 * @throws HttpFailure 422
 */
export async function refuseUnfitNames(files: readonly string[], folder: string): Promise<void> {
  const unfit = onWindows && files.find((file) => file.split('/').some((name) => notOnWindows.test(name)));
  if (unfit)
    throw new HttpFailure(422, `This runtime runs on Windows, where no file can be named "${unfit}". Rename it.`);
  const same = (await exists(path.join(folder, 'ARCHIVE'))) ? sameNames(files) : undefined;
  if (same === undefined) return;
  const names = `"${same[0]}" and "${same[1]}"`;
  throw new HttpFailure(422, `${names} would be the same file on this runtime's disk. Rename one of them.`);
}

/**
 * Two of the paths, or of the folders on them, that differ only in upper and lower case or in how letters are composed.
 */
export function sameNames(files: readonly string[]): readonly [string, string] | undefined {
  const known = new Map<string, string>();
  for (const file of files) {
    for (let name = file; name !== '.'; name = path.posix.dirname(name)) {
      const key = name.normalize().toLowerCase();
      const other = known.get(key);
      if (other === name) break;
      if (other !== undefined) return [other, name];
      known.set(key, name);
    }
  }
  return undefined;
}
