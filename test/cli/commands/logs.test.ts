import {once} from 'node:events';
import {writeFile} from 'node:fs/promises';
import {createServer} from 'node:http';
import https from 'node:https';
import {join} from 'node:path';
import {createInterface} from 'node:readline';
import {expect, test} from 'vitest';
import {WebSocketServer} from 'ws';
import {makeFolder} from '../../folder.js';
import {createAuthority} from '../../http/certificates.js';
import {startProxy} from '../../http/proxies.js';
import {startOn, startServer} from '../../http/with-server.js';
import {binary, runCli, start} from '../spawn-cli.js';
import {createRuntimeBench} from '../with-runtime.js';

const [cloud, logs] = ['cloud.example.test', 'logs.example.test'];

/** A service whose connections for logs end after an entry. Each needs a token of its own. */
async function startService(certificate: {readonly key: string; readonly cert: string}, entries: readonly string[]) {
  let issued = 0;
  const connections: string[] = [];
  const server = https.createServer(certificate, ({method, url}, response) => {
    const isToken = method === 'POST' && url === '/api/projects/shop/target/staging/jwt/';
    if (isToken) issued += 1;
    response.writeHead(isToken ? 200 : 404, {'content-type': 'application/json'});
    response.end(JSON.stringify(isToken ? {token: `canary-token-${issued}`} : {}));
  });
  new WebSocketServer({server}).on('connection', (socket, {url, headers}) => {
    const message = entries[connections.length];
    connections.push(`${String(headers.host)}${String(url)}`);
    // The last connection stays.
    if (message === undefined) return;
    socket.send('');
    socket.send(JSON.stringify([{message}]));
    socket.close();
  });
  return {...(await startOn(server, 'https')), connections};
}

test('logs connect again with a new token, through a proxy, with the certificates of the user', async () => {
  const authority = createAuthority();
  const entries = [
    '2026-11-27T12:00:00.000Z\tr-1\tWARN\tred \u001B[31malert\u001B[0m\u0007\n',
    'ERROR \u001B]0;title\u0007no tab',
  ];
  const {port, connections} = await startService(authority.issue(`DNS:${cloud}`, `DNS:${logs}`), entries);
  const proxy = await startProxy();
  const cwd = await makeFolder();
  const env = {
    MYCLI_RUNTIME_ORIGIN: `https://${cloud}:${port}`,
    MYCLI_API_KEY: 'canary-key',
    HTTPS_PROXY: proxy.origin,
    NODE_EXTRA_CA_CERTS: authority.file,
  };
  const args = ['logs', '--project', 'shop', '--target', 'staging', '--json'];
  const {child, ended} = start(binary, args, {cwd, env});
  if (child.stdout === null) throw new Error('no stdout');
  const lines = createInterface({input: child.stdout});
  await once(lines, 'line');
  await once(lines, 'line');
  child.kill('SIGINT');
  const {code, stdout, stderr} = await ended;
  expect(code, stderr).toBe(0);
  expect(
    stdout
      .trimEnd()
      .split('\n')
      .map((line): unknown => JSON.parse(line)),
  ).toEqual([
    {schemaVersion: 1, time: '2026-11-27T12:00:00.000Z', requestId: 'r-1', level: 'WARN', message: 'red alert'},
    {schemaVersion: 1, level: 'ERROR', message: 'no tab'},
  ]);
  expect(stderr).toContain('The connection was closed. Reconnecting.\n');
  expect(stderr).toMatch(/Reconnected\. Entries from \S+Z to \S+Z may be missing\.\n/);
  expect(stdout + stderr).not.toContain('canary');
  const query = '/?project=shop&environment=staging&access_token=canary-token-';
  expect(connections.slice(0, 2)).toEqual([1, 2].map((at) => `${logs}:${port}${query}${at}`));
  expect(new Set(proxy.seen.map(({url}) => url))).toEqual(new Set([`${cloud}:${port}`, `${logs}:${port}`]));
});

