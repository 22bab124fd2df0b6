import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {Readable} from 'node:stream';
import {inspect} from 'node:util';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {readSecrets} from '../../../src/cli/settings/load-settings.js';
import {Secret} from '../../../src/cli/settings/secret.js';
import type {Setting} from '../../../src/cli/settings/settings.js';

let cwd: string;
let warnings: string[];

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'mycli-secrets-'));
  warnings = [];
});

afterEach(() => rm(cwd, {recursive: true}));

const flag = (name: string, value: string): Setting<Secret> => ({
  value: new Secret(value),
  source: {kind: 'flag', name: `--${name}`},
});
const variable = (name: string, value: string): Setting<Secret> => ({
  value: new Secret(value),
  source: {kind: 'environment', name},
});

function read(named: {apiKey?: Setting<Secret>; clientSecret?: Setting<Secret>}, stdin = '') {
  const options = {cwd, stdin: Readable.from([stdin]), warn: (message: string) => warnings.push(message)};
  return readSecrets(named, options);
}

describe('readSecrets', () => {
  test('literals are accepted with a single warning', async () => {
    const secrets = await read({
      apiKey: flag('api-key', ' canary-1 '),
      clientSecret: flag('client-secret', 'canary-2'),
    });
    expect(secrets.apiKey?.value.reveal()).toBe('canary-1');
    expect(secrets.clientSecret?.value.reveal()).toBe('canary-2');
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/--api-key, --client-secret.*MYCLI_API_KEY, MYCLI_CLIENT_SECRET/);
    expect(warnings[0]).not.toContain('canary');
  });

  test('@FILE reads a file below the working directory, without the space around the secret', async () => {
    await writeFile(join(cwd, 'key'), '\n  canary-1\n');
    expect((await read({apiKey: flag('api-key', '@key')})).apiKey?.value.reveal()).toBe('canary-1');
    expect(warnings).toEqual([]);
  });

  test('- reads stdin', async () => {
    expect((await read({apiKey: flag('api-key', '-')}, 'canary-1\n')).apiKey?.value.reveal()).toBe('canary-1');
  });

  test('only one secret may come from stdin', async () => {
    await expect(read({apiKey: flag('api-key', '-'), clientSecret: flag('client-secret', '-')})).rejects.toMatchObject({
      code: 'ERR_USAGE',
      message: '--api-key and --client-secret cannot all be read from stdin.',
    });
  });

  test.each(['@canary', '-', 'canary'])('%s in the environment is the secret itself', async (value) => {
    const secrets = await read({apiKey: variable('MYCLI_API_KEY', value)}, 'stdin');
    expect(secrets.apiKey?.value.reveal()).toBe(value);
    expect(secrets.apiKey?.source.name).toBe('MYCLI_API_KEY');
    expect(warnings).toEqual([]);
  });

  test.each([
    ['an empty literal', flag('api-key', '  '), 'The value of --api-key is empty.'],
    ['an empty stdin', flag('api-key', '-'), 'The value of --api-key is empty.'],
    ['several lines', variable('MYCLI_API_KEY', 'canary\ncanary'), 'The value of MYCLI_API_KEY contains a line break'],
    ['a missing file', flag('api-key', '@absent'), 'The --api-key file cannot be read: no such file or directory.'],
  ])('%s is an error that does not repeat the secret', async (_what, setting, message) => {
    const error: unknown = await read({apiKey: setting}).catch((reason: unknown) => reason);
    expect(error).toMatchObject({code: 'ERR_OPTION_INVALID', message: expect.stringContaining(message) as string});
    expect(inspect(error)).not.toContain('canary');
  });
});

test('a secret prints as a mask, wherever it is printed', async () => {
  const {apiKey} = await read({apiKey: variable('MYCLI_API_KEY', 'canary-1')});
  for (const shown of [JSON.stringify(apiKey), inspect(apiKey), String(apiKey?.value)]) {
    expect(shown).not.toContain('canary-1');
    expect(shown).toContain('********');
  }
});
