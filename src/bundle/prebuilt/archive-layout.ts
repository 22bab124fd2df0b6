/** The part of an archive entry that matters to other entries. */
export interface LayoutEntry {
  /** As returned by `entryPath`. */
  readonly path: string;
  readonly type: 'file' | 'directory' | 'symlink' | 'link';
  /** Target of a symbolic or hard link, unchanged. */
  readonly linkTarget?: string | undefined;
}

/** A problem with a path in an archive. */
export interface LayoutProblem {
  readonly kind: 'twice' | 'below' | 'leads-out';
  readonly entry: LayoutEntry;
  /** For `below`: the parent, which is not a folder. */
  readonly parent?: string | undefined;
}

/** Rules for a layout. */
interface LayoutRules {
  /** Links in this folder must stay in it, links elsewhere in the archive. '' is the archive itself. */
  readonly root: string;
  /** Whether a path may occur twice if neither entry is a link. */
  readonly mayRepeat: boolean;
}

/** Maximum bytes or characters of a path or a link target. */
const maxPathLength = 4096;
const maxLinkHops = 40;
/** Maximum characters of the paths that the links of an archive lead through. More is refused. */
const maxLinkWork = 50_000_000;
/** Absolute, or with a separator that only some systems use. */
const unsafeTarget = /^\/|^[A-Za-z]:|\\|\0/;

/**
 * Normalizes the name of an archive entry to a relative path: plain names, separated by `/`. Empty for the root of the
 * archive; undefined for a name that would leave the folder it is unpacked into, on any platform.
 */
export function entryPath(name: string): string | undefined {
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

/**
 * Finds a problem between entries: unpacking them must not write through a link or outside the folder. Links are
 * followed part by part and through other links, as a kernel does, because checking their text is not enough.
 */
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
  const work = {left: maxLinkWork};
  for (const entry of byPath.values()) if (!linkStays(entry, byPath, root, work)) return {kind: 'leads-out', entry};
  return undefined;
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

function linkStays(
  entry: LayoutEntry,
  entries: ReadonlyMap<string, LayoutEntry>,
  root: string,
  work: {left: number},
): boolean {
  const {path, type, linkTarget = ''} = entry;
  switch (type) {
    case 'symlink':
      return staysInside({path, target: linkTarget}, entries, isBelow(path, root) ? root : '', work);
    case 'link': {
      // Its target is relative to the root of the archive, and it links to whatever is there.
      const target = entryPath(linkTarget);
      return target !== undefined && isBelow(target, isBelow(path, root) ? root : '') && isFile(target, entries);
    }
    case 'file':
    case 'directory':
      return true;
  }
}

function isFile(path: string, entries: ReadonlyMap<string, LayoutEntry>): boolean {
  return entries.get(path)?.type === 'file';
}

function staysInside(
  {path, target}: {readonly path: string; readonly target: string},
  entries: ReadonlyMap<string, LayoutEntry>,
  root: string,
  work: {left: number},
): boolean {
  const floor = root === '' ? 0 : root.split('/').length;
  const position = path.split('/').slice(0, -1);
  let pending = target;
  for (let hops = 0; hops <= maxLinkHops; hops += 1) {
    if (pending === '' || pending.length > maxPathLength || unsafeTarget.test(pending)) return false;
    const parts = pending.split('/');
    let next: string | undefined;
    while (next === undefined) {
      const part = parts.shift();
      if (part === undefined) return true;
      if (part === '' || part === '.') continue;
      if (part === '..') {
        if (position.length <= floor) return false;
        position.pop();
        continue;
      }
      position.push(part);
      const reached = position.join('/');
      work.left -= reached.length;
      if (work.left < 0) return false;
      const entry = entries.get(reached);
      next = entry?.type === 'symlink' ? entry.linkTarget : undefined;
    }
    position.pop();
    pending = [next, ...parts].join('/');
  }
  return false;
}
