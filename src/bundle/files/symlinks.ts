import {isAbsolute} from 'node:path';

/** Where a symbolic link leads, seen from inside the build directory. */
export type LinkDestination = 'inside' | 'outside' | 'nowhere';

/** More links than this on one way are a circle. */
const maxHops = 40;

/**
 * Follows a link by name, step by step as the file system would, through the other links of the build. A way that leaves
 * the build directory in any of its steps leads outside, even when it comes back: unpacked elsewhere it would not.
 * @param path The link, relative to the build directory.
 * @param links Targets of all links of the build, by their paths.
 * @param exists Whether a file or a directory of the build is at a path; '' is the build directory.
 */
export function followLink(
  path: string,
  links: ReadonlyMap<string, string>,
  exists: (path: string) => boolean,
): LinkDestination {
  const position: string[] = [];
  const steps = path.split('/');
  let hops = 0;
  for (let step = steps.shift(); step !== undefined; step = steps.shift()) {
    if (step === '' || step === '.') continue;
    if (step === '..') {
      if (position.length === 0) return 'outside';
      position.pop();
      continue;
    }
    position.push(step);
    const target = links.get(position.join('/'));
    if (target === undefined) continue;
    if (isAbsolute(target)) return 'outside';
    hops += 1;
    if (hops > maxHops) return 'nowhere';
    position.pop();
    steps.unshift(...target.split('/'));
  }
  return exists(position.join('/')) ? 'inside' : 'nowhere';
}
