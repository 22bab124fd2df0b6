import {once} from 'node:events';
import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import {Readable} from 'node:stream';
import {text} from 'node:stream/consumers';
import {join} from 'node:path';
import {createInterface} from 'node:readline';
import {extract} from 'tar-stream';
import {describe, expect, onTestFinished, test} from 'vitest';
import {makeFolder, type Tree} from '../folder.js';
import {binary, runCli, start, type Ended} from '../cli/spawn-cli.js';

/** Where run.sh has installed the clients. */
const clients = process.env['MYCLI_TEST_CLIENTS'] ?? '';

interface Runtime {
  readonly origin: string;
  readonly appsOrigin: string;
  readonly credentials: {readonly apiKey: string};
}

/** The real binary, until the test has ended. */
async function startRuntime(): Promise<Runtime> {
  const {child, ended} = start(binary, ['runtime:start', '--json', '--deployment-seconds', '2']);
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  if (child.stdout === null) throw new Error('stdout is not a pipe');
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return JSON.parse(line) as Runtime;
}

/** A project with a small build, as both clients expect one. */
function projectFiles(devDependencies: Readonly<Record<string, string>> = {}): Tree {
  const ssrParameters = {ssrFunctionNodeVersion: '22.x'};
  const mobify = {ssrEnabled: true, ssrOnly: ['ssr.js', 'server/**'], ssrShared: ['static/**/*'], ssrParameters};
  const ccExtensibility = {extends: 'template', overridesDir: 'overrides'};
  const dependencies = {react: '^19.0.0'};
  return {
    'package.json': JSON.stringify({
      ...{name: 'shop', version: '1.0.0', dependencies, devDependencies, mobify},
      ...('@salesforce/pwa-kit-dev' in devDependencies && {ccExtensibility}),
    }),
    'build/ssr.js': 'server only',
    'build/server/entry.mjs': 'server only',
    'build/static/index.html': '<h1>shop</h1>',
    'build/client/app.js': 'console.log("shop")',
  };
}

/** How each client is told to push. */
const commands = {
  'pwa-kit-dev': {
    script: '@salesforce/pwa-kit-dev/bin/pwa-kit-dev.js',
    args: (target?: string) => [
      ...['push', '-b', 'build', '-s', 'shop', '-m', 'from a client'],
      ...(target === undefined ? [] : ['-t', target, '--wait']),
    ],
    env: (origin: string, key: string) => ({CLOUD_API_BASE: origin, MRT_USER: 'me@shop.example', MRT_API_KEY: key}),
  },
  'storefront-next-dev': {
    script: '@salesforce/storefront-next-dev/bin/run.js',
    args: (target?: string) => [
      ...['push', '-b', 'build', '-p', 'shop', '-m', 'from a client'],
      ...(target === undefined ? [] : ['-e', target, '--wait']),
    ],
    env: (origin: string, key: string) => ({MRT_CLOUD_ORIGIN: origin, MRT_API_KEY: key, MRT_BUNDLE_TYPE: 'ssr'}),
  },
} as const;

async function push(
  client: keyof typeof commands,
  {origin, credentials}: Runtime,
  {
    target,
    key = credentials.apiKey,
    cwd,
  }: {readonly target?: string; readonly key?: string; readonly cwd?: string} = {},
): Promise<Ended> {
  const {script, args, env} = commands[client];
  return runCli(join(clients, client, 'node_modules', script), args(target), {
    cwd: cwd ?? (await makeFolder(projectFiles())),
    // Both ask npm for the project's dependencies; it is not to ask anybody else.
    env: {
      HOME: await makeFolder(),
      npm_config_update_notifier: 'false',
      npm_config_offline: 'true',
      ...env(origin, key),
    },
  });
}

async function ask({origin, credentials}: Runtime, path: string): Promise<unknown> {
  const response = await fetch(`${origin}/api/${path}`, {headers: {authorization: `Bearer ${credentials.apiKey}`}});
  expect(response.status).toBe(200);
  return response.json();
}

