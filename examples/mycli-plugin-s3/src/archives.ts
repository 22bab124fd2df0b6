import {createHash} from 'node:crypto';
import {addAbortSignal, type Writable} from 'node:stream';
import {buffer} from 'node:stream/consumers';
import {pipeline} from 'node:stream/promises';
import type {CompletedPart} from '@aws-sdk/client-s3';
import type {Bundle} from 'mycli/backend';
import * as v from 'valibot';
import {backendError, isBackendError} from './backend-error.js';
import type {BundleRecord} from './bundles.js';
import type {S3Context} from './options.js';
import {openStore, type Store} from './store.js';

const mebibyte = 1024 * 1024;
const maxParts = 10_000;
/** Number of concurrent parts. With their size, this limits the memory of an upload. */
const concurrency = 4;

/** What a push saves about an upload in parts, for the next one. */
const savedSchema = v.object({
  uploadId: v.string(),
  partSize: v.number(),
  /** Key of the archive. */
  archive: v.string(),
  /** Key of the record that the push was going to write. */
  record: v.string(),
});

/** An upload in parts that was interrupted. */
export interface EarlierUpload extends v.InferOutput<typeof savedSchema> {
  /** The parts that the store has, by number. */
  readonly parts: ReadonlyMap<number, CompletedPart & {readonly Size?: number | undefined}>;
}

/**
 * The upload of the same archive that an earlier push did not finish, if the store still knows it. The host keeps what
 * was saved for exactly this archive and these options. As mycli packs the same files into the same bytes, the archive
 * need not be the same file, and its parts are where they were.
 */
export async function findEarlierUpload(store: Store, {state, logger}: S3Context): Promise<EarlierUpload | undefined> {
  const saved = v.safeParse(savedSchema, await state?.read());
  if (!saved.success) return undefined;
  const {archive, record, uploadId} = saved.output;
  const found = await listParts(archive, uploadId, store);
  if (found === undefined) {
    // Completed, but killed before the record was written: then nothing refers to the archive.
    if (!(await store.exists(record))) await store.remove(archive);
    await state?.remove();
    return undefined;
  }
  logger.info(`Resuming an interrupted upload: the bucket has ${found.length} parts of it.`);
  return {...saved.output, parts: new Map(found.map((part) => [part.PartNumber ?? 0, part]))};
}

/** The parts of an upload; undefined if the store does not know it any more. */
async function listParts(key: string, uploadId: string, {bucket, client, attempt}: Store) {
  const {ListPartsCommand} = await import('@aws-sdk/client-s3');
  const of = {Bucket: bucket, Key: key, UploadId: uploadId};
  return attempt(`Listing the parts of ${key}`, async () => {
    try {
      const found = [];
      let after: string | undefined;
      // The SDK's own paginator never ends: the last page has a marker, too.
      for (;;) {
        const command = new ListPartsCommand({...of, ...(after !== undefined && {PartNumberMarker: after})});
        const {Parts = [], IsTruncated = false, NextPartNumberMarker} = await client.send(command);
        found.push(...Parts);
        if (!IsTruncated || Parts.length === 0) return found;
        after = NextPartNumberMarker;
      }
    } catch (error) {
      // Ceph says NoSuchKey.
      if (error instanceof Error && ['NoSuchUpload', 'NoSuchKey'].includes(error.name)) return undefined;
      throw error;
    }
  });
}

/**
 * Uploads the archive, in parts if it is large: those that `earlier` has not sent. Every part has a checksum, and the
 * whole archive is compared with the bundle's digest before the object is created.
 * @param record key of the record that will be written
 * @returns how many bytes `earlier` had sent
 */
