import {findPackageManager} from '../../files/programs.js';

/**
 * What oclif gets when it imports `which` to find npm or yarn (`scripts/bundle.js`): the package looks in Windows'
 * working directory first.
 * @throws Error if there is none, as the package does.
 */
export default function which(name: string): string {
  const found = findPackageManager(name, process.env);
  if (found === undefined) throw new Error(`not found: ${name}`);
  return found;
}
