import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import type {Backend} from '../../src/backends/contract.js';
import {createBackendRegistry} from '../../src/backends/registry.js';
import type {Host} from '../../src/operations/host.js';
import {createProject} from './test-host.js';
import {pushRuntimeBundle} from '../../src/pipelines/push.js';

test.each([
  ['the folder of the configuration file', '/etc/shop', undefined, '/etc/shop'],
  ['the working directory if there is none', undefined, undefined, ''],
  ['the base directory of a call', undefined, '.', ''],
])('relative paths in options refer to %s', async (_where, configDirectory, cwd, expected) => {
  const project = await createProject();
  onTestFinished(() => project[Symbol.asyncDispose]());
  const told: string[] = [];
  const backend: Backend = {
    ...{apiVersion: 1, name: 'acme', summary: 'Acme', formats: ['v2']},
    check: (context) => {
      told.push(context.configDirectory);
      return Promise.resolve({configured: true});
    },
    upload: (_bundle, context) => {
      told.push(context.configDirectory);
      return Promise.resolve({bundleId: 1, raw: undefined});
    },
  };
  const host: Host = {...project.host, configDirectory};
  const backends = createBackendRegistry([{plugin: 'mycli-plugin-acme', backend}]);
  await pushRuntimeBundle(
    {preference: 'acme', projectSlug: 'shop', backends, ...(cwd !== undefined && {cwd: join(project.directory, cwd)})},
    host,
  );
  const directory = expected === '' ? project.directory : expected;
  expect(told).toEqual([directory, directory]);
});