export async function uploadArchive(
  bundle: Bundle,
  {
    archive: key,
    record,
    earlier,
  }: {readonly archive: string; readonly record: string; readonly earlier?: EarlierUpload},
  store: Store,
  context: S3Context,
): Promise<number> {
  const {bucket, client} = store;
  const {size} = bundle;
  const partSize = earlier?.partSize ?? Math.max(8 * mebibyte, Math.ceil(size / maxParts));
  const s3 = await import('@aws-sdk/client-s3');
  let transferred = 0;
  const advance = (bytes: number) => context.onProgress({transferred: (transferred += bytes), total: size});
  const verify = digestCheck(bundle, 'The archive changed during the upload');

  if (size <= partSize) {
    const Body = await readRange(bundle, 0, size, context);
    verify.add(Body);
    verify.end();
    await store.attempt(`Uploading ${key}`, () =>
      client.send(new s3.PutObjectCommand({Bucket: bucket, Key: key, Body, ContentType: 'application/gzip'})),
    );
    advance(size);
    return 0;
  }

  // As the SDK does it by default. Stores that know no checksums are used with AWS_REQUEST_CHECKSUM_CALCULATION.
  const sums = (await client.config.requestChecksumCalculation()) === 'WHEN_SUPPORTED';
  const checksum = sums ? {ChecksumAlgorithm: 'CRC32' as const} : {};
  const begin = async () => {
    const command = new s3.CreateMultipartUploadCommand({
      ...{Bucket: bucket, Key: key, ContentType: 'application/gzip'},
      ...checksum,
    });
    const {UploadId = ''} = await store.attempt(`Uploading ${key}`, () => client.send(command));
    return UploadId;
  };
  const uploadId = earlier?.uploadId ?? (await begin());
  await context.state?.write({uploadId, partSize, archive: key, record});

  const parts: CompletedPart[] = [];
  const send = async (number: number, Body: Buffer) => {
    const command = new s3.UploadPartCommand({
      ...{Bucket: bucket, Key: key, UploadId: uploadId, PartNumber: number, Body},
      ...checksum,
    });
    parts[number - 1] = completed(number, await store.attempt(`Uploading ${key}`, () => client.send(command)));
    advance(Body.length);
  };
  const sending = new Set<Promise<void>>();
  let resumedBytes = 0;
  try {
    for (let start = 0, number = 1; start < size; start += partSize, number += 1) {
      const length = Math.min(partSize, size - start);
      const body = await readRange(bundle, start, length, context);
      verify.add(body);
      const known = earlier?.parts.get(number);
      if (known?.Size === length) {
        parts[number - 1] = completed(number, known);
        resumedBytes += length;
        advance(length);
        continue;
      }
      if (sending.size >= concurrency) await Promise.race(sending);
      const work = send(number, body);
      sending.add(work);
      // Awaited below, where a failure is not lost.
      work.then(
        () => sending.delete(work),
        () => undefined,
      );
    }
    await Promise.all(sending);
  } finally {
    // What the others still send need not be sent again.
    await Promise.allSettled(sending);
  }
  verify.end();
  const command = new s3.CompleteMultipartUploadCommand({
    ...{Bucket: bucket, Key: key, UploadId: uploadId},
    MultipartUpload: {Parts: parts},
  });
  await store.attempt(`Uploading ${key}`, () => client.send(command));
  return resumedBytes;
}

function completed(number: number, {ETag, ChecksumCRC32}: CompletedPart): CompletedPart {
  return {PartNumber: number, ETag, ...(ChecksumCRC32 !== undefined && {ChecksumCRC32})};
}

/** Reads a part of the archive. A stalled stream ends, too. */
async function readRange(bundle: Bundle, start: number, length: number, {signal}: S3Context): Promise<Buffer> {
  try {
    return await buffer(addAbortSignal(signal, bundle.createReadStream({start, end: start + length - 1})));
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}

/**
 * Whether the next push of the same bundle may finish what this one could not: the store keeps the parts. Otherwise, or
 * if nothing is saved, they are removed.
 */
export function mayResume(error: unknown, {state}: S3Context): boolean {
  const codes = ['ERR_NETWORK', 'ERR_TIMEOUT', 'ERR_SERVER', 'ERR_RATE_LIMITED'];
  return state !== undefined && isBackendError(error) && codes.includes(error.code);
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
  {
    onProgress,
    what,
    ...expected
  }: Digested & {
    /** The start of the error's message. */
    readonly what: string;
    readonly onProgress: S3Context['onProgress'];
  },
): AsyncGenerator<Uint8Array> {
  const verify = digestCheck(expected, what);
  for await (const chunk of source) {
    onProgress({transferred: verify.add(chunk), total: expected.size});
    yield chunk;
  }
  verify.end();
}

interface Digested {
  readonly size: number;
  readonly sha256: string;
}

/**
 * Compares bytes with a digest. `add` returns how many there are so far.
 * @param what the start of the error's message
 */
function digestCheck({size, sha256}: Digested, what: string) {
  const hash = createHash('sha256');
  let bytes = 0;
  return {
    add(chunk: Uint8Array): number {
      hash.update(chunk);
      return (bytes += chunk.length);
    },
    end(): void {
      if (bytes === size && hash.digest('hex') === sha256) return;
      throw backendError({code: 'ERR_FILE_CHANGED', message: `${what}: its SHA-256 is not ${sha256}`});
    },
  };
}
