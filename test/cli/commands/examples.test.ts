import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {cp, mkdir, rm, symlink, writeFile} from 'node:fs/promises';
import {createServer} from 'node:net';
import {delimiter, join} from 'node:path';
import {text} from 'node:stream/consumers';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {BearerTokenStrategy, pushRuntimeBundle} from '../../../src/index.js';
import {ownCommands} from '../own-commands.js';
import {binary} from '../spawn-cli.js';
import {runWarm} from '../warm-cli.js';
import {fixturePlugin} from '../with-plugins.js';
import {createStorefrontBench, type StorefrontBench} from '../with-storefront.js';

const examples = Object.entries(ownCommands).flatMap(([id, command]) =>
  (command.examples ?? []).map((example) => ({
    id,
    example: example.replace('<%= config.bin %>', 'mycli').replace('<%= command.id %>', id),
  })),
);
// It would end the key of the others. `auth-rotate.test.ts` has it.
const tried = examples.filter(({id}) => id !== 'auth:rotate');

/** What a target is to be like. */
const asCode = {targets: {staging: {settings: {cookies: true}, access: true}}};

/** Where something is asked for. */
const stdin = 'what-a-user-types\n';

let bench: StorefrontBench;
let bin: string;
let data: string;
beforeAll(async () => {
  bench = await createStorefrontBench();
  bin = join(bench.root, 'bin');
  await mkdir(bin);
  await symlink(binary, join(bin, 'mycli'));
  data = join(bench.root, 'home/.local/share');
  await mkdir(join(data, 'mycli'), {recursive: true});
  const plugins = ['acme'].map((name) => ({
    ...{name: `mycli-plugin-${name}`, root: fixturePlugin(name), type: 'link'},
  }));
  await writeFile(join(data, 'mycli/package.json'), JSON.stringify({private: true, oclif: {schema: 1, plugins}}));
  // What the examples name.
  await cp(join(bench.project, 'build'), join(bench.project, 'dist'), {recursive: true});
  await writeFile(join(bench.project, 'package.json'), '{"scripts": {"test": "echo tested"}}\n');
  await writeFile(join(bench.project, 'key.txt'), 'key-of-a-file\n');
  for (const name of ['.env', '.env.example']) await writeFile(join(bench.project, name), 'API_URL=of-a-file\n');
  await writeFile(join(bench.project, 'stdin.txt'), stdin);
  expect(await run('mycli bundle:build --quiet')).toMatchObject({code: 0});
  for (const name of ['old.tar.gz', 'new.tar.gz', 'release.tar.gz', 'release.tar.gz.json'])
    await cp(join(bench.project, name.replace(/^\w+/, 'bundle')), join(bench.project, name));
  for (const targetSlug of ['staging', 'staging', 'production', 'production']) await push(targetSlug);
  for (const line of ['env:set --from .env --target staging', 'preview:up feature/old'])
    expect(await run(`mycli ${line} --project my-shop`)).toMatchObject({code: 0});
});
afterAll(() => bench[Symbol.asyncDispose]());

/** Pushes a bundle, and deploys it when there is a target. Resolves to its id. */
async function push(targetSlug?: string): Promise<string> {
  const {origin, credentials} = bench.runtime;
  const {bundleId} = await pushRuntimeBundle({
    preference: 'legacy',
    origin,
    legacyAuth: new BearerTokenStrategy(credentials.apiKey),
    projectSlug: 'my-shop',
    targetSlug,
    archive: join(bench.project, 'bundle.tar.gz'),
    v2: true,
    message: 'an example',
    wait: targetSlug !== undefined,
    pollInterval: 0.01,
  });
  return String(bundleId);
}

async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? String(address.port) : '';
}

/**
 * Runs a line as a user types it: in a shell, if it is more than words. A server is stopped as soon as it says that it
 * is ready.
 */
async function run(line: string): Promise<{code: number | null; stdout: string; stderr: string}> {
  if (/^mycli [\w\s:.,/@=-]+$/.test(line) && !/runtime:start|mycli logs/.test(line)) {
    return runWarm(line.trim().split(/\s+/).slice(1), {
      cwd: bench.project,
      env: {...bench.env, XDG_DATA_HOME: data, MRT_API_KEY: 'key-of-another-client'},
      stdin,
    });
  }
  const path = [bin, process.env['PATH']].join(delimiter);
  const env = {...bench.env, PATH: path};
  // What is asked for comes from a file, unless the line names one.
  const script = `exec ${line.includes('<') ? line : `${line} < stdin.txt`}`;
  const child = spawn('sh', ['-c', script], {cwd: bench.project, env, stdio: ['ignore', 'pipe', 'pipe']});
  const isReady = line.includes('runtime:start') && !line.includes(' -- ') ? child.stdout : undefined;
  // What follows something never ends by itself.
  const ready = /^mycli logs/.test(line) ? child.stderr : isReady;
  ready?.on('data', (said: Buffer) => {
    if (ready === child.stdout || said.includes('Connecting to the logs')) child.kill('SIGINT');
  });
  const texts = Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = (await once(child, 'close')) as [number | null];
  const [stdout, stderr] = await texts;
  return {code, stdout, stderr};
}

test('every command has an example', () => {
  expect(Object.keys(ownCommands).filter((id) => !examples.some((example) => example.id === id))).toEqual([]);
});

test('examples can be pasted into PowerShell, where a comma makes a list, and into cmd, where only " quotes', () => {
  expect(examples.filter(({example}) => /'|^[^"]*,/.test(example))).toEqual([]);
});

test.each(tried)('$example does what it says', async ({id, example}) => {
  let line = example.replace(/\b4000\b/, await freePort());
  for (const number of [/\b41\b/, /\b42\b/]) {
    if (number.test(line)) line = line.replace(number, await push(id === 'bundle:rollback' ? 'production' : undefined));
  }
  // There is nobody to ask, and the services of logins are nowhere.
  const unasked: Readonly<Record<string, string>> = {
    'bundle:delete': '--yes',
    'target:delete': '--yes',
    'target:apply': '--yes',
    'auth:login': '--no-verify',
    init: line.includes('--origin') ? '--no-verify' : '--project my-shop --origin https://runtime.example',
  };
  const configured = join(bench.project, 'mycli.config.json');
  if (/^target:(?:diff|apply)/.test(id))
    await writeFile(configured, line.includes('--init') ? '{}' : JSON.stringify(asCode));
  const {code, stdout, stderr} = await run(`${line} ${unasked[id] ?? ''}`);
  for (const path of [configured, join(bench.project, 'mycli.config.ts')]) await rm(path, {force: true});
  expect(code, stderr).toBe(0);
  // Nobody asks the app for anything.
  if (id !== 'logs') expect(stdout).not.toBe('');
  // An example before has protected the target that is copied, and the environment has secrets.
  const expected = /^Warning: (?:Not copied from staging: its access header|To use the stored \w+, unset MYCLI_).*$/m;
  expect(stderr.replace(expected, '')).not.toContain('Warning');
});
