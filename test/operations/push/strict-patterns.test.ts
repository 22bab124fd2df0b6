import {describe, expect, test} from 'vitest';
import {ApiKeyStrategy} from '../../../src/http/index.js';
import {startRecordingServer} from '../../recording-server.js';
import {createProject} from '../test-host.js';
import {pushRuntimeBundle} from '../calls.js';

describe('a given pattern that matches no file', () => {
  const patterns = {ssrOnly: ['ssr.js'], ssrShared: ['statics/**/*', 'static/app.cs']};
  const advised = [
    'The ssrShared pattern "statics/**/*" matches no file. The closest is "static/app.css". ' +
      'A strict server refuses the bundle: correct the pattern, or set matchMode to ignore_missing in mycli.config.',
    expect.stringContaining('"static/app.cs" matches no file. The closest is "static/app.css". ') as string,
  ];

  test.each([
    [201, 'strict'],
    [422, 'strict'],
    [400, 'strict'],
    [422, 'ignore_missing'],
    [500, 'strict'],
  ] as const)(
    'is advised about before the upload, and after %i with %s when that is why',
    async (status, matchMode) => {
      await using server = await startRecordingServer(() => ({
        status,
        body: status === 201 ? {id: 1} : {detail: 'no'},
      }));
      await using project = await createProject();
      const {origin} = server;
      const legacyAuth = new ApiKeyStrategy({apiKey: 'key'});
      const options = {preference: 'legacy', v2: true, projectSlug: 'shop', origin, legacyAuth, matchMode, ...patterns};
      const push = pushRuntimeBundle(options, project.host);
      if (status === 201) {
        expect((await push).warnings).toEqual(advised);
        return;
      }
      const error: unknown = await push.catch((reason: unknown) => reason);
      expect(error).toMatchObject({status});
      if (matchMode === 'strict' && status !== 500) {
        expect(error).toMatchObject({suggestions: expect.arrayContaining(advised) as string[]});
      } else {
        expect(JSON.stringify(error)).not.toContain('ignore_missing');
      }
    },
  );
});
