import {mkdir, readdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {makeFolder} from '../../folder.js';
import {smallBuild} from '../../bundle/project.js';
import {createAuthority} from '../../http/certificates.js';
import {startProxy} from '../../http/proxies.js';
import {startTlsServer} from '../../http/with-server.js';
import {startRecordingServer, type RecordingServer} from '../../recording-server.js';
import {binary, runCli} from '../spawn-cli.js';
import {runWarm} from '../warm-cli.js';

const token = 'canary-token.fetched-4711.signature';

function apiEnvironment({origin}: Pick<RecordingServer, 'origin'>, cwd: string) {
  return {
    HOME: cwd,
    MYCLI_API_ORIGIN: origin,
    MYCLI_ORGANIZATION: 'org',
    MYCLI_TOKEN_URL: `${origin}/token`,
    MYCLI_CLIENT_ID: 'client',
    MYCLI_CLIENT_SECRET: 'canary-client-secret',
    MYCLI_RUNTIME_BACKEND: 'api',
    MYCLI_PROJECT: 'shop',
  };
}

/** A service that repeats the token wherever it can. */
async function startRepeatingServer() {
  return startRecordingServer(({path, method}) => {
    if (path === '/token') return {status: 200, body: {access_token: token, expires_in: 3600}};
    const bundle = {bundleId: 7, description: `x ${token}`, status: 'ok', createdBy: token, [token]: token};
    if (path.includes('/environments/')) {
      const deployment = {deploymentId: token, status: 'finished', statusMessage: token, bundle};
      return {status: method === 'POST' ? 201 : 200, body: {...deployment, data: [deployment], total: 1}};
    }
    if (method === 'POST')
      return {status: 201, body: {...bundle, warnings: [`you sent ${token}`], matches: {ssrOnly: [token]}}};
    return {status: 200, body: {limit: 25, offset: 0, total: 1, data: [bundle]}};
  });
}

test.each([
  [['bundle:list']],
  [['bundle:list', '--json']],
  [['bundle:history', '--target', 'staging']],
  [['bundle:history', '--target', 'staging', '--json']],
  [['bundle:push', '--target', 'staging', '--wait']],
  [['bundle:push', '--target', 'staging', '--wait', '--json']],
  [['bundle:push', '--target', 'staging', '--debug']],
  [['bundle:deploy', '7', '--target', 'staging']],
])('%j: a token that was fetched is masked in what the server says of success', async (args) => {
  await using server = await startRepeatingServer();
  const cwd = await makeFolder(smallBuild);
  const [output, summary] = [join(cwd, 'output'), join(cwd, 'summary')];
  const env = {...apiEnvironment(server, cwd), GITHUB_OUTPUT: output, GITHUB_STEP_SUMMARY: summary};
  const {stdout, stderr, code} = await runWarm(args, {cwd, env});
  expect(code, stderr).toBe(0);
  const written = await Promise.all([output, summary].map(async (file) => readFile(file, 'utf8').catch(() => '')));
  const everything = [stdout, stderr, ...written].join('\n');
  expect(everything).not.toContain('canary');
  expect(everything).toContain('***');
});

test('no namespace of DEBUG, of any package in dist, shows a secret', async () => {
  const dist = join(import.meta.dirname, '../../../dist');
  const files = (await readdir(dist, {recursive: true})).filter((file) => file.endsWith('.js'));
  const sources = await Promise.all(files.map(async (file) => readFile(join(dist, file), 'utf8')));
  const quoted = sources.flatMap((source) => [...source.matchAll(/[dD]ebug\w*(?:\.default)?\)?\("([\w@/:-]+)"\)/g)]);
  const namespaces = new Set(quoted.map(([, name]) => name));
  await using server = await startRepeatingServer();
  const proxy = await startProxy();
  const cwd = await makeFolder(smallBuild);
  const {port} = new URL(server.origin);
  const env = {
    ...apiEnvironment({origin: `http://api.example.test:${port}`}, cwd),
    HTTP_PROXY: proxy.origin.replace('http://', 'http://user:canary-proxy@'),
  };
  const known = 'agent-base,http-proxy-agent,https-proxy-agent*,proxy*,got*,oclif*,config*,cli*,keyv*,tar*';
  for (const DEBUG of ['*', '*,-mycli*', [known, ...namespaces].join(',')]) {
    const {stdout, stderr, code} = await runCli(binary, ['bundle:push'], {cwd, env: {...env, DEBUG}});
    expect(code, stderr).toBe(0);
    expect(stdout + stderr).not.toMatch(/canary|Y2FuYXJ5/);
    expect(proxy.seen.at(-1)?.credentials).toBe(`Basic ${Buffer.from('user:canary-proxy').toString('base64')}`);
  }
});

