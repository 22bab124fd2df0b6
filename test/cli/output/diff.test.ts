import {PassThrough} from 'node:stream';
import {expect, test} from 'vitest';
import {renderDiff} from '../../../src/cli/output/render-diff.js';
import type {BundleContents} from '../../../src/bundle/contents/bundle-contents.js';
import {compareContents} from '../../../src/bundle/contents/compare-contents.js';
import {collectOutput} from '../collect-output.js';

function show(
  before: BundleContents,
  after: BundleContents,
  {limit = 20, markdown = false, quiet = false} = {},
): string {
  const stdout = Object.assign(new PassThrough({encoding: 'utf8'}), {isTTY: true, columns: 80});
  const {output} = collectOutput({stdout, quiet});
  const diff = {
    before: {name: 'bundle 41 on production', format: 'v2', size: 2_000_000} as const,
    after: {name: 'build', format: 'v2'} as const,
    ...compareContents(before, after),
    warnings: [],
  };
  renderDiff(diff, {limit, markdown}, output);
  return String(stdout.read() ?? '');
}

const file = (path: string, size: number, sha256 = '0') =>
  ({path, size, sha256, category: 'shared', executable: false}) as const;
const config = (version: string) => ({ssrOnly: [], ssrShared: [], ssrParameters: {SSRFunctionNodeVersion: version}});
const odd = 'static/<img src=x>|`*@team* #1 `\u001B[31m\u202E/\n## [x](javascript:1).js';
const before: BundleContents = {
  format: 'v2',
  config: config('20.x'),
  files: [file('ssr.js', 100), file(`${'deep/'.repeat(30)}file.js`, 5), file('gone.js', 7), file('same.js', 9)],
};
const after: BundleContents = {
  format: 'v2',
  config: config('22.x'),
  files: [
    file('ssr.js', 1_500_100, '1'),
    file(`${'deep/'.repeat(30)}file.js`, 5, '1'),
    file(odd, 1),
    file('same.js', 9),
  ],
};

test('on a terminal fits 80 columns, has the largest change first, and says how many more there are', () => {
  const text = show(before, after);
  for (const line of text.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
  expect(text).toContain('before  bundle 41 on production (v2 archive of 2 MB)\nafter   build (v2)\n');
  expect(text).toContain('total     1      1        2        121 B   1.5 MB  +1.5 MB\n');
  expect(text).toMatch(/PATH\nchanged  \+1.5 MB {2}1.5 MB {2}ssr.js\nremoved {2}-7 B/);
  expect(text).toContain('ssrParameters.SSRFunctionNodeVersion: "20.x" -> "22.x"\n');
  expect(text).toMatch(
    /\nThe bundles differ: 1 file added, 1 removed, 2 changed, 1 setting changed; 121\s+B\s+to\s+1.5 MB/,
  );
  expect(text).not.toMatch(/[\u001B\u202E]/);
  expect(show(before, after, {limit: 1})).toContain('\n3 more. Pass --limit N to show more, or --json to get all.\n');
  expect(show(before, before)).toContain('The bundles are the same: 4 files, 121 B.\n');
});

test.each([false, true])('of a v1 archive, which has no categories, has none (markdown: %j)', (markdown) => {
  const files = before.files.map(({category: _, ...rest}) => rest);
  const text = show({format: 'v1', files}, {...after, format: 'v1', files: before.files}, {markdown, quiet: true});
  expect(text).not.toMatch(/shared|unknown/);
  expect(text).toContain('total');
  expect(text).toContain('The configurations were not compared: a v1 archive');
  const other = show({format: 'v1', files: files.slice(1)}, {format: 'v1', files}, {markdown, quiet: true});
  expect(other).toContain('The configurations were not compared: a v1 archive');
  const formats = show({format: 'v1', files}, {...after, files: before.files}, {markdown, quiet: true});
  expect(formats.replaceAll(/\s+/g, ' ')).toContain('1 setting changed;');
  expect(formats).toContain('Other settings were not compared: a v1 archive');
});

test('as Markdown is a code block below the outcome, in which nothing of what files are called is interpreted', () => {
  const text = show(before, after, {markdown: true});
  expect(text).toMatch(/^### Bundle diff\n\nThe bundles differ: .*\n\n {4}before  bundle 41 on production/);
  expect(text).toContain('static/<img src=x>|`*@team* #1 `/ ## [x](javascript:1).js\n');
  for (const line of text.split('\n').slice(4)) expect(line).toMatch(/^(?:$| {4}\S)/);
  expect(text).not.toMatch(/[\u001B\u202E]/);
  const evil = {...before, files: [{...file('a', 1), path: 'a'}], config: {...config('1'), 'k\n\n# x': '@team\n\n# y'}};
  for (const line of show(evil, after, {markdown: true}).split('\n').slice(4)) expect(line).toMatch(/^(?:$| {4}\S)/);
  expect(show(before, after, {markdown: true, limit: 2})).toContain('    2 more. Pass --limit N');
});
