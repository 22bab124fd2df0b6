import path from 'node:path';
import {expect, test} from 'vitest';
import {makeFolder, writeTree} from '../folder.js';
import {root, run} from './install.js';

test('the demo succeeds whatever configuration, variables and proxy its user has', async () => {
  const folder = await makeFolder();
  await writeTree(folder, {'.git/HEAD': '', 'mycli.config.json': '{"projectSlug": 7}', 'tmp/keep': ''});
  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    TMPDIR: path.join(folder, 'tmp'),
    HTTP_PROXY: 'http://127.0.0.1:9',
    MYCLI_API_KEY: 'wrong',
    MYCLI_RUNTIME_ORIGIN: 'http://127.0.0.1:9',
    MYCLI_RUNTIME_BACKEND: 'none',
  };
  const {stdout} = await run(process.execPath, [path.join(root, 'scripts/demo.js')], {cwd: folder, env});
  expect(stdout).toContain('The runtime is stopped.');
});
