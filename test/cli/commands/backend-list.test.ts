import {existsSync} from 'node:fs';
import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {createPluginBench, fixturePlugin} from '../with-plugins.js';

describe('backend:list', () => {
  test('tells of every backend where it comes from, what it can do and what it misses', async () => {
    await using bench = await createPluginBench('acme', 'minimal', 'zebra');
    const {code, stdout} = await bench.mycli(['backend:list', '--json'], {
      MYCLI_RUNTIME_ORIGIN: 'https://runtime.example',
      MYCLI_API_KEY: 'canary-key',
    });
    expect(code).toBe(0);
    const document = JSON.parse(stdout) as {backends: {name: string}[]; failures: unknown[]};
    expect(document.backends.map(({name}) => name)).toEqual([
      ...['api', 'legacy', 'mycli-plugin-acme/acme', 'minimal', 'blind'],
      ...['mycli-plugin-zebra/acme', 'zebra'],
    ]);
    const [api, legacy, acme, minimal, blind] = document.backends;
    expect(api).toMatchObject({
      plugin: 'mycli',
      configured: false,
      missing: expect.arrayContaining(['--api-origin (MYCLI_API_ORIGIN)']) as string[],
    });
    expect(legacy).toMatchObject({plugin: 'mycli', formats: ['v1', 'v2'], configured: true, missing: []});
    expect(acme).toEqual({
      name: 'mycli-plugin-acme/acme',
      plugin: 'mycli-plugin-acme',
      version: '1.2.3',
      summary: 'Acme, for tests',
      formats: ['v2'],
      capabilities: ['deploy', 'wait'],
      configured: false,
      missing: ['memory: must be a path'],
    });
    expect(minimal).toMatchObject({plugin: 'mycli-plugin-minimal', version: '1.0.0', configured: true});
    expect(blind).toMatchObject({summary: 'Deploys, with version 1 of the contract', capabilities: ['deploy']});
    expect(document).toMatchObject({
      schemaVersion: 1,
      failures: [
        {plugin: 'mycli-plugin-zebra', message: expect.stringContaining('"legacy" is reserved.') as string},
        {plugin: 'mycli-plugin-zebra', message: expect.stringContaining('version 2') as string},
        {plugin: 'mycli-plugin-zebra', message: expect.stringContaining('must be an object') as string},
      ],
    });
    expect(stdout).not.toContain('canary');
  });

  test('asks for the plugin of a backend whose name two plugins have, and gives it the options of its full name', async () => {
    await using bench = await createPluginBench('acme', 'zebra');
    const name = 'mycli-plugin-acme/acme';
    const config = {backends: {acme: {memory: '/nowhere/at/all'}, [name]: {retries: 7}}};
    await writeFile(join(bench.project, 'mycli.config.json'), JSON.stringify({backends: {acme: {retries: 7}}}));
    const unclear = await bench.mycli(['bundle:push', '--runtime-backend', 'acme', '--json']);
    expect(unclear.code).toBe(3);
    expect(JSON.parse(unclear.stdout)).toMatchObject({error: {code: 'ERR_BACKEND_UNKNOWN'}});
    const memory = join(bench.root, 'memory');
    const options = ['--backend-option', `memory=${memory}`];
    const token = {MYCLI_BACKEND_OPTION: 'token=canary-token'};
    for (const chosen of [name, 'acme']) {
      if (chosen === 'acme') await writeFile(join(bench.project, 'mycli.config.json'), JSON.stringify(config));
      const pushed = await bench.mycli(['bundle:push', '--runtime-backend', chosen, ...options, '--json'], token);
      expect({code: pushed.code, ...JSON.parse(pushed.stdout)}).toMatchObject({code: 0, backend: chosen});
    }
    expect(existsSync(memory)).toBe(true);
  });

  test('a check that fails is told of its backend and hides no other', async () => {
    await using bench = await createPluginBench('acme', 'liar');
    const list = ['backend:list', '--json', '--backend-option', 'check=throws'];
    const {code, stdout} = await bench.mycli(list, {MYCLI_RUNTIME_BACKEND: 'liar'});
    expect(code).toBe(0);
    const {backends} = JSON.parse(stdout) as {backends: unknown[]};
    expect(backends).toHaveLength(4);
    const alone = await bench.mycli([...list, '--runtime-backend', 'liar']);
    expect(JSON.parse(alone.stdout)).toMatchObject({backends: [{name: 'liar'}]});
    expect(backends).toContainEqual(
      expect.objectContaining({
        name: 'liar',
        configured: false,
        missing: ['The liar backend failed while checking its configuration: no idea.'],
      }),
    );
  });

  test('is a paragraph of each for people', async () => {
    await using bench = await createPluginBench('minimal', 'throws');
    const {code, stdout, stderr} = await bench.mycli(['backend:list']);
    expect(code).toBe(0);
    expect(stdout).toContain(
      'minimal (mycli-plugin-minimal 1.0.0): Uploads only\n  formats: v1\n  capabilities: none\n  configured\n',
    );
    expect(stdout).toMatch(/\nlegacy \(mycli [\d.]+\): .*\n.*\n.*\n {2}missing: --origin \(MYCLI_RUNTIME_ORIGIN\), /);
    const reason = `the hook broke (${fixturePlugin('throws')}/backends.js). The command continues without it.`;
    expect(stderr).toBe(`Warning: Plugin mycli-plugin-throws: its mycli:backends hook failed: ${reason}\n`);
  });
});
