import {HttpFailure} from '../http-failure.js';
import type {ArchiveEntry} from './read-archive.js';

const maxLinkHops = 40;

/** Absolute, or with a separator that is none everywhere. */
const unsafeTarget = /^\/|^[A-Za-z]:|\\/;

/**
 * Checks what entries are to each other, so that unpacking them writes nothing twice and nothing through a link.
 * `root` is the folder of the archive that its links have to stay in; links outside it have to stay in the archive.
 * @throws HttpFailure 422 for a path that occurs twice, one below a file or a link, and a link that leads out.
 */
export function checkLayout(entries: readonly ArchiveEntry[], root: string): void {
  const byPath = new Map<string, ArchiveEntry>();
  for (const entry of entries) {
    const twin = byPath.get(entry.path);
    if (twin && (twin.type !== 'directory' || entry.type !== 'directory')) {
      throw new HttpFailure(422, `The archive holds "${entry.path}" twice.`);
    }
    byPath.set(entry.path, entry);
  }
  for (const {path, type, linkTarget} of byPath.values()) {
    for (let end = path.lastIndexOf('/'); end !== -1; end = path.lastIndexOf('/', end - 1)) {
      const parent = byPath.get(path.slice(0, end));
      if (parent && parent.type !== 'directory') {
        throw new HttpFailure(422, `"${path}" in the archive lies below "${parent.path}", which is no folder.`);
      }
    }
    if (type === 'symlink' && !staysInside(path, linkTarget ?? '', byPath, isBelow(path, root) ? root : '')) {
      throw new HttpFailure(422, `The symbolic link "${path}" in the archive leads out of it.`);
    }
  }
}

/** Whether `path` lies in the folder `root`; everything lies in ''. */
export function isBelow(path: string, root: string): boolean {
  return root === '' || path.startsWith(`${root}/`);
}

/** Follows a link the way a kernel does, part by part and through other links: a look at its text is not enough. */
function staysInside(path: string, target: string, entries: ReadonlyMap<string, ArchiveEntry>, root: string): boolean {
  const floor = root === '' ? 0 : root.split('/').length;
  const position = path.split('/').slice(0, -1);
  let pending = target;
  for (let hops = 0; hops <= maxLinkHops; hops += 1) {
    if (pending === '' || unsafeTarget.test(pending)) return false;
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
      next = entries.get(position.join('/'))?.linkTarget;
    }
    position.pop();
    pending = [next, ...parts].join('/');
  }
  return false;
}
