import type {BodyOptions, RequestBodies} from '../../backends/contract.js';

const overwriting = 0xee;
/** Smaller than the chunks of real life: each of the suite's bundles has several. */
const chunkBytes = 64 * 1024;

/**
 * Bodies that overwrite each chunk as soon as the next is asked for. `context.http` has sent it then; whoever takes a body to
 * another client, which may keep the chunks, sends garbage, each time and not only when memory runs short. What a bundle's own
 * `read()` and `createReadStream()` yield is left alone: it belongs to the reader.
 */
export function overwritten(bodies: RequestBodies): RequestBodies {
  return {
    multipart: (parts) => overwrittenBody(bodies.multipart(parts)),
    base64Json: (body) => overwrittenBody(bodies.base64Json(body)),
    json: (value) => overwrittenBody(bodies.json(value)),
    file: (source, contentType) => overwrittenBody(bodies.file(source, contentType)),
  };
}

function overwrittenBody({headers, context}: BodyOptions): BodyOptions {
  const {createBody} = context;
  if (!isCreateBody(createBody)) throw new TypeError('a body of the client is made by createBody()');
  return {headers, context: {...context, createBody: (attempt: number) => overwriteEach(createBody(attempt))}};
}

function isCreateBody(value: unknown): value is (attempt: number) => AsyncIterable<Buffer> {
  return typeof value === 'function';
}

async function* overwriteEach(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    for (let start = 0; start < chunk.length; start += chunkBytes) {
      // A copy: the chunk itself may be a part of what is sent again.
      const copy = Buffer.from(chunk.subarray(start, start + chunkBytes));
      yield copy;
      copy.fill(overwriting);
    }
  }
}
