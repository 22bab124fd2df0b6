import {mkdir, mkdtemp, readdir, readFile, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {binary, runCli} from './spawn-cli.js';

let coverage: string;
beforeEach(async () => {
  coverage = await mkdtemp(join(tmpdir(), 'mycli-startup-'));
});
afterEach(() => rm(coverage, {recursive: true}));

/** The names of the packages and of our own modules that a run has loaded, from what V8 says it has covered. */
async function loadedBy(args: readonly string[], cwd?: string): Promise<readonly string[]> {
  const ended = await runCli(binary, args, {...(cwd === undefined ? {} : {cwd}), env: {NODE_V8_COVERAGE: coverage}});
  expect(ended).toMatchObject({code: 0, stderr: ''});
  const urls: string[] = [];
  for (const name of await readdir(coverage)) {
    if (!name.endsWith('.json')) continue;
    const {result} = JSON.parse(await readFile(join(coverage, name), 'utf8')) as {result: {url: string}[]};
    urls.push(...result.map(({url}) => url));
  }
  return urls.map((url) => url.replace(/^.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\/.*$/, '$1'));
}

describe('what only looks', () => {
  test.each([[['--version']], [['--help']], [['bundle:push', '--help']], [['bundle']]])(
    '%j loads no module that it does not need',
    async (args) => {
      const loaded = await loadedBy(args);
      expect(loaded).toContain('@oclif/core');
      const heavy = ['got', 'listr2', 'archiver', 'tar-stream', 'fast-glob', 'jiti', 'valibot', 'busboy'];
      expect(loaded.filter((name) => heavy.includes(name))).toEqual([]);
      expect(loaded.filter((name) => /\/dist\/(?:tasks|operations|bundle|backends|testing)\//.test(name))).toEqual([]);
    },
  );
});

test('building a bundle loads no backend and no HTTP client', async () => {
  await mkdir(join(coverage, 'project/build'), {recursive: true});
  await writeFile(join(coverage, 'project/build/ssr.js'), '');
  const loaded = await loadedBy(['bundle:build', '--quiet'], join(coverage, 'project'));
  expect(loaded.filter((name) => name.includes('/dist/bundle/'))).not.toEqual([]);
  expect(loaded).not.toContain('got');
  expect(loaded.filter((name) => name.includes('/dist/backends/'))).toEqual([]);
});
