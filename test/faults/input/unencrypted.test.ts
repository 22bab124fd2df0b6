import {expect, test} from 'vitest';
import {makeFolder, smallBuild} from '../../bundle/project.js';
import {binary, runCli} from '../../cli/spawn-cli.js';
import {startRecordingServer} from '../../recording-server.js';

test('credentials for an http: origin are warned about once, with all that go there, on stderr and in the document', async () => {
  // A proxy, so that no name is looked up.
  await using network = await startRecordingServer(() => ({status: 400}));
  const cwd = await makeFolder(smallBuild);
  const origin = 'http://runtime.example';
  const env = {
    HOME: cwd,
    HTTP_PROXY: network.origin,
    MYCLI_RUNTIME_ORIGIN: origin,
    MYCLI_API_KEY: 'canary-key',
    MYCLI_API_ORIGIN: `${origin}/api`,
    MYCLI_ORGANIZATION: 'org',
    MYCLI_TOKEN_URL: `${origin}/token`,
    MYCLI_CLIENT_ID: 'client',
    MYCLI_CLIENT_SECRET: 'canary-secret',
  };
  const {stdout, stderr, code} = await runCli(binary, ['bundle:list', '-p', 'shop', '--json'], {cwd, env});
  expect(code, stdout).toBe(4);
  const warning = `Credentials are sent unencrypted to ${origin}. Use https.`;
  expect(stderr.split(warning)).toHaveLength(2);
  expect(JSON.parse(stdout)).toMatchObject({warnings: [warning]});
  expect(stdout + stderr).not.toContain('canary');
});
