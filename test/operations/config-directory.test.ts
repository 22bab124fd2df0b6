import {expect, onTestFinished, test} from 'vitest';
import type {BackendContext} from '../../src/backends/contract.js';
import {acme} from './acme.js';
import {createProject} from './test-host.js';
import {pushRuntimeBundle} from './calls.js';

test.each([
  ['the folder of the configuration file', '/etc/shop'],
  ['the base directory of a call', undefined],
])('relative paths in options refer to %s', async (_where, configDirectory) => {
  const project = await createProject();
  onTestFinished(() => project[Symbol.asyncDispose]());
  const told: string[] = [];
  const note = <Result>(context: {readonly configDirectory: string}, result: Result): Promise<Result> => {
    told.push(context.configDirectory);
    return Promise.resolve(result);
  };
  const options = acme({
    check: (context: BackendContext) => note(context, {configured: true}),
    upload: (_bundle: unknown, context: BackendContext) => note(context, {bundleId: 1, raw: undefined}),
  });
  const {directory, host} = project;
  await pushRuntimeBundle({...options, targetSlug: undefined, cwd: directory}, {...host, cwd: '/', configDirectory});
  expect(told).toEqual(Array(2).fill(configDirectory ?? directory));
});
