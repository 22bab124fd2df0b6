import type {GetObjectCommandOutput, S3Client} from '@aws-sdk/client-s3';
import type {Readable} from 'node:stream';
import * as v from 'valibot';
import {backendError, isBackendError, toBackendError} from './backend-error.js';
import {createClient} from './client.js';
import type {S3Context} from './options.js';

/** A JSON object as it was read. `etag` identifies its content. */
export interface Stored<Value> {
  readonly value: Value;
  readonly etag: string;
}

/** The condition of a write: the object still has this ETag, or does not exist. */
export type Condition = {readonly etag: string} | 'absent';

/** The bucket. Calls reject with `signal.reason` when aborted, else with a BackendError. */
export interface Store extends Disposable {
  readonly bucket: string;
  readonly client: S3Client;
  /** Runs requests, and converts their errors to ours. `doing`: the activity, for messages. */
  attempt<Result>(doing: string, request: () => Promise<Result>, isWrite?: boolean): Promise<Result>;
  /** Reads a JSON object; undefined if it does not exist. */
  read<Value>(key: string, schema: v.GenericSchema<unknown, Value>): Promise<Stored<Value> | undefined>;
  /**
   * Writes a JSON object.
   * @throws BackendError when `condition` does not hold; `isConflict` is true for it.
   */
  write(key: string, value: unknown, condition?: Condition): Promise<void>;
  exists(key: string): Promise<boolean>;
  /** Opens an object for reading as a stream. */
  open(key: string): Promise<Readable>;
  /** All keys with a prefix, sorted. */
  list(prefix: string): Promise<readonly string[]>;
  remove(key: string): Promise<void>;
}

/**
 * Opens the bucket of a call. Loads the SDK.
 * @throws BackendError `ERR_OPTION_INVALID` when the bucket or the region is missing.
 */
export async function openStore(context: S3Context, signal: AbortSignal = context.signal): Promise<Store> {
  const {bucket} = context.options;
  if (bucket === undefined)
    throw backendError({code: 'ERR_OPTION_INVALID', message: 'The option "bucket" is missing.'});
  const s3 = await import('@aws-sdk/client-s3');
  const client = await createClient(context, signal);

  const attempt: Store['attempt'] = async (doing, request, isWrite = false) => {
    const result = await request().catch((error: unknown) => {
      signal.throwIfAborted();
      throw toBackendError(error, doing, isWrite);
    });
    signal.throwIfAborted();
    return result;
  };
  const get = (key: string): Promise<GetObjectCommandOutput | undefined> =>
    attempt(`Reading ${key}`, () =>
      client.send(new s3.GetObjectCommand({Bucket: bucket, Key: key})).catch((error: unknown) => {
        if (error instanceof Error && error.name === 'NoSuchKey') return undefined;
        throw error;
      }),
    );
  const put = (key: string, value: unknown, headers: {readonly IfMatch?: string; readonly IfNoneMatch?: string}) =>
    attempt(
      `Writing ${key}`,
      () =>
        client.send(
          new s3.PutObjectCommand({
            Bucket: bucket,
            Key: key,
            Body: `${JSON.stringify(value, null, 2)}\n`,
            ContentType: 'application/json',
            ...headers,
          }),
        ),
      true,
    );

  return {
    bucket,
    client,
    attempt,

    async read(key, schema) {
      const answer = await get(key);
      if (!answer?.Body || answer.ETag === undefined) return undefined;
      const {Body, ETag} = answer;
      const text = await attempt(`Reading ${key}`, () => Body.transformToString());
      const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), text);
      if (parsed.success) return {value: parsed.output, etag: ETag};
      throw backendError({
        code: 'ERR_RESPONSE_INVALID',
        message: `The object ${key} was not written by this plugin: ${v.summarize(parsed.issues)}`,
      });
    },

    async write(key, value, condition) {
      if (condition === undefined || condition === 'absent') {
        await put(key, value, condition === undefined ? {} : {IfNoneMatch: '*'});
        return;
      }
      try {
        await put(key, value, {IfMatch: condition.etag});
      } catch (error) {
        // Ceph up to 16 compares the ETag without its quotes. ETags never recur, so a second attempt is safe.
        if (!isBackendError(error) || error.status !== 412) throw error;
        await put(key, value, {IfMatch: condition.etag.replaceAll('"', '')});
      }
    },

    exists: (key) =>
      attempt(`Looking for ${key}`, () =>
        client.send(new s3.HeadObjectCommand({Bucket: bucket, Key: key})).then(
          () => true,
          (error: unknown) => {
            if (error instanceof Error && error.name === 'NotFound') return false;
            throw error;
          },
        ),
      ),

    async open(key) {
      const answer = await get(key);
      // In Node it is a Readable, although its type is more general.
      if (answer?.Body) return answer.Body as Readable;
      throw backendError({code: 'ERR_REJECTED', message: `The object ${key} is not in the bucket.`, status: 404});
    },

    list: (prefix) =>
      attempt(`Listing ${prefix}`, async () => {
        const keys: string[] = [];
        for await (const page of s3.paginateListObjectsV2({client}, {Bucket: bucket, Prefix: prefix})) {
          for (const {Key} of page.Contents ?? []) if (Key?.endsWith('.json')) keys.push(Key);
        }
        return keys.sort();
      }),

    async remove(key) {
      const command = new s3.DeleteObjectCommand({Bucket: bucket, Key: key});
      await attempt(`Deleting ${key}`, () => client.send(command), true);
    },

    [Symbol.dispose]: () => client.destroy(),
  };
}
