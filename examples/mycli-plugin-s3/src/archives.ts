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
/** Number of concurrent parts. With their size, this limits the memory of an upload. */
const concurrency = 4;

/**
 * Uploads the archive as a stream, in parts if it is large. Every part has a checksum, and the whole archive is
 * compared with the bundle's digest before the object is created.
 */
export async function uploadArchive(bundle: Bundle, key: string, store: Store, context: S3Context): Promise<void> {
  const {Upload} = await import('@aws-sdk/lib-storage');
  const {size, sha256} = bundle;
  // A stalled stream ends, too.
  const source = addAbortSignal(context.signal, bundle.createReadStream());
  const body = Readable.from(verified(source, {size, sha256, what: 'The archive changed during the upload'}), {
    objectMode: false,
  });
  const upload = new Upload({
    client: store.client,
    params: {Bucket: store.bucket, Key: key, Body: body, ContentLength: size, ContentType: 'application/gzip'},
    partSize: Math.max(8 * mebibyte, Math.ceil(size / maxParts)),
    queueSize: concurrency,
    // `discardUpload` does that, whatever the state of the upload.
    leavePartsOnError: true,
  });
  upload.on('httpUploadProgress', ({loaded = 0}) => context.onProgress({transferred: loaded, total: size}));
  try {
    await store.attempt(`Uploading ${key}`, () => upload.done());
  } finally {
    source.destroy();
  }
}

/** Removes everything of a failed or aborted upload: objects, and invisible parts that would still cost money. */
export async function discardUpload(keys: readonly string[], context: S3Context, signal: AbortSignal): Promise<void> {
  try {
    using store = await openStore(context, signal);
    await Promise.all(keys.flatMap((key) => [store.remove(key), abortUploads(key, store)]));
  } catch {
    context.logger.warn(`Parts of the upload may remain in the bucket: ${keys.join(', ')}.`);
  }
}

/** The key is unique to this upload, so whatever is pending for it belongs to it. */
async function abortUploads(key: string, {bucket, client, attempt}: Store): Promise<void> {
  const {AbortMultipartUploadCommand, ListMultipartUploadsCommand} = await import('@aws-sdk/client-s3');
  await attempt(`Aborting the upload of ${key}`, async () => {
    const {Uploads = []} = await client.send(new ListMultipartUploadsCommand({Bucket: bucket, Prefix: key}));
    for (const {UploadId} of Uploads) {
      await client.send(new AbortMultipartUploadCommand({Bucket: bucket, Key: key, UploadId}));
    }
  });
}

/** Streams a bundle's archive to `writeTo`, and compares it with the digest in its record. */
export async function downloadArchive(
  {archive, size, sha256}: BundleRecord,
  writeTo: Writable,
  store: Store,
  {signal, onProgress}: S3Context,
): Promise<void> {
  const source = await store.open(archive);
  const what = `The object ${archive} is damaged`;
  await store.attempt(`Downloading ${archive}`, () =>
    pipeline(verified(source, {size, sha256, what, onProgress}), writeTo, {signal}),
  );
}

/** Passes bytes on. Throws after the last one if they do not match the digest. */
async function* verified(
  source: AsyncIterable<Uint8Array>,
  expected: {
    readonly size: number;
    readonly sha256: string;
    /** The start of the error's message. */
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