test('no namespace of DEBUG shows an API key, the content of the bundle, or the password of an https proxy', async () => {
  const authority = createAuthority();
  const keys: (string | undefined)[] = [];
  const server = await startTlsServer(({headers}, response) => {
    keys.push(headers.authorization);
    response.writeHead(403).end(`{"detail":"no ${String(headers.authorization)}"}`);
  }, authority.issue('DNS:api.example.test'));
  const proxy = await startProxy({tls: authority.issue('IP:127.0.0.1')});
  const cwd = await makeFolder({...smallBuild, 'build/ssr.js': 'export default "canary-content";\n'});
  const env = {
    HOME: cwd,
    HTTPS_PROXY: proxy.origin.replace('https://', 'https://user:canary-proxy@'),
    NODE_EXTRA_CA_CERTS: authority.file,
    MYCLI_API_KEY: 'canary-key',
    MYCLI_RUNTIME_ORIGIN: `https://api.example.test:${server.port}`,
  };
  for (const [DEBUG, ...args] of [['*'], ['*,-mycli*', '--json'], ['*', '--debug']] as const) {
    const push = ['bundle:push', '-p', 'shop', '--runtime-backend', 'legacy', ...args];
    const {stdout, stderr, code} = await runCli(binary, push, {cwd, env: {...env, DEBUG}});
    expect(code, stderr).toBe(4);
    // As it is, and at each of the ways in which base64 aligns it.
    expect(stdout + stderr).not.toMatch(/canary|Y2FuYXJ5|NhbmFye|jYW5hcn/);
    expect(keys.at(-1)).toBe('Bearer canary-key');
    expect(proxy.seen.at(-1)?.credentials).toBe(`Basic ${Buffer.from('user:canary-proxy').toString('base64')}`);
  }
});

const list = ['bundle:list', '-p', 'shop'];

// Each command shows an origin in its own way, of one that is no URL all show the same: the first meets them all.
test.each([
  ['https://user:canary@ho st', [list, ['config:show'], ['auth:status'], ['backend:list']]],
  ['user:can@canary@ho st', [list, ['config:show']]],
  ['https://ho st/?token=canary', [['auth:status']]],
  ['https://ho st/#canary', [['backend:list']]],
])('an origin that is no URL is named without its secrets: %s', async (origin, commands) => {
  const cwd = await makeFolder(smallBuild);
  const env = {HOME: cwd, MYCLI_API_KEY: 'some-key'};
  for (const args of commands) {
    const asFlag = await runWarm([...args, '--origin', origin], {cwd, env});
    const asVariable = await runWarm([...args, '--json'], {cwd, env: {...env, MYCLI_RUNTIME_ORIGIN: origin}});
    const everything = [asFlag, asVariable].map(({stdout, stderr}) => stdout + stderr).join('\n');
    expect(everything, args.join(' ')).not.toContain('canary');
  }
});

test('a password in a URL of an option is masked, also where it is quoted, and init does not write it', async () => {
  const password = `it's-a "long" pw`;
  const service = `{
    apiVersion: 1, name: 'zed', summary: 'Zed', formats: ['v2'],
    upload: async () => ({bundleId: 1, raw: {}}),
    listBundles: async (_, {options: {url}}) => {
      throw new Error(\`Zed at \${url} refused \${JSON.stringify(url.slice(12, -10))}\`);
    },
  }`;
  const cwd = await makeFolder({
    ...smallBuild,
    'zed/package.json': JSON.stringify({
      ...{name: 'mycli-plugin-zed', version: '1.0.0', type: 'module'},
      oclif: {hooks: {'mycli:backends': './hook.js'}},
    }),
    'zed/hook.js': `export default async () => ({backends: [${service}]});`,
  });
  const plugins = [{name: 'mycli-plugin-zed', root: join(cwd, 'zed'), type: 'link'}];
  await mkdir(join(cwd, 'data/mycli'), {recursive: true});
  await writeFile(join(cwd, 'data/mycli/package.json'), JSON.stringify({oclif: {schema: 1, plugins}}));
  const url = `redis://ops:${password}@127.0.0.1`;
  const env = {
    ...{HOME: cwd, XDG_DATA_HOME: join(cwd, 'data'), MYCLI_PROJECT: 'shop', MYCLI_RUNTIME_BACKEND: 'zed'},
    MYCLI_BACKEND_OPTION: JSON.stringify({url}),
  };
  for (const args of [
    ['list'],
    ['list', '--json', '--debug'],
    ['config:show'],
    ['doctor'],
    ['push'],
    ['init', '--yes'],
  ]) {
    const {stdout, stderr} = await runWarm(args, {cwd, env});
    expect(stdout + stderr).toMatch(/zed|url was not written to the configuration/);
    expect(stdout + stderr).not.toMatch(/it'|long|pw/);
  }
  const file = (await readdir(cwd)).find((name) => name.startsWith('mycli.config')) ?? '';
  expect(await readFile(join(cwd, file), 'utf8')).not.toMatch(/redis|pw/);
  const {stderr} = await runWarm(['list'], {cwd, env: {...env, MYCLI_BACKEND_OPTION: 'user=ops,password=ab,cd'}});
  expect(stderr).toContain('A value with a comma needs JSON: {"key": "a,b"}');
});
