import {isAbsolute, relative, sep} from 'node:path';

/** Whether a path that `relative` has made leads out of the folder. */
export function isOutside(path: string): boolean {
  return path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path);
}

/** A folder as users see it from another: with slashes, `.` for the same. */
export function folderFrom(from: string, folder: string): string {
  const path = relative(from, folder);
  return isAbsolute(path) ? path : path.split(sep).join('/') || '.';
}
