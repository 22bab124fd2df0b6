import {createServer, request, type IncomingHttpHeaders, type IncomingMessage} from 'node:http';
import {once} from 'node:events';
import type {AddressInfo} from 'node:net';

/** An answer in the place of the store's. */
interface StoreAnswer {
  readonly status: number;
  /** The code of an error: `SlowDown`. */
  readonly code?: string;
}

type Verdict = StoreAnswer | 'lose success' | 'cut' | undefined;

/** What a test does to requests: it may hold one, answer it, cut it off, or keep the answer of success to itself. */
export type Intercept = (request: {
  readonly method: string;
  /** `/bucket/key`, with the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}) => Verdict | Promise<Verdict>;

/** Stands between a backend and the store. */
export interface Proxy extends AsyncDisposable {
  readonly endpoint: string;
  intercept: Intercept;
}

/** Starts a proxy that passes everything on until a test says otherwise. Signatures hold: the host header stays. */
export async function startProxy(store: string): Promise<Proxy> {
  const server = createServer((incoming, outgoing) => {
    const forward = async () => {
      const [method, path] = [incoming.method ?? '', decodeURIComponent(incoming.url ?? '')];
      const verdict = await proxy.intercept({method, path, headers: incoming.headers});
      if (verdict === 'cut') {
        outgoing.destroy();
        return;
      }
      if (typeof verdict === 'object') {
        incoming.resume();
        await once(incoming, 'end');
        outgoing.writeHead(verdict.status, {'content-type': 'application/xml'});
        outgoing.end(verdict.code && `<Error><Code>${verdict.code}</Code></Error>`);
        return;
      }
      const onward = request(new URL(incoming.url ?? '', store), {method, headers: incoming.headers});
      incoming.pipe(onward);
      incoming.once('close', () => incoming.complete || onward.destroy());
      const [answer] = (await once(onward, 'response')) as [IncomingMessage];
      if (verdict === 'lose success' && answer.statusCode === 200) {
        answer.resume();
        await once(answer, 'end');
        outgoing.destroy();
        return;
      }
      outgoing.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(outgoing);
    };
    forward().catch(() => outgoing.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const proxy: Proxy = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    intercept: () => undefined,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return proxy;
}
