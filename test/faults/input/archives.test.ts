import {spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {existsSync} from 'node:fs';
import {readdir, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {gzipSync} from 'node:zlib';
import {pack, type Header} from 'tar-stream';
import {expect, test} from 'vitest';
import {ApiKeyStrategy} from '../../../src/http/index.js';
import {makeFolder} from '../../folder.js';
import {binary, start} from '../../cli/spawn-cli.js';
import {createProject} from '../../operations/test-host.js';
import {startRecordingServer} from '../../recording-server.js';
import {hostileArchive, rawTar} from '../../local-runtime/archives.js';
import {inspectFile} from '../../../src/bundle/contents/bundle-contents.js';
import {downloadBundle} from '../../../src/pipelines/read.js';

const gibibyte = 1024 ** 3;
const endOfTar = Buffer.alloc(1024);

/** The header of an entry whose content is not given. */
async function header(entry: Partial<Header> & {readonly name: string}): Promise<Buffer> {
  const archive = pack();
  archive.entry({mode: 0o644, mtime: new Date(0), ...entry});
  await once(archive, 'readable');
  return archive.read() as Buffer;
}

/** What repeats is compressed once: a gzip file may have any number of members. */
function repeated(times: number, bytes: Buffer): Buffer {
  return Buffer.concat(Array<Buffer>(times).fill(gzipSync(bytes)));
}

/** Entries without content, in a gzip archive of a few kilobytes. */
async function manyEntries(count: number): Promise<Buffer> {
  const entry = await header({name: 'bld/static/a.js', size: 0});
  const block = Buffer.concat(Array<Buffer>(10_000).fill(entry));
  return gzipSync(Buffer.concat([...Array<Buffer>(count / 10_000).fill(block), endOfTar]));
}

/** An entry of 7 GiB of zeros, in 7 MiB. */
async function bomb(): Promise<Buffer> {
  const first = await header({name: 'bld/zeros', size: 7 * gibibyte});
  const zeros = repeated(7 * 16, Buffer.alloc(gibibyte / 16));
  return Buffer.concat([gzipSync(first), zeros, gzipSync(endOfTar)]);
}

/** One of each kind; test/bundle/prebuilt/read-archive.test.ts has them all. */
const refused: readonly (readonly [string, () => Promise<Buffer>, RegExp])[] = [
  ['a name that climbs', () => hostileArchive({name: 'bld/../../evil'}), /unsafe entry name, "bld\/\.\.\/\.\.\/evil"/],
  ['half of an archive', () => hostileArchive({name: 'bld/a'}).then((bytes) => bytes.subarray(0, -20)), /end of file/],
  ['a web page', () => Promise.resolve(Buffer.from('<!doctype html>'.repeat(100))), /is not a gzip or tar file/],
];

test.each(refused)('inspect and download: %s is one clear error, and leaves nothing', async (_what, make, reason) => {
  const bytes = await make();
  await using project = await createProject({archive: ''});
  const {directory, host} = project;
  await writeFile(join(directory, 'archive'), bytes);
  await expect(inspectFile(join(directory, 'archive'), {})).rejects.toMatchObject({
    code: 'ERR_ARCHIVE_INVALID',
    message: expect.stringMatching(reason),
  });
  await using server = await startRecordingServer(({path, headers}) => {
    if (path.endsWith('/download/')) {
      return {status: 200, body: {download_url: `http://${headers.host ?? ''}/archive?signature=canary`}};
    }
    return {status: 200, body: bytes};
  });
  const failing = downloadBundle(
    {
      ...{preference: 'legacy', projectSlug: 'shop', bundleId: 1, output: 'copy'},
      ...{origin: server.origin, legacyAuth: new ApiKeyStrategy({apiKey: 'key'})},
    },
    host,
  );
  await expect(failing).rejects.toMatchObject({
    code: 'ERR_RESPONSE_INVALID',
    message: expect.stringMatching(reason),
  });
  expect(await readdir(directory)).toEqual(['archive']);
  expect(await readdir(dirname(directory))).toEqual(['project', 'tmp']);
});

test('inspect tells of entries that stand there twice', async () => {
  const folder = await makeFolder({archive: await hostileArchive({name: 'bld/ssr.js'}, {name: 'bld/./ssr.js'})});
  const {problems, files} = await inspectFile(join(folder, 'archive'), {});
  expect(files).toHaveLength(3);
  expect(problems).toContain('More than one entry is named ssr.js.');
});

// That such patterns end by themselves is tested in test/bundle/files/patterns.test.ts.
test('patterns that take as long as they may end at once when they are interrupted', async () => {
  const ssrOnly = Array.from({length: 100}, (_, index) => `**/*${index}z`);
  const content = JSON.stringify({ssrOnly, ssrShared: [], ssrParameters: {}});
  const entries = Array.from({length: 4000}, (_, index) => ({name: `bld/${'a'.repeat(1000)}${index}z`}));
  const cwd = await makeFolder({
    archive: gzipSync(await rawTar({name: 'bld/.runtime/config.json', content}, ...entries)),
  });
  const env = {MYCLI_API_ORIGIN: 'http://127.0.0.1:9', MYCLI_API_TOKEN: 'token', MYCLI_ORGANIZATION: 'org'};
  const push = ['bundle:push', '--archive', 'archive', '--dry-run', '--project', 'shop', '--runtime-backend', 'api'];
  const {child, ended} = start(binary, push, {cwd, env});
  if (child.stderr === null) throw new Error('stderr is not a pipe');
  // It names the backend before it reads the archive.
  await once(child.stderr, 'data');
  child.kill('SIGINT');
  expect(await ended).toMatchObject({code: 130, stderr: expect.stringContaining('Interrupted by SIGINT') as unknown});
});

test.skipIf(!existsSync('/usr/bin/time')).each([
  // As many as are held: more are refused (test/bundle/prebuilt/read-archive.test.ts).
  ['200,000 entries without a configuration', () => manyEntries(200_000), /no entry bld/],
  ['7 GiB in 7 MiB', bomb, /unpacks to far more than its \d+ bytes/],
])('%s: an error again, and little memory', async (_what, make, reason) => {
  const folder = await makeFolder({archive: await make()});
  const command = ['-f', 'peak %M', process.execPath, binary, 'bundle:inspect', 'archive', '--json'];
  const {stderr, stdout} = spawnSync('/usr/bin/time', command, {cwd: folder, encoding: 'utf8'});
  const message = expect.stringMatching(reason) as string;
  expect(JSON.parse(stdout)).toMatchObject({error: {code: 'ERR_ARCHIVE_INVALID', message}});
  expect(Number(/peak (\d+)/.exec(stderr)?.[1])).toBeLessThan(300 * 1024);
});
