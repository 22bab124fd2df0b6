import {createCipheriv} from 'node:crypto';
import {mkdir, readFile, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {Readable} from 'node:stream';
import {planBundle, withReaders, writeBundle} from '../../bundle/index.js';
import type {Bundle, BundleFormat} from '../../backends/contract.js';

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
 * Makes real bundles for the cases of a suite. One that cases have in common is packed once, which is most of their time; each
 * case gets a file of its own.
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
