import {execFileSync} from 'node:child_process';
import {createHash, randomBytes} from 'node:crypto';
import {appendFile, chmod, mkdir, readFile, rm, symlink, truncate, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {buffer} from 'node:stream/consumers';
import {gzipSync} from 'node:zlib';
import {describe, expect, test} from 'vitest';
import {openBundle, planBundle, writeBundle, type Bundle, type BundlePlanOptions} from '../../../src/bundle/index.js';
import {rawTar, type HostileEntry} from '../../local-runtime/archives.js';
import {literally, makeFolder, type Tree} from '../../folder.js';
import {planOptions, smallBuild} from '../project.js';

/** An archive as `bundle:build` writes it. */
async function build(options: Partial<BundlePlanOptions> = {}, manifest = true): Promise<Bundle> {
  const cwd = await makeFolder({...smallBuild, 'build/large.bin': randomBytes(300_000)});
  await symlink('../ssr.js', join(cwd, 'build/server/link.js'));
  await chmod(join(cwd, 'build/ssr.js'), 0o755);
  return writeBundle(await planBundle(planOptions(cwd, options)), {path: join(cwd, 'bundle'), manifest});
}

/** An archive that GNU tar made. */
async function tar(tree: Tree, ...options: string[]): Promise<string> {
  const folder = await makeFolder(tree);
  const path = join(await makeFolder(), 'archive');
  execFileSync('tar', ['-cf', path, ...options, '-C', folder, ...Object.keys(tree)]);
  return path;
}

const config = JSON.stringify({ssrOnly: ['ssr.js'], ssrShared: ['static/**'], ssrParameters: {a: 1}});

/** All of a bundle but its function, keys that are undefined, and times of files that only the build knows. */
const plain = (bundle: Bundle): unknown =>
  JSON.parse(JSON.stringify(bundle, (key, value: unknown) => (key === 'modifiedMs' ? undefined : value)));

describe('with its manifest', () => {
  test.each(['v1', 'v2'] as const)('a %s archive is read as it was built', async (format) => {
    const built = await build({format, matchMode: 'ignore_missing', rootDir: 'r', configPath: 'c/d'});
    const opened = await openBundle(built.path);
    expect(plain(opened)).toEqual(plain(built));
    expect(opened.files.filter((file) => 'linkTarget' in file)).toHaveLength(1);
    expect((await buffer(opened.createReadStream({start: 7}))).equals((await readFile(built.path)).subarray(7))).toBe(
      true,
    );
  });

  test('message and matchMode can still be chosen; rootDir and configPath only confirmed', async () => {
    const {path} = await build();
    const same = {rootDir: 'bld', configPath: '.runtime/config.json'};
    expect(await openBundle(path, {message: 'other', matchMode: 'ignore_missing', ...same})).toMatchObject({
      message: 'other',
      matchMode: 'ignore_missing',
    });
    for (const options of [
      {rootDir: 'x'},
      {configPath: 'x'},
      {rootDir: 'x', configPath: 'x', matchMode: 'strict' as const},
    ]) {
      const wrong = Object.keys(options).slice(0, 2).join(', ');
      await expect(openBundle(path, options)).rejects.toMatchObject({
        code: 'ERR_OPTION_INVALID',
        message: expect.stringContaining(`${wrong} contradicts what the v2 archive ${path} was built with`),
        suggestions: [expect.stringContaining('build the archive again')],
      });
    }
  });

  test('the contents of the archive cannot be changed', async () => {
    const {path} = await build();
    const settled = {
      ssrOnly: ['a'],
      ssrShared: [],
      ssrParameters: {},
      bundleMetadata: {},
      ignore: [],
      compressionLevel: 6,
    };
    for (const options of [settled, ...Object.entries(settled).map(([name, value]) => ({[name]: value}))]) {
      await expect(openBundle(path, options)).rejects.toMatchObject({
        code: 'ERR_OPTION_INVALID',
        message: `${Object.keys(options).join(', ')} cannot be applied to a prebuilt archive: ${path}.`,
        suggestions: [expect.stringContaining('build the archive again')],
      });
    }
  });

  test('a v1 archive accepts no v2 options', async () => {
    const {path} = await build({format: 'v1'});
    await expect(openBundle(path, {matchMode: 'strict'})).rejects.toMatchObject({code: 'ERR_OPTION_INVALID'});
    expect((await openBundle(path, {message: 'm'})).message).toBe('m');
  });

  test.each([
    ['longer', (path: string) => appendFile(path, 'x')],
    ['shorter', (path: string) => truncate(path, 1000)],
    [
      'other',
      async (path: string) => {
        const bytes = await readFile(path);
        bytes[500] = (bytes[500] ?? 0) ^ 1;
        await writeFile(path, bytes);
      },
    ],
  ])('an archive that is %s than in its manifest is refused, naming both', async (_what, change) => {
    const {path, sha256} = await build();
    await change(path);
    await expect(openBundle(path)).rejects.toMatchObject({
      code: 'ERR_ARCHIVE_INVALID',
      message: expect.stringMatching(
        new RegExp(`^${literally(`${path} does not match its manifest ${path}.json: `)}.*${sha256}`),
      ),
      suggestions: [expect.stringMatching(/build the archive again/i)],
    });
  });

  test.each([
    ['no JSON', '{', 'is not a manifest of mycli\\.$'],
    [
      'an older kind',
      '{"schemaVersion": 0, "contentSha256": "", "files": []}',
      'is invalid: .*schemaVersion must be 1',
    ],
    [
      'one that lists a file twice',
      `{"contentSha256": "", "files": [${Array(2).fill('{"path": "a", "size": 1, "category": "static"}').join()}]}`,
      'is invalid: .*files must not list a file twice',
    ],
    ['a manifest of something else', '{"name": "shop", "files": []}', 'is not a manifest of mycli\\.$'],
  ])('a manifest that is %s is refused', async (_what, text, message) => {
    const {path} = await build();
    await writeFile(`${path}.json`, text);
    await expect(openBundle(path)).rejects.toMatchObject({
      code: 'ERR_ARCHIVE_INVALID',
      message: expect.stringMatching(new RegExp(`bundle\\.json ${message}`)),
      suggestions: [
        'Build the archive again with mycli bundle:build',
        'A v2 archive can also be pushed without its manifest.',
      ],
    });
  });

  test('a manifest that is not a file is refused', async () => {
    const {path} = await build({}, false);
    await mkdir(`${path}.json`);
    await expect(openBundle(path)).rejects.toMatchObject({
      code: 'ERR_ARCHIVE_INVALID',
      message: `The manifest ${path}.json cannot be read: it is not a regular file.`,
    });
  });
});

test('an archive that matches the digest in its manifest is trusted, and not unpacked', async () => {
  const bundle = await build();
  const text = await readFile(`${bundle.path}.json`, 'utf8');
  // Nobody who unpacks it would get far.
  const content = Buffer.from('no gzip at all');
  const sha256 = createHash('sha256').update(content).digest('hex');
  await writeFile(bundle.path, content);
  const manifest: unknown = JSON.parse(text);
  await writeFile(`${bundle.path}.json`, JSON.stringify({...Object(manifest), sha256, size: content.length}));
  const {files, contentSha256} = await openBundle(bundle.path);
  expect(files.map(({path}) => path)).toEqual(bundle.files.map(({path}) => path));
  expect(contentSha256).toBe(bundle.contentSha256);
});

describe('without its manifest', () => {
  test('a v2 archive reveals everything but its message', async () => {
    const built = await build({rootDir: 'r', configPath: 'c/d'}, false);
    const options = {rootDir: 'r', configPath: 'c/d', message: 'a message'};
    expect(plain(await openBundle(built.path, options))).toEqual(plain(built));
    expect((await openBundle(built.path, {...options, message: undefined})).message).toBe(
      `Bundle ${built.sha256.slice(0, 12)}`,
    );
  });

  test('an uncompressed v2 archive is accepted too', async () => {
    const path = await tar({
      'bld/static/a.js': '22',
      'bld/.runtime/config.json': config,
      'bld/ssr.js': '1',
      'bldx/y': '',
      'other/x': '',
    });
    const bundle = await openBundle(path, {matchMode: 'ignore_missing'});
    expect(bundle).toMatchObject({
      format: 'v2',
      matchMode: 'ignore_missing',
      config: JSON.parse(config),
      files: [
        {path: 'ssr.js', size: 1, ssrOnly: true, ssrShared: false},
        {path: 'static/a.js', size: 2, ssrOnly: false, ssrShared: true},
      ],
    });
    expect(bundle.sha256).toBe(bundle.contentSha256);
  });

  test('a v1 archive asks for its manifest', async () => {
    const {path} = await build({format: 'v1'}, false);
    await expect(openBundle(path)).rejects.toMatchObject({
      code: 'ERR_ARCHIVE_INVALID',
      message: expect.stringContaining('looks like a v1 archive, but its manifest is missing'),
      suggestions: [expect.stringContaining(`${path}.json`)],
    });
  });

  test('an archive without a configuration is refused, with what is missing and how to fix it', async () => {
    const path = await tar({'dist/ssr.js': '1'}, '-z');
    await expect(openBundle(path)).rejects.toMatchObject({
      code: 'ERR_ARCHIVE_INVALID',
      message: `${path} is not a bundle: it has no entry bld/.runtime/config.json.`,
      suggestions: [expect.stringContaining('bundle:build'), expect.stringContaining('set rootDir')],
    });
  });

  test.each([
    ['is compressed', {'shop/bld/ssr.js': '1'}, ['-z']],
    ['has something in another place', {'shop/bld/ssr.js': '1', 'shop/other': '1'}, []],
    ['has none in front', {'bld/ssr.js': '1'}, []],
  ])('an archive that %s does not look like v1', async (_what, tree, options) => {
    await expect(openBundle(await tar(tree, ...options))).rejects.toMatchObject({
      message: expect.stringContaining('it has no entry bld/.runtime/config.json'),
    });
  });

  test.each([
    ['no JSON', 'no', 'bld/.runtime/config.json in it is not valid JSON'],
    ['without patterns', '{"ssrOnly": ["a"]}', 'bld/.runtime/config.json in it is invalid: ssrShared'],
    ['too large', JSON.stringify('x'.repeat(2_000_000)), 'more than 1048576 bytes'],
  ])('a configuration that is %s is refused', async (_what, text, message) => {
    const path = await tar({'bld/.runtime/config.json': text, 'bld/ssr.js': ''}, '-z');
    await expect(openBundle(path)).rejects.toMatchObject({
      code: 'ERR_ARCHIVE_INVALID',
      message: expect.stringContaining(message),
      suggestions: [expect.stringContaining('bundle:build')],
    });
  });
});

describe('a damaged or incomplete archive is refused', () => {
  test('a missing file, with and without its manifest, and a directory', async () => {
    const {path} = await build();
    await rm(path);
    await expect(openBundle(path)).rejects.toMatchObject({
      code: 'ERR_ARCHIVE_INVALID',
      message: expect.stringContaining('does not exist'),
    });
    await rm(`${path}.json`);
    await expect(openBundle(path)).rejects.toMatchObject({
      code: 'ERR_ARCHIVE_INVALID',
      message: expect.stringContaining('does not exist'),
    });
    await expect(openBundle(await makeFolder())).rejects.toMatchObject({
      code: 'ERR_ARCHIVE_INVALID',
      message: expect.stringContaining('it is not a regular file'),
    });
  });
});

test.each([true, false])('an aborted signal stops opening with its reason (manifest: %s)', async (manifest) => {
  const {path} = await build({}, manifest);
  const reason = new Error('stopped');
  await expect(openBundle(path, {signal: AbortSignal.abort(reason)})).rejects.toBe(reason);
  const controller = new AbortController();
  const opening = openBundle(path, {signal: controller.signal});
  controller.abort(reason);
  await expect(opening).rejects.toBe(reason);
});

describe('an archive without a manifest is unambiguous', () => {
  const entry = {name: 'bld/.runtime/config.json', content: config};

  async function archive(...entries: readonly HostileEntry[]): Promise<string> {
    return join(
      await makeFolder({archive: gzipSync(await rawTar({name: 'bld/ssr.js', content: 'x'}, ...entries))}),
      'archive',
    );
  }

  test('with one configuration, however a second one is spelled', async () => {
    expect((await openBundle(await archive(entry))).files).toHaveLength(1);
    for (const name of [entry.name, `./${entry.name}`, 'bld//.runtime/./config.json']) {
      await expect(openBundle(await archive(entry, {...entry, name}))).rejects.toMatchObject({
        code: 'ERR_ARCHIVE_INVALID',
        message: expect.stringContaining('2 entries named bld/.runtime/config.json') as unknown,
      });
    }
  });

  test.each(['ssrParameters', 'unknown'])('with a configuration that can be handled: %s', async (key) => {
    const deep = `{"ssrOnly":["ssr.js"],"ssrShared":[],"${key}":{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}}`;
    await expect(openBundle(await archive({...entry, content: deep}))).rejects.toMatchObject({
      code: 'ERR_ARCHIVE_INVALID',
      message: expect.stringContaining('more than 200 levels deep') as unknown,
    });
  });

  test('with patterns that can be matched', async () => {
    const hostile = {ssrOnly: ['ssr.js', '*'.repeat(2000)], ssrShared: []};
    await expect(openBundle(await archive({...entry, content: JSON.stringify(hostile)}))).rejects.toMatchObject({
      code: 'ERR_ARCHIVE_INVALID',
      message: expect.stringContaining('ssrOnly.1 must have at most 1024 characters') as unknown,
    });
  });
});
