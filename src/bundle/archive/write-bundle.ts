import {rm, stat} from 'node:fs/promises';
import type {Writable} from 'node:stream';
import {pipeline} from 'node:stream/promises';
import {createError} from '../../errors/index.js';
import {cannotWrite} from '../../errors/system-failure.js';
import {ownKind} from '../../files/own-files.js';
import {stageFile, verifyWritable, type StagedFile} from '../../files/write-files.js';
import type {BundlePlan} from '../plan.js';
import {withReaders} from '../prebuilt/bundle-readers.js';
import {archiveKind, readStart} from '../prebuilt/read-tar.js';
import type {Bundle, ByteProgress, PackResult, StreamedBundle} from '../types.js';
import {Digest} from './digest.js';
import {contentOf, manifestPathOf, manifestText} from './manifest.js';
import {archiveSize, writeTar, type WriteTarOptions} from './write-tar.js';
import {gzip, runBytes} from './gzip.js';
import {tarEntries} from './tar-entries.js';

/** Options for packing a bundle. */
export interface PackOptions {
  /** Aborts packing, which rejects with `signal.reason`. */
  readonly signal?: AbortSignal | undefined;
  /** Called with the number of the build's bytes archived so far, at most every 256 KiB and at the end. */
  readonly onProgress?: ((progress: ByteProgress) => void) | undefined;
}

/** Minimum bytes between progress reports. Thousands of small files do not deserve a line each. */
const progressBytes = 256 * 1024;

/** Packs a bundle into any stream, and ends it (stdout stays open). If that fails, there is a partial archive in it. */
export async function packBundle(
  plan: BundlePlan,
  destination: Writable,
  {signal, onProgress}: PackOptions = {},
): Promise<PackResult> {
  signal?.throwIfAborted();
  const content = new Digest();
  const compressed = plan.format === 'v2' ? new Digest() : undefined;
  const pack = (source: AsyncIterable<Buffer>): AsyncIterable<Buffer> => {
    const tar = content.of(source);
    return compressed ? compressed.of(gzip(tar, plan.compressionLevel)) : tar;
  };
  try {
    await pipeline(tarOf(plan, {onProgress, ...(compressed && {blockBytes: runBytes})}), pack, destination, {signal});
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
  const contentSha256 = content.hex();
  // A v1 archive is the tar itself.
  return {size: (compressed ?? content).size, sha256: compressed?.hex() ?? contentSha256, contentSha256};
}

/** The tar of a bundle, as `writeTar` makes it. */
export function tarOf(
  plan: BundlePlan,
  {onProgress, blockBytes}: Pick<PackOptions, 'onProgress'> & Pick<WriteTarOptions, 'blockBytes'> = {},
): AsyncGenerator<Buffer> {
  let transferred = 0;
  let reported = 0;
  const onBytes = (count: number): void => {
    transferred += count;
    if (transferred < reported + progressBytes && transferred < plan.totalBytes) return;
    reported = transferred;
    onProgress?.({transferred, total: plan.totalBytes});
  };
  return writeTar(tarEntries(plan), {modifiedAt: plan.modifiedAt, onBytes, blockBytes});
}

/** Options for writing a bundle to a file. */
interface WriteBundleOptions extends PackOptions {
  /** Absolute path of the archive. */
  readonly path: string;
  /** Permissions of the archive, before the umask. @default 0o600 */
  readonly mode?: number | undefined;
  /** Also write the manifest, `<path>.json`. @default false */
  readonly manifest?: boolean | undefined;
}

/** Packs a bundle into a file, which is complete or not written. Its manifest is never that of another archive. */
export async function writeBundle(plan: BundlePlan, options: WriteBundleOptions): Promise<Bundle> {
  const {path, mode = 0o600, manifest = false, ...packing} = options;
  const archive = await stageFile(path, mode, (stream) => packBundle(plan, stream, packing));
  try {
    const bundle = withReaders({path, ...archive.result, ...contentOf(plan)});
    if (manifest) {
      await placeWithManifest(archive, bundle, mode);
    } else {
      await archive.place();
    }
    return bundle;
  } finally {
    await archive.discard();
  }
}

/** If the process is killed in between, there is an archive without a manifest, either the old or the new one. */
async function placeWithManifest(archive: StagedFile<unknown>, bundle: Bundle, mode: number): Promise<void> {
  const old = manifestPathOf(bundle.path);
  const manifest = await stageFile(old, mode, (stream) => pipeline([manifestText(bundle)], stream));
  try {
    await rm(old, {force: true}).catch(cannotWrite(old));
    await archive.place();
    await manifest.place();
  } finally {
    await manifest.discard();
  }
}

/** A bundle that is packed while it is sent, and the result of packing it. */
export interface BundleStream {
  readonly bundle: StreamedBundle;
  /** The result for the archive that was read last, to its end. */
  packed(): PackResult;
}

/** Streams a v1 bundle without writing it to a file: the size of its tar follows from the list of files. */
export async function streamBundle(plan: BundlePlan): Promise<BundleStream> {
  let result: PackResult | undefined;
  const bundle: StreamedBundle = {
    ...contentOf(plan),
    size: await archiveSize(plan),
    async *read() {
      result = undefined;
      const content = new Digest();
      yield* content.of(tarOf(plan));
      const sha256 = content.hex();
      result = {size: content.size, sha256, contentSha256: sha256};
    },
  };
  const packed = (): PackResult => {
    if (result === undefined) throw new Error('The archive has not been read to its end.');
    return result;
  };
  return {bundle, packed};
}

/** The `contentSha256` that packing a bundle would give: nothing is compressed or written. */
export async function contentDigest(plan: BundlePlan, signal: AbortSignal | undefined): Promise<string> {
  const content = new Digest();
  for await (const block of tarOf(plan)) {
    signal?.throwIfAborted();
    content.update(block);
  }
  return content.hex();
}

/** Bytes that identify a file: the first header of a tar. */
const headBytes = 512;

/** Verifies that writing works, and without `force` only replaces an archive and a manifest. @throws `ERR_OUTPUT` */
export async function verifyReplaceable(path: string, force = false): Promise<void> {
  for (const file of [path, manifestPathOf(path)]) await verifyWritable(file);
  if (force) return;
  const isManifest = (head: Buffer) => ownKind(head.toString('latin1')) === 'manifest';
  await verifyHead(path, 'an archive', (head) => archiveKind(head) !== undefined);
  await verifyHead(manifestPathOf(path), 'the manifest', isManifest);
}

async function verifyHead(path: string, what: string, isReplaceable: (head: Buffer) => boolean): Promise<void> {
  const stats = await stat(path).catch(() => undefined);
  if (stats === undefined || stats.size === 0) return;
  const head = await readStart(path, headBytes).catch(cannotWrite(path));
  if (isReplaceable(head)) return;
  throw createError('ERR_OUTPUT', `${path} exists and is not ${what} of a bundle, so it was not replaced.`, {
    suggestions: ['Pass --output FILE to write the bundle elsewhere, or --force to replace the file.'],
    details: {path},
  });
}
