import {expect, test} from 'vitest';
import {directoryBackend} from '../src/backend.js';
import hook from '../src/hooks/backends.js';

test('a host with the same contract gets the backend, and any other one is told what to do', async () => {
  expect(await hook({host: {version: '1.2.3', apiVersion: 1}})).toEqual({backends: [directoryBackend]});
  await expect(hook({host: {version: '2.0.0', apiVersion: 2}})).rejects.toThrow(
    'mycli 2.0.0 needs a newer version of this plugin. Run: mycli plugins:update',
  );
});
