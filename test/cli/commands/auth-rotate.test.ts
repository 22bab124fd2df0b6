import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {afterEach, beforeEach, expect, test} from 'vitest';
import {createRuntimeBench, type RuntimeBench} from '../with-runtime.js';

let bench: RuntimeBench;
beforeEach(async () => {
  bench = await createRuntimeBench({MYCLI_RUNTIME_BACKEND: 'legacy'});
});
afterEach(() => bench[Symbol.asyncDispose]());

test('auth:rotate: a new key is stored and not shown, the old one ends, and where it may still be used is told', async () => {
  const {MYCLI_API_KEY: old = ''} = bench.env;
  expect((await bench.mycli(['auth:rotate'])).code).toBe(2);
  const {code, stdout, stderr} = await bench.mycli(['auth:rotate', '--yes', '--json']);
  expect(code, stderr).toBe(0);
  const {origin, file} = JSON.parse(stdout) as {origin: string; file: string};
  expect(origin).toBe(bench.runtime.origin);
  const stored = JSON.parse(await readFile(file, 'utf8')) as {origins: Record<string, {apiKey: {key: string}}>};
  const key = stored.origins[origin]?.apiKey.key ?? '';
  expect(key).toBe(bench.runtime.credentials.apiKey);
  expect(key).not.toBe(old);
  expect(stdout + stderr).not.toContain(key);
  expect((await bench.mycli(['project:list'])).code).toBe(4);
  const {code: accepted} = await bench.mycli(['project:list'], {MYCLI_API_KEY: ''});
  expect(accepted).toBe(0);
  const told = await bench.mycli(['auth:rotate', '--yes'], {MYCLI_API_KEY: key});
  expect(told.stdout).toContain('MYCLI_API_KEY, which overrides the stored key');
});

test('auth:rotate: a key that is refused is said to come from its variable', async () => {
  const {code, stderr} = await bench.mycli(['auth:rotate', '--yes'], {MYCLI_API_KEY: 'revoked'});
  expect({code, stderr}).toEqual({code: 4, stderr: expect.stringContaining('The API key comes from MYCLI_API_KEY.')});
});

test('auth:rotate: an answer that is lost leaves it open which key is valid', async () => {
  bench.runtime.addFault({action: 'drop', route: 'api-key'});
  const {code, stderr} = await bench.mycli(['auth:rotate', '--yes']);
  expect({code, stderr}).toEqual({
    code: 10,
    stderr: expect.stringContaining('may have been replaced by one that was lost'),
  });
  expect(bench.runtime.requests.filter(({route}) => route === 'api-key')).toHaveLength(1);
  await expect(readFile(join(bench.root, '.config/mycli/credentials.json'))).rejects.toThrow('ENOENT');
});

test('auth:rotate: a project that logs in with OAuth is told that it has no API key', async () => {
  for (const backend of ['api', 'auto']) {
    const env = {MYCLI_RUNTIME_BACKEND: backend, MYCLI_RUNTIME_ORIGIN: '', MYCLI_API_ORIGIN: bench.runtime.origin};
    const {code, stderr} = await bench.mycli(['auth:rotate', '--yes'], env);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('Only API keys can be rotated, and this project uses Runtime (OAuth).'),
    ]);
  }
});
