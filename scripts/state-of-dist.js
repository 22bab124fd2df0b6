// Whether the modules in dist are those of src: npm builds them in `prepare`, which users can turn off (`ignore-scripts`).
import {existsSync, readdirSync, statSync} from 'node:fs';
import path from 'node:path';

/** What is wrong with dist, as a clause. Undefined if nothing is. */
export function stateOfDist(root) {
  // The last thing that a build writes.
  const manifest = path.join(root, 'oclif.manifest.json');
  if (!existsSync(path.join(root, 'dist')) || !existsSync(manifest)) return 'dist is missing';
  const {mtimeMs: built} = statSync(manifest);
  const names = readdirSync(path.join(root, 'src'), {recursive: true});
  const isOlder = names.some((name) => statSync(path.join(root, 'src', name)).mtimeMs > built);
  return isOlder ? 'dist is older than src' : undefined;
}
