import {execFileSync} from 'node:child_process';
import {lchown, mkdir, rm, symlink, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {beforeEach, describe, expect, test} from 'vitest';
import {projectPlugins} from '../../../src/cli/command/plugins.js';
import {makeFolder} from '../../folder.js';

let folder: string;
let warnings: string[];
beforeEach(async () => {
  warnings = [];
  folder = await makeFolder();
  await mkdir(join(folder, '.git'));
});

const elsewhere = '/opt/mycli';

/** Writes files below the folder: JSON unless it is text. */
async function write(files: Readonly<Record<string, unknown>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), {recursive: true});
    await writeFile(join(folder, path), typeof content === 'string' ? content : JSON.stringify(content));
  }
}

const plugin = (name: string) => ({name, version: '1.0.0', oclif: {hooks: {'mycli:backends': '../process/hook.js'}}});

function find(directory = '.', {args = ['backend:list'], root = elsewhere, env = {}} = {}) {
  return projectPlugins(root, args, {
    cwd: join(folder, directory),
    env,
    report: ({message}) => warnings.push(message),
  }).map(({name, root}) => [name, root.slice(folder.length + 1)]);
}

describe('the plugins of a project', () => {
  test('are dependencies and devDependencies with the name of a plugin that are installed', async () => {
    await write({
      'package.json': {
        dependencies: {'mycli-plugin-a': '1', 'mycli-plugin-missing': '1', other: '1'},
        devDependencies: {'@acme/mycli-plugin-b': '1', 'mycli-plugin-none': '1', 'mycli-plugin-': '1'},
      },
      'node_modules/mycli-plugin-a/package.json': plugin('mycli-plugin-a'),
      'node_modules/@acme/mycli-plugin-b/package.json': plugin('@acme/mycli-plugin-b'),
      'node_modules/mycli-plugin-none/package.json': {name: 'mycli-plugin-none'},
      'node_modules/mycli-plugin-unlisted/package.json': plugin('mycli-plugin-unlisted'),
      'node_modules/other/package.json': plugin('other'),
      'src/page.js': '',
    });
    const expected = [
      ['@acme/mycli-plugin-b', 'node_modules/@acme/mycli-plugin-b'],
      ['mycli-plugin-a', 'node_modules/mycli-plugin-a'],
    ];
    expect(find()).toEqual(expected);
    expect(find('src')).toEqual(expected);
    expect(find('elsewhere', {args: ['backend:list', '--cwd', '../src']})).toEqual(expected);
    expect(find('elsewhere', {args: ['backend:list', '--cwd=../src']})).toEqual(expected);
  });

  test('are where pnpm links them', async () => {
    const store = 'node_modules/.pnpm/mycli-plugin-a@1.0.0/node_modules/mycli-plugin-a';
    await write({
      'pnpm-workspace.yaml': 'packages: [apps/*]\n',
      'package.json': {devDependencies: {'mycli-plugin-b': 'workspace:*'}},
      'apps/shop/package.json': {dependencies: {'mycli-plugin-a': '1'}},
      [`${store}/package.json`]: plugin('mycli-plugin-a'),
      'plugins/b/package.json': plugin('mycli-plugin-b'),
      'apps/shop/node_modules/.modules': '',
    });
    await symlink(join(folder, store), join(folder, 'apps/shop/node_modules/mycli-plugin-a'));
    await symlink('../plugins/b', join(folder, 'node_modules/mycli-plugin-b'));
    expect(find('apps/shop')).toEqual([
      ['mycli-plugin-a', store],
      ['mycli-plugin-b', 'plugins/b'],
    ]);
    expect(find()).toEqual([['mycli-plugin-b', 'plugins/b']]);
  });

  test.each([[['apps/*']], [{packages: ['apps/*']}]])(
    'are hoisted to the root of a workspace by npm and Yarn: %j',
    async (workspaces) => {
      await write({
        'package.json': {workspaces, devDependencies: {'mycli-plugin-b': '1'}},
        'apps/shop/package.json': {dependencies: {'mycli-plugin-a': '1', 'mycli-plugin-b': '2'}},
        'apps/package.json': {dependencies: {'mycli-plugin-c': '1'}},
        'apps/shop/node_modules/mycli-plugin-b/package.json': plugin('mycli-plugin-b'),
        'node_modules/mycli-plugin-a/package.json': plugin('mycli-plugin-a'),
        'node_modules/mycli-plugin-b/package.json': plugin('mycli-plugin-b'),
        'node_modules/mycli-plugin-c/package.json': plugin('mycli-plugin-c'),
      });
      expect(find('apps/shop')).toEqual([
        ['mycli-plugin-a', 'node_modules/mycli-plugin-a'],
        ['mycli-plugin-b', 'apps/shop/node_modules/mycli-plugin-b'],
      ]);
    },
  );

  test('are not those of packages around it that are no workspace', async () => {
    await write({
      'package.json': {dependencies: {'mycli-plugin-a': '1'}},
      'node_modules/mycli-plugin-a/package.json': plugin('mycli-plugin-a'),
      'inner/package.json': '{}',
      'broken/package.json': '{',
      'outer/.git/HEAD': '',
    });
    expect(find('inner')).toEqual([]);
    expect(find('outer')).toEqual([]);
    expect(find('broken')).toHaveLength(1);
  });

  test('are also those of the package that has mycli in its node_modules', async () => {
    await write({
      'tools/package.json': {dependencies: {mycli: '1'}, devDependencies: {'mycli-plugin-a': '1'}},
      'tools/node_modules/mycli-plugin-a/package.json': plugin('mycli-plugin-a'),
    });
    expect(find('.', {root: join(folder, 'tools/node_modules/mycli')})).toHaveLength(1);
    expect(find('.', {root: join(folder, 'tools/mycli')})).toEqual([]);
  });

  test('are left out with MYCLI_SKIP_PLUGINS', async () => {
    await write({
      'package.json': {dependencies: {'mycli-plugin-a': '1'}},
      'node_modules/mycli-plugin-a/package.json': plugin('mycli-plugin-a'),
    });
    expect(find('.', {env: {MYCLI_SKIP_PLUGINS: '1'}})).toEqual([]);
    expect(find('.', {env: {MYCLI_SKIP_PLUGINS: '0'}})).toHaveLength(1);
  });
});

