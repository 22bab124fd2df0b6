import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import type {Ended} from '../spawn-cli.js';
import {runWarm} from '../warm-cli.js';
import {createRuntimeBench, type RuntimeBench} from '../with-runtime.js';

let bench: RuntimeBench;
beforeAll(async () => {
  bench = await createRuntimeBench();
});
afterAll(() => bench[Symbol.asyncDispose]());

/** Runs a command that could reach both backends, with some variables changed; `undefined` takes one away. */
function mycli(args: readonly string[], changed: Readonly<Record<string, string | undefined>>): Promise<Ended> {
  const all: Readonly<Record<string, string | undefined>> = {...bench.env, ...changed};
  const env = Object.fromEntries(
    Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  return runWarm(args, {cwd: bench.project, env});
}

describe('auto with an API connection of which something is missing', () => {
  test('push: ends before anything is sent, and says what to do', async () => {
    const {code, stdout, stderr} = await mycli(['bundle:push', '--json'], {MYCLI_CLIENT_SECRET: ''});
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({
      error: {
        code: 'ERR_CREDENTIALS_MISSING',
        message: expect.stringContaining('incomplete: missing client secret (given: API origin, ') as string,
        details: {backend: 'api', missing: ['--client-secret (MYCLI_CLIENT_SECRET)']},
      },
    });
    expect(stderr).not.toContain('Built');
  });

  test.each([['backend:list'], ['config:show']])('%s: warns, and shows the rest', async (command) => {
    const {code, stdout} = await mycli([command, '--json'], {MYCLI_CLIENT_SECRET: ''});
    expect(code).toBe(0);
    const {warnings} = JSON.parse(stdout) as {warnings: string[]};
    expect(warnings).toEqual([expect.stringContaining('Pushes from here will fail. The API connection is incomplete')]);
  });

  test('login: can complete it', async () => {
    const home = {XDG_CONFIG_HOME: join(bench.root, 'login'), MYCLI_CLIENT_SECRET: undefined};
    const env = {...bench.env, ...home, MYCLI_CLIENT_SECRET: ''};
    const args = ['auth:login', '--no-verify', '--api-origin', bench.runtime.origin];
    const stdin = bench.runtime.credentials.clientSecret;
    expect(await runWarm(args, {cwd: bench.root, env, stdin})).toMatchObject({code: 0});
    expect(JSON.parse((await mycli(['bundle:push', '--json'], home)).stdout)).toMatchObject({backend: 'api'});
  });
});

describe('a complete API connection, and a slug that Api cannot take', () => {
  const slug = {MYCLI_PROJECT: 'My_Shop'};

  test.each([[['bundle:push', '--quiet']], [['bundle:push', '--dry-run']], [['bundle:list', '--quiet']]])(
    '%j falls back with a warning, on stderr and in the document',
    async (args) => {
      const {code, stdout, stderr} = await mycli([...args, '--json'], slug);
      expect(code).toBe(0);
      const {warnings} = JSON.parse(stdout) as {warnings: string[]};
      expect(warnings).toContainEqual(
        expect.stringMatching(/^Fell back to the Runtime \(API key\) backend: .*"My_Shop"/),
      );
      expect(warnings.filter((warning) => warning.includes('My_Shop'))).toHaveLength(1);
      expect(stderr.match(/Warning: Fell back/g)).toHaveLength(1);
    },
  );

  test('is an error about the slug where legacy cannot serve either, or Api was asked for', async () => {
    const alone = await mycli(['bundle:push', '--json'], {...slug, MYCLI_API_KEY: undefined});
    const asked = await mycli(['bundle:push', '--json', '--runtime-backend', 'api'], slug);
    // A dry run needs no credentials, but they would not help.
    const names = ['API_ORIGIN', 'ORGANIZATION', 'TOKEN_URL', 'CLIENT_ID', 'CLIENT_SECRET'];
    const unset = Object.fromEntries(names.map((name) => [`MYCLI_${name}`, undefined]));
    const args = ['bundle:push', '--json', '--dry-run', '--runtime-backend', 'api', '--project', 's'.repeat(21)];
    const dryRun = await mycli(args, unset);
    for (const {code, stdout} of [alone, asked, dryRun]) {
      expect(code).toBe(3);
      expect(JSON.parse(stdout)).toMatchObject({
        error: {
          code: 'ERR_OPTION_INVALID',
          message: expect.stringContaining('The Runtime (OAuth) backend requires a project slug') as string,
        },
      });
    }
  });

  test('an organization that Api cannot take is an error, never a reason for legacy', async () => {
    const {code, stdout} = await mycli(['bundle:push', '--json'], {MYCLI_ORGANIZATION: 'o'.repeat(33)});
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({
      error: {code: 'ERR_CREDENTIALS_MISSING', message: expect.stringContaining('1 to 32 characters') as string},
    });
  });
});
