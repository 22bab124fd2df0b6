import {statfsSync} from 'node:fs';
import {begins} from '../../files/own-files.js';
import {sourceOf} from '../../text/entry-names.js';
import {onWindows} from '../../text/platform.js';
import type {PlannedBundleFile} from '../types.js';

/** File systems of Linux that have no modes: FAT, exFAT, NTFS and others by FUSE, SMB, 9P (of WSL) and VirtualBox. */
const withoutModes: ReadonlySet<number> = new Set([
  ...[0x4d44, 0x2011bab0, 0x5346544e, 0x7366746e, 0x65735546],
  ...[0xff534d42, 0xfe534d42, 0x01021997, 0x786f4256],
]);

/**
 * Which files the server may execute. By their modes, unless these say nothing: Windows has none, and where another
 * system has mounted a drive of it, as WSL does, all files may be executed. Then by their contents, so that the same
 * build makes the same archive everywhere.
 * @param modes Those that the files have.
 */
export function withExecutables<File extends PlannedBundleFile>(
  directory: string,
  files: readonly File[],
  modes: ReadonlySet<number>,
): readonly File[] {
  if (!onWindows && !sayNothing(directory, [...modes])) return files;
  return files.map((file) => {
    const isFile = file.linkTarget === undefined && file.size > 0;
    return {...file, executable: isFile && begins(sourceOf(directory, file.path), /^(?:#!|\x7FELF)/)};
  });
}

function sayNothing(directory: string, modes: readonly number[]): boolean {
  if (!modes.every((mode) => (mode & 0o100) !== 0)) return false;
  return modes.every((mode) => mode === 0o777) || withoutModes.has(statfsSync(directory).type);
}
