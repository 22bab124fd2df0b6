import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {Readable} from 'node:stream';
import type {Bundle} from '../../src/bundle/types.js';
import {createBackendContext, type BackendContextOptions} from '../../src/backends/backend-context.js';

/** A logger that tells nobody. */
export const silent = {debug: () => undefined, info: () => undefined, warn: () => undefined};

/** The context of a call of a backend with these options, for the project `my shop`. It retries once, soon. */
export async function contextFor<Options>(options: Options, more: Partial<BackendContextOptions> = {}) {
  const context = await createBackendContext({
    projectSlug: 'my shop',
    options,
    configDirectory: '/',
    env: {},
    logger: silent,
    signal: new AbortController().signal,
    userAgent: 'mycli/0.0.0-test',
    rateLimit: {maxRetries: 1, baseDelayMs: 1},
    ...more,
  });
  return {...context, options};
}

/** A member of a backend whose capabilities promise it. */
export function promised<Member>(member: Member | undefined): Member {
  if (member === undefined) throw new Error('The backend has no such member.');
  return member;
}

/** The bytes of the bundle below. */
export const archive = Buffer.from('the archive');

const folder = mkdtempSync(join(tmpdir(), 'mycli-test-'));
process.once('exit', () => {
  rmSync(folder, {recursive: true});
});
const archiveFile = join(folder, 'archive');
writeFileSync(archiveFile, archive);

export const bundleOf = (more: Partial<Bundle> & Pick<Bundle, 'format'>): Bundle => ({
  ...{path: archiveFile, message: 'hello', size: archive.length, sha256: '', contentSha256: ''},
  config: {ssrOnly: [], ssrShared: [], ssrParameters: {}},
  files: [],
  createReadStream: ({start = 0} = {}) => Readable.from([archive.subarray(start)]),
  entries: () => Readable.from([]),
  ...more,
});
