import {basename} from 'node:path';
import {begins} from '../../files/own-files.js';
import {listPaths} from '../../text/entry-names.js';

/** Names of what systems and editors leave in a folder, and nobody means to publish. */
const debris = new RegExp(
  `^(?:${[
    String.raw`\.DS_Store|\.AppleDouble|\.LSOverride|\.Spotlight-V100|\.Trashes|\.fseventsd|__MACOSX`,
    String.raw`(?:eh)?thumbs\.db|desktop\.ini|\$RECYCLE\.BIN|System Volume Information`,
    // Swap files and locks: of Vim, Emacs, LibreOffice, Microsoft Office, and of deleted files that are open.
    String.raw`\..+\.sw[a-p]|.+~|\.#.+|#.+#|\.~lock\..+#|~\$.+|\.nfs[0-9a-f]{16,}|\.fuse_hidden[0-9a-f]{16,}`,
  ].join('|')})$`,
  'i',
);

export function isDebrisName(name: string): boolean {
  return debris.test(name);
}

/** Whether macOS keeps in a file what other file systems have no room for. Other files may have such a name, too. */
export function isAppleDouble(file: string): boolean {
  return basename(file).startsWith('._') && begins(file, /^\0\x05\x16\x07/);
}

/** A warning about debris in an archive, where a `._x` counts beside an `x`. */
export function debrisWarnings(paths: readonly string[]): readonly string[] {
  const all = new Set(paths);
  const isDouble = (path: string) => basename(path).startsWith('._') && all.has(path.replace(/\._(?=[^/]*$)/, ''));
  const found = paths.filter((path) => path.split('/').some(isDebrisName) || isDouble(path));
  if (found.length === 0) return [];
  return [`The archive contains leftovers of systems and editors: ${listPaths(found)}. Build it again without them.`];
}
