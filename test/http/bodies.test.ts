import {randomBytes} from 'node:crypto';
import {join} from 'node:path';
import {Readable} from 'node:stream';
import {setImmediate} from 'node:timers/promises';
import fc from 'fast-check';
import {expect, test} from 'vitest';
import {createRequestBodies, type BodyOptions} from '../../src/http/index.js';
import type {CreateBody} from '../../src/http/rate-limit/index.js';
import type {StreamSource} from '../../src/http/types.js';
import {makeFolder} from '../folder.js';

const KiB = 1024;
const MiB = 1024 * KiB;

function open({context}: BodyOptions): AsyncGenerator<Uint8Array> {
  const {createBody} = context as {readonly createBody: CreateBody};
  return createBody(1);
}

/** Reads a body as the client does: a chunk is good until the next is asked for. */
async function read(body: BodyOptions): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of open(body)) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

/** Cuts `bytes` after so many each time; empty pieces too. What is left is the last piece. */
function cut(bytes: Buffer, lengths: readonly number[]): readonly Buffer[] {
  const pieces: Buffer[] = [];
  let start = 0;
  for (const length of lengths) {
    pieces.push(bytes.subarray(start, start + length));
    start += length;
  }
  return [...pieces, bytes.subarray(start)];
}

const binary = fc.uint8Array({maxLength: 200}).map((bytes) => Buffer.from(bytes));
const lengths = fc.array(fc.nat({max: 60}), {maxLength: 5});

const hostile = fc.constantFrom(
  ...['\r\n', '\n', '\r', '"', '\\', ';', '--', '--mycli-', '\r\n--mycli-', '--\r\n', '\0', '%22', '%0D', '%', '='],
  ...['content-disposition: form-data; name="bundle"', '\r\n\r\n', '; filename="x"', 'ä', '\u2028', '\u{1F600}', ' '],
);
const text = fc
  .array(fc.oneof(hostile, fc.string({unit: 'binary', maxLength: 5})), {maxLength: 8})
  .map((parts) => parts.join(''));

test('fetch reads a multipart body as it was given, whatever texts, names and bytes it contains', async () => {
  // As the HTML standard has it, what stands for these three may stand for itself as well.
  const readBack = (name: string): string =>
    name.replaceAll('%22', '"').replaceAll('%0D', '\r').replaceAll('%0A', '\n');
  // A byte order mark at the start of a text belongs to its encoding.
  const withoutMark = (value: string): string => value.replace(/^\uFEFF/, '');
  const fields = fc.dictionary(text, text, {maxKeys: 4, noNullPrototype: true});
  const boundaryLike = text.map((value) => Buffer.from(value));
  await fc.assert(
    fc.asyncProperty(
      fields,
      fc.record({name: text, filename: text, content: fc.oneof(binary, boundaryLike)}),
      lengths,
      async (fields, {name, filename, content}, lengths) => {
        const source = {size: content.length, createReadStream: () => Readable.from(cut(content, lengths))};
        const contentType = 'application/octet-stream';
        const body = createRequestBodies().multipart({file: {name, filename, contentType, source}, fields});
        const bytes = await read(body);
        expect(body.headers['content-length']).toBe(String(bytes.length));
        expect(await read(body)).toEqual(bytes);
        const headers = {'content-type': String(body.headers['content-type'])};
        // oxlint-disable-next-line typescript/no-deprecated -- for servers, as it holds all in memory
        const [file, ...texts] = [...(await new Response(bytes, {headers}).formData())];
        const [readName, readFile] = file ?? [];
        expect(readName).toBe(readBack(name));
        if (!(readFile instanceof File)) throw new Error('the first part is no file');
        expect([readFile.name, readFile.type]).toEqual([readBack(filename), contentType]);
        expect(Buffer.from(await readFile.arrayBuffer()).equals(content)).toBe(true);
        expect(texts).toEqual(Object.entries(fields).map(([key, value]) => [readBack(key), withoutMark(value)]));
      },
    ),
    {numRuns: 300},
  );
});

