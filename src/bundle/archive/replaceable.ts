import {constants} from 'node:fs';
import {open} from 'node:fs/promises';
import {createError} from '../../errors/index.js';
import {outputError, systemCode} from '../../errors/system-failure.js';
import {gzipHeader} from './gzip.js';
import {manifestPathOf} from './manifest.js';

/** How the manifest of a bundle begins. */
const manifestStart = /^\{\s*"schemaVersion": 1,\s*"format": "v[12]",\s*"sha256": "[0-9a-f]{64}"/;
/** What the first entry of a v1 archive is called: a file below `{project}/bld`, or the header of a long name. */
const entryStart = /^(?:[^/\0]+\/bld\/|PaxHeader\0)/;
/** Bytes that tell what a file is: the first header of a tar. */
const headBytes = 512;

/**
 * Verifies that an archive and its manifest replace nothing but an archive and a manifest of ours. What a file is, is told by how it
 * begins, not by its name; an empty one is nobody's.
 * @throws RuntimeCliError `ERR_OUTPUT` naming the file.
 */
export async function verifyReplaceable(path: string): Promise<void> {
  const archive = await readHead(path);
  if (archive !== undefined && !isArchive(archive)) throw foreignError(path, 'an archive');
  const manifest = await readHead(manifestPathOf(path));
  if (manifest !== undefined && !manifestStart.test(manifest.toString('latin1')))
    throw foreignError(manifestPathOf(path), 'the manifest');
}

/** How a file begins; nothing when there is none, or none that can be replaced anyway. */
async function readHead(path: string): Promise<Buffer | undefined> {
  try {
    const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK || 0));
    try {
      const {size} = await handle.stat();
      const {buffer, bytesRead} = await handle.read(Buffer.alloc(headBytes), 0, headBytes, 0);
      return size === 0 ? undefined : buffer.subarray(0, bytesRead);
    } finally {
      await handle.close();
    }
  } catch (error) {
    // That a folder or a device is in the way is told when the file is written.
    if (['ENOENT', 'ENOTDIR', 'EISDIR', 'ENXIO', 'ESPIPE'].includes(systemCode(error) ?? '')) return undefined;
    throw outputError(path, error);
  }
}

function isArchive(head: Buffer): boolean {
  if (head.subarray(0, gzipHeader.length).equals(gzipHeader)) return true;
  return head.toString('latin1', 257, 262) === 'ustar' && entryStart.test(head.toString('latin1'));
}

function foreignError(path: string, what: string): Error {
  return createError('ERR_OUTPUT', `${path} exists and is not ${what} of a bundle: it was not replaced`, {
    suggestions: ['Write the bundle elsewhere with --output FILE, or pass --force to replace the file.'],
    details: {path},
  });
}
