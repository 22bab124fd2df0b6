import {randomBytes} from 'node:crypto';
import {mkdir, mkdtemp, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {pipeline, Transform} from 'node:stream';
import type {BackendLimits, Bundle, BundleFormat} from '../backends/contract.js';
import {planBundle, withReaders, writeBundle} from '../bundle/index.js';

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

/** Packs a bundle in a new folder within `directory`. */
export async function makeBundle(
  {format = 'v2', contentBytes = usualBytes, message, projectSlug}: BundleWish & {readonly projectSlug: string},
  directory: string,
  {maxBundleBytes = 2 ** 40}: BackendLimits = {},
): Promise<Bundle> {
  const cwd = await mkdtemp(path.join(directory, 'bundle-'));
  await mkdir(path.join(cwd, 'build', 'static'), {recursive: true});
  await writeFile(path.join(cwd, 'build', 'ssr.js'), 'export const get = () => "conformance";\n');
  // An archive has its headers, too.
  const most = Math.max(1, maxBundleBytes - 4608 - Math.ceil(maxBundleBytes / 8192));
  await writeFile(path.join(cwd, 'build', 'static', 'content.bin'), randomBytes(Math.min(contentBytes, most)));
  const plan = await planBundle({format, projectSlug, cwd, env: {}, now: () => new Date(), compressionLevel: 0});
  const bundle = await writeBundle(plan, {path: path.join(cwd, 'archive')});
  // No Latin-1, which is all that HTTP headers take.
  const own =
    `Conformance ${path.basename(cwd)}: „Größe“ 日本語 🚀, it's \\ too. ${'It is longer than a line. '.repeat(4)}`.trim();
  return withReaders({...bundle, message: message ?? own});
}

/** The same bundle, whose reading stalls halfway, whatever part of it is read, until `onStall` lets it go on. */
export function stallHalfWay(bundle: Bundle, onStall: (goOn: () => void) => void): Bundle {
  let left = Math.floor(bundle.size / 2);
  const createReadStream: Bundle['createReadStream'] = (range) => {
    const stalling = new Transform({
      transform(piece: Buffer, _, done) {
        const part = piece.subarray(0, left);
        this.push(part);
        left -= part.length;
        const goOn = () => {
          left = Infinity;
          done(null, piece.subarray(part.length));
        };
        if (left > 0) done();
        else setImmediate(onStall, goOn);
      },
    });
    return pipeline(bundle.createReadStream(range), stalling, () => undefined);
  };
  return {...bundle, createReadStream};
}
