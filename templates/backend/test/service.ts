import {randomUUID} from 'node:crypto';
import {once} from 'node:events';
import {createServer, type IncomingMessage} from 'node:http';
import type {AddressInfo} from 'node:net';
import {buffer} from 'node:stream/consumers';
import type {ConformanceService} from 'mycli/testing';

interface StoredBundle {
  readonly id: string;
  readonly project: string;
  readonly message: string | null;
  readonly sha256: string | null;
  readonly createdAt: string;
  readonly archive: Buffer;
}

interface StoredDeployment {
  readonly id: string;
  readonly bundleId: string;
  readonly project: string;
  readonly target: string;
  readonly status: string;
  readonly createdAt: string;
  readonly url: string;
}

interface Answer {
  readonly status: number;
  readonly value?: unknown;
  readonly archive?: StoredBundle;
}

/** How many rows a page has at most, whatever the limit. */
const largestPage = 5;

/** Starts a stand-in for the service, in memory. Keep what it does in line with the real one. */
export async function openService(): Promise<ConformanceService> {
  const token = randomUUID();
  /** Newest first, as in the answers. */
  const bundles: StoredBundle[] = [];
  const deployments: StoredDeployment[] = [];
  let busy = false;
  let doomed = false;

  function answer({method = '', url = '', headers}: IncomingMessage, body: Buffer): Answer {
    const {pathname, searchParams} = new URL(url, 'http://service');
    const [, , project, collection = '', name = '', item] = pathname.split('/').map(decodeURIComponent);
    if (headers.authorization !== `Bearer ${token}`) return {status: 401};
    if (project === undefined) return {status: 404};
    // A page begins after the item that the one before ended with, wherever that is by now.
    const page = (items: readonly {readonly id: string}[]) => {
      const start = items.findIndex(({id}) => id === searchParams.get('after')) + 1;
      const end = start + Math.min(Number(searchParams.get('limit')), largestPage);
      return {
        status: 200,
        value: {items: items.slice(start, end), ...(end < items.length && {next: items[end - 1]?.id})},
      };
    };
    const own = bundles.filter((one) => one.project === project);
    const found = own.find(({id}) => id === name);
    switch ([method, collection, item].join(' ').trim()) {
      case 'POST bundles':
        bundles.unshift({
          id: randomUUID(),
          project,
          message: searchParams.get('message'),
          sha256: searchParams.get('sha256'),
          createdAt: new Date().toISOString(),
          archive: body,
        });
        return {status: 201, value: {id: bundles[0]?.id}};
      case 'GET bundles':
        return page(
          own.map((one) => {
            const {id, message, sha256, createdAt, archive} = one;
            return {id, message, sha256, createdAt, size: archive.length, targets: targetsOf(one)};
          }),
        );
      case 'GET bundles archive':
        return found ? {status: 200, archive: found} : {status: 404};
      case 'DELETE bundles':
        if (!found) return {status: 404};
        bundles.splice(bundles.indexOf(found), 1);
        return {status: 204};
      case 'POST targets deployments': {
        if (busy) return {status: 409};
        const {bundleId} = JSON.parse(body.toString()) as {bundleId: string};
        if (!own.some(({id}) => id === bundleId)) return {status: 404};
        const fields = {id: randomUUID(), bundleId, project, target: name, createdAt: new Date().toISOString()};
        deployments.unshift({...fields, status: doomed ? 'failed' : 'finished', url: `https://${name}.acme.example`});
        return {status: 201, value: {...deployments[0], status: 'queued'}};
      }
      case 'GET targets deployments':
        return page(deployments.filter((one) => one.project === project && one.target === name));
      case 'GET deployments': {
        const value = deployments.find((one) => one.project === project && one.id === name);
        return value ? {status: 200, value} : {status: 404};
      }
      default:
        return {status: 404};
    }
  }

  function targetsOf({id, project}: StoredBundle): readonly string[] {
    const own = deployments.filter((one) => one.project === project && one.status !== 'failed');
    const targets = [...new Set(own.map(({target}) => target))];
    return targets.filter((target) => own.find((one) => one.target === target)?.bundleId === id);
  }

  const server = createServer((request, response) => {
    buffer(request)
      .then((body) => {
        const {status, value, archive} = answer(request, body);
        if (archive) {
          response.writeHead(status, {'content-length': archive.archive.length, 'x-sha256': archive.sha256 ?? ''});
          response.end(archive.archive);
        } else {
          response.writeHead(status, {'content-type': 'application/json'});
          response.end(value === undefined ? undefined : JSON.stringify(value));
        }
      })
      // The client has gone.
      .catch(() => response.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const {port} = server.address() as AddressInfo;
  return {
    options: {url: `http://127.0.0.1:${port}`, token},
    secrets: [token],
    async readUploaded(bundleId) {
      const bundle = bundles.find(({id}) => id === bundleId);
      if (!bundle) throw new Error(`There is no bundle ${bundleId}.`);
      return bundle.archive;
    },
    countUploads: () => bundles.length,
    failDeployments() {
      doomed = true;
    },
    occupyTarget() {
      busy = true;
    },
    async close() {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
}