test('a JSON body with base64 is read by JSON.parse as it was given, however its bytes arrive', async () => {
  const special = fc.constantFrom('data', '__proto__', 'toString', '0');
  const key = fc.oneof(text, special);
  const entries = fc.array(fc.tuple(key, fc.jsonValue({maxDepth: 2})), {maxLength: 4});
  const small = fc.tuple(binary, lengths);
  // Around what is encoded at a time, and what is sent at a time.
  const large = fc
    .tuple(fc.constantFrom(48 * KiB, 384 * KiB, 800 * KiB), fc.integer({min: -4, max: 4}), fc.nat({max: 255}))
    .chain(([size, more, seed]) => {
      const bytes = Buffer.from(Uint8Array.from({length: size + more}, (_, index) => (index * (index + seed)) % 251));
      return fc.tuple(fc.constant(bytes), fc.array(fc.oneof(fc.nat({max: 60}), fc.nat({max: size})), {maxLength: 5}));
    });
  await fc.assert(
    fc.asyncProperty(
      entries,
      fc.oneof(key, special),
      fc.oneof({weight: 4, arbitrary: small}, {weight: 1, arbitrary: large}),
      async (entries, field, [content, lengths]) => {
        const value = Object.fromEntries(entries);
        const source = {
          size: content.length,
          async *read() {
            const memory = Buffer.alloc(content.length);
            for (const piece of cut(content, lengths)) {
              piece.copy(memory);
              yield memory.subarray(0, piece.length);
              memory.fill('#');
            }
          },
        };
        const body = createRequestBodies().base64Json({value, field, source});
        const bytes = await read(body);
        expect(body.headers['content-length']).toBe(String(bytes.length));
        const {[field]: encoded, ...rest} = JSON.parse(bytes.toString()) as Record<string, unknown>;
        expect(Buffer.from(String(encoded), 'base64').equals(content)).toBe(true);
        expect(encoded).toBe(content.toString('base64'));
        const {[field]: _replaced, ...others} = JSON.parse(JSON.stringify(value)) as Record<string, unknown>;
        expect(rest).toEqual(others);
        // JSON.parse forgives a key that is there twice; servers may not.
        expect(bytes.length).toBe(Buffer.byteLength(JSON.stringify({...others, [field]: encoded})));
      },
    ),
    {numRuns: 150},
  );
});

function base64Body(source: StreamSource): AsyncGenerator<Uint8Array> {
  return open(createRequestBodies().base64Json({value: {}, field: 'data', source}));
}

test('the chunks of a base64 body stay as they are while the connection accepts them', async () => {
  const content = randomBytes(5 * MiB + 1);
  const source: StreamSource = {
    size: content.length,
    async *read() {
      for (let start = 0; start < content.length; start += MiB) {
        yield content.subarray(start, start + MiB);
        await setImmediate();
      }
    },
  };
  const pieces: Buffer[] = [];
  for await (const piece of base64Body(source)) {
    const before = Buffer.from(piece);
    for (let turn = 0; turn < 5; turn++) await setImmediate();
    expect(before.equals(piece)).toBe(true);
    pieces.push(before);
  }
  expect(Buffer.concat(pieces).toString()).toBe(`{"data":"${content.toString('base64')}"}`);
});

test('a file is read into the same memory, piece by piece', async () => {
  const content = randomBytes(2 * MiB + 1);
  const path = join(await makeFolder({content}), 'content');
  const body = createRequestBodies().base64Json({value: {}, field: 'data', source: {size: content.length, path}});
  for (let attempt = 0; attempt < 2; attempt++)
    expect((await read(body)).toString() === `{"data":"${content.toString('base64')}"}`).toBe(true);
});

test('a body that nobody reads to its end closes its source', async () => {
  let closed = false;
  const source: StreamSource = {
    size: 3 * MiB,
    async *read() {
      try {
        for (let piece = 0; piece < 3; piece++) {
          await setImmediate();
          yield Buffer.alloc(MiB);
        }
      } finally {
        closed = true;
      }
    },
  };
  const body = base64Body(source);
  await body.next();
  await body.next();
  expect(closed).toBe(false);
  await body.return(undefined);
  expect(closed).toBe(true);
});
