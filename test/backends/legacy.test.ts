import {expect, test} from 'vitest';
import {ApiKeyStrategy} from '../../src/http/index.js';
import type {PushRuntimeBundleBackendOptions} from '../../src/operations/push/options.js';
import {createProject} from '../operations/test-host.js';
import {startRecordingServer, type RecordingServer} from '../recording-server.js';
import {pushRuntimeBundle} from '../../src/pipelines/push.js';

function options({origin}: RecordingServer): PushRuntimeBundleBackendOptions {
  return {
    preference: 'legacy',
    projectSlug: 'my shop',
    origin,
    legacyAuth: new ApiKeyStrategy({apiKey: 'key'}),
    message: 'hello "world"',
  };
}

test('a v1 push sends the files that the patterns match, the parameters and the archive as base64', async () => {
  await using server = await startRecordingServer(() => ({
    status: 200,
    body: {bundle_id: '9', warnings: [{file: 'a'}]},
  }));
  await using project = await createProject();
  const result = await pushRuntimeBundle(
    {...options(server), ssrParameters: {A: 1}, bundleMetadata: {dependencies: {left: '^1'}, ccOverrides: ['x']}},
    project.host,
  );
  const [request] = server.requests;
  expect(request).toMatchObject({method: 'POST', path: '/api/projects/my%20shop/builds/'});
  expect(request?.headers).toMatchObject({
    authorization: 'Bearer key',
    'user-agent': expect.stringMatching(/^mycli\//) as string,
    'content-length': String(request?.body.length),
  });
  const {data, ...rest} = JSON.parse(String(request?.body)) as {data: string};
  expect(rest).toEqual({
    message: 'hello "world"',
    encoding: 'base64',
    ssr_parameters: {SSRFunctionNodeVersion: '24.x', A: 1},
    ssr_only: ['ssr.js'],
    ssr_shared: ['static/app.css', 'static/index.html'],
    bundle_metadata: {dependencies: {left: '^1'}},
  });
  const tar = Buffer.from(data, 'base64');
  expect(tar.length).toBe(result.archive.size);
  expect(tar.toString('latin1')).toContain('my shop/bld/ssr.js');
  expect(result).toMatchObject({bundleId: 9, matches: {}});
  expect(result.warnings).toEqual(
    expect.arrayContaining(['{"file":"a"}', 'ccOverrides has no effect on a v1 upload.']),
  );
});
