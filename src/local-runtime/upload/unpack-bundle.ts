import {cp, mkdir, symlink, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {systemCode} from '../../errors/system-failure.js';
import {safeEntryPath, isBelow} from '../../bundle/prebuilt/archive-layout.js';
import {refuseBomb} from '../../bundle/prebuilt/read-archive.js';
import {readTar} from '../../bundle/prebuilt/read-tar.js';
import {exists} from '../../files/read-file.js';

/** Unpacks the files below `root` of an archive, or those of them that are wanted, into a folder. */
export async function unpackBundle(
  archive: string,
  {root, folder, wanted}: {readonly root: string; readonly folder: string; readonly wanted?: ReadonlySet<string>},
): Promise<void> {
  const folders = new Set<string>();
  const links: {readonly file: string; readonly target: string}[] = [];
  for await (const {header, content} of readTar(archive, {checkSize: refuseBomb})) {
    const name = safeEntryPath(header.name) ?? '';
    const inRoot = name.slice(root.length + 1);
    if (header.type === 'directory' || !isBelow(name, root) || wanted?.has(inRoot) === false) continue;
    const file = path.join(folder, inRoot);
    const parent = path.dirname(file);
    if (!folders.has(parent)) await mkdir(parent, {recursive: true, mode: 0o700});
    folders.add(parent);
    if (header.type === 'symlink') links.push({file, target: header.linkname});
    else await writeFile(file, content, {flag: 'wx', mode: 0o600});
  }
  // Create links last, so that no file is written through one.
  for (const {file, target} of links) {
    await symlink(target, file).catch((error: unknown) => {
      if (systemCode(error) !== 'EPERM') throw error;
      // Windows makes links only for those who may, FAT none.
      return copyTarget(path.resolve(path.dirname(file), target), file);
    });
  }
}

/** A link to nothing, or to a folder around it, has no copy. */
async function copyTarget(target: string, file: string): Promise<void> {
  const isAround = `${file}${path.sep}`.startsWith(`${target}${path.sep}`);
  if (!isAround && (await exists(target))) await cp(target, file, {recursive: true});
}
