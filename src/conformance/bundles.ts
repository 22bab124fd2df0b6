import {createCipheriv} from 'node:crypto';
import {mkdir, readFile, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {Readable} from 'node:stream';
import type {BackendLimits, Bundle, BundleFormat} from '../backends/contract.js';
import {planBundle, withReaders, writeBundle} from '../bundle/index.js';

/** Larger than a chunk, and not a multiple of 3, which would hide errors in base64. */
const usualBytes = 200_003;
/** Larger than the parts that services take, which are usually 5 or 8 MiB. */
export const largeBytes = 9 * 1024 * 1024 + 1;

export interface BundleWish {
  /** @default the preferred format of the backend */
  readonly format?: BundleFormat | undefined;
  /** The archive keeps within the limit of the backend. @default 200,003 */
  readonly contentBytes?: number | undefined;
  /** @default one of its own */
  readonly message?: string | undefined;
}

interface BundlePlace {
  readonly directory: string;
  readonly projectSlug: string;
  /** Each number has its own, reproducible content. */
  readonly number: number;
  readonly limits: BackendLimits;
}

type FormattedWish = BundleWish & {readonly format: BundleFormat};

export type MakeBundle = (wish: FormattedWish, place: BundlePlace) => Promise<Bundle>;

/** Makes the bundles of a suite. Packing takes most of its time, so each of the usual size is packed once. */
export function createBundleMaker(): MakeBundle {
  const packed = new Map<number, Promise<{readonly bundle: Bundle; readonly archive: Buffer}>>();
  return async (wish, place) => {
    const {format, contentBytes, message} = wish;
    if (format === 'v1' || contentBytes !== undefined) return pack(wish, place);
    const {number, directory} = place;
    const packing = packed.get(number) ?? pack({format}, place).then(withArchive);
    packed.set(number, packing);
    const {bundle, archive} = await packing;
    const file = path.join(directory, `${String(number)}.archive`);
    await writeFile(file, archive);
    return withReaders({...bundle, path: file, message: message ?? bundle.message});
  };
}

async function withArchive(bundle: Bundle) {
  return {bundle, archive: await readFile(bundle.path)};
}

async function pack(
  {format, contentBytes = usualBytes, message}: FormattedWish,
  {directory, projectSlug, number, limits: {maxBundleBytes = 2 ** 40}}: BundlePlace,
): Promise<Bundle> {
  const cwd = path.join(directory, `${format}-${String(number)}`);
  await mkdir(path.join(cwd, 'build', 'static'), {recursive: true});
  await writeFile(path.join(cwd, 'build', 'ssr.js'), 'export const get = () => "conformance";\n');
  // An archive has its headers, too.
  const most = Math.max(1, maxBundleBytes - 4608 - Math.ceil(maxBundleBytes / 8192));
  await writeFile(path.join(cwd, 'build', 'static', 'content.bin'), noise(number, Math.min(contentBytes, most)));
  const plan = await planBundle({
    format,
    cwd,
    env: {},
    now: () => new Date(),
    compressionLevel: 0,
    // No Latin-1, which is all that HTTP headers take.
    message: message ?? `Conformance bundle ${String(number)}: „Größe“ 日本語 🚀`,
    ...(format === 'v1' && {projectSlug}),
  });
  return writeBundle(plan, {path: path.join(cwd, 'archive')});
}

/** Random-looking bytes, so that lost, duplicated or moved ones are detected. */
function noise(seed: number, bytes: number): Buffer {
  const key = Buffer.alloc(16, seed);
  return createCipheriv('aes-128-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(bytes));
}

/** The same bundle, which stalls halfway: `onStall` is called when more bytes are requested. */
export async function stallHalfWay(bundle: Bundle, onStall: () => void): Promise<Bundle> {
  const half = (await readFile(bundle.path)).subarray(0, Math.floor(bundle.size / 2));
  const createReadStream: Bundle['createReadStream'] = ({start = 0, end = bundle.size - 1} = {}) => {
    const pieces = [half.subarray(start, end + 1)].filter(({length}) => length > 0);
    return new Readable({
      read() {
        const piece = pieces.shift();
        if (piece) this.push(piece);
        else if (end < half.length) this.push(null);
        else onStall();
      },
    });
  };
  return {...bundle, createReadStream};
}
