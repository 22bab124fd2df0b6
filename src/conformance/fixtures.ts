import {createCipheriv, createHash} from 'node:crypto';
import {mkdir, readFile, truncate, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {Readable} from 'node:stream';
import type {BackendLimits, BundleId, Environment, Bundle, BundleFormat} from '../backends/contract.js';
import {planBundle, withReaders, writeBundle} from '../bundle/index.js';

/** A case of the conformance suite, for any test runner. */
export interface ConformanceCase {
  /** Stable; the key for `ConformanceFixtures.skip`. */
  readonly name: string;
  /**
   * Why the case does not apply, from `ConformanceFixtures.skip`. Pass it to the runner; `run` of such a case rejects.
   */
  readonly skip?: string | undefined;
  /**
   * Runs the case independently, any number of times.
   * @param test what the runner passes to a test. With `skip`, a case that needs an optional member that the service
   * does not have is skipped, and the reason says what is missing. Without it, the case fails.
   * @throws AssertionError when the backend breaks the contract; whatever the fixtures throw.
   */
  run(test?: {readonly skip?: ((reason: string) => void) | undefined}): Promise<void>;
}

/** What the suite needs to test a backend. */
export interface ConformanceFixtures {
  /**
   * Opens the service that the backend talks to. Called at least once in every case, and closed at its end.
   * @param suite `through`: an address that leads to an origin. The suite lets requests of `context.http` fail on their
   * way. If the backend sends them with another client, such as an SDK, give it this address instead.
   */
  openService(suite: {through(origin: string): Promise<string>}): Promise<ConformanceService>;
  /**
   * Settings with which the backend is not configured: its schema rejects the options, or `check` lists what is
   * missing.
   * @default no options, no environment
   */
  readonly unconfigured?: {readonly options?: unknown; readonly env?: Environment | undefined} | undefined;
  /**
   * Cases that do not apply to this backend: the reason for each, by name.
   * @default none
   */
  readonly skip?: Readonly<Record<string, string>> | undefined;
  /**
   * The time resolution of the service, in milliseconds: how long to wait between things whose order is checked, and
   * until lists show what has changed.
   * @default 10
   */
  readonly timeResolutionMs?: number | undefined;
  /**
   * Set it if the backend resumes interrupted uploads with `context.state`: the size of a bundle that it sends in
   * several parts, in bytes.
   * @default the backend resumes nothing, and there are no cases for it
   */
  readonly resumableBytes?: number | undefined;
  /**
   * Maximum time for a case, in milliseconds.
   * @default 60000
   */
  readonly caseTimeoutMs?: number | undefined;
  /**
   * Maximum time for a deployment to finish, in milliseconds.
   * @default 30000
   */
  readonly deploymentTimeoutMs?: number | undefined;
}

/**
 * A service to test against. A case that needs a missing function fails, unless it is in `ConformanceFixtures.skip`. If
 * the function is optional, the case is skipped.
 */
export interface ConformanceService {
  /** The options of the backend as a user would write them. They are validated by its schema, if it has one. */
  readonly options: unknown;
  /**
   * Absolute folder that relative paths in `options` refer to. @default '/', where no such path leads to the service
   */
  readonly configDirectory?: string | undefined;
  /** The backend's environment variables. @default none */
  readonly env?: Environment | undefined;
  /** A project without bundles. @default a new name for each service */
  readonly projectSlug?: string | undefined;
  /** A target of the project, without deployments. @default 'staging' */
  readonly targetSlug?: string | undefined;
  /** Another target, without deployments. @default 'production' */
  readonly promotionTargetSlug?: string | undefined;
  /** Values in `options` and `env` that must not appear in any error or log. */
  readonly secrets?: readonly string[] | undefined;
  /**
   * The secrets that the backend has learned so far, such as tokens that the service has issued to it: it must mask
   * them with `context.maskSecret`. @default none
   */
  readonly issuedSecrets?: (() => readonly string[] | Promise<readonly string[]>) | undefined;
  /** Answers what `login` asks the user for. */
  readonly answer?:
    | ((question: {readonly message: string; readonly secret?: boolean | undefined}) => string | Promise<string>)
    | undefined;
  /** Does what the user is to do at a URL that `login` opens. */
  readonly visit?: ((url: string) => void | Promise<void>) | undefined;
  /**
   * The archive of an uploaded bundle as the service stores it, bypassing the backend. Not needed if the service only
   * keeps files.
   * @throws anything if there is no such bundle.
   */
  readonly readUploaded?: ((bundleId: BundleId) => Promise<AsyncIterable<Uint8Array> | Uint8Array>) | undefined;
  /**
   * A file of an uploaded bundle, for services that keep files: every one is compared. `path` as in `bundle.entries()`.
   * @throws anything if there is no such bundle or file.
   */
  readonly readUploadedFile?:
    ((bundleId: BundleId, path: string) => Promise<AsyncIterable<Uint8Array> | Uint8Array>) | undefined;
  /**
   * Optional. How many uploads the service keeps, complete or not, bypassing the backend. With it, the suite finds what
   * aborted and repeated uploads leave behind.
   */
  readonly countUploads?: (() => number | Promise<number>) | undefined;
  /**
   * Breaks off each upload once the service has received a part of it, or no longer. Only needed with
   * `ConformanceFixtures.resumableBytes`.
   */
  readonly interruptUploads?: ((isOn: boolean) => void | Promise<void>) | undefined;
  /** How many bytes of archives the service has received so far. Only needed with `resumableBytes`. */
  readonly countReceivedBytes?: (() => number | Promise<number>) | undefined;
  /** Optional. Makes the service refuse deployments to the target from now on, because another one is running. */
  readonly occupyTarget?: (() => void | Promise<void>) | undefined;
  /** Optional. Makes each deployment that is requested from now on fail after the service has accepted it. */
  readonly failDeployments?: (() => void | Promise<void>) | undefined;
  /** Stops the service. */
  readonly close?: (() => void | Promise<void>) | undefined;
}

/** Larger than a chunk, and not a multiple of 3, which would hide errors in base64. */
const usualBytes = 200_003;
/** Larger than the parts that services take, which are usually 5 or 8 MiB. */
export const largeBytes = 9 * 1024 * 1024 + 1;
const pieceBytes = 64 * 1024;

/** How large a bundle is. */
export interface BundleSize {
  /** @default 200,003 */
  readonly contentBytes?: number | undefined;
  /** How many files it has, at least two. @default 2 */
  readonly files?: number | undefined;
}

/** Which bundle: each number has its own, reproducible content. */
interface TestBundle extends BundleSize {
  readonly format: BundleFormat;
  readonly projectSlug: string;
  readonly number: number;
}

/** The size of a bundle that keeps within the limits of a backend, and nearly reaches them if it is to be larger. */
export function sizeWithin(
  {maxBundleBytes}: BackendLimits,
  {contentBytes = usualBytes, files}: BundleSize,
): BundleSize {
  const most = maxBundleBytes === undefined ? Infinity : contentWithin(maxBundleBytes);
  return {contentBytes: contentBytes > most ? most : contentBytes === usualBytes ? undefined : contentBytes, files};
}

/** How many bytes of content fit into an archive, which has its headers, too. */
function contentWithin(archiveBytes: number): number {
  return Math.max(1, archiveBytes - 4608 - Math.ceil(archiveBytes / 8192));
}

/** What was packed, for all suites of a process: packing takes most of their time. */
const packed = new Map<string, Promise<{readonly bundle: Bundle; readonly archive: Buffer}>>();

/** Creates a real bundle in `directory`. One of the usual size is packed once; each case gets its own file. */
export async function makeTestBundle(directory: string, wanted: TestBundle): Promise<Bundle> {
  const {format, projectSlug, number, contentBytes, files} = wanted;
  // Used once, and too large to keep.
  if (contentBytes !== undefined || files !== undefined) return (await pack(directory, wanted)).bundle;
  const key = [format, number, ...(format === 'v1' ? [projectSlug] : [])].join(' ');
  const making = packed.get(key) ?? pack(directory, wanted);
  packed.set(key, making);
  const {bundle, archive} = await making;
  const file = path.join(directory, `${format}-${String(number)}.archive`);
  await writeFile(file, archive);
  return withReaders({...bundle, path: file});
}

async function pack(
  directory: string,
  {format, projectSlug, number, contentBytes = usualBytes, files = 2}: TestBundle,
): Promise<{readonly bundle: Bundle; readonly archive: Buffer}> {
  const cwd = path.join(directory, `${format}-${String(number)}`);
  const buildDirectory = path.join(cwd, 'build');
  await mkdir(path.join(buildDirectory, 'static'), {recursive: true});
  await writeFile(path.join(buildDirectory, 'ssr.js'), 'export const get = () => "conformance";\n');
  await writeFile(path.join(buildDirectory, 'static', 'content.bin'), noise(number, contentBytes));
  for (let more = 2; more < files; more += 1) {
    await writeFile(path.join(buildDirectory, 'static', `${String(more)}.txt`), '');
  }
  const plan = await planBundle({
    format,
    cwd,
    env: {},
    now: () => new Date(),
    compressionLevel: 0,
    // No Latin-1, which is all that HTTP headers take.
    message: `Conformance bundle ${String(number)}: „Größe“ 日本語 🚀`,
    ...(format === 'v1' && {projectSlug}),
  });
  const bundle = await writeBundle(plan, {path: path.join(cwd, 'archive')});
  return {bundle, archive: await readFile(bundle.path)};
}

/** The same bundle, which stalls halfway: `onStall` is called when more bytes are requested. */
export async function stallHalfWay(bundle: Bundle, onStall: () => void): Promise<Bundle> {
  const half = (await readFile(bundle.path)).subarray(0, Math.floor(bundle.size / 2));
  const createReadStream: Bundle['createReadStream'] = ({start = 0, end = bundle.size - 1} = {}) => {
    let next = start;
    return new Readable({
      read() {
        if (next > end) {
          this.push(null);
          return;
        }
        if (next >= half.length) {
          onStall();
          return;
        }
        const piece = half.subarray(next, Math.min(next + pieceBytes, end + 1));
        this.push(piece);
        next += piece.length;
      },
    });
  };
  return {...bundle, createReadStream};
}

/** Size of a huge bundle. */
export const hugeBytes = 300 * 1024 * 1024;
/** Digest of its bytes, hex. */
const hugeSha256 = '17a88af83717f68b8bd97873ffcf022c8aed703416fe9b08e0fa9e3287692bf0';
const hugeFileBytes = 4 * 1024 * 1024;

/** Creates a bundle of zeros, which takes no space on disk. It is no archive: nobody gets to its end. */
export async function makeHugeBundle(directory: string, format: BundleFormat, projectSlug: string): Promise<Bundle> {
  const file = path.join(directory, `${format}-huge.archive`);
  await writeFile(file, '');
  await truncate(file, hugeBytes);
  const files = Array.from({length: hugeBytes / hugeFileBytes}, (_, index) => ({
    ...{path: `static/${String(index)}.bin`, size: hugeFileBytes, executable: false},
    ...{ssrOnly: false, ssrShared: false},
  }));
  const sha256 = createHash('sha256').update(Buffer.alloc(hugeFileBytes)).digest('hex');
  const bundle = withReaders({
    ...{format, message: 'Huge conformance bundle', config: {ssrOnly: [], ssrShared: [], ssrParameters: {}}, files},
    ...(format === 'v1' ? {projectSlug} : {rootDir: 'bld', configPath: 'config.json'}),
    ...{path: file, size: hugeBytes, sha256: hugeSha256, contentSha256: hugeSha256},
  });
  return {
    ...bundle,
    async *entries() {
      for (const [index, entry] of files.entries()) {
        const [start, end] = [index * hugeFileBytes, (index + 1) * hugeFileBytes - 1];
        yield {...entry, category: 'static', sha256, open: () => bundle.createReadStream({start, end})};
      }
    },
  };
}

/** The same bundle, which tells `onRead` how many bytes are read from it. */
export function countReads(bundle: Bundle, onRead: (bytes: number) => void): Bundle {
  const counted = (stream: Readable) =>
    Readable.from(
      (async function* () {
        for await (const chunk of stream as AsyncIterable<Buffer>) {
          onRead(chunk.length);
          yield chunk;
        }
      })(),
      {objectMode: false},
    );
  return {
    ...bundle,
    createReadStream: (options) => counted(bundle.createReadStream(options)),
    async *entries(options) {
      for await (const entry of bundle.entries(options)) yield {...entry, open: () => counted(entry.open())};
    },
  };
}

/** Random-looking bytes, so that lost, duplicated or moved ones are detected. */
function noise(seed: number, bytes: number): Buffer {
  const key = Buffer.alloc(16, seed);
  return createCipheriv('aes-128-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(bytes));
}
