import {createHash} from 'node:crypto';
import {createReadStream} from 'node:fs';
import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {Readable} from 'node:stream';
import type {Bundle} from 'mycli/backend';
import {storeBundle, type StoredBundle} from '../src/bundles.js';
import {projectLayout, type ProjectLayout} from '../src/layout.js';

/** A project in a temporary folder. */
export interface TestProject {
  readonly directory: string;
  readonly layout: ProjectLayout;
  /** An archive outside of the project. It need not be one: the backend does not look inside. */
  bundle(content?: string | Buffer): Promise<Bundle>;
  /** Stores a bundle. */
  store(content?: string | Buffer): Promise<StoredBundle>;
  remove(): Promise<void>;
}

/** Makes a project that has nothing yet. */
export async function createTestProject(): Promise<TestProject> {
  const root = await mkdtemp(join(tmpdir(), 'mycli-plugin-directory-'));
  const directory = join(root, 'store');
  const layout = projectLayout({options: {directory: 'store'}, configDirectory: root, projectSlug: 'shop'});
  let archives = 0;
  async function bundle(content: string | Buffer = 'archive'): Promise<Bundle> {
    archives += 1;
    const path = join(root, `archive-${String(archives)}`);
    await writeFile(path, content);
    return {
      ...{format: 'v2', path, size: Buffer.byteLength(content), message: 'main: 1a2b3c4', rootDir: 'bld'},
      sha256: createHash('sha256').update(content).digest('hex'),
      contentSha256: '0'.repeat(64),
      config: {ssrOnly: ['ssr.js'], ssrShared: [], ssrParameters: {}},
      files: [],
      createReadStream: (options) => createReadStream(path, options),
      entries: () => Readable.from([]),
    };
  }
  return {
    directory,
    layout,
    bundle,
    store: async (content) => storeBundle(layout, await bundle(content), {}, quietly()),
    remove: () => rm(root, {recursive: true, force: true}),
  };
}

/** A transfer that nobody follows or aborts. */
export function quietly(): {readonly signal: AbortSignal; onProgress(): void} {
  return {signal: new AbortController().signal, onProgress: () => undefined};
}
