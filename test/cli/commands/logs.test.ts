import {once} from 'node:events';
import https from 'node:https';
import {createInterface} from 'node:readline';
import {expect, test} from 'vitest';
import {WebSocketServer} from 'ws';
import {makeFolder} from '../../folder.js';
import {createAuthority} from '../../http/certificates.js';
import {startProxy} from '../../http/proxies.js';
import {startOn} from '../../http/with-server.js';
import {binary, start} from '../spawn-cli.js';

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
  expect(stderr).toContain('The connection was closed. Connecting again.\n');
  expect(stdout + stderr).not.toContain('canary');
  const query = '/?project=shop&environment=staging&access_token=canary-token-';
  expect(connections.slice(0, 2)).toEqual([1, 2].map((at) => `${logs}:${port}${query}${at}`));
  expect(new Set(proxy.seen.map(({url}) => url))).toEqual(new Set([`${cloud}:${port}`, `${logs}:${port}`]));
});
