import {linkProblem, linkWork, maxPathLength} from '../files/follow-link.js';

/** The part of an archive entry that matters to other entries. */
export interface LayoutEntry {
  /** As returned by `entryPath`. */
  readonly path: string;
  readonly type: 'file' | 'directory' | 'symlink' | 'link';
  /** Target of a symbolic or hard link, unchanged. */
  readonly linkTarget?: string | undefined;
}

export interface LayoutProblem {
  readonly kind: 'twice' | 'below' | 'leads-out';
  readonly entry: LayoutEntry;
  /** For `below`: the parent, which is not a folder. */
  readonly parent?: string | undefined;
}

interface LayoutRules {
  /** Links in this folder must stay in it, links elsewhere in the archive. '' is the archive itself. */
  readonly root: string;
  /** Whether a path may occur twice if neither entry is a link. */
  readonly mayRepeat: boolean;
}

/** The path of an archive entry, empty for the root; undefined if it would leave the folder it is unpacked into. */
export function safeEntryPath(name: string): string | undefined {
  const isUnsafe =
    name === '' ||
    name.length > maxPathLength ||
    name.includes('\0') ||
    name.includes('\\') ||
    /^(?:\/|[A-Za-z]:)/.test(name) ||
    name.split('/').includes('..');
  if (isUnsafe) return undefined;
  return name
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/');
}

/** Unpacking must not write through a link or outside the folder. Links are followed as a kernel does. */
export function layoutProblem(
  entries: readonly LayoutEntry[],
  {root, mayRepeat}: LayoutRules,
): LayoutProblem | undefined {
  const byPath = new Map<string, LayoutEntry>();
  for (const entry of entries) {
    const twin = byPath.get(entry.path);
    const isRepeated = mayRepeat && twin?.type === 'file' && entry.type === 'file';
    if (twin && !isRepeated && (twin.type !== 'directory' || entry.type !== 'directory')) return {kind: 'twice', entry};
    byPath.set(entry.path, entry);
  }
  const below = belowProblem(byPath);
  if (below) return below;
  const stays = linksStay(byPath, root);
  const entry = [...byPath.values()].find((one) => !stays(one));
  return entry && {kind: 'leads-out', entry};
}

/** Whether `path` is inside the folder `root`. Everything is inside ''. */
export function isBelow(path: string, root: string): boolean {
  return root === '' || path.startsWith(`${root}/`);
}

/** Finds an entry below one that is not a folder. Does not list parents, since paths may have thousands of parts. */
function belowProblem(entries: ReadonlyMap<string, LayoutEntry>): LayoutProblem | undefined {
  // With the lowest character in place of "/", whatever is below an entry sorts right after it.
  const sorted = [...entries.values()]
    .map((entry) => ({entry, key: entry.path.split('/').join('\0')}))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  for (const [index, {entry, key}] of sorted.entries()) {
    const next = sorted[index + 1];
    if (entry.type !== 'directory' && next?.key.startsWith(`${key}\0`)) {
      return {kind: 'below', entry: next.entry, parent: entry.path};
    }
  }
  return undefined;
}

/** Whether a link stays in `root` if it is there, and in the archive if it is not. */
function linksStay(entries: ReadonlyMap<string, LayoutEntry>, root: string): (entry: LayoutEntry) => boolean {
  const work = linkWork();
  const linksBelow = (folder: string) =>
    new Map(
      [...entries.values()].flatMap(({path, type, linkTarget = ''}) =>
        type === 'symlink' && isBelow(path, folder) ? [[inside(path, folder), linkTarget]] : [],
      ),
    );
  const links = {inRoot: linksBelow(root), anywhere: linksBelow('')};
  return ({path, type, linkTarget = ''}) => {
    const isInRoot = isBelow(path, root);
    const floor = isInRoot ? root : '';
    if (type === 'symlink') {
      return linkProblem(inside(path, floor), isInRoot ? links.inRoot : links.anywhere, work) === undefined;
    }
    if (type !== 'link') return true;
    // Its target is relative to the root of the archive, and it links to whatever is there.
    const target = safeEntryPath(linkTarget);
    return target !== undefined && isBelow(target, floor) && entries.get(target)?.type === 'file';
  };
}

/** A path relative to a folder that contains it. */
function inside(path: string, folder: string): string {
  return folder === '' ? path : path.slice(folder.length + 1);
}
