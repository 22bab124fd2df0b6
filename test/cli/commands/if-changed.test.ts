import {readdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import type {LocalRuntime} from '../../../src/testing.js';
import {createRuntimeBench, type RuntimeBench} from '../with-runtime.js';

let bench: RuntimeBench;
let root: string;
let runtime: LocalRuntime;
beforeEach(async () => {
  bench = await createRuntimeBench({MYCLI_RUNTIME_BACKEND: 'legacy'});
  ({root, runtime} = bench);
});
afterEach(() => bench[Symbol.asyncDispose]());

const push = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  bench.mycli(['bundle:push', ...args], env);

async function pushed(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<unknown> {
  const {code, stdout} = await push([...args, '--json'], env);
  expect(code).toBe(0);
  return JSON.parse(stdout);
}

const uploads = () => runtime.requests.filter(({route}) => route === 'upload').length;
const recordFolder = () => join(root, 'data/mycli/pushes');

describe('bundle:push --if-changed', () => {
  test('says which bundle it is and when it was pushed, and deploys that one', async () => {
    await push([]);
    const {code, stdout, stderr} = await push(['--if-changed', '--target', 'staging', '--wait']);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^Nothing was uploaded: unchanged since bundle 1, pushed to shop (?:now|just now|\d+ \w+ ago)\.\nDeployed to staging\.\nhttp:\/\/staging--shop\.localhost:\d+\/\n$/,
    );
    expect(stderr).toContain('unchanged since bundle 1');
    expect(uploads()).toBe(1);
  });

  test('the document and the outputs of a step are of the bundle that is there', async () => {
    const files = {GITHUB_OUTPUT: join(root, 'output'), GITHUB_STEP_SUMMARY: join(root, 'summary')};
    expect(await pushed(['--if-changed'])).toMatchObject({bundleId: 1, unchanged: false});
    expect(await pushed(['--if-changed'], files)).toMatchObject({
      schemaVersion: 1,
      bundleId: 1,
      unchanged: true,
      pushedAt: expect.any(String) as string,
      deployed: false,
    });
    expect(await readFile(files.GITHUB_OUTPUT, 'utf8')).toContain('bundle-id=1\n');
    expect(await readFile(files.GITHUB_STEP_SUMMARY, 'utf8')).toContain('<td>unchanged</td>');
  });

  test('is a setting like others, which --force overrides', async () => {
    const asked = {MYCLI_IF_CHANGED: '1'};
    await pushed([], asked);
    expect(await pushed([], asked)).toMatchObject({bundleId: 1, unchanged: true});
    expect(await pushed(['--no-if-changed'], asked)).toMatchObject({bundleId: 2, unchanged: false});
    expect(await pushed(['--force'], asked)).toMatchObject({bundleId: 3, unchanged: false});
    await writeFile(join(root, 'project/mycli.config.json'), '{"ifChanged": true}');
    expect(await pushed([])).toMatchObject({bundleId: 3, unchanged: true});
    expect(await pushed(['--force'])).toMatchObject({bundleId: 4, unchanged: false});
  });

  test('a dry run tells what would happen, and neither uploads nor records', async () => {
    expect(await pushed(['--if-changed', '--dry-run'])).toMatchObject({dryRun: true, unchanged: false});
    await expect(readdir(recordFolder())).rejects.toMatchObject({code: 'ENOENT'});
    await pushed([]);
    const dryRun = ['--if-changed', '--dry-run', '--target', 'staging'];
    expect(await pushed(dryRun)).toMatchObject({dryRun: true, unchanged: true, bundleId: 1});
    expect((await push(dryRun)).stdout).toMatch(
      /Dry run: unchanged since bundle 1, pushed .+\. Would deploy it to staging\.\n$/,
    );
    expect(uploads()).toBe(1);
    expect(runtime.requests.every(({route, method}) => route === 'upload' || method === 'GET')).toBe(true);
  });
});
