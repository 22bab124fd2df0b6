import assert from 'node:assert/strict';
import {readFile} from 'node:fs/promises';
import {test} from 'node:test';
import type {BackendsHook} from 'mycli/backend';
import {backend} from '../src/backend.js';

test('package.json leads mycli to the backend', async () => {
  // From dist/test.
  const root = new URL('../../', import.meta.url);
  const {oclif} = JSON.parse(await readFile(new URL('package.json', root), 'utf8')) as {
    readonly oclif: {readonly hooks: {readonly 'mycli:backends': string}};
  };
  const module = (await import(new URL(oclif.hooks['mycli:backends'], root).href)) as {readonly default: BackendsHook};
  const {backends} = await module.default({host: {version: '0.1.0', apiVersion: 1}});
  assert.deepEqual(backends, [backend]);
});
