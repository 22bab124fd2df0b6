import {execFile, spawn} from 'node:child_process';
import {randomUUID} from 'node:crypto';
import {once} from 'node:events';
import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {createServer, request, type IncomingMessage} from 'node:http';
import type {AddressInfo} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import {promisify} from 'node:util';

/** The credentials for which tokens are given, as variables. */
export const env = {OCI_USERNAME: 'publisher', OCI_PASSWORD: 'correct-horse-battery-staple'};
/** The form in which they are sent. */
export const basic = Buffer.from(`${env.OCI_USERNAME}:${env.OCI_PASSWORD}`).toString('base64');

/** Debian's registry on this machine, behind a server that gives tokens, as public registries do. */
export interface TestRegistry extends AsyncDisposable {
  readonly url: string;
  /** The folder of its repositories. */
  readonly files: string;
  /** The tokens that were given. */
  readonly tokens: readonly string[];
  /** Removes what no tag leads to any more, as an operator does from time to time. */
  collectGarbage(): Promise<void>;
}

export async function startRegistry(): Promise<TestRegistry> {
  const base = await mkdtemp(join(tmpdir(), 'mycli-oci-'));
  const port = await freePort();
  const config = join(base, 'config.yml');
  await writeFile(
    config,
    JSON.stringify({
      version: '0.1',
      log: {level: 'error', accesslog: {disabled: true}},
      storage: {
        filesystem: {rootdirectory: base},
        delete: {enabled: true},
        maintenance: {uploadpurging: {enabled: false}},
      },
      http: {addr: `127.0.0.1:${port}`},
    }),
  );
  // It ends with the input, so that it does not outlive a test that is killed.
  const script = 'docker-registry serve "$0" & server=$!; cat; kill $server; wait $server';
  const child = spawn('sh', ['-c', script, config], {stdio: ['pipe', 'ignore', 'ignore']});
  const direct = `http://127.0.0.1:${port}`;
  while ((await fetch(direct).catch(() => undefined)) === undefined) await delay(20);

  const tokens: string[] = [];
  const server = createServer((incoming, outgoing) => {
    const {authorization = '', host = ''} = incoming.headers;
    if (incoming.url?.startsWith('/token') && authorization === `Basic ${basic}`) {
      const token = randomUUID();
      tokens.push(token);
      outgoing.end(JSON.stringify({token}));
      return;
    }
    if (!tokens.includes(authorization.replace('Bearer ', ''))) {
      const challenge = `Bearer realm="http://${host}/token",service="test"`;
      outgoing.writeHead(401, {'www-authenticate': challenge}).end();
      incoming.resume();
      return;
    }
    const onward = request(new URL(incoming.url ?? '', direct), {method: incoming.method, headers: incoming.headers});
    onward.once('error', () => outgoing.destroy());
    onward.once('response', (answer: IncomingMessage) => {
      outgoing.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(onward);
    incoming.once('close', () => incoming.complete || onward.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    files: join(base, 'docker/registry/v2'),
    tokens,
    async collectGarbage() {
      await promisify(execFile)('docker-registry', ['garbage-collect', '--delete-untagged', config]);
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await once(server.close(), 'close');
      child.stdin.end();
      await once(child, 'close');
      await rm(base, {recursive: true});
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const {port} = server.address() as AddressInfo;
  await once(server.close(), 'close');
  return port;
}
