import {createCipheriv} from 'node:crypto';
import {mkdir, readFile, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {Readable} from 'node:stream';
import {planBundle, writeBundle} from '../../bundle/index.js';
import type {Bundle, BundleFormat} from '../../backends/contract.js';

/** More than the pieces in which an archive is read, and no multiple of 3, which would hide faults in base64. */
const contentBytes = 700_001;
const pieceBytes = 64 * 1024;

/**
 * Builds a real bundle in `directory`. Each number gives other content, and the same content each time.
 */
export async function makeTestBundle(
  directory: string,
  {format, projectSlug, number}: {readonly format: BundleFormat; readonly projectSlug: string; readonly number: number},
): Promise<Bundle> {
  const name = `${format}-${String(number)}`;
  const buildDirectory = path.join(directory, name, 'build');
  await mkdir(path.join(buildDirectory, 'static'), {recursive: true});
  await writeFile(path.join(buildDirectory, 'ssr.js'), 'export const get = () => "conformance";\n');
  await writeFile(path.join(buildDirectory, 'static', 'content.bin'), noise(number));
  const plan = await planBundle({
    format,
    cwd: path.join(directory, name),
    env: {},
    now: () => new Date(),
    compressionLevel: 0,
    message: `Conformance bundle ${String(number)}`,
    ...(format === 'v1' && {projectSlug}),
  });
  return writeBundle(plan, {path: path.join(directory, `${name}.archive`)});
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
