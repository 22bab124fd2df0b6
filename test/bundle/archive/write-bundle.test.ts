import {createHash} from 'node:crypto';
import {mkdirSync} from 'node:fs';
import {chmod, mkdir, readFile, readdir, stat, symlink, unlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {
  manifestPathOf,
  planBundle,
  writeBundle,
  type BundlePlan,
  type BundlePlanOptions,
} from '../../../src/bundle/index.js';
import {makeFolder, masked} from '../../folder.js';
import {planOptions, smallBuild} from '../project.js';

async function project(
  options: Partial<BundlePlanOptions> = {},
): Promise<{cwd: string; plan: BundlePlan; path: string}> {
  const cwd = await makeFolder({...smallBuild, 'build/large.bin': Buffer.alloc(700_000, 'x'), 'out/other': ''});
  return {cwd, plan: await planBundle(planOptions(cwd, options)), path: join(cwd, 'out/bundle')};
}

describe('writing an archive', () => {
  test('returns a complete description of the bundle', async () => {
    const {cwd, plan, path} = await project();
    const bundle = await writeBundle(plan, {path});
    const bytes = await readFile(path);
    expect(bundle).toMatchObject({
      format: 'v2',
      path,
      size: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      message: 'a message',
      rootDir: 'bld',
      configPath: '.runtime/config.json',
      matchMode: 'strict',
      config: plan.config,
      files: plan.files,
    });
    expect(await readdir(join(cwd, 'out'))).toEqual(['bundle', 'other']);
  });

  test('is private by default', async () => {
    const {plan, path} = await project();
    await writeBundle(plan, {path});
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    await writeBundle(plan, {path, mode: 0o640});
    expect((await stat(path)).mode & 0o777).toBe(await masked(0o640));
  });

  test('uses a private folder while writing', async () => {
    const {cwd, plan, path} = await project();
    const seen: Promise<{names: string[]; mode: number}>[] = [];
    const look = async (): Promise<{names: string[]; mode: number}> => {
      const names = await readdir(join(cwd, 'out'));
      const folder = names.find((name) => name.startsWith('mycli-')) ?? '';
      return {names, mode: (await stat(join(cwd, 'out', folder))).mode & 0o777};
    };
    await writeBundle(plan, {
      path,
      onProgress: () => {
        seen.push(look().catch(() => ({names: [], mode: 0})));
      },
    });
    const [first] = await Promise.all(seen);
    expect(first?.mode).toBe(0o700);
    expect(first?.names).not.toContain('bundle');
  });
});

describe('a failure leaves no new files and keeps the old ones', () => {
  const outcome = async (cwd: string): Promise<unknown> => [
    await readdir(join(cwd, 'out')),
    await readFile(join(cwd, 'out/bundle'), 'utf8'),
  ];

  test('a file that disappears', async () => {
    const {cwd, plan, path} = await project();
    await writeFile(path, 'before');
    await unlink(join(cwd, 'build/large.bin'));
    await expect(writeBundle(plan, {path})).rejects.toMatchObject({code: 'ERR_FILE_CHANGED'});
    expect(await outcome(cwd)).toEqual([['bundle', 'other'], 'before']);
  });

  test('an abort, before and during writing', async () => {
    const {cwd, plan, path} = await project();
    await writeFile(path, 'before');
    const reason = new Error('stopped');
    await expect(writeBundle(plan, {path, signal: AbortSignal.abort(reason)})).rejects.toBe(reason);
    const controller = new AbortController();
    const onProgress = (): void => {
      controller.abort(reason);
    };
    await expect(writeBundle(plan, {path, signal: controller.signal, onProgress})).rejects.toBe(reason);
    expect(await outcome(cwd)).toEqual([['bundle', 'other'], 'before']);
  });

  test('a folder that does not exist', async () => {
    const {cwd, plan} = await project();
    await expect(writeBundle(plan, {path: join(cwd, 'gone/bundle')})).rejects.toMatchObject({
      code: 'ERR_OUTPUT',
      exitCode: 3,
      message: expect.stringContaining(join(cwd, 'gone')),
    });
  });

  test('a device, a link or a directory in place of the file', async () => {
    const {cwd, plan, path} = await project();
    await mkdir(path);
    await symlink('/dev/null', join(cwd, 'out/link'));
    for (const target of [path, '/dev/null', join(cwd, 'out/link')]) {
      await expect(writeBundle(plan, {path: target}), target).rejects.toMatchObject({
        code: 'ERR_OUTPUT',
        message: expect.stringContaining(`${target} cannot be written: it exists and is not a regular file.`),
        suggestions: [expect.stringContaining('stdout')],
      });
    }
    expect((await stat('/dev/null')).isCharacterDevice()).toBe(true);
  });

  test('a directory that replaces the file during writing', async () => {
    const {cwd, plan, path} = await project();
    const onProgress = (): void => {
      mkdirSync(path, {recursive: true});
    };
    await expect(writeBundle(plan, {path, onProgress})).rejects.toMatchObject({
      code: 'ERR_OUTPUT',
      message: expect.stringContaining(`${path} cannot be written: `),
    });
    expect(await readdir(join(cwd, 'out'))).toEqual(['bundle', 'other']);
  });

  test('a manifest that cannot be written', async () => {
    const {cwd, plan, path} = await project();
    await writeFile(path, 'before');
    await mkdir(`${path}.json`);
    await expect(writeBundle(plan, {path, manifest: true})).rejects.toMatchObject({
      code: 'ERR_OUTPUT',
      message: expect.stringContaining(`${path}.json`),
    });
    expect(await outcome(cwd)).toEqual([['bundle', 'bundle.json', 'other'], 'before']);
  });
});

describe('the manifest', () => {
  test('lists files with their category, and everything about the bundle', async () => {
    const {cwd} = await project();
    await symlink('../ssr.js', join(cwd, 'build/server/link.js'));
    await chmod(join(cwd, 'build/ssr.js'), 0o755);
    const plan = await planBundle(
      planOptions(cwd, {ssrOnly: ['ssr.js', 'server/*'], ssrShared: ['s*/*.js', 'ssr.js']}),
    );
    const path = join(cwd, 'out/bundle');
    const bundle = await writeBundle(plan, {path, manifest: true});
    const text = await readFile(manifestPathOf(path), 'utf8');
    const manifest = JSON.parse(text) as {readonly files: readonly object[]};
    expect(text).toBe(`${JSON.stringify(manifest, null, 2)}\n`);
    expect(manifest).toMatchObject({
      schemaVersion: 1,
      format: 'v2',
      sha256: bundle.sha256,
      contentSha256: bundle.contentSha256,
      size: bundle.size,
      message: 'a message',
      rootDir: 'bld',
      configPath: '.runtime/config.json',
      matchMode: 'strict',
      config: plan.config,
    });
    expect(manifest.files).toStrictEqual([
      {path: 'large.bin', size: 700_000, category: 'static'},
      {path: 'server/link.js', size: 0, category: 'ssrOnly', linkTarget: '../ssr.js'},
      {path: 'server/render.js', size: 10, category: 'ssrOnly'},
      {path: 'ssr.js', size: 18, category: 'ssrOnly', executable: true},
      {path: 'static/app.js', size: 7, category: 'shared'},
    ]);
  });

  test('is next to the archive, has its permissions and replaces an older one', async () => {
    const {cwd, plan, path} = await project();
    await writeFile(`${path}.json`, 'older');
    await writeBundle(plan, {path, mode: 0o640, manifest: true});
    const manifest = manifestPathOf(path);
    expect(manifest).toBe(join(cwd, 'out/bundle.json'));
    expect((await stat(manifest)).mode & 0o777).toBe(await masked(0o640));
    expect(await readdir(join(cwd, 'out'))).toEqual(['bundle', 'bundle.json', 'other']);
  });
});
