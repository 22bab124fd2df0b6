import {once} from 'node:events';
import {createServer, type IncomingHttpHeaders, type IncomingMessage} from 'node:http';
import type {AddressInfo} from 'node:net';
import type {ConformanceFixtures, ConformanceService} from '../../src/testing.js';

interface ShelvedBundle {
  readonly id: string;
  readonly message: string;
  readonly createdAt: string;
  readonly bytes: Buffer;
}

interface ShelvedDeployment {
  readonly id: string;
  readonly bundleId: string;
  readonly createdAt: string;
  /** The status after the first look. */
  readonly end: string;
  looks: number;
}

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

type Suite = Parameters<ConformanceFixtures['openService']>[0];

export const shelfKey = 'canary-shelf-key-b81e';
const shelfPassword = 'canary-shelf-password-3a90';
const shelfTargets: ReadonlySet<string> = new Set(['staging', 'production']);
const shelfSeal = 'canary-shelf-seal-07c2';

/**
 * A small hosting service in memory, with a protocol of its own, for the backend `shelf` and its broken relatives:
 * `/PROJECT/bundles[/ID]`, `/PROJECT/targets[/TARGET[/ID]]`, `/PROJECT/logs/TARGET/ID/START`, `/login` and `/me`.
 */
export async function openShelf({through}: Suite = {through: async (origin) => origin}): Promise<ConformanceService> {
  const bundles = new Map<string, ShelvedBundle[]>();
  const deployments = new Map<string, ShelvedDeployment[]>();
  /** Secrets that only the uploader of a sealed bundle learns, or who logs in. */
  const receipts: string[] = [];
  let [busy, doomed, ids] = [false, false, 0];
  // Slugs and ids: another service does not have the ids of this one.
  const prefix = Math.random().toString(36).slice(2, 8);

  const answer = (method: string, path: readonly string[], body: Buffer, headers: IncomingHttpHeaders): Answer => {
    const [project = '', kind, name, id, place] = path;
    const shelf = bundles.get(project) ?? [];
    if (kind === 'bundles' && method === 'POST') {
      const id = `${prefix}-${String((ids += 1))}`;
      const createdAt = new Date().toISOString();
      const bundle = {id, message: decodeURIComponent(String(headers['x-message'])), createdAt, bytes: body};
      bundles.set(project, [bundle, ...shelf]);
      if (headers['x-seal'] !== shelfSeal) return {status: 201, body: {id: bundle.id}};
      const receipt = `canary-receipt-${bundle.id}`;
      receipts.push(receipt);
      return {status: 201, body: {id: bundle.id, receipt}};
    }
    if (kind === 'bundles' && name === undefined) {
      const runs = [...deployments].flatMap(([target, [newest]]) =>
        newest && target.startsWith(`${project}/`)
          ? [{target: target.slice(project.length + 1), id: newest.bundleId}]
          : [],
      );
      const rows = shelf.map(({id, message, createdAt}) => ({
        ...{id, message, createdAt},
        inUseBy: runs.flatMap((run) => (run.id === id ? [run.target] : [])),
      }));
      return {status: 200, body: rows};
    }
    if (kind === 'bundles') {
      const bundle = shelf.find((one) => one.id === name);
      if (!bundle) return {status: 404, body: {detail: 'no such bundle'}};
      if (method === 'GET') return archiveAnswer(bundle, headers);
      bundles.set(
        project,
        shelf.filter((one) => one !== bundle),
      );
      return {status: 204};
    }
    if (name === undefined) {
      const used = [...deployments.keys()].filter((target) => target.startsWith(`${project}/`));
      return {status: 200, body: used.map((target) => ({slug: target.slice(project.length + 1)}))};
    }
    if (!shelfTargets.has(name)) return {status: 404, body: {detail: 'no such target'}};
    const target = `${project}/${name}`;
    const history = deployments.get(target) ?? [];
    if (method === 'POST') {
      if (busy) return {status: 409, body: {detail: 'another deployment is running'}};
      const {bundleId, from} = JSON.parse(body.toString()) as {bundleId: string; from?: string};
      if (!shelf.some((one) => one.id === bundleId)) return {status: 404, body: {detail: 'no such bundle'}};
      const isRun = deployments.get(`${project}/${String(from)}`)?.[0]?.bundleId === bundleId;
      if (from !== undefined && !isRun) return {status: 412, body: {detail: 'the target runs another bundle'}};
      const createdAt = new Date().toISOString();
      const end = doomed ? 'failed' : 'finished';
      const deployment = {id: `${prefix}-${String((ids += 1))}`, bundleId, createdAt, end, looks: 0};
      deployments.set(target, [deployment, ...history]);
      return {status: 202, body: {id: deployment.id}};
    }
    if (id === undefined) return {status: 200, body: history.map(({end, ...row}) => ({...row, status: end}))};
    const deployment = history.find((one) => one.id === id);
    if (!deployment) return {status: 404, body: {detail: 'no such deployment'}};
    if (kind === 'logs') {
      const log = ['one moment', `copying ${deployment.bundleId}`, '', `${deployment.id} is done`];
      const [start, end] = [Number(place), Number(place) + 2];
      return {
        status: 200,
        body: {lines: log.slice(start, end), next: String(Math.min(end, log.length)), of: log.length},
      };
    }
    deployment.looks += 1;
    return {status: 200, body: {status: deployment.looks > 1 ? deployment.end : 'in_progress'}};
  };

  /** A password is good for a ticket, and a ticket for the key. */
  const logIn = ({password, ticket}: {readonly password?: string; readonly ticket?: string}): Answer => {
    if (ticket !== undefined && receipts.includes(ticket)) return {status: 200, body: {key: shelfKey}};
    if (password !== shelfPassword) return {status: 401};
    const issued = `canary-ticket-${prefix}-${String((ids += 1))}`;
    receipts.push(issued);
    return {status: 200, body: {ticket: issued}};
  };

  const respond = (request: IncomingMessage, body: Buffer): Answer => {
    const path = (request.url ?? '').slice(1).split('/');
    if (path[0] === 'login') return logIn(JSON.parse(body.toString()) as {password?: string; ticket?: string});
    if (request.headers.authorization !== `Bearer ${shelfKey}`) return {status: 401};
    if (path[0] === 'me') return {status: 200, body: {account: 'ann'}};
    return answer(request.method ?? '', path, body, request.headers);
  };

  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const {status, headers, body} = respond(request, Buffer.concat(pieces));
      response
        .writeHead(status, headers)
        .end(body === undefined || Buffer.isBuffer(body) ? body : JSON.stringify(body));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    options: {
      origin: await through(`http://127.0.0.1:${String((server.address() as AddressInfo).port)}`),
      key: shelfKey,
    },
    env: {SHELF_SEAL: shelfSeal},
    secrets: [shelfKey, shelfSeal],
    issuedSecrets: () => receipts,
    answer: () => shelfPassword,
    readUploaded: async (bundleId) => {
      const found = [...bundles.values()].flat().find(({id}) => id === bundleId);
      if (!found) throw new Error(`there is no bundle ${String(bundleId)}`);
      return found.bytes;
    },
    countUploads: () => [...bundles.values()].flat().length,
    occupyTarget: () => {
      busy = true;
    },
    failDeployments: () => {
      doomed = true;
    },
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** The archive, or the rest of it if the client has the beginning of the same one. */
function archiveAnswer({id, bytes}: ShelvedBundle, headers: IncomingHttpHeaders): Answer {
  const etag = `"${id}"`;
  const [, first] = /^bytes=(\d+)-$/.exec(headers.range ?? '') ?? [];
  const isResumed = first !== undefined && headers['if-range'] === etag;
  const body = isResumed ? bytes.subarray(Number(first)) : bytes;
  return {status: isResumed ? 206 : 200, headers: {etag, 'content-length': String(body.length)}, body};
}