describe('a package.json that is not a file of the user', () => {
  const listed = {dependencies: {'mycli-plugin-a': '1'}};
  const installed = {'node_modules/mycli-plugin-a/package.json': plugin('mycli-plugin-a'), 'inner/page.js': ''};

  test('counts if it is a link to one', async () => {
    await write({...installed, 'shared.json': listed});
    await symlink('shared.json', join(folder, 'package.json'));
    expect(find('inner')).toEqual([['mycli-plugin-a', 'node_modules/mycli-plugin-a']]);
  });

  test.runIf(process.getuid?.() === 0)('does not count if it, or a link to it, belongs to another user', async () => {
    await write({...installed, 'shared.json': listed});
    await symlink('shared.json', join(folder, 'package.json'));
    await lchown(join(folder, 'package.json'), 12_345, 12_345);
    expect(find('inner')).toEqual([]);
    await lchown(join(folder, 'package.json'), 0, 0);
    await lchown(join(folder, 'shared.json'), 12_345, 12_345);
    expect(find('inner')).toEqual([]);
    // Reading it would never end.
    await rm(join(folder, 'package.json'));
    execFileSync('mkfifo', [join(folder, 'package.json')]);
    await lchown(join(folder, 'package.json'), 12_345, 12_345);
    expect(find('inner')).toEqual([]);
  });

  test('is told if a plugin that it lists is missing or broken', async () => {
    await write({'package.json': listed});
    expect(find()).toEqual([]);
    await write({'node_modules/mycli-plugin-a/package.json': {name: 'mycli-plugin-a'}});
    expect(find()).toEqual([]);
    expect(warnings).toEqual([
      `The plugin mycli-plugin-a is in ${join(folder, 'package.json')}, but not installed.`,
      `Plugin mycli-plugin-a is left out: ${join(folder, 'node_modules/mycli-plugin-a')}/package.json has no "oclif".`,
    ]);
  });

  test.runIf(process.getuid?.() === 0).each(['real', 'real/package.json', 'node_modules/mycli-plugin-a'])(
    'nor does a plugin whose %s belongs to another user',
    async (foreign) => {
      await write({'package.json': listed, 'real/package.json': plugin('mycli-plugin-a'), 'node_modules/x': ''});
      await symlink('../real', join(folder, 'node_modules/mycli-plugin-a'));
      await lchown(join(folder, foreign), 12_345, 12_345);
      expect(find()).toEqual([]);
      expect(warnings).toEqual([
        `Ignored the plugin mycli-plugin-a, because ${join(folder, 'node_modules/mycli-plugin-a')} belongs to another user.`,
      ]);
    },
  );
});
