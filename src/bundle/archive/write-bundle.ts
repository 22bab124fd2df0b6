import {constants} from 'node:fs';
import {rm, open} from 'node:fs/promises';
import {Writable} from 'node:stream';
import {createError} from '../../errors/index.js';
import {outputError, systemCode} from '../../errors/system-failure.js';
import {stageFile, type StagedFile} from '../../files/write-files.js';
import type {BundlePlan} from '../plan.js';
import {withReaders} from '../prebuilt/read-archive.js';
import type {Bundle, PackResult, StreamedBundle} from '../types.js';
import {Digest} from './digest.js';
import {gzipHeader} from './gzip.js';
import {manifestPathOf, stageManifest} from './manifest.js';
import {lend} from './memory.js';
import {packBundle, startTar, type PackOptions} from './pack.js';
import {tarEntries, tarSize} from './tar-entries.js';

/** How a bundle is written to a file. */
interface WriteBundleOptions extends PackOptions {
  /** Absolute path of the archive. */
  readonly path: string;
  /** Permissions of the archive, before the umask. @default 0o600 */
  readonly mode?: number | undefined;
  /** Asked just before files are put into their places: what it rejects with leaves the old ones there. */
  readonly verify?: (() => Promise<void>) | undefined;
  /** Writes the manifest too, `<path>.json`. @default false */
  readonly manifest?: boolean | undefined;
}

/**
 * Packs a bundle into a file, which is complete or not there, whatever happens. Its manifest is never that of another
 * archive.
 * @throws RuntimeCliError as `packBundle`; `ERR_OUTPUT` when the file cannot be written; `signal.reason` when aborted.
 */
export async function writeBundle(plan: BundlePlan, options: WriteBundleOptions): Promise<Bundle> {
  const {path, mode = 0o600, manifest = false, verify, ...packing} = options;
  const archive = await stageFile(path, mode, (stream) => packBundle(plan, stream, {...packing, forgets: true}));
  try {
    const {format, message, projectSlug, rootDir, configPath, matchMode, config, files} = plan;
    const bundle = withReaders({
      ...{format, path, ...archive.result},
      ...{message, projectSlug, rootDir, configPath, matchMode, config, files},
    });
    if (manifest) {
      await placeWithManifest(archive, bundle, mode, verify);
    } else {
      await verify?.();
      await archive.place();
    }
    return bundle;
  } finally {
    await archive.discard();
  }
}

/**
 * Places an archive and its manifest when both are complete. A process that is killed in between leaves an archive
 * without a manifest, the old one or the new one.
 */
async function placeWithManifest(
  archive: StagedFile<unknown>,
  bundle: Bundle,
  mode: number,
  verify: WriteBundleOptions['verify'],
): Promise<void> {
  const manifest = await stageManifest(bundle, mode);
  const old = manifestPathOf(bundle.path);
  try {
    await verify?.();
    await rm(old, {force: true}).catch((error: unknown) => {
      throw outputError(old, error);
    });
    await archive.place();
    await manifest.place();
  } finally {
    await manifest.discard();
  }
}

/** A bundle that is packed while it is sent, and what its archive turned out to be. */
export interface BundleStream {
  readonly bundle: StreamedBundle;
  /** Of the archive that was read last; one that was not read to its end is packed once more for this alone. */
  packed(signal: AbortSignal): Promise<PackResult>;
}

/**
 * A v1 bundle that needs no file: the length of its tar follows from the list of files. Its stream fails with
 * `ERR_FILE_CHANGED` naming a file that is not as it was when the bundle was planned.
 */
export async function streamBundle(plan: BundlePlan): Promise<BundleStream> {
  const {format, message, projectSlug, config, files} = plan;
  let result: PackResult | undefined;
  const readWith = (chunks: 'kept' | 'lent') => (): AsyncGenerator<Buffer> => {
    result = undefined;
    return readTar(plan, chunks, (packed) => (result = packed));
  };
  const bundle: StreamedBundle = {
    ...{format, message, projectSlug, config, files},
    size: await tarSize(tarEntries(plan)),
    read: readWith('kept'),
  };
  return {
    bundle: lend(bundle, readWith('lent')),
    packed: async (signal) => result ?? packBundle(plan, nowhere(), {signal}),
  };
}

/**
 * The tar of a bundle, piece by piece. `onEnd` is called when it was read to its end.
 * @param chunks `kept`: the reader may keep them, they are memory of its own. `lent`: they are good until the next is
 * asked for.
 */
async function* readTar(
  plan: BundlePlan,
  chunks: 'kept' | 'lent',
  onEnd: (result: PackResult) => void,
): AsyncGenerator<Buffer> {
  const content = new Digest();
  const {blocks, written} = startTar(plan);
  try {
    for await (const block of content.of(blocks)) {
      yield block;
      if (chunks === 'lent') blocks.recycle(block);
    }
    const sha256 = content.hex();
    onEnd({size: content.size, sha256, contentSha256: sha256});
  } finally {
    blocks.destroy();
    await written;
  }
}

function nowhere(): Writable {
  return new Writable({
    write(_chunk, _encoding, done) {
      done();
    },
  });
}

/** How the manifest of a bundle begins. */
const manifestStart = /^\{\s*"schemaVersion": 1,\s*"format": "v[12]",\s*"sha256": "[0-9a-f]{64}"/;
/** What the first entry of a v1 archive is called: a file below `{project}/bld`, or the header of a long name. */
const entryStart = /^(?:[^/\0]+\/bld\/|PaxHeader\0)/;
/** Bytes that tell what a file is: the first header of a tar. */
const headBytes = 512;

/**
 * Verifies that an archive and its manifest replace nothing but an archive and a manifest of ours. What a file is, is
 * told by how it begins, not by its name; an empty one is nobody's.
 * @throws RuntimeCliError `ERR_OUTPUT` naming the file.
 */
export async function verifyReplaceable(path: string): Promise<void> {
  const archive = await readHead(path);
  if (archive !== undefined && !isArchive(archive)) throw foreignError(path, 'an archive');
  const manifest = await readHead(manifestPathOf(path));
  if (manifest !== undefined && !manifestStart.test(manifest.toString('latin1')))
    throw foreignError(manifestPathOf(path), 'the manifest');
}

/** How a file begins; nothing when there is none, or it can be replaced anyway. */
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
    // A folder or a device in the way is reported when the file is written.
    if (['ENOENT', 'ENOTDIR', 'EISDIR', 'ENXIO', 'ESPIPE'].includes(systemCode(error) ?? '')) return undefined;
    throw outputError(path, error);
  }
}

function isArchive(head: Buffer): boolean {
  if (head.subarray(0, gzipHeader.length).equals(gzipHeader)) return true;
  return head.toString('latin1', 257, 262) === 'ustar' && entryStart.test(head.toString('latin1'));
}

function foreignError(path: string, what: string): Error {
  return createError('ERR_OUTPUT', `${path} exists and is not ${what} of a bundle, so it was not replaced.`, {
    suggestions: ['Pass --output FILE to write the bundle elsewhere, or --force to replace the file.'],
    details: {path},
  });
}
