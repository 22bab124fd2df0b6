import {createHash, randomBytes} from 'node:crypto';
import {once} from 'node:events';
import {createReadStream, createWriteStream} from 'node:fs';
import {mkdtemp, rm} from 'node:fs/promises';
import {createServer, request, type IncomingMessage} from 'node:http';
import type {AddressInfo} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {Readable} from 'node:stream';
import {pipeline} from 'node:stream/promises';
import got from 'got';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {readLent} from '../../../src/bundle/archive/lend.js';
import {planBundle, streamBundle, writeBundle} from '../../../src/bundle/index.js';
import {planOptions, smallBuild, writeTree} from '../project.js';

interface Subject {
  readonly size: number;
  read?(): AsyncIterable<Uint8Array>;
}

/** A bundle of 20 MB: a file, or packed while it is read. */
async function makeBundle(kind: 'file' | 'stream', folder: string): Promise<Subject> {
  await writeTree(folder, {...smallBuild, 'build/static/large.bin': randomBytes(20_000_000)});
  const plan = await planBundle(planOptions(folder, {format: kind === 'file' ? 'v2' : 'v1'}));
  return kind === 'file' ? writeBundle(plan, {path: join(folder, 'bundle')}) : (await streamBundle(plan)).bundle;
}

function read({read: open}: Subject): AsyncIterable<Uint8Array> {
  if (open === undefined) throw new Error('the bundle cannot be read');
  return open();
}

async function digest(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of chunks) hash.update(chunk);
  return hash.digest('hex');
}

/** A server that answers with the digest of what it was sent, after it let the sender wait for it. */
async function startDigester(): Promise<string> {
  const server = createServer((incoming, answer) => {
    // Until here nobody reads, so that chunks pile up at the sender.
    setImmediate(() => {
      void digest(incoming).then((sha256) => answer.end(sha256));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`;
}

async function textOf(answer: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of answer) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

/** What backends do with the chunks of a bundle. Each tells the digest of what it has. */
const uses: Readonly<Record<string, (bundle: Subject, folder: string) => Promise<string>>> = {
  'collected in an array': async (bundle) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of read(bundle)) chunks.push(chunk);
    return digest(Readable.from(chunks));
  },
  'sent with fetch': async (bundle) => {
    const body = ReadableStream.from(read(bundle));
    return (await fetch(await startDigester(), {method: 'POST', body, duplex: 'half'})).text();
  },
  'sent with fetch, from a Node stream': async (bundle) => {
    const body = Readable.toWeb(Readable.from(read(bundle))) as ReadableStream;
    return (await fetch(await startDigester(), {method: 'POST', body, duplex: 'half'})).text();
  },
  'sent with got': async (bundle) => {
    return got.post(await startDigester(), {body: Readable.from(read(bundle)), retry: {limit: 0}}).text();
  },
  'sent with http.request': async (bundle) => {
    const sending = request(await startDigester(), {method: 'POST'});
    const answered = once(sending, 'response') as Promise<[IncomingMessage]>;
    // As fast as they come: nothing waits until one is written.
    for await (const chunk of read(bundle)) sending.write(chunk);
    sending.end();
    const [answer] = await answered;
    return textOf(answer);
  },
  'written to a file': async (bundle, folder) => {
    const path = join(folder, 'copy');
    await pipeline(Readable.from(read(bundle)), createWriteStream(path));
    return digest(createReadStream(path));
  },
  'overwritten by its reader, once the next is there': async (bundle) => {
    const hash = createHash('sha256');
    let before: Uint8Array | undefined;
    for await (const chunk of read(bundle)) {
      before?.fill(0xee);
      hash.update(chunk);
      before = chunk;
    }
    return hash.digest('hex');
  },
};

describe.each(['file', 'stream'] as const)("what a bundle (%s) yields is the reader's own", (kind) => {
  let folder: string;
  let bundle: Subject;
  let expected: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mycli-owned-'));
    bundle = await makeBundle(kind, folder);
    const lent = readLent(bundle);
    if (lent === undefined) throw new Error('the bundle lends nothing');
    expected = await digest(lent);
  });
  afterAll(() => rm(folder, {recursive: true}));

  test.each(Object.keys(uses))('%s', async (name) => {
    expect(await uses[name]?.(bundle, folder)).toBe(expected);
  });
});
