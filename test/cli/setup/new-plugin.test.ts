import {mkdir, readdir, readFile, realpath, rm, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {beforeEach, describe, expect, test} from 'vitest';
import {pluginPackage, writePlugin, type NewPlugin} from '../../../src/cli/setup/new-plugin.js';
import {makeFolder} from '../../folder.js';

const root = join(import.meta.dirname, '../../..');

let folder: string;
let directory: string;
beforeEach(async () => {
  folder = await makeFolder();
  directory = join(folder, 'plugins/mine');
});

function write(changes: Partial<NewPlugin> = {}): Promise<readonly string[]> {
  const mycli = {root};
  return writePlugin({name: 'my-service', directory, force: false, mycli, ...changes});
}

async function filesIn(place: string): Promise<readonly string[]> {
  const entries = await readdir(place, {recursive: true, withFileTypes: true});
  return entries
    .filter((entry) => !entry.isDirectory())
    .map(({parentPath, name}) => join(parentPath, name).slice(place.length + 1));
}

describe('a name', () => {
  test('becomes that of the package', () => {
    expect(pluginPackage('my-service')).toBe('mycli-plugin-my-service');
  });

  test.each(['My Service', 'mycli-plugin-acme', '2nd', '../acme', '', 'auto', 'legacy', 'a'.repeat(33)])(
    '%j is refused',
    (name) => {
      expect(() => pluginPackage(name)).toThrow(expect.objectContaining({code: 'ERR_USAGE'}));
    },
  );
});

describe('a plugin', () => {
  test('finds mycli from the folder that a link leads to', async () => {
    const real = join(folder, 'deep/down/real');
    await mkdir(real, {recursive: true});
    const link = join(folder, 'link');
    await symlink(real, link);
    await write({directory: link});
    const {devDependencies} = JSON.parse(await readFile(join(real, 'package.json'), 'utf8'));
    expect(join(real, devDependencies.mycli.replace('file:', ''))).toBe(await realpath(root));
  });

  test('has its files, and its name in them', async () => {
    const files = await write();
    expect(files).toEqual([
      ...['.github/workflows/test.yml', '.gitignore', 'README.md', 'package.json', 'src/backend.ts', 'src/hook.ts'],
      ...['test/conformance.test.ts', 'test/hook.test.ts', 'test/service.ts', 'tsconfig.json'],
    ]);
    expect([...(await filesIn(directory))].sort()).toEqual(files);
    for (const file of files) expect(await readFile(join(directory, file), 'utf8')).not.toMatch(/acme/i);
    const manifest = JSON.parse(await readFile(join(directory, 'package.json'), 'utf8'));
    expect(manifest).toMatchObject({name: 'mycli-plugin-my-service', version: '0.1.0'});
    // npm must never look for mycli in a registry, where that name belongs to someone else.
    expect(manifest).not.toHaveProperty('peerDependencies');
    expect(join(directory, manifest.devDependencies.mycli.replace('file:', ''))).toBe(await realpath(root));
  });

  test('is not written into a folder that has files', async () => {
    await mkdir(directory, {recursive: true});
    await writeFile(join(directory, 'notes.txt'), 'mine');
    await expect(write()).rejects.toMatchObject({
      code: 'ERR_OUTPUT',
      message: `${directory} is not empty.`,
      suggestions: [expect.stringMatching(/--dir DIR .* --force/)],
    });
    expect(await filesIn(directory)).toEqual(['notes.txt']);
  });

  test('with force joins other files, and replaces those of its names', async () => {
    await mkdir(directory, {recursive: true});
    await writeFile(join(directory, 'notes.txt'), 'mine');
    await writeFile(join(directory, 'README.md'), 'mine');
    await write({force: true});
    expect(await readFile(join(directory, 'notes.txt'), 'utf8')).toBe('mine');
    expect(await readFile(join(directory, 'README.md'), 'utf8')).toContain('# mycli-plugin-my-service');
  });

  test('with force writes through no link, neither to a file nor to a folder', async () => {
    const outside = join(folder, 'outside');
    await mkdir(outside);
    await mkdir(directory, {recursive: true});
    await writeFile(join(outside, 'secret'), 'theirs');
    for (const [target, name] of [
      ['secret', 'README.md'],
      ['.', 'test'],
      ['.', '.github'],
      ['missing', 'package.json'],
    ] as const) {
      await rm(join(directory, name), {recursive: true, force: true});
      await symlink(join(outside, target), join(directory, name));
      await expect(write({force: true})).rejects.toMatchObject({code: 'ERR_OUTPUT'});
      await rm(join(directory, name));
    }
    expect(await filesIn(outside)).toEqual(['secret']);
    expect(await readFile(join(outside, 'secret'), 'utf8')).toBe('theirs');
  });

  test('leaves no folders if it cannot be written', async () => {
    const missing = {root: join(folder, 'nowhere')};
    await mkdir(missing.root);
    await expect(write({mycli: missing})).rejects.toMatchObject({code: 'ERR_OUTPUT'});
    expect(await readdir(folder)).toEqual(['nowhere']);
  });
});
