import {once} from 'node:events';
import {createServer, type AddressInfo, type Socket} from 'node:net';
import type {Fault} from './faults.js';
import {Store, type Effect, type World} from './store.js';
import {encode, nameOf, type Answer, type RequestName} from './wire.js';

/** A request that has arrived, and what came of it. */
export interface Seen extends Effect {
  readonly name: RequestName;
  readonly line: string;
  readonly service: 'api' | 'legacy';
  readonly authorization: string;
  /** What went wrong with it. */
  readonly fault?: Fault | undefined;
  /** Whether the right answer was sent. */
  answered: boolean;
}

/** Both services on one socket, with what they were asked. */
export interface Service extends AsyncDisposable {
  readonly origin: string;
  readonly api: Store;
  readonly legacy: Store;
  readonly seen: readonly Seen[];
  /** How many connections are open. */
  connections(): number;
}

const credentials = {api: 'Bearer canary-access-token', legacy: 'Bearer canary-api-key'} as const;
const none: Answer = {status: 500, body: ''};
const tokenAnswer = {access_token: 'canary-access-token', expires_in: 3600, token_type: 'Bearer'};

/** Starts both services. HTTP is written by hand, so that anything can go wrong anywhere in it. */
export async function startService(
  world: World = {},
  archive: Buffer,
  faultOf: (index: number) => Fault | undefined = () => undefined,
): Promise<Service> {
  const stores = {api: new Store('api', world), legacy: new Store('legacy', world)};
  const seen: Seen[] = [];
  const sockets = new Set<Socket>();

  const carryOut = ({name, service, authorization, line}: Omit<Seen, 'answered'>, body: Buffer) => {
    const path = line.split(' ')[1] ?? '';
    const text = (status: number, content: string | Buffer): {readonly answer: Answer; readonly effect?: Effect} => ({
      answer: {status, headers: [['etag', '"1"']], body: content},
    });
    if (name === 'archive') return text(200, archive);
    if (name === 'site') {
      const isNew = Object.values(stores).some((store) => !store.firstBundles.includes(store.running('staging') ?? 0));
      return text(world.unhealthy && isNew ? 500 : 200, 'hello');
    }
    if (name === 'token') return {answer: {status: 200, type: 'application/json', body: JSON.stringify(tokenAnswer)}};
    if (authorization !== credentials[service]) return text(401, '');
    return stores[service].answer(name, path, body, origin);
  };

  const server = createServer((socket) => {
    sockets.add(
      socket
        .on('close', () => sockets.delete(socket))
        .on('error', () => undefined)
        .setNoDelay(),
    );
    let received = Buffer.alloc(0);
    let current: {request: Seen; parts: Buffer[]; size: number; length: number} | undefined;
    let isOver = false;

    const fail = (fault: Fault, body: Buffer): void => {
      const {request} = current ?? {};
      if (request === undefined) return;
      const {answer, effect} =
        fault.effect || fault.ends[0] === 0 ? carryOut(request, body) : {answer: none, effect: undefined};
      const {bytes, then = 'close', after, piece} = fault.reply(answer, request.authorization);
      // Sometimes what goes wrong leaves an answer as it is: there are no IDs in it, for example.
      const answered =
        fault.ends[0] === 0 ||
        (fault.effect && encode(answer).equals(typeof bytes === 'string' ? Buffer.from(bytes) : bytes));
      Object.assign(request, effect, {answered});
      current = undefined;
      isOver = then !== 'keep';
      const send = () => {
        const end = () => {
          if (piece !== undefined) drip(socket, piece);
          else if (then === 'reset') socket.resetAndDestroy();
          else if (then === 'close') socket.end(() => socket.resume());
        };
        if (bytes.length === 0) end();
        else socket.write(bytes, end);
      };
      if (after === undefined) send();
      else setTimeout(send, after);
    };

    socket.on('data', (chunk) => {
      if (isOver) return;
      if (current === undefined) {
        received = Buffer.concat([received, chunk]);
        const end = received.indexOf('\r\n\r\n');
        if (end === -1) return;
        const head = received.toString('latin1', 0, end);
        const [line = ''] = head.split('\r\n');
        const [method = '', url = ''] = line.split(' ');
        const name = nameOf(method, url);
        const fault = faultOf(seen.length);
        const authorization = /^authorization: (.*)$/im.exec(head)?.[1] ?? '';
        const service = url.startsWith('/storefront/') ? 'api' : 'legacy';
        const request: Seen = {name, line, service, authorization, fault, answered: false};
        seen.push(request);
        const first = received.subarray(end + 4);
        received = Buffer.alloc(0);
        const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
        current = {request, parts: [first], size: first.length, length};
        if (/^transfer-encoding: chunked$/im.test(head)) current.length = Infinity;
      } else {
        current.parts.push(chunk);
        current.size += chunk.length;
      }
      const {request, parts, size, length} = current;
      const isWhole =
        length === Infinity ? Buffer.concat(parts).subarray(-5).toString() === '0\r\n\r\n' : size >= length;
      const {fault} = request;
      if (fault?.when === 'stop') socket.pause();
      const isTime = fault?.when === 'half' && (isWhole || size >= length / 2);
      if (fault && (fault.when === 'head' || fault.when === 'stop' || isTime)) {
        fail(fault, Buffer.concat(parts));
        return;
      }
      if (!isWhole) return;
      const body = Buffer.concat(parts);
      if (fault) {
        fail(fault, body);
        return;
      }
      const {answer, effect} = carryOut(request, body);
      Object.assign(request, effect, {answered: true});
      current = undefined;
      socket.write(encode(answer));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    ...stores,
    origin,
    seen,
    connections: () => sockets.size,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function drip(socket: Socket, piece: string): void {
  const timer = setInterval(() => socket.write(piece), 20);
  socket.on('close', () => {
    clearInterval(timer);
  });
}
