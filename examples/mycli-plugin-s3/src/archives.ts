import {createHash} from 'node:crypto';
import {addAbortSignal, Readable, type Writable} from 'node:stream';
import {pipeline} from 'node:stream/promises';
import type {Bundle} from 'mycli/backend';
import {backendError} from './backend-error.js';
import type {BundleRecord} from './bundles.js';
import type {S3Context} from './options.js';
import {openStore, type Store} from './store.js';

const mebibyte = 1024 * 1024;
const maxParts = 10_000;
/** Parts that are under way at the same time: with their size this bounds the memory of an upload. */
const concurrency = 4;

/**
 * Uploads the archive as a stream, in parts when it is large. Every part goes with its checksum, and the whole is
 * compared with the bundle's digest before the object comes to be.
 */
export async function uploadArchive(bundle: Bundle, key: string, store: Store, context: S3Context): Promise<void> {
  const {Upload} = await import('@aws-sdk/lib-storage');
  const {size, sha256} = bundle;
  // A stream that stalls ends too.
  const source = addAbortSignal(context.signal, bundle.createReadStream());
  const body = Readable.from(verified(source, {size, sha256, what: 'the archive changed while it was uploaded'}), {
    objectMode: false,
  });
  const upload = new Upload({
    client: store.client,
    params: {Bucket: store.bucket, Key: key, Body: body, ContentLength: size, ContentType: 'application/gzip'},
    partSize: Math.max(8 * mebibyte, Math.ceil(size / maxParts)),
    queueSize: concurrency,
    // `discardUpload` does it, whatever state the upload is in.
    leavePartsOnError: true,
  });
  upload.on('httpUploadProgress', ({loaded = 0}) => context.onProgress({transferred: loaded, total: size}));
  try {
    await store.attempt(`uploading ${key}`, () => upload.done());
  } finally {
    source.destroy();
  }
}

/**
 * Leaves nothing of an upload that failed or was aborted: no objects, and no parts that would cost and are not seen.
 */
export async function discardUpload(keys: readonly string[], context: S3Context): Promise<void> {
  // The host ends a command 0.8 s after a signal.
  const signal = AbortSignal.timeout(context.signal.aborted ? 300 : 10_000);
  try {
    using store = await openStore(context, signal);
    await Promise.all(keys.flatMap((key) => [store.remove(key), abortUploads(key, store)]));
  } catch {
    context.logger.warn(`parts of the upload may be left in the bucket: ${keys.join(', ')}`);
  }
}

/** The key belongs to one upload only, so whatever is pending for it is what that one began. */
async function abortUploads(key: string, {bucket, client, attempt}: Store): Promise<void> {
  const {AbortMultipartUploadCommand, ListMultipartUploadsCommand} = await import('@aws-sdk/client-s3');
  await attempt(`aborting the upload of ${key}`, async () => {
    const {Uploads = []} = await client.send(new ListMultipartUploadsCommand({Bucket: bucket, Prefix: key}));
    for (const {UploadId} of Uploads) {
      await client.send(new AbortMultipartUploadCommand({Bucket: bucket, Key: key, UploadId}));
    }
  });
}

/** Streams the archive of a bundle into `writeTo`, and compares it with the digest that its record holds. */
export async function downloadArchive(
  {archive, size, sha256}: BundleRecord,
  writeTo: Writable,
  store: Store,
  {signal, onProgress}: S3Context,
): Promise<void> {
  const source = await store.open(archive);
  const what = `the object ${archive} is damaged`;
  await store.attempt(`downloading ${archive}`, () =>
    pipeline(verified(source, {size, sha256, what, onProgress}), writeTo, {signal}),
  );
}

/** Passes bytes on; throws after the last one when they are not those of the digest. */
async function* verified(
  source: AsyncIterable<Uint8Array>,
  expected: {
    readonly size: number;
    readonly sha256: string;
    /** The error's message. */
    readonly what: string;
    readonly onProgress?: S3Context['onProgress'];
  },
): AsyncGenerator<Uint8Array> {
  const {size, sha256, what, onProgress} = expected;
  const hash = createHash('sha256');
  let transferred = 0;
  for await (const chunk of source) {
    hash.update(chunk);
    transferred += chunk.length;
    onProgress?.({transferred, total: size});
    yield chunk;
  }
  if (transferred === size && hash.digest('hex') === sha256) return;
  throw backendError({code: 'ERR_FILE_CHANGED', message: `${what}: its SHA-256 is not ${sha256}`});
}
