import {findPackageManager} from '../../files/programs.js';

/** Replaces oclif's `which` (`scripts/bundle.js`), which looks for npm in Windows' working directory first. */
export default function which(name: string): string {
  const found = findPackageManager(name, process.env);
  if (found === undefined) throw new Error(`not found: ${name}`);
  return found;
}