test('logs --since counts by the clock of the service', async () => {
  // An hour ahead of this machine.
  const serviceTime = (agoMinutes: number) => new Date(Date.now() + (60 - agoMinutes) * 60_000);
  const server = createServer((_, response) => {
    response.writeHead(200, {'content-type': 'application/json', date: serviceTime(0).toUTCString()});
    response.end('{"token": "canary-token"}');
  });
  new WebSocketServer({server}).on('connection', (socket) => {
    const entries = [30, 1].map((ago) => ({message: `${serviceTime(ago).toISOString()}\tr-1\tINFO\t${ago} min ago`}));
    socket.send(JSON.stringify(entries));
  });
  const {origin} = await startOn(server, 'http');
  const env = {MYCLI_RUNTIME_ORIGIN: origin, MYCLI_LOGS_ORIGIN: origin, MYCLI_API_KEY: 'canary-key'};
  const args = ['logs', '--project', 'shop', '--target', 'staging', '--since', '5m', '--json'];
  const {child, ended} = start(binary, args, {cwd: await makeFolder(), env});
  if (child.stdout === null) throw new Error('no stdout');
  await once(createInterface({input: child.stdout}), 'line');
  child.kill('SIGINT');
  const {code, stdout, stderr} = await ended;
  expect(code, stderr).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({message: '1 min ago'});
});

/** What `logs` prints for entries of a service, until it has printed so many lines. */
async function printed(entries: readonly object[], args: readonly string[], lines: number) {
  const server = createServer((_, response) => response.end('{"token": "canary-token"}'));
  new WebSocketServer({server}).on('connection', (socket) => socket.send(JSON.stringify(entries)));
  const {origin} = await startOn(server, 'http');
  const env = {MYCLI_RUNTIME_ORIGIN: origin, MYCLI_LOGS_ORIGIN: origin, MYCLI_API_KEY: 'canary-key'};
  const following = ['logs', '--project', 'shop', '--target', 'staging', ...args];
  const {child, ended} = start(binary, following, {cwd: await makeFolder(), env});
  if (child.stdout === null) throw new Error('no stdout');
  let seen = 0;
  createInterface({input: child.stdout}).on('line', () => {
    seen += 1;
    if (seen === lines) child.kill('SIGINT');
  });
  return ended;
}

test('logs keep the indentation of a stack trace, whether it is one entry or several', async () => {
  const entries = [
    {message: 'ERROR TypeError: no price\n    at cart (cart.js:1:1)\n2026-11-27T12:00:00.000Z  INFO  forged'},
    {message: '    at page (page.js:2:2)'},
  ];
  expect((await printed(entries, [], 4)).stdout).toBe(
    'ERROR  TypeError: no price\n      at cart (cart.js:1:1)\n  2026-11-27T12:00:00.000Z  INFO  forged\n    at page (page.js:2:2)\n',
  );
});

test('logs --since counts the timestamp of an entry whose text has no time', async () => {
  const entries = [60, 1].map((minutes) => ({message: `${minutes} min ago`, timestamp: Date.now() - minutes * 60_000}));
  expect((await printed(entries, ['--since', '5m'], 1)).stdout).toMatch(/^\d{4}-\S+Z {2}1 min ago\n$/);
});

test('logs show and count the timestamp of an entry, whatever time and zone its text has', async () => {
  const now = Date.now();
  const entryOf = (text: string, minutesAgo: number) => ({
    message: `${text}\tr-1\tINFO\t${String(minutesAgo)} min ago`,
    timestamp: now - minutesAgo * 60_000,
  });
  const entries = [entryOf(new Date(now).toISOString(), 60), entryOf('2001-01-01T00:00:00.000+09:00', 1)];
  const {stdout} = await printed(entries, ['--since', '5m', '--json'], 1);
  expect(JSON.parse(stdout)).toMatchObject({message: '1 min ago', time: new Date(now - 60_000).toISOString()});
});

test('logs --request has the entries of one request, and says once that others have none', async () => {
  const entries = ['', 'r-1', '', 'r-2'].map((id) => ({message: `2026-11-27T12:00:00.000Z\t${id}\tINFO\tof ${id}`}));
  const {stdout, stderr} = await printed(entries, ['--request', 'r-2'], 1);
  expect(stdout).toBe('2026-11-27T12:00:00.000Z  INFO   r-2  of r-2\n');
  expect(stderr.match(/Entries without a request ID/g)).toHaveLength(1);
});

