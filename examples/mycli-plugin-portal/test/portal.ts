import {once} from 'node:events';
import {createServer, type IncomingMessage} from 'node:http';
import {text, buffer} from 'node:stream/consumers';

/** A portal in memory. Whoever visits its page is logged in. */
export async function openPortal() {
  const token = 'canary-portal-token';
  /** The state of each device code. The user's code is the same without the prefix. */
  const grants = new Map<string, 'pending' | 'allowed' | 'denied'>();
  const prefix = 'canary-device-';
  const bundles: Buffer[] = [];
  let isRefusing = false;

  async function answer(request: IncomingMessage): Promise<{readonly status: number; readonly value?: unknown}> {
    const {pathname, searchParams} = new URL(request.url ?? '', 'http://portal');
    if (pathname === '/device') {
      grants.set(`${prefix}${String(searchParams.get('user_code'))}`, searchParams.has('deny') ? 'denied' : 'allowed');
      return {status: 200};
    }
    if (pathname === '/oauth/device') {
      const code = `WDJB-${String(1000 + grants.size)}`;
      grants.set(prefix + code, 'pending');
      const page = `http://${String(request.headers.host)}/device?user_code=${code}`;
      const user = {user_code: code, verification_uri_complete: page};
      return {status: 200, value: {device_code: prefix + code, interval: 0.01, ...user}};
    }
    if (pathname === '/oauth/token') {
      const grant = grants.get(String(new URLSearchParams(await text(request)).get('device_code')));
      if (grant === 'allowed') return {status: 200, value: {access_token: token}};
      return {status: 400, value: {error: grant === 'denied' ? 'access_denied' : 'authorization_pending'}};
    }
    const body = await buffer(request);
    if (request.headers.authorization !== `Bearer ${token}`) return {status: 401};
    if (isRefusing) return {status: 403};
    if (pathname === '/account') return {status: 200, value: {email: 'ann@portal.example'}};
    return {status: 201, value: {id: String(bundles.push(body))}};
  }

  const server = createServer((request, response) => {
    answer(request).then(
      ({status, value = {}}) =>
        response.writeHead(status, {'content-type': 'application/json'}).end(JSON.stringify(value)),
      // The client has gone.
      () => response.destroy(),
    );
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('not listening');
  return {
    options: {url: `http://127.0.0.1:${String(address.port)}`, token},
    secrets: [token],
    issuedSecrets: () => [...grants.keys()],
    visit: async (url: string) => {
      await fetch(url);
    },
    readUploaded: async (bundleId: string | number) => bundles[Number(bundleId) - 1] ?? Buffer.alloc(0),
    countUploads: () => bundles.length,
    refuseCredentials: () => {
      isRefusing = true;
    },
    async close() {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
}