describe.each(['pwa-kit-dev', 'storefront-next-dev'] as const)('%s', (client) => {
  test('pushes, deploys and waits until the bundle is served', async () => {
    const runtime = await startRuntime();
    const {code, stdout, stderr} = await push(client, runtime, {target: 'staging'});
    expect([code, stdout + stderr]).toEqual([0, expect.any(String)]);
    expect(await ask(runtime, 'projects/shop/target/staging/')).toMatchObject({
      state: 'ACTIVE',
      current_deploy: {bundle: {id: 1, message: 'from a client'}},
    });
    const site = `${runtime.appsOrigin}/shop/staging`;
    expect(await (await fetch(`${site}/static/index.html`)).text()).toBe('<h1>shop</h1>');
    expect((await fetch(`${site}/ssr.js`)).status).toBe(404);
    expect((await fetch(`${site}/server/entry.mjs`)).status).toBe(404);
  });

  test('pushes without a target, and the command line sees and deploys the bundle', async () => {
    const runtime = await startRuntime();
    expect(await push(client, runtime)).toMatchObject({code: 0});
    const env = {MYCLI_RUNTIME_ORIGIN: runtime.origin, MYCLI_API_KEY: runtime.credentials.apiKey};
    const list = await runCli(binary, ['bundle:list', '--json', '-p', 'shop'], {env});
    expect(JSON.parse(list.stdout)).toMatchObject({bundles: [{bundleId: 1, message: 'from a client'}]});
    const deploy = await runCli(
      binary,
      ['bundle:deploy', 'latest', '--json', '-p', 'shop', '-t', 'production', '--wait'],
      {env},
    );
    expect(JSON.parse(deploy.stdout)).toMatchObject({bundleId: 1, status: 'finished'});
    expect((await fetch(`${runtime.appsOrigin}/shop/production/client/app.js`)).status).toBe(200);
  });

  test('says what the runtime says when it is refused', async () => {
    const {code, stdout, stderr} = await push(client, await startRuntime(), {key: 'wrong'});
    expect(code).not.toBe(0);
    expect(stdout + stderr).toContain('Unknown API key.');
  });
});

/** Takes one v1 upload, and returns its body without the archive. */
async function recordUpload(run: (origin: string) => Promise<Ended>): Promise<unknown> {
  let uploaded = '';
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      if (request.method === 'POST') uploaded = body;
      response.setHeader('content-type', 'application/json').end('{"bundle_id": 1, "warnings": []}');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const {port} = server.address() as AddressInfo;
  const {code, stdout, stderr} = await run(`http://127.0.0.1:${String(port)}`);
  server.close();
  expect([code, stdout + stderr]).toEqual([0, expect.any(String)]);
  const {data, ssr_only, ssr_shared, ...others} = JSON.parse(uploaded) as Record<string, string> & {
    readonly ssr_only: readonly string[];
    readonly ssr_shared: readonly string[];
  };
  return {
    ...others,
    ssr_only: ssr_only.toSorted(),
    ssr_shared: ssr_shared.toSorted(),
    files: await filesIn(Buffer.from(String(data), 'base64')),
  };
}

/** The files of an archive, as text, by path. */
async function filesIn(archive: Buffer): Promise<Readonly<Record<string, string>>> {
  const files: Record<string, string> = {};
  for await (const entry of Readable.from([archive]).pipe(extract())) {
    const {name, type} = entry.header;
    const content = await text(entry);
    if (type === 'file') files[name] = content;
  }
  return files;
}

/** Packages as npm installs them, and its record of them. */
function installed(packages: Readonly<Record<string, object>>): Tree {
  const entries = Object.entries(packages);
  const lock = {lockfileVersion: 3, requires: true, packages};
  return {
    'node_modules/.package-lock.json': JSON.stringify(lock),
    ...Object.fromEntries(
      entries.map(([path, manifest]) => {
        const name = path.replace(/^.*node_modules\//, '');
        return [`${path}/package.json`, JSON.stringify({name, ...manifest})];
      }),
    ),
  };
}

test.each([
  ['pwa-kit-dev', '@salesforce/pwa-kit-dev', {}],
  ['storefront-next-dev', '@salesforce/storefront-next-dev', {bundle_metadata: expect.any(Object) as unknown}],
] as const)('mycli uploads in v1 what %s uploads of the same build', async (client, name, more) => {
  const cwd = await makeFolder({
    ...projectFiles({[name]: '*', template: '1.0.0'}),
    ...installed({
      'node_modules/react': {version: '19.0.0'},
      [`node_modules/${name}`]: {version: '3.10.0'},
      'node_modules/template': {
        version: '1.0.0',
        dependencies: {'@salesforce/pwa-kit-runtime': '3.9.0', [name]: '3.9.0'},
      },
      'node_modules/@salesforce/pwa-kit-runtime': {version: '3.9.0'},
      [`node_modules/template/node_modules/${name}`]: {version: '3.9.0'},
    }),
    ...(client === 'storefront-next-dev' && {
      'config.server.ts': 'export default {runtime: {ssrParameters: {envBasePath: "/shop"}}};',
      'build/client/button.stories.tsx': 'left out',
    }),
    'overrides/app/routes.jsx': '',
    'node_modules/template/app/routes.jsx': '',
  });
  const credentials = {apiKey: 'key'};
  const theirs = await recordUpload((origin) => push(client, {origin, appsOrigin: '', credentials}, {cwd}));
  const env = {MYCLI_API_KEY: 'key'};
  const ours = await recordUpload((origin) =>
    runCli(binary, ['push', '--origin', origin, '-p', 'shop', '-m', 'from a client', '--no-target'], {cwd, env}),
  );
  expect(ours).toEqual({...(theirs as object), ...more});
});
