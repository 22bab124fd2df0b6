import {mkdir, symlink, writeFile} from 'node:fs/promises';
import path from 'node:path';
import type {BundleContents} from '../store/records.js';
import {isBelow} from '../../../bundle/prebuilt/archive-layout.js';
import type {ArchiveLimits} from './archive-limits.js';
import {readArchive} from './read-archive.js';

/**
 * Unpacks the files of a checked archive that a deployment serves into the empty folder `folder`. Nothing else gets
 * there: server-only files cannot be asked for because they are not there.
 */
export async function unpackSite(
  archive: string,
  {
    contents,
    folder,
    limits,
  }: {readonly contents: BundleContents; readonly folder: string; readonly limits: ArchiveLimits},
): Promise<void> {
  const served = new Set(contents.served);
  const links: {readonly file: string; readonly target: string}[] = [];
  await readArchive(archive, {
    limits,
    async visit(entry, content) {
      const name = entry.path.slice(contents.root.length + 1);
      if (!isBelow(entry.path, contents.root) || !served.has(name)) return;
      const file = path.join(folder, name);
      await mkdir(path.dirname(file), {recursive: true, mode: 0o700});
      if (entry.linkTarget === undefined) await writeFile(file, content, {flag: 'wx', mode: 0o600});
      else links.push({file, target: entry.linkTarget});
    },
  });
  // Last, so that no file can be written through one.
  for (const {file, target} of links) await symlink(target, file);
}
