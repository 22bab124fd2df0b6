import {createCipheriv, createHash} from 'node:crypto';
import {mkdir, readFile, truncate, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {Readable} from 'node:stream';
import type {BackendLimits, Bundle, BundleFormat} from '../backends/contract.js';
import {planBundle, withReaders, writeBundle} from '../bundle/index.js';

/** Larger than a chunk, and not a multiple of 3, which would hide errors in base64. */
const usualBytes = 200_003;
/** Larger than the parts that services take, which are usually 5 or 8 MiB. */
export const largeBytes = 9 * 1024 * 1024 + 1;
const pieceBytes = 64 * 1024;

/** What a bundle is like. */
export interface BundleWish {
  /** @default the preferred format of the backend */
  readonly format?: BundleFormat | undefined;
  /** The archive keeps within the limit of the backend. @default 200,003 */
  readonly contentBytes?: number | undefined;
  /** How many files it has, at least two. @default 2 */
  readonly files?: number | undefined;
  /** @default one of its own */
  readonly message?: string | undefined;
}

/** Where a bundle is made, and for what. */
interface BundlePlace {
  readonly directory: string;
  readonly projectSlug: string;
  /** Each number has its own, reproducible content. */
  readonly number: number;
  readonly limits: BackendLimits;
}

/** Makes the bundles of a suite. Packing takes most of its time, so each of the usual size is packed once. */
export class BundleMaker {
  readonly #packed = new Map<string, Promise<{readonly bundle: Bundle; readonly archive: Buffer}>>();

  /** Creates a real bundle with a file of its own. */
  async make(wish: BundleWish & {readonly format: BundleFormat}, place: BundlePlace): Promise<Bundle> {
    const {format, contentBytes, files, message} = wish;
    const isUsual = format === 'v2' && contentBytes === undefined && files === undefined;
    if (!isUsual) return (await pack(wish, place)).bundle;
    const key = String(place.number);
    const making = this.#packed.get(key) ?? pack({format}, place);
    this.#packed.set(key, making);
    const {bundle, archive} = await making;
    const file = path.join(place.directory, `${key}.archive`);
    await writeFile(file, archive);
    return withReaders({...bundle, path: file, message: message ?? bundle.message});
  }
}

async function pack(
  {format, contentBytes = usualBytes, files = 2, message}: BundleWish & {readonly format: BundleFormat},
  {directory, projectSlug, number, limits: {maxBundleBytes = 2 ** 40}}: BundlePlace,
): Promise<{readonly bundle: Bundle; readonly archive: Buffer}> {
  const cwd = path.join(directory, `${format}-${String(number)}`);
  const statics = path.join(cwd, 'build', 'static');
  await mkdir(statics, {recursive: true});
  await writeFile(path.join(cwd, 'build', 'ssr.js'), 'export const get = () => "conformance";\n');
  // An archive has its headers, too.
  const most = Math.max(1, maxBundleBytes - 4608 - Math.ceil(maxBundleBytes / 8192));
  await writeFile(path.join(statics, 'content.bin'), noise(number, Math.min(contentBytes, most)));
  for (let more = 2; more < files; more += 1) await writeFile(path.join(statics, `${String(more)}.txt`), '');
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
  const bundle = await writeBundle(plan, {path: path.join(cwd, 'archive')});
  return {bundle, archive: await readFile(bundle.path)};
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
    let next = start;
    return new Readable({
      read() {
        if (next > end) {
          this.push(null);
        } else if (next >= half.length) {
          onStall();
        } else {
          const piece = half.subarray(next, Math.min(next + pieceBytes, end + 1));
          this.push(piece);
          next += piece.length;
        }
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

/**
 * Creates a bundle of zeros that is too large to be kept in memory and takes no space on disk. It is no archive: nobody
 * gets to its end. `onRead` is told how many bytes are read from it.
 */
export async function makeHugeBundle(
  format: BundleFormat,
  {directory, projectSlug}: Pick<BundlePlace, 'directory' | 'projectSlug'>,
  onRead: (bytes: number) => void,
): Promise<Bundle> {
  const file = path.join(directory, `${format}-huge.archive`);
  await writeFile(file, '');
  await truncate(file, hugeBytes);
  const files = Array.from({length: hugeBytes / hugeFileBytes}, (_, index) => {
    const name = `static/${String(index)}.bin`;
    return {path: name, size: hugeFileBytes, executable: false, ssrOnly: false, ssrShared: false};
  });
  const bundle = withReaders({
    format,
    message: 'Huge conformance bundle',
    config: {ssrOnly: [], ssrShared: [], ssrParameters: {}},
    files,
    ...(format === 'v1' ? {projectSlug} : {rootDir: 'bld', configPath: 'config.json'}),
    path: file,
    size: hugeBytes,
    sha256: hugeSha256,
    contentSha256: hugeSha256,
  });
  const counted: Bundle['createReadStream'] = (range) =>
    Readable.from(
      (async function* () {
        for await (const chunk of bundle.createReadStream(range) as AsyncIterable<Buffer>) {
          onRead(chunk.length);
          yield chunk;
        }
      })(),
      {objectMode: false},
    );
  const sha256 = createHash('sha256').update(Buffer.alloc(hugeFileBytes)).digest('hex');
  return {
    ...bundle,
    createReadStream: counted,
    async *entries() {
      for (const [index, entry] of files.entries()) {
        const [start, end] = [index * hugeFileBytes, (index + 1) * hugeFileBytes - 1];
        yield {...entry, category: 'static', sha256, open: () => counted({start, end})};
      }
    },
  };
}
