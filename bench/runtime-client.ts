import {createHash} from 'node:crypto';
import {lookup} from 'node:dns';
import {request as httpRequest, type Agent, type OutgoingHttpHeaders} from 'node:http';
import {buffer} from 'node:stream/consumers';
import {pack} from 'tar-stream';
import type {RuntimeProcess} from './runtime-process.js';

/** An answer, read whole. */
export interface Reply {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: Buffer;
}

/** How to send a request. */
export interface SendOptions {
  readonly agent?: Agent | undefined;
  readonly headers?: OutgoingHttpHeaders | undefined;
  /** Sent piece by piece, with their length announced. */
  readonly pieces?: readonly Buffer[] | undefined;
  /** Called before each piece. */
  readonly onPiece?: ((piece: Buffer) => void) | undefined;
}

/** Sends a request. Rejects if the connection breaks before the answer is complete. */
export async function send(method: string, url: string, options: SendOptions = {}): Promise<Reply> {
  const {agent, headers = {}, pieces = [], onPiece} = options;
  return new Promise((resolve, reject) => {
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    const request = httpRequest(url, {
      method,
      agent,
      // Not every resolver knows names below localhost.
      lookup: (name, options, done) => lookup(name.endsWith('.localhost') ? 'localhost' : name, options, done),
      headers: {...headers, ...(length > 0 ? {'content-length': length} : {})},
    });
    request.on('error', reject).on('response', (response) => {
      buffer(response).then((body) => {
        resolve({status: response.statusCode ?? 0, headers: response.headers, body});
      }, reject);
    });
    const write = (index: number): void => {
      const piece = pieces[index];
      if (piece === undefined || request.destroyed) {
        request.end();
        return;
      }
      onPiece?.(piece);
      request.write(piece, () => {
        write(index + 1);
      });
    };
    write(0);
  });
}

/** The digest of bytes, hex. */
export const sha256 = (...pieces: readonly Buffer[]): string => {
  const hash = createHash('sha256');
  for (const piece of pieces) hash.update(piece);
  return hash.digest('hex');
};

/** What bundles of these scripts contain, by name; the server alone may read `ssr.js`. */
export type BundleFiles = Readonly<Record<string, Buffer>>;

/** A bundle as both formats want it: a v2 archive has its configuration in it. */
export async function makeArchive(format: 'v1' | 'v2', project: string, files: BundleFiles): Promise<Buffer> {
  const archive = pack();
  const root = format === 'v1' ? `${project}/bld` : 'bld';
  const config = {ssrOnly: ['ssr.js'], ssrShared: ['static/**/*'], ssrParameters: {}};
  archive.entry({name: `${root}/ssr.js`}, 'export const handler = () => "";\n');
  if (format === 'v2') archive.entry({name: `${root}/.runtime/config.json`}, JSON.stringify(config));
  for (const [name, content] of Object.entries(files)) archive.entry({name: `${root}/${name}`}, content);
  archive.finalize();
  return buffer(archive);
}

/** The form of a v2 upload around its archive, which is sent in `pieces`. */
export function v2Body(message: string, pieces: readonly Buffer[]): Pick<SendOptions, 'headers' | 'pieces'> {
  const head =
    `--cut\r\nContent-Disposition: form-data; name="message"\r\n\r\n${message}\r\n` +
    '--cut\r\nContent-Disposition: form-data; name="bundle"; filename="bundle.tar.gz"\r\n\r\n';
  return {
    headers: {'content-type': 'multipart/form-data; boundary=cut'},
    pieces: [Buffer.from(head), ...pieces, Buffer.from('\r\n--cut--\r\n')],
  };
}

/** The document of a v1 upload. */
export function v1Body(message: string, archive: Buffer): Pick<SendOptions, 'headers' | 'pieces'> {
  const rest = {message, encoding: 'base64', ssr_parameters: {}, ssr_only: ['ssr.js'], ssr_shared: []};
  const text = JSON.stringify({...rest, data: archive.toString('base64')});
  return {headers: {'content-type': 'application/json'}, pieces: cut(Buffer.from(text))};
}

/** Cuts bytes into pieces that are sent one by one. */
export function cut(bytes: Buffer, size = 65_536): readonly Buffer[] {
  return Array.from({length: Math.ceil(bytes.length / size)}, (_, at) => bytes.subarray(at * size, (at + 1) * size));
}

/** The paths and headers of a runtime's two protocols. */
export async function connect({origin, credentials}: Pick<RuntimeProcess, 'origin' | 'credentials'>) {
  const {apiKey, clientId, clientSecret, tokenUrl, organizationId} = credentials;
  const basic = Buffer.from(`${clientId}:${clientSecret}`).toString('base64');
  const token = await send('POST', tokenUrl, {
    headers: {authorization: `Basic ${basic}`, 'content-type': 'application/x-www-form-urlencoded'},
    pieces: [Buffer.from('grant_type=client_credentials')],
  });
  const {access_token: bearer} = parse(token) as {readonly access_token: string};
  return {
    legacy: {base: `${origin}/api`, headers: {authorization: `Bearer ${apiKey}`}},
    api: {
      base: `${origin}/storefront/deployments/v1/organizations/${organizationId}/storefronts`,
      headers: {authorization: `Bearer ${bearer}`},
    },
  };
}

/** The JSON of an answer that must have succeeded. */
export function parse({status, body}: Reply): unknown {
  if (status < 200 || status > 299)
    throw new Error(`The answer is ${String(status)}: ${body.toString().slice(0, 500)}`);
  return JSON.parse(body.toString());
}

/** A stream of numbers from 0 to 1 that is the same for the same seed (mulberry32). */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