test.each([
  ['runtime runs no servers', {}, 'push --target staging --wait', '--ssr'],
  ['bundle has no server', {ssr: true}, 'push build/static --static --target staging --wait', 'bundle has no server'],
  ['target runs nothing', {ssr: true}, 'target:create staging --runtime-backend legacy', 'Nothing is deployed'],
])('logs say so once, whatever they leave out, if the %s', async (_, options, before, reason) => {
  await using bench = await createRuntimeBench({}, options);
  expect((await bench.mycli(before.split(' '))).code).toBe(0);
  const filters = ['--level', 'error', '--grep', 'checkout', '--since', '1m', '--request', 'r-1'];
  const args = ['logs', '--target', 'staging', '--runtime-backend', 'legacy', ...filters];
  const {child, ended} = start(binary, args, {cwd: bench.project, env: bench.env});
  if (child.stderr === null) throw new Error('no stderr');
  createInterface({input: child.stderr}).on('line', (line) => {
    if (line.includes(reason)) child.kill('SIGINT');
  });
  const {stdout, stderr} = await ended;
  expect(stdout).toBe('');
  expect(stderr.split(reason), stderr).toHaveLength(2);
});

test('logs send the token of a login to no address that only a configuration file sets', async () => {
  await using bench = await createRuntimeBench();
  const {origin, credentials} = bench.runtime;
  const env = {MYCLI_RUNTIME_ORIGIN: '', MYCLI_API_KEY: '', MYCLI_RUNTIME_BACKEND: 'legacy'};
  const evil = await startServer((_, response) => response.writeHead(404).end());
  const args = ['auth:login', '--kind', 'api-key', '--origin', origin];
  const login = await runCli(binary, args, {env: {...bench.env, ...env}, stdin: credentials.apiKey});
  expect(login.code, login.stderr).toBe(0);
  await writeFile(join(bench.project, 'mycli.config.json'), JSON.stringify({logsOrigin: evil.origin}));
  const tokens = () => bench.runtime.requests.filter(({path}) => path.endsWith('/jwt/'));
  const {code, stdout} = await bench.mycli(['logs', '--target', 'staging', '--json'], env);
  expect(code).toBe(3);
  const {error} = JSON.parse(stdout) as {error: {code: string; message: string; suggestions: string[]}};
  expect(error.code).toBe('ERR_ORIGIN_UNTRUSTED');
  expect(error.message).toContain(`The credentials stored for ${origin} would go to ${evil.origin}`);
  expect(error.suggestions.join()).toContain(`set MYCLI_LOGS_ORIGIN to ${evil.origin}`);
  expect(tokens()).toEqual([]);
  // Whoever names the address means it, and other commands send nothing there.
  const named = await bench.mycli(['logs', '--target', 'staging', '--json'], {...env, MYCLI_LOGS_ORIGIN: evil.origin});
  expect(JSON.parse(named.stdout)).not.toMatchObject({error: {code: 'ERR_ORIGIN_UNTRUSTED'}});
  expect((await bench.mycli(['bundle:list'], env)).code).toBe(0);
});

test('logs end on a signal in the middle of a message with millions of entries', async () => {
  const server = createServer((_, response) => response.end('{"token": "canary-token"}'));
  new WebSocketServer({server}).on('connection', (socket) => {
    socket.send(JSON.stringify([{message: 'match first'}]));
    socket.send(`[${'0,'.repeat(3_000_000)}"match last"]`);
  });
  const {origin} = await startOn(server, 'http');
  const env = {MYCLI_RUNTIME_ORIGIN: origin, MYCLI_API_KEY: 'canary-key', MYCLI_LOGS_ORIGIN: origin};
  const args = ['logs', '--project', 'shop', '--target', 'staging', '--grep', 'match'];
  const {child, ended} = start(binary, args, {cwd: await makeFolder(), env});
  if (child.stdout === null) throw new Error('no stdout');
  await once(createInterface({input: child.stdout}), 'line');
  child.kill('SIGINT');
  expect(await ended).toMatchObject({code: 0, stdout: 'match first\n'});
});

test('logs of a target that is missing do not claim to be followed', async () => {
  await using bench = await createRuntimeBench({MYCLI_RUNTIME_BACKEND: 'legacy'});
  await bench.mycli(['push', '--target', 'staging']);
  const {code, stderr} = await bench.mycli(['logs', '--target', 'nope']);
  expect(code, stderr).toBe(7);
  expect(stderr).toContain('Error: The project "shop" has no target "nope".\n');
  expect(stderr).not.toContain('Following');
});
