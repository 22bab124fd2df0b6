import {randomBytes} from 'node:crypto';
import {mkdir, mkdtemp, utimes, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {pipeline, Transform} from 'node:stream';
import type {BackendLimits, Bundle, BundleFormat} from '../backends/contract.js';
import {planBundle, withReaders, writeBundle, type BundlePlan} from '../bundle/index.js';

/** Larger than a chunk, and not a multiple of 3, which would hide errors in base64. */
const usualBytes = 200_003;
/** Larger than the parts that services take, which are 5 to 16 MiB. */
export const largeBytes = 17 * 1024 * 1024 + 1;

export interface BundleWish {
  /** @default the preferred format of the backend */
  readonly format?: BundleFormat | undefined;
  /** The archive keeps within the limit of the backend. @default 200,003 */
  readonly contentBytes?: number | undefined;
  /** @default one of its own */
  readonly message?: string | undefined;
}

/** Of the files of all builds, so that they fit a plan of another one. */
const modifiedAt = new Date('2026-01-01T00:00:00Z');
/** What was planned, by format and size: builds differ in nothing else, and planning takes as long as packing. */
const plans = new Map<string, BundlePlan>();

/** Packs a bundle in a new folder within `directory`. */
export async function makeBundle(
  {format = 'v2', contentBytes = usualBytes, message, projectSlug}: BundleWish & {readonly projectSlug: string},
  directory: string,
  {maxBundleBytes = 2 ** 40}: BackendLimits = {},
): Promise<Bundle> {
  const cwd = await mkdtemp(path.join(directory, 'bundle-'));
  const buildDirectory = path.join(cwd, 'build');
  await mkdir(path.join(buildDirectory, 'static'), {recursive: true});
  // An archive has its headers, too.
  const most = Math.max(1, maxBundleBytes - 4608 - Math.ceil(maxBundleBytes / 8192));
  const bytes = Math.min(contentBytes, most);
  const files = {'ssr.js': 'export const get = () => "conformance";\n', 'static/content.bin': randomBytes(bytes)};
  for (const [name, content] of Object.entries(files)) {
    await writeFile(path.join(buildDirectory, name), content);
    await utimes(path.join(buildDirectory, name), modifiedAt, modifiedAt);
  }
  const kind = `${format} ${bytes}`;
  const alike =
    plans.get(kind) ??
    (await planBundle({format, projectSlug, cwd, env: {}, now: () => new Date(), compressionLevel: 0}));
  plans.set(kind, alike);
  const plan = {...alike, buildDirectory, ...(format === 'v1' && {projectSlug})};
  const bundle = await writeBundle(plan, {path: path.join(cwd, 'archive')});
  // No Latin-1, which is all that HTTP headers take.
  return withReaders({...bundle, message: message ?? `Conformance ${path.basename(cwd)}: „Größe“ 日本語 🚀`});
}

/** The same bundle, whose reading stalls halfway, whatever part of it is read: `onStall` is called then. */
export function stallHalfWay(bundle: Bundle, onStall: () => void): Bundle {
  let left = Math.floor(bundle.size / 2);
  const createReadStream: Bundle['createReadStream'] = (range) => {
    const stalling = new Transform({
      transform(piece: Buffer, _, done) {
        this.push(piece.subarray(0, left));
        left -= Math.min(left, piece.length);
        if (left > 0) done();
        else setImmediate(onStall);
      },
    });
    return pipeline(bundle.createReadStream(range), stalling, () => undefined);
  };
  return {...bundle, createReadStream};
}
