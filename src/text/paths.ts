import {isAbsolute, sep} from 'node:path';

/** Whether a path that `relative` has made leads out of the folder. */
export function isOutside(path: string): boolean {
  return path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path);
}
