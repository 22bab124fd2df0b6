import {readdir, rm} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {startService} from './pushed-bundles.js';
import {createProject, smallBuild} from './test-host.js';
import {buildBundle} from '../../src/pipelines/build.js';
import {inspectArchive, inspectBundle} from '../../src/pipelines/read.js';

describe('looking into an archive file', () => {
  test('shows its configuration, what each pattern matches, its files and its problems', async () => {
    await using project = await createProject({...smallBuild, 'build/.env': 'SECRET=1\n'});
    const ssrOnly = ['ssr.js', '!static/**', 'missing/*'];
    await buildBundle(
      {output: 'a.tar.gz', rootDir: 'app', allowSensitiveFiles: true, ssrOnly, ssrShared: ['static/*']},
      project.host,
    );
    const inspection = await inspectArchive('a.tar.gz', {}, project.host);
    expect(inspection).toMatchObject({
      format: 'v2',
      rootDir: 'app',
      config: {ssrOnly, ssrShared: ['static/*']},
      matches: {
        ssrOnly: [
          {pattern: 'ssr.js', files: 1},
          {pattern: '!static/**', files: 2},
          {pattern: 'missing/*', files: 0},
        ],
        ssrShared: [{pattern: 'static/*', files: 2}],
      },
      problems: [
        'The ssrOnly pattern "missing/*" matches no file.',
        expect.stringContaining('may hold secrets: .env') as string,
      ],
    });
    expect(inspection.files.map(({path, category}) => [path, category])).toEqual([
      ['.env', 'static'],
      ['ssr.js', 'ssrOnly'],
      ['static/app.css', 'shared'],
      ['static/index.html', 'shared'],
    ]);
  });

  test('refuses a folder, and says how to list its files', async () => {
    await using project = await createProject();
    await expect(inspectArchive('build', {}, project.host)).rejects.toMatchObject({
      code: 'ERR_ARCHIVE_INVALID',
      message: `${join(project.directory, 'build')} is a folder, not an archive.`,
      suggestions: expect.arrayContaining([expect.stringContaining('--dry-run')]) as unknown,
    });
  });

  test('without its manifest says the same', async () => {
    await using project = await createProject();
    await buildBundle({output: 'a.tar.gz', rootDir: 'app'}, project.host);
    const before = await inspectArchive('a.tar.gz', {rootDir: 'other'}, project.host);
    await rm(join(project.directory, 'a.tar.gz.json'));
    expect(await inspectArchive('a.tar.gz', {rootDir: 'app'}, project.host)).toEqual(before);
  });

  test('of v1 without its manifest shows the files, which is no problem of the bundle', async () => {
    await using project = await createProject();
    await buildBundle({output: 'a.tar', format: 'v1', projectSlug: 'shop'}, project.host);
    await rm(join(project.directory, 'a.tar.json'));
    const inspection = await inspectArchive('a.tar', {}, project.host);
    expect(inspection).toMatchObject({format: 'v1', matches: {ssrOnly: [], ssrShared: []}});
    expect(inspection.config).toBeUndefined();
    expect(inspection.files.map(({path}) => path)).toEqual(['ssr.js', 'static/app.css', 'static/index.html']);
    expect(inspection.problems).toEqual([]);
  });
});

test.each([true, false])('looking into an uploaded bundle (v2: %s) leaves no file behind', async (v2) => {
  const {push, project, connection} = await startService();
  await push({v2});
  const options = {...connection, preference: 'legacy', bundleId: '1'};
  const inspection = await inspectBundle(options, project.host);
  expect(inspection).toMatchObject({backend: 'legacy', bundleId: 1, format: v2 ? 'v2' : 'v1'});
  expect(inspection.files).toHaveLength(3);
  expect(await readdir(project.temporary)).toEqual([]);
  expect(await readdir(project.directory)).toEqual(['build']);
});
