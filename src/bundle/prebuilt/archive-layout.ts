import {inTurns, type Turnwise} from '../files/in-turns.js';

/** An entry of an archive, as far as it matters to the others. */
export interface LayoutEntry {
  /** As `entryPath` makes it. */
  readonly path: string;
  readonly type: 'file' | 'directory' | 'symlink' | 'link';
  /** Of a symbolic or a hard link, as it stands there. */
  readonly linkTarget?: string | undefined;
}

/** What is wrong with a path of an archive. */
export interface LayoutProblem {
  readonly kind: 'twice' | 'below' | 'leads-out' | 'mistakable';
  readonly entry: LayoutEntry;
  /** The entry that it lies below, when it may not. */
  readonly parent?: string | undefined;
}

/** How a layout is judged. */
interface LayoutRules {
  /** Folder that the links in it have to stay in; links outside it have to stay in the archive. '' is the archive. */
  readonly root: string;
  /** Whether a file may occur twice, when neither is a link. */
  readonly mayRepeat: boolean;
  /** A path that no other may be taken for on any platform: that of the configuration. */
  readonly unmistakable?: string | undefined;
}

/** Bytes or characters of a path, or of what a link says, at most. */
const maxPathLength = 4096;
const maxLinkHops = 40;
/**
 * Characters of the paths that links lead through, at most: those of an archive, and one. What takes more is refused.
 */
const maxLinkWork = {all: 200_000_000, one: 10_000_000} as const;
/** Absolute, or with a separator that only some systems know. */
const unsafeTarget = /^\/|^[A-Za-z]:|\\|\0/;

/**
 * The path of an archive's entry: relative, `/` between its parts, nothing but names. Empty for the archive's own root;
 * nothing for one that would leave the folder it is unpacked into, on any platform.
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
 * What is wrong with entries as they are to each other: unpacking them must write nothing through a link and nothing
 * outside. Links are followed, part by part and through other links, as a kernel does: a look at their text is not
 * enough. Signals and requests get their turn meanwhile.
 * @throws `signal.reason` when aborted.
 */
export function layoutProblem(
  entries: readonly LayoutEntry[],
  rules: LayoutRules,
  signal?: AbortSignal,
): Promise<LayoutProblem | undefined> {
  return inTurns(findProblem(entries, rules), signal);
}

function* findProblem(
  entries: readonly LayoutEntry[],
  {root, mayRepeat, unmistakable}: LayoutRules,
): Turnwise<LayoutProblem | undefined> {
  const byPath = new Map<string, LayoutEntry>();
  const isLookalike = createLookalikeTest(unmistakable);
  for (const entry of entries) {
    yield;
    if (isLookalike(entry.path)) return {kind: 'mistakable', entry};
    const twin = byPath.get(entry.path);
    const isRepeated = mayRepeat && twin?.type === 'file' && entry.type === 'file';
    if (twin && !isRepeated && (twin.type !== 'directory' || entry.type !== 'directory')) return {kind: 'twice', entry};
    byPath.set(entry.path, entry);
  }
  yield;
  const below = belowProblem(byPath);
  if (below) return below;
  let left = maxLinkWork.all;
  for (const entry of byPath.values()) {
    yield;
    const most = Math.min(left, maxLinkWork.one);
    const work = {left: most};
    if (!linkStays(entry, byPath, root, work)) return {kind: 'leads-out', entry};
    left -= most - work.left;
  }
  return undefined;
}

/**
 * What some systems make of a path: without case, forms of characters, characters that do not show, streams, and the
 * dots and spaces that names end in.
 */
function looseName(path: string): string {
  // Nearly all paths: an archive may have 200,000.
  if (/^[!-9;-~]*$/.test(path) && !/\.(?:\/|$)/.test(path)) return path.toLowerCase();
  const parts = path
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
    .split('/');
  return parts.map((part) => part.replace(/:.*$/s, '').replace(/[. ]+$/, '')).join('/');
}

/** Tells whether some systems take a path for `wanted`, or for a folder that it is in, and all others do not. */
function createLookalikeTest(wanted: string | undefined): (path: string) => boolean {
  const parts = wanted?.split('/') ?? [];
  const exact = new Map(
    parts.map((_, at) => parts.slice(0, at + 1).join('/')).map((path) => [looseName(path), path] as const),
  );
  return (path) => (exact.get(looseName(path)) ?? path) !== path;
}

/** Whether `path` lies in the folder `root`; everything lies in ''. */
export function isBelow(path: string, root: string): boolean {
  return root === '' || path.startsWith(`${root}/`);
}

/** An entry below one that is not a folder. Paths may have thousands of parts, so their parents are not listed. */
function belowProblem(entries: ReadonlyMap<string, LayoutEntry>): LayoutProblem | undefined {
  // With the least of all characters for "/" what lies below an entry follows it at once.
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
      // It says its target from the top, and is made with what is there.
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
