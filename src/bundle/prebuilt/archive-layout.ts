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
  readonly kind: 'twice' | 'below' | 'leads-out' | 'mistakable';
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
  /** The path of the configuration. No other path may be mistaken for it on any platform. */
  readonly unmistakable?: string | undefined;
}

/** Maximum bytes or characters of a path or a link target. */
const maxPathLength = 4096;
const maxLinkHops = 40;
/** Maximum characters of the paths that links lead through, for the whole archive and for one link. More is refused. */
const maxLinkWork = {all: 50_000_000, one: 10_000_000} as const;
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
  {root, mayRepeat, unmistakable}: LayoutRules,
): LayoutProblem | undefined {
  const byPath = new Map<string, LayoutEntry>();
  const isLookalike = createLookalikeTest(unmistakable);
  for (const entry of entries) {
    if (isLookalike(entry.path)) return {kind: 'mistakable', entry};
    const twin = byPath.get(entry.path);
    const isRepeated = mayRepeat && twin?.type === 'file' && entry.type === 'file';
    if (twin && !isRepeated && (twin.type !== 'directory' || entry.type !== 'directory')) return {kind: 'twice', entry};
    byPath.set(entry.path, entry);
  }
  const below = belowProblem(byPath);
  if (below) return below;
  let left = maxLinkWork.all;
  for (const entry of byPath.values()) {
    const most = Math.min(left, maxLinkWork.one);
    const work = {left: most};
    if (!linkStays(entry, byPath, root, work)) return {kind: 'leads-out', entry};
    left -= most - work.left;
  }
  return undefined;
}

/**
 * A path as some systems read it: ignoring case, Unicode form, invisible characters, alternate data streams, and
 * trailing dots and spaces of names.
 */
function looseName(path: string): string {
  // The fast path for nearly all names: an archive may have 200,000.
  if (/^[!-9;-~]*$/.test(path) && !/\.(?:\/|$)/.test(path)) return path.toLowerCase();
  const parts = path
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
    .split('/');
  return parts.map((part) => part.replace(/:.*$/s, '').replace(/[. ]+$/, '')).join('/');
}

/** Creates a test for paths that some systems, but not all, read as `wanted` or a folder that contains it. */
function createLookalikeTest(wanted: string | undefined): (path: string) => boolean {
  const parts = wanted?.split('/') ?? [];
  const exact = new Map(
    parts.map((_, at) => parts.slice(0, at + 1).join('/')).map((path) => [looseName(path), path] as const),
  );
  return (path) => (exact.get(looseName(path)) ?? path) !== path;
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
