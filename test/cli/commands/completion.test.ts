import {mkdtemp, readFile, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {runWarm} from '../warm-cli.js';

test.each(['bash', 'zsh'])(
  'completion: prints what to add to the configuration of %s, and knows our flags',
  async (shell) => {
    const cache = await mkdtemp(join(tmpdir(), 'mycli-completion-'));
    const {code, stdout} = await runWarm(['completion', shell], {env: {XDG_CACHE_HOME: cache, HOME: cache}});
    expect(code).toBe(0);
    expect(stdout).toContain(`mycli autocomplete:script ${shell}`);
    const file = {bash: 'mycli.bash', zsh: '_mycli'}[shell] ?? '';
    const functions = await readFile(join(cache, 'mycli/autocomplete/functions', shell, file), 'utf8');
    expect(functions).toMatch(/push[^]*--target/);
    await rm(cache, {recursive: true});
  },
);

test('completion: a shell that is not supported is an error', async () => {
  expect(await runWarm(['completion', 'tcsh'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('bash, zsh') as string,
  });
});
