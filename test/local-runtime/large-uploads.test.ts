import {once} from 'node:events';
import {request as httpRequest} from 'node:http';
import {Readable} from 'node:stream';
import {text} from 'node:stream/consumers';
import {pipeline} from 'node:stream/promises';
import {pack} from 'tar-stream';
import {expect, test} from 'vitest';
import type {LocalRuntime} from '../../src/testing.js';
import {config} from './archives.js';
import {startRuntime} from './with-runtime.js';

const megabyte = 1024 * 1024;
const bodyBytes = 192 * megabyte;

/** A tar with one large file, made while it is read. */
function largeTar(prefix: string): Readable {
  const archive = pack();
  archive.entry({name: `${prefix}/ssr.js`}, 'x');
  archive.entry({name: `${prefix}/.runtime/config.json`}, JSON.stringify({...config, ssrShared: ['static/*']}));
  const file = archive.entry({name: `${prefix}/static/large.bin`, size: bodyBytes});
  const chunk = Buffer.alloc(megabyte, 'large');
  const fill = async (): Promise<void> => {
    for (let sent = 0; sent < bodyBytes - megabyte; sent += megabyte) {
      if (!file.write(chunk)) await once(file as unknown as NodeJS.EventEmitter, 'drain');
    }
    file.end(chunk);
    archive.finalize();
  };
  void fill();
  return Readable.from(archive, {objectMode: false});
}

async function* multipart(archive: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield Buffer.from('--xyz\r\nContent-Disposition: form-data; name="bundle"; filename="bundle.tar.gz"\r\n\r\n');
  yield* archive;
  yield Buffer.from('\r\n--xyz--\r\n');
}

async function* v1Json(archive: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const rest = {message: 'm', encoding: 'base64', ssr_parameters: {}, ssr_only: ['ssr.js'], ssr_shared: []};
  yield Buffer.from(`${JSON.stringify(rest).slice(0, -1)},"data":"`);
  let carry = Buffer.alloc(0);
  for await (const chunk of archive) {
    const bytes = Buffer.concat([carry, chunk]);
    const usable = bytes.length - (bytes.length % 3);
    yield Buffer.from(bytes.toString('base64', 0, usable));
    carry = bytes.subarray(usable);
  }
  yield Buffer.from(`${carry.toString('base64')}"}`);
}

/** Uploads a stream; resolves to the status and to the most memory that was in use meanwhile, client and server. */
async function upload(
  {origin, credentials}: LocalRuntime,
  path: string,
  {type, body}: {readonly type: string; readonly body: AsyncIterable<Buffer>},
): Promise<{readonly status: number | undefined; readonly peak: number}> {
  const inUse = (): number => process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers;
  const before = inUse();
  let peak = 0;
  const sampling = setInterval(() => (peak = Math.max(peak, inUse() - before)), 10);
  const headers = {authorization: `Bearer ${credentials.apiKey}`, 'content-type': type};
  const request = httpRequest(`${origin}/api/${path}`, {method: 'POST', headers});
  const answered = new Promise<number | undefined>((resolve, reject) => {
    request.on('error', reject).on('response', (response) => {
      text(response).then(() => {
        resolve(response.statusCode);
      }, reject);
    });
  });
  await pipeline(body, request);
  const status = await answered;
  clearInterval(sampling);
  return {status, peak};
}

test.each([
  ['v2', 201, 'v2/projects/shop/bundles/', 'multipart/form-data; boundary=xyz', () => multipart(largeTar('bld'))],
  ['v1', 200, 'projects/shop/builds/', 'application/json', () => v1Json(largeTar('shop/bld'))],
])('a large %s upload is streamed, not kept in memory', async (_, expected, path, type, body) => {
  const {runtime} = await startRuntime();
  const {status, peak} = await upload(runtime, path, {type, body: body()});
  expect(status).toBe(expected);
  expect(peak).toBeLessThan(bodyBytes * 0.6);
});
