import type {DiffBundlesOptions} from '../../src/operations/bundle-options.js';
import {execFileSync} from 'node:child_process';
import {createHash} from 'node:crypto';
import {chmod, cp, mkdir, readdir, rename, rm, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import type {BundleContents, ContentFile} from '../../src/bundle/contents/bundle-contents.js';
import {bundleSourceIn} from '../../src/operations/bundle-source.js';
import {compareContents} from '../../src/bundle/contents/compare-contents.js';
import {createProject, smallBuild, type TestProject} from './test-host.js';
import {startService} from './pushed-bundles.js';
import {buildBundle} from '../../src/pipelines/build.js';
import {diffBundles} from '../../src/pipelines/diff.js';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

async function diff(
  from: string,
  to: string,
  {host, directory}: TestProject,
  options: Partial<DiffBundlesOptions> = {},
) {
  const sources = {from: await bundleSourceIn(from, directory), to: await bundleSourceIn(to, directory)};
  return diffBundles({message: 'a message', ...options, ...sources}, host);
}

describe('the difference of two lists', () => {
  const file = fc.record(
    {
      path: fc.constantFrom('a', 'b', 'c/d', '__proto__', 'constructor', 'e.js', '√'),
      size: fc.nat(5),
      sha256: fc.constantFrom('0', '1'),
      category: fc.constantFrom('ssrOnly', 'shared', 'static'),
      executable: fc.boolean(),
      linkTarget: fc.constantFrom(undefined, undefined, 'a', 'b'),
    } as const,
    {requiredKeys: ['path', 'size', 'sha256', 'category', 'executable', 'linkTarget']},
  );
  const files = fc
    .uniqueArray(file, {selector: ({path}) => path})
    .map((list) =>
      list.map((one) => (one.linkTarget === undefined ? one : {...one, size: 0, executable: false, sha256: undefined})),
    );
  const contents = (list: readonly ContentFile[]): BundleContents => ({format: 'v2', files: list});

  test('applied to the one gives the other, and adds up; the largest changes are first', () => {
    fc.assert(
      fc.property(files, files, (before, after) => {
        const {changes, total, categories, identical} = compareContents(contents(before), contents(after));
        const applied = new Map<string, object | undefined>(before.map(({path, ...state}) => [path, state]));
        for (const change of changes) {
          expect(applied.get(change.path)).toEqual(change.before);
          if (change.after === undefined) applied.delete(change.path);
          else applied.set(change.path, change.after);
        }
        expect(applied).toEqual(new Map(after.map(({path, ...state}) => [path, state])));
        expect(identical).toBe(changes.length === 0);
        const differences = changes.map(({bytes}) => Math.abs(bytes));
        expect(differences).toEqual(differences.toSorted((a, b) => b - a));
        const sum = (list: readonly ContentFile[]) => list.reduce((bytes, {size}) => bytes + size, 0);
        expect(total.before).toEqual({files: before.length, bytes: sum(before)});
        expect(total.after).toEqual({files: after.length, bytes: sum(after)});
        expect(changes.reduce((bytes, change) => bytes + change.bytes, 0)).toBe(sum(after) - sum(before));
        for (const kind of ['added', 'removed', 'changed'] as const) {
          expect(total[kind]).toBe(changes.filter(({change}) => change === kind).length);
          expect(categories.reduce((number, category) => number + category[kind], 0)).toBe(total[kind]);
        }
        for (const side of ['before', 'after'] as const)
          expect(categories.reduce((bytes, category) => bytes + category[side].bytes, 0)).toBe(total[side].bytes);
      }),
      {numRuns: 300},
    );
  });
});

describe('comparing files and folders', () => {
  test('a build, its archive with and without a manifest and what GNU tar made of it are the same', async () => {
    await using project = await createProject({...smallBuild, 'build/static/large.bin': 'x'.repeat(700_000)});
    const {directory, host} = project;
    await symlink('ssr.js', join(directory, 'build/link.js'));
    await chmod(join(directory, 'build/ssr.js'), 0o755);
    await buildBundle({output: 'a.tar.gz'}, host);
    await cp(join(directory, 'a.tar.gz'), join(directory, 'alone.tar.gz'));
    await mkdir(join(directory, 'unpacked'));
    execFileSync('tar', ['-xf', '../a.tar.gz'], {cwd: join(directory, 'unpacked')});
    execFileSync('tar', ['-czf', '../gnu.tar.gz', '--format=gnu', 'bld'], {cwd: join(directory, 'unpacked')});
    for (const from of ['build', 'a.tar.gz', 'alone.tar.gz', 'gnu.tar.gz']) {
      for (const to of ['build', 'gnu.tar.gz', 'a.tar.gz']) {
        const {identical, changes, config, total, configKnown} = await diff(from, to, project);
        expect({identical, changes, config, configKnown}, `${from} ${to}`).toEqual({
          ...{identical: true, changes: [], config: [], configKnown: true},
        });
        expect(total).toMatchObject({added: 0, removed: 0, changed: 0, after: {files: 5}});
      }
    }
  });

  test('what is in an archive outside of the root folder is compared, too', async () => {
    await using project = await createProject(smallBuild);
    const {directory, host} = project;
    await buildBundle({output: 'a.tar.gz'}, host);
    await writeFile(join(directory, 'extra.js'), 'extra');
    execFileSync('tar', ['-xf', 'a.tar.gz'], {cwd: directory});
    execFileSync('tar', ['-czf', 'more.tar.gz', 'bld', 'extra.js'], {cwd: directory});
    const {identical, changes} = await diff('a.tar.gz', 'more.tar.gz', project);
    expect(identical).toBe(false);
    expect(changes).toMatchObject([{path: '../extra.js', change: 'added', bytes: 5}]);
  });

  test('names what was added, removed and changed, and how', async () => {
    await using project = await createProject({...smallBuild, 'build/old.txt': 'old', 'build/tool': 'run'});
    const {directory, host} = project;
    await buildBundle({output: 'a.tar.gz', ssrParameters: {region: 'a', nested: {x: 1}}}, host);
    await rm(join(directory, 'build/old.txt'));
    await writeFile(join(directory, 'build/static/new.js'), 'new file');
    await writeFile(join(directory, 'build/static/app.css'), 'h1 { color: navy; }\n');
    await chmod(join(directory, 'build/tool'), 0o755);
    const result = await diff('a.tar.gz', 'build', project, {
      ssrShared: ['static/*', 'old.txt', 'tool'],
      ssrParameters: {region: 'b'},
    });
    expect(result.identical).toBe(false);
    expect(result.changes.map(({path, change, differs, bytes}) => ({path, change, differs, bytes}))).toEqual([
      {path: 'static/new.js', change: 'added', differs: [], bytes: 8},
      {path: 'old.txt', change: 'removed', differs: [], bytes: -3},
      {path: 'static/app.css', change: 'changed', differs: ['content'], bytes: 0},
      {path: 'tool', change: 'changed', differs: ['mode', 'category'], bytes: 0},
    ]);
    expect(result.changes[2]?.before).toMatchObject({sha256: sha256('h1 { color: teal; }\n'), category: 'shared'});
    expect(result.config).toEqual([
      {key: 'ssrParameters.nested.x', before: 1, after: undefined},
      {key: 'ssrParameters.region', before: 'a', after: 'b'},
      {key: 'ssrShared', before: ['static/**/*'], after: ['static/*', 'old.txt', 'tool']},
    ]);
    expect(result.categories.map(({category, added, removed, changed}) => [category, added, removed, changed])).toEqual(
      [
        ['ssrOnly', 0, 0, 0],
        ['shared', 1, 0, 2],
        ['static', 0, 1, 0],
      ],
    );
    expect(result.before).toMatchObject({name: 'a.tar.gz', format: 'v2'});
    expect(result.after).toEqual({name: 'build', format: 'v2', size: undefined, sha256: undefined});
  });

  test('a folder is read in the format of the other bundle; without a manifest, v1 has no categories', async () => {
    await using project = await createProject();
    await buildBundle({output: 'a.tar', format: 'v1', projectSlug: 'shop'}, project.host);
    expect(await diff('build', 'a.tar', project)).toMatchObject({identical: true, configKnown: true});
    await rm(join(project.directory, 'a.tar.json'));
    const {identical, configKnown, categories} = await diff('build', 'a.tar', project);
    expect({identical, configKnown}).toEqual({identical: true, configKnown: false});
    expect(categories).toEqual([]);
  });

  test('what is no archive, and a file that changes, are errors', async () => {
    await using project = await createProject();
    await buildBundle({output: 'a.tar.gz'}, project.host);
    await writeFile(join(project.directory, 'bad.tar.gz'), 'no archive');
    for (const bad of ['a.tar.gz.json', 'bad.tar.gz'])
      await expect(diff('a.tar.gz', bad, project)).rejects.toMatchObject({code: 'ERR_ARCHIVE_INVALID'});
    await rm(join(project.directory, 'build'), {recursive: true});
    await mkdir(join(project.directory, 'build'));
    await mkdir(join(project.directory, 'site'));
    await writeFile(join(project.directory, 'site/index.html'), '<p>');
    await expect(diff('a.tar.gz', 'site', project)).rejects.toMatchObject({
      code: 'ERR_SSR_ENTRY_MISSING',
      suggestions: expect.arrayContaining([expect.stringContaining('pass it as DIR or --build-directory')]) as string[],
    });
    await expect(diff('a.tar.gz', 'build', project)).rejects.toMatchObject({code: 'ERR_BUILD_DIRECTORY'});
  });
});

describe('what a name means', () => {
  test('is a path if it exists or looks like one, and an ID otherwise', async () => {
    await using project = await createProject({
      ...smallBuild,
      '42': 'no archive',
      'running:x': 'a file',
    });
    const source = (text: string) => bundleSourceIn(text, project.directory);
    expect(await source('build')).toEqual({kind: 'folder', path: 'build'});
    expect(await source('42')).toEqual({kind: 'archive', path: '42'});
    expect(await source('bundle:42')).toEqual({kind: 'bundle', bundleId: '42'});
    expect(await source('43')).toEqual({kind: 'bundle', bundleId: '43'});
    expect(await source('latest')).toEqual({kind: 'bundle', bundleId: 'latest'});
    expect(await source('running:x')).toEqual({kind: 'running', targetSlug: 'x'});
    expect(await source('./running:x')).toEqual({kind: 'archive', path: './running:x'});
    await rename(join(project.directory, 'build'), join(project.directory, 'latest'));
    expect(await source('latest')).toEqual({kind: 'folder', path: 'latest'});
    for (const missing of ['nothing.tar.gz', './43', 'dir\\x'])
      await expect(source(missing)).rejects.toMatchObject({code: 'ERR_ARCHIVE_INVALID'});
  });
});

describe('comparing uploaded bundles', () => {
  test('by ID, the latest one and what a target runs, leaves no file behind', async () => {
    const {push, project, connection} = await startService();
    await push({targetSlug: 'staging'});
    await writeFile(join(project.directory, 'build/static/more.js'), 'more');
    await push();
    await push({v2: false});
    const remote = {...connection, preference: 'legacy'} as const;
    const changes = async (from: string, to: string) => {
      const result = await diff(from, to, project, remote);
      return result.changes.map(({path}) => path);
    };
    expect(await changes('1', '2')).toEqual(['static/more.js']);
    expect(await changes('running:staging', 'build')).toEqual(['static/more.js']);
    expect(await changes('latest', 'build')).toEqual([]);
    const {before, after} = await diff('running:staging', '2', project, remote);
    expect(before).toMatchObject({name: 'bundle 1 on staging', bundleId: 1, backend: 'legacy', projectSlug: 'shop'});
    expect(after).toMatchObject({name: 'bundle 2', bundleId: 2});
    expect(await readdir(project.temporary)).toEqual([]);
    await expect(diff('running:nowhere', 'build', project, remote)).rejects.toMatchObject({code: 'ERR_REJECTED'});
    for (const name of ['dist', 'runing:staging', 'running:']) {
      await expect(diff('build', name, project, remote)).rejects.toMatchObject({
        code: 'ERR_OPTION_INVALID',
        suggestions: expect.arrayContaining([
          'Pass running:TARGET for what a target runs, a file or folder that exists, latest or the ID of a bundle.',
        ]) as string[],
      });
    }
    await expect(diff('running:staging', 'production', project, remote)).rejects.toMatchObject({
      suggestions: expect.arrayContaining(['If it is a target, pass running:production.']) as string[],
    });
    const secret = 'c4n4ry0123456789abcdef0123456789abcdef01';
    await expect(diff('build', secret, project, remote)).rejects.toMatchObject({
      suggestions: [expect.anything(), expect.stringMatching(/^Pass running:TARGET/)],
    });
    await expect(diff('77', 'build', project, remote)).rejects.toMatchObject({code: 'ERR_BUNDLE_UNKNOWN'});
  });

  test('on a backend without downloads says so', async () => {
    const {project, connection} = await startService();
    await expect(diff('1', 'build', project, {...connection, preference: 'api'})).rejects.toMatchObject({
      code: 'ERR_CAPABILITY_UNSUPPORTED',
      message: 'The Runtime (OAuth) backend does not support downloading the bundle.',
      suggestions: [
        'If your project is on the Runtime (API key) backend, run the command again with --runtime-backend legacy.',
        'Run mycli backend:list to compare backends.',
      ],
    });
    const {legacyAuth: _, ...onlyApi} = connection;
    await expect(diff('1', 'build', project, {...onlyApi, preference: 'api'})).rejects.toMatchObject({
      suggestions: [
        'The Runtime (API key) backend does. If your project is there, run mycli auth:login --runtime-backend legacy ' +
          '--origin URL, and the command again with --runtime-backend legacy --origin URL.',
        'Run mycli backend:list to compare backends.',
      ],
    });
    await expect(diff('1', 'build', project)).rejects.toMatchObject({code: 'ERR_OPTION_INVALID'});
  });
});
