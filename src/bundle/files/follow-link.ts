import {isAbsolute} from 'node:path';
import {showPath} from '../../text/entry-names.js';
import type {BundleFile} from '../types.js';

/** Where a symbolic link leads, as seen from the folder that contains everything. */
type LinkDestination = 'inside' | 'outside' | 'nowhere';

/** More links than this in a row count as a circle, as for the kernel. */
const maxHops = 40;
/** Maximum characters of a path or a link target in an archive. */
export const maxPathLength = 4096;
/** Absolute, or with a separator that only some systems use. */
const unsafeTarget = /^\/|^[A-Za-z]:|\\|\0/;

/** How many characters of paths may be looked at for all links of an archive. */
export function linkWork(): {left: number} {
  return {left: 50_000_000};
}

/**
 * Why a link, by its path in the folder that it must not leave, cannot be in an archive. Writer and readers ask this.
 * @param links Targets of all links in the folder, by their paths.
 */
export function linkProblem(
  path: string,
  links: ReadonlyMap<string, string>,
  work: {left: number},
): 'outside' | 'circle' | 'unsafe' | undefined {
  const target = links.get(path) ?? '';
  if (target.startsWith('/')) return 'outside';
  if (target === '' || target.length > maxPathLength || unsafeTarget.test(target)) return 'unsafe';
  const destination = followLink(path, links, () => true, work);
  if (destination === 'inside') return undefined;
  return destination === 'outside' ? 'outside' : 'circle';
}

/**
 * Follows a link through other links, step by step as a file system would. If any step leaves the folder, the link
 * leads outside, even if a later one returns: unpacked elsewhere, it would not.
 * @param exists Whether a file or a directory is at a path; '' is the folder.
 * @param work How many characters of paths may be looked at. Once none are left, links count as leading outside.
 */
export function followLink(
  path: string,
  links: ReadonlyMap<string, string>,
  exists: (path: string) => boolean,
  work = {left: Infinity},
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
    const reached = position.join('/');
    work.left -= reached.length;
    if (work.left < 0) return 'outside';
    const target = links.get(reached);
    if (target === undefined) continue;
    if (isAbsolute(target)) return 'outside';
    hops += 1;
    if (hops > maxHops) return 'nowhere';
    position.pop();
    steps.unshift(...target.split('/'));
  }
  return exists(position.join('/')) ? 'inside' : 'nowhere';
}

const linkReasons = {
  outside: 'which leads outside the build folder',
  circle: 'which loops, or leads through too many others',
  unsafe: 'a target that other systems read differently',
} as const;

/** The links of a build that no archive can have, and warnings about those that lead to nothing. */
export function checkLinks(
  files: readonly Pick<BundleFile, 'path' | 'linkTarget'>[],
  folders: readonly string[],
): {readonly unsupported: readonly {readonly path: string; readonly reason: string}[]; readonly warnings: string[]} {
  const links = new Map(files.flatMap(({path, linkTarget}) => (linkTarget === undefined ? [] : [[path, linkTarget]])));
  const there = new Set([...folders, ...files.map(({path}) => path)]);
  const work = linkWork();
  const unsupported: {path: string; reason: string}[] = [];
  const warnings: string[] = [];
  for (const [path, target] of links) {
    const problem = linkProblem(path, links, work);
    if (problem !== undefined) {
      unsupported.push({path, reason: `is a symbolic link to ${showPath(target)}, ${linkReasons[problem]}`});
    } else if (followLink(path, links, (found) => there.has(found)) === 'nowhere') {
      warnings.push(`${path} is a symbolic link to ${showPath(target)}, which the bundle does not contain.`);
    }
  }
  return {unsupported, warnings};
}
