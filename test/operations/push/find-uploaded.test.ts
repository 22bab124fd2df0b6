import {describe, expect, test} from 'vitest';
import type {RuntimeCliError} from '../../../src/errors/index.js';
import type {PushRuntimeBundleBackendOptions} from '../../../src/operations/push/options.js';
import {rejection} from '../../http/test-client.js';
import {pushRuntimeBundle} from '../calls.js';
import {startService, type Service} from '../pushed-bundles.js';

const looks = {findsLostUploads: true};

function push(
  {connection, project}: Service,
  options: Partial<PushRuntimeBundleBackendOptions> = {},
  more: object = looks,
): Promise<RuntimeCliError> {
  const call = {...connection, preference: 'legacy', message: 'one', ...options};
  return rejection(pushRuntimeBundle(call, {...project.host, ...more}));
}

const routes = ({runtime}: Service) => runtime.requests.map(({route}) => route);

describe('after an upload whose answer was lost', () => {
  test.each(['legacy', 'api'] as const)(
    'the error says which bundle it is, and sends nothing again (%s)',
    async (name) => {
      const service = await startService({faults: ['dropx1:route=upload']});
      const error = await push(service, {preference: name});
      expect(error).toMatchObject({code: 'ERR_OUTCOME_UNKNOWN', exitCode: 10, details: {foundBundleId: 1}});
      expect(error.suggestions[0]).toBe('It is probably bundle 1, which is new and has the same message.');
      expect(error.suggestions[1]).toContain('mycli bundle:deploy 1');
      expect(routes(service).filter((route) => route !== 'token')).toEqual(['upload', 'list']);
    },
  );

  test('the error does not suggest to deploy what the upload may be deploying', async () => {
    const service = await startService({faults: ['dropx1:route=upload']});
    const error = await push(service, {targetSlug: 'staging'});
    expect(error.suggestions).toEqual([
      'It is probably bundle 1, which is new and has the same message, and its deployment to staging may have started.',
      'Check before you deploy it again:',
      expect.stringMatching(/^mycli bundle:history .*--target staging/),
    ]);
  });

  test('the error says that the bundle is not there, where others are', async () => {
    const service = await startService();
    await service.push();
    service.runtime.addFault('resetx1:route=upload');
    const error = await push(service);
    expect(error).toMatchObject({code: 'ERR_OUTCOME_UNKNOWN'});
    expect(error.suggestions[0]).toBe('mycli looked for the bundle, but has not found it yet.');
    expect(error.suggestions.join()).toContain('bundle:list');
  });

  test('the look is repeated while the service cannot be reached', async () => {
    const service = await startService({faults: ['dropx1:route=upload', 'resetx1:route=list']});
    expect((await push(service)).details).toMatchObject({foundBundleId: 1});
    expect(routes(service)).toEqual(['upload', 'list', 'list']);
  });

  test('a list that the service refuses leaves the error as it was', async () => {
    const service = await startService({faults: ['dropx1:route=upload', '403:route=list']});
    const error = await push(service);
    expect(error.suggestions[0]).toContain('Check before retrying');
    expect(routes(service)).toEqual(['upload', 'list']);
  });

  test('the library does not look', async () => {
    const service = await startService({faults: ['dropx1:route=upload']});
    expect(await push(service, {}, {})).toMatchObject({code: 'ERR_OUTCOME_UNKNOWN'});
    expect(routes(service)).toEqual(['upload']);
  });
});
