import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {Writable} from 'node:stream';
import {onTestFinished} from 'vitest';
import {packBundle, type BundlePlan, type BundlePlanOptions, type PackOptions} from '../../src/bundle/index.js';

/** What a folder of a test holds: contents by path. */
export type Tree = Readonly<Record<string, string | Buffer>>;

/** Makes a folder that is gone when the test has ended. */
export async function makeFolder(tree: Tree = {}, onFinished = onTestFinished): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'bundle-test-'));
  onFinished(() => rm(folder, {recursive: true, force: true}));
  await writeTree(folder, tree);
  return folder;
}

/** Writes files below a folder. */
export async function writeTree(folder: string, tree: Tree): Promise<void> {
  for (const [path, content] of Object.entries(tree)) {
    const file = join(folder, path);
    await mkdir(dirname(file), {recursive: true});
    await writeFile(file, content);
  }
}

/** A build that a bundle can be made of. */
export const smallBuild: Tree = {
  'build/ssr.js': 'export default 1;\n',
  'build/server/render.js': 'render();\n',
  'build/static/app.js': 'app();\n',
};

/** Options for planning the bundle of a folder: no git, a clock that stands. */
export function planOptions(cwd: string, options: Partial<BundlePlanOptions> = {}): BundlePlanOptions {
  return {
    format: 'v2',
    cwd,
    env: {},
    now: () => new Date('2026-01-02T03:04:05.678Z'),
    message: 'a message',
    projectSlug: 'shop',
    ...options,
  };
}

/** Packs into memory. */
export async function pack(plan: BundlePlan, options: PackOptions = {}) {
  const chunks: Buffer[] = [];
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      done();
    },
  });
  const result = await packBundle(plan, destination, options);
  return {...result, bytes: Buffer.concat(chunks), destination};
}
