import {Writable} from 'node:stream';
import {packBundle, type BundlePlan, type BundlePlanOptions, type PackOptions} from '../../src/bundle/index.js';
import type {Tree} from '../folder.js';

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
