import {createHash, randomBytes} from 'node:crypto';
import {Readable} from 'node:stream';
import {
  CreateBucketCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  S3Client,
} from '@aws-sdk/client-s3';
import type {Bundle, UploadState} from 'mycli/backend';
import type {HostContext} from '../../../src/backends/call.js';
import {createBackendContext, type BackendContextOptions} from '../../../src/backends/backend-context.js';
import type {S3Context, S3Options} from '../src/options.js';

/** The store that the tests use, from the environment: test/s3/run.sh of mycli's repository starts one. */
export const endpoint = process.env['AWS_ENDPOINT_URL_S3'] ?? 'http://127.0.0.1:9';

/** The test's own, for a test may spoil those of the environment. */
const credentials = {
  accessKeyId: process.env['AWS_ACCESS_KEY_ID'] ?? '',
  secretAccessKey: process.env['AWS_SECRET_ACCESS_KEY'] ?? '',
};

/** A bucket of a test, and the test's own look into it. */
export interface TestBucket {
  readonly options: S3Options;
  readonly s3: S3Client;
  keys(): Promise<readonly (string | undefined)[]>;
  /** Keys of uploads that are neither completed nor aborted. */
  pending(): Promise<readonly (string | undefined)[]>;
  read(key: string): Promise<Uint8Array>;
  /** The context of a call. */
  context(
    changes?: Partial<BackendContextOptions> & {readonly endpoint?: string | undefined},
  ): Promise<S3Context & Omit<HostContext, 'options'>>;
}

/** Makes a bucket that has nothing yet. */
export async function createBucket(): Promise<TestBucket> {
  const bucket = `test-${randomBytes(6).toString('hex')}`;
  const options: S3Options = {bucket, prefix: '', endpoint, forcePathStyle: true};
  const s3 = new S3Client({endpoint, forcePathStyle: true, credentials});
  await s3.send(new CreateBucketCommand({Bucket: bucket}));
  return {
    options,
    s3,
    keys: async () => ((await s3.send(new ListObjectsV2Command({Bucket: bucket}))).Contents ?? []).map(({Key}) => Key),
    pending: async () =>
      ((await s3.send(new ListMultipartUploadsCommand({Bucket: bucket}))).Uploads ?? []).map(({Key}) => Key),
    async read(key) {
      const {Body} = await s3.send(new GetObjectCommand({Bucket: bucket, Key: key}));
      return (await Body?.transformToByteArray()) ?? new Uint8Array();
    },
    async context({endpoint: other = endpoint, ...changes} = {}) {
      const context = await createBackendContext({
        projectSlug: 'shop',
        options: undefined,
        configDirectory: '/',
        env: process.env,
        logger: {debug: () => undefined, info: () => undefined, warn: () => undefined},
        signal: new AbortController().signal,
        userAgent: 'mycli/0.0.0-test',
        rateLimit: {baseDelayMs: 5},
        ...changes,
      });
      return {...context, options: {...options, endpoint: other}};
    },
  };
}

/** An archive of `size` bytes. It need not be one: the backend does not look inside. */
export function createBundle(size = 1000, message = 'main: 1a2b3c4'): Bundle {
  const content = randomBytes(size);
  return {
    ...{format: 'v2', path: '/nowhere', size, message, rootDir: 'bld', configPath: '.runtime/config.json'},
    sha256: createHash('sha256').update(content).digest('hex'),
    contentSha256: '0'.repeat(64),
    config: {ssrOnly: ['ssr.js'], ssrShared: [], ssrParameters: {}},
    files: [],
    createReadStream: ({start = 0, end = size - 1} = {}) =>
      Readable.from([content.subarray(start, end + 1)], {objectMode: false}),
    async *entries() {},
  };
}

/** A state in memory, as the host keeps it between pushes. */
export function createState(): UploadState {
  let saved: string | undefined;
  return {
    read: () => Promise.resolve(saved === undefined ? undefined : JSON.parse(saved)),
    write: (state) => Promise.resolve(void (saved = JSON.stringify(state))),
    remove: () => Promise.resolve(void (saved = undefined)),
  };
}
