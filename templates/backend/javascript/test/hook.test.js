// @ts-check
import assert from 'node:assert/strict';
import {readFile} from 'node:fs/promises';
import {test} from 'node:test';
import {backend} from '../src/backend.js';

test('package.json leads mycli to the backend', async () => {
  const root = new URL('../', import.meta.url);
  const {oclif} = JSON.parse(await readFile(new URL('package.json', root), 'utf8'));
  const {default: hook} = await import(new URL(oclif.hooks['mycli:backends'], root).href);
  const {backends} = await hook({host: {version: '0.1.0', apiVersion: 1}});
  assert.deepEqual(backends, [backend]);
});
