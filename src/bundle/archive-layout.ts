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
  readonly kind: 'twice' | 'below' | 'leads-out';
  readonly entry: LayoutEntry;
  /** The entry that it lies below, when it may not. */
  readonly parent?: string | undefined;
}

/** How a layout is judged. */
export interface LayoutRules {
  /** Folder that the links in it have to stay in; links outside it have to stay in the archive. '' is the archive. */
  readonly root: string;
  /** Whether a file may occur twice, when neither is a link. */
  readonly mayRepeat: boolean;
}

/** Bytes or characters of a path, or of what a link says, at most. */
const maxPathLength = 4096;
const maxLinkHops = 40;
/** Absolute, or with a separator that is none everywhere. */
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
    /^(?:[/\\]|[A-Za-z]:)/.test(name) ||
    name.split(/[/\\]/).includes('..');
  if (isUnsafe) return undefined;
  return name
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/');
}

/**
 * What is wrong with entries as they are to each other: unpacking them must write nothing through a link and nothing
 * outside. Links are followed, part by part and through other links, as a kernel does: a look at their text is not enough.
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
  const folders = new Set<string>();
  for (const entry of byPath.values()) {
    const parent = parentProblem(entry.path, byPath, folders);
    if (parent !== undefined) return {kind: 'below', entry, parent};
    if (!linkStays(entry, byPath, root)) return {kind: 'leads-out', entry};
  }
  return undefined;
}

/** Whether `path` lies in the folder `root`; everything lies in ''. */
export function isBelow(path: string, root: string): boolean {
  return root === '' || path.startsWith(`${root}/`);
}

/** The nearest entry above a path that is no folder. `folders` are remembered: each is looked at once. */
function parentProblem(
  path: string,
  entries: ReadonlyMap<string, LayoutEntry>,
  folders: Set<string>,
): string | undefined {
  for (let end = path.lastIndexOf('/'); end !== -1; end = path.lastIndexOf('/', end - 1)) {
    const folder = path.slice(0, end);
    if (folders.has(folder)) return undefined;
    const parent = entries.get(folder);
    if (parent && parent.type !== 'directory') return folder;
    folders.add(folder);
  }
  return undefined;
}

function linkStays(entry: LayoutEntry, entries: ReadonlyMap<string, LayoutEntry>, root: string): boolean {
  const {path, type, linkTarget = ''} = entry;
  switch (type) {
    case 'symlink':
      return staysInside(path, linkTarget, entries, isBelow(path, root) ? root : '');
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

function staysInside(path: string, target: string, entries: ReadonlyMap<string, LayoutEntry>, root: string): boolean {
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
      const entry = entries.get(position.join('/'));
      next = entry?.type === 'symlink' ? entry.linkTarget : undefined;
    }
    position.pop();
    pending = [next, ...parts].join('/');
  }
  return false;
}
