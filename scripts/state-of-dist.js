// Whether the modules in dist are those of src: npm builds them in `prepare`, which users can turn off (`ignore-scripts`).
import {existsSync, readdirSync, statSync} from 'node:fs';
import path from 'node:path';

/** What is wrong with dist, as a clause. Undefined if nothing is. */
export function stateOfDist(root) {
  const timeOf = (...names) => statSync(path.join(root, ...names), {throwIfNoEntry: false})?.mtimeMs ?? 0;
  // The last thing that a build writes, and what `npm run dev` does.
  const manifest = timeOf('oclif.manifest.json');
  if (!existsSync(path.join(root, 'dist')) || manifest === 0) return 'dist is missing';
  const built = Math.max(manifest, timeOf('dist/bundled-licenses.txt'));
  const isOlder = readdirSync(path.join(root, 'src'), {recursive: true}).some((name) => timeOf('src', name) > built);
  return isOlder ? 'dist is older than src' : undefined;
}
