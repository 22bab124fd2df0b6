import {lstat, readFile, readlink, rm} from 'node:fs/promises';
import {join} from 'node:path';
import {setTimeout} from 'node:timers/promises';
import {afterEach, beforeEach, expect, test} from 'vitest';
import {
  bundlesInUse,
  currentBundle,
  deployBundle,
  promoteBundle,
  readDeployments,
  statusOf,
} from '../src/deployments.js';
import {targetLayout, type TargetLayout} from '../src/layout.js';
import {createTestProject, type TestProject} from './project.js';

let project: TestProject;
let target: TargetLayout;
const deploy = (bundleId: number, targetSlug = 'staging') =>
  deployBundle(project.layout, targetSlug, bundleId, {createdBy: 'someone'});

beforeEach(async () => {
  project = await createTestProject();
  target = targetLayout(project.layout, 'staging');
  await project.store('first');
  await project.store('second');
});
afterEach(() => project.remove());

test('a deployment lets current lead to the folder of the bundle', async () => {
  await deploy(1);
  expect(await readFile(join(target.current, 'bundle.tar.gz'), 'utf8')).toBe('first');
  await deploy(2);
  expect(await readFile(join(target.current, 'bundle.tar.gz'), 'utf8')).toBe('second');
});

test('the link is relative, so that the whole folder can be moved', async () => {
  await deploy(1);
  expect(await readlink(target.current)).toBe(join('..', '..', '1'));
});

test('a promotion deploys what the other target runs, and nothing else', async () => {
  await deploy(1);
  const promote = (bundleId: number) =>
    promoteBundle(project.layout, {bundleId, from: 'staging', to: 'production'}, 'someone');
  expect(await promote(1)).toMatchObject({bundleId: 1, promotedFrom: 'staging', createdBy: 'someone'});
  const production = targetLayout(project.layout, 'production');
  expect(await currentBundle(production)).toBe(1);
  await deploy(2);
  await expect(promote(1)).rejects.toMatchObject({
    code: 'ERR_REJECTED',
    message: 'The target "staging" runs bundle 2, not bundle 1.',
  });
  expect(await readDeployments(production)).toHaveLength(1);
});

test('current is there at every moment of a switch', async () => {
  await deploy(1);
  const switched = new AbortController();
  const looks = (async () => {
    let count = 0;
    for (; !switched.signal.aborted; count += 1) expect((await lstat(target.current)).isSymbolicLink()).toBe(true);
    return count;
  })();
  for (const bundleId of [2, 1, 2, 1, 2]) await deploy(bundleId);
  switched.abort();
  expect(await looks).toBeGreaterThan(5);
});

test('of deployments made side by side the newest in the history runs', async () => {
  for (let round = 0; round < 20; round += 1) {
    // A little apart: in one round or another some look before a newer one is noted, and switch after its switch.
    const deployments = Array.from({length: 8}, (_, index) =>
      setTimeout(index / 2).then(() => deploy((index % 2) + 1)),
    );
    await Promise.all(deployments);
    const [newest] = await readDeployments(target);
    expect(await currentBundle(target)).toBe(newest?.bundleId);
  }
  const numbers = (await readDeployments(target)).map(({deploymentId}) => deploymentId);
  expect(numbers).toEqual(Array.from({length: 160}, (_, index) => 160 - index));
});

test('a deployment is under way until current leads to its bundle', async () => {
  const deployment = await deploy(1);
  const status = async () => statusOf(deployment, await readDeployments(target), await currentBundle(target));
  expect(await status()).toBe('finished');
  await rm(target.current);
  expect(await status()).toBe('in_progress');
});

test('a target has a history of its own', async () => {
  await deploy(1);
  await deploy(2, 'production');
  expect(await readDeployments(target)).toMatchObject([{deploymentId: 1, bundleId: 1, createdBy: 'someone'}]);
  expect(await bundlesInUse(project.layout)).toEqual(
    new Map([
      [1, ['staging']],
      [2, ['production']],
    ]),
  );
});

test('a bundle that is not there is not deployed, and nothing is noted', async () => {
  await expect(deploy(3)).rejects.toThrow('Bundle 3 does not exist');
  expect(await readDeployments(target)).toEqual([]);
  expect(await currentBundle(target)).toBeUndefined();
});

test.each(['..', 'a/b', 'a\\b', ''])('%j cannot be a target', async (targetSlug) => {
  await expect(deploy(1, targetSlug)).rejects.toMatchObject({code: 'ERR_OPTION_INVALID'});
});
