import {describe, expect, test} from 'vitest';
import type {HostBackend} from '../../src/backends/host-backend.js';
import {resolveBackend} from '../../src/backends/resolve-backend.js';
import {verifyBackend} from '../../src/operations/identify.js';
import {createProject} from './test-host.js';

async function verify(
  member: NonNullable<HostBackend['verify']>,
  more: {readonly requestTimeout?: number; readonly signal?: AbortSignal} = {},
) {
  const backend: HostBackend = {
    ...{apiVersion: 1, name: 'acme', plugin: 'mycli-plugin-acme', summary: '', formats: ['v2'], verify: member},
    check: () => Promise.resolve({configured: true}),
    upload: () => Promise.resolve({bundleId: 1, raw: {}}),
  };
  await using project = await createProject({});
  const surroundings = {configDirectory: project.host.cwd, env: {}, logger: project.host.logger};
  const resolved = await resolveBackend(backend, {}, {...surroundings, projectSlug: undefined, targetSlug: undefined});
  return await verifyBackend(resolved, more, project.host);
}

describe('the verification of credentials', () => {
  test.concurrent('ends when the service does not answer in time', async () => {
    await expect(verify(() => new Promise(() => undefined), {requestTimeout: 0.02})).rejects.toMatchObject({
      code: 'ERR_TIMEOUT',
      message:
        'The acme backend of plugin mycli-plugin-acme made no progress for 0.02 s while verifying the credentials (verify).',
    });
  });

  test.concurrent('ends when it is aborted, although the backend goes on', async () => {
    const controller = new AbortController();
    const reason = new Error('stop');
    const waiting = verify(() => new Promise(() => controller.abort(reason)), {signal: controller.signal});
    await expect(waiting).rejects.toBe(reason);
  });
});
