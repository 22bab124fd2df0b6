import {createCipheriv} from 'node:crypto';
import {mkdir, readFile, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {Readable} from 'node:stream';
import type {BundleId, Environment, Bundle, BundleFormat} from '../../backends/contract.js';
import {planBundle, withReaders, writeBundle} from '../../bundle/index.js';

/** A case of the conformance suite, for any test runner. */
export interface ConformanceCase {
  /** Stable; what `ConformanceFixtures.skip` names. */
  readonly name: string;
  /**
   * Why the case does not apply, from `ConformanceFixtures.skip`. Hand it to the runner: `run` of such a case rejects.
   */
  readonly skip?: string | undefined;
  /**
   * Runs the case, by itself and as often as wanted.
   * @throws AssertionError when the backend breaks the contract; whatever the fixtures throw.
   */
  run(): Promise<void>;
}

/** What the suite needs to know of a backend. */
export interface ConformanceFixtures {
  /** Opens what the backend talks to. Called once or more in every case, and closed at its end. */
  openService(): Promise<ConformanceService>;
  /**
   * Settings with which the backend is not configured: its schema refuses the options, or `check` names what is
   * missing.
   * @default no options, no environment
   */
  readonly unconfigured?: {readonly options?: unknown; readonly env?: Environment | undefined} | undefined;
  /**
   * Names of cases that cannot apply to this backend, each with the reason.
   * @default none
   */
  readonly skip?: Readonly<Record<string, string>> | undefined;
  /**
   * How finely the service tells times apart, milliseconds: the wait between things whose order is looked at.
   * @default 10
   */
  readonly timeResolutionMs?: number | undefined;
  /**
   * How long a deployment may take to finish, milliseconds.
   * @default 10000
   */
  readonly deploymentTimeoutMs?: number | undefined;
}

/**
 * A service to test against. A case that needs a function which is not there fails, unless `ConformanceFixtures.skip`
 * names it.
 */
export interface ConformanceService {
  /** The options of the backend as a user writes them. They go through its schema, if it has one. */
  readonly options: unknown;
  /** The environment variables that the backend sees. @default none */
  readonly env?: Environment | undefined;
  /** A project without bundles. @default a new name for each service */
  readonly projectSlug?: string | undefined;
  /** A target of the project, without deployments. @default 'staging' */
  readonly targetSlug?: string | undefined;
  /** Values in `options` and `env` that no error and no log may show. */
  readonly secrets?: readonly string[] | undefined;
  /**
   * The archive of an uploaded bundle as the service has it, got past the backend.
   * @throws anything, when there is no such bundle.
   */
  readUploaded(bundleId: BundleId): Promise<AsyncIterable<Uint8Array> | Uint8Array>;
  /** Lets the next `count` requests of uploads meet a rate limit; `Infinity`: all. */
  readonly limitUploads?: ((count: number) => void | Promise<void>) | undefined;
  /** Lets the service refuse the credentials from now on. */
  readonly refuseCredentials?: (() => void | Promise<void>) | undefined;
  /** Lets uploads fail from now on, for a reason of the service's own: an internal error, a full disk. */
  readonly failUploads?: (() => void | Promise<void>) | undefined;
  /** Ends the service. */
  readonly close?: (() => void | Promise<void>) | undefined;
}

/** More than the pieces in which an archive is read, and no multiple of 3, which would hide faults in base64. */
const contentBytes = 700_001;
const pieceBytes = 64 * 1024;

/** Which bundle: each number gives other content, and the same content each time. */
interface TestBundle {
  readonly format: BundleFormat;
  readonly projectSlug: string;
  readonly number: number;
}

/** Puts a bundle into `directory`. */
export type MakeTestBundle = (directory: string, wanted: TestBundle) => Promise<Bundle>;

/**
 * Makes real bundles for the cases of a suite. One that cases have in common is packed once, which is most of their
 * time; each case gets a file of its own.
 */
export function createTestBundles(): MakeTestBundle {
  const packed = new Map<string, Promise<{readonly bundle: Bundle; readonly archive: Buffer}>>();
  return async (directory, wanted) => {
    const {format, projectSlug, number} = wanted;
    const key = [format, number, ...(format === 'v1' ? [projectSlug] : [])].join(' ');
    const making = packed.get(key) ?? pack(directory, wanted);
    packed.set(key, making);
    const {bundle, archive} = await making;
    const file = path.join(directory, `${format}-${String(number)}.archive`);
    await writeFile(file, archive);
    return withReaders({...bundle, path: file});
  };
}

async function pack(
  directory: string,
  {format, projectSlug, number}: TestBundle,
): Promise<{readonly bundle: Bundle; readonly archive: Buffer}> {
  const cwd = path.join(directory, `${format}-${String(number)}`);
  const buildDirectory = path.join(cwd, 'build');
  await mkdir(path.join(buildDirectory, 'static'), {recursive: true});
  await writeFile(path.join(buildDirectory, 'ssr.js'), 'export const get = () => "conformance";\n');
  await writeFile(path.join(buildDirectory, 'static', 'content.bin'), noise(number));
  const plan = await planBundle({
    format,
    cwd,
    env: {},
    now: () => new Date(),
    compressionLevel: 0,
    message: `Conformance bundle ${String(number)}`,
    ...(format === 'v1' && {projectSlug}),
  });
  const bundle = await writeBundle(plan, {path: path.join(cwd, 'archive')});
  return {bundle, archive: await readFile(bundle.path)};
}

/** The same bundle, whose bytes stop coming half way: `onStall` is called when more are asked for. */
export async function stallHalfWay(bundle: Bundle, onStall: () => void): Promise<Bundle> {
  const half = (await readFile(bundle.path)).subarray(0, Math.floor(bundle.size / 2));
  const createReadStream: Bundle['createReadStream'] = ({start = 0} = {}) => {
    let next = start;
    return new Readable({
      read() {
        if (next >= half.length) {
          onStall();
          return;
        }
        this.push(half.subarray(next, next + pieceBytes));
        next += pieceBytes;
      },
    });
  };
  return {...bundle, createReadStream};
}

/** Bytes without a pattern: one that is lost, doubled or moved shows. */
function noise(seed: number): Buffer {
  const key = Buffer.alloc(16, seed);
  return createCipheriv('aes-128-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(contentBytes));
}
