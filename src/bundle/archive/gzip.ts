import {constants, crc32, createDeflateRaw} from 'node:zlib';

/** Bytes that a run looks back on: the window of deflate. */
const windowBytes = 32 * 1024;
/** What is compressed or waits to be written: bounds memory, and keeps the threads of libuv busy. */
const runsInFlight = 12;
const bytesInFlight = 4 * 1024 * 1024;
/** More than what does not compress grows by, so that one call to zlib does it. */
const outputRoom = 16 * 1024;
/** Most bytes of a block of deflate that is stored as it is. */
const storedBytes = 0xffff;

/** Magic, deflate, no flags, no time, no extra flags, unknown system: nothing that differs between two machines. */
export const gzipHeader: Buffer = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
/** An empty block with the mark of the last one. */
const lastBlock = Buffer.from([3, 0]);

/** A run on its way through the compressor. */
interface Job {
  readonly run: Buffer;
  /** Missing for what is stored. */
  readonly compressed?: Promise<readonly Buffer[]>;
  /** The block that is not needed any more when this run is written. */
  readonly spent: Buffer | undefined;
}

/**
 * Compresses blocks into one gzip member: cuts them into runs that compress and runs that do not, and compresses
 * several at a time on libuv's threads. Each has the end of what is before it as its dictionary and ends at a byte, so
 * that the bytes depend neither on the number of threads nor on their order. What does not compress is stored as it is:
 * to try would take most of the time of a build that is full of fonts and photographs.
 * @param blocks Of one size, best 1 MiB; only the last may be shorter.
 * @param level 0 (none) to 9 (most).
 * @param free Given each block when it is not needed here any more, but for the last.
 */
export async function* gzip(
  blocks: AsyncIterable<Buffer>,
  level: number,
  free: (block: Buffer) => void = () => undefined,
): AsyncGenerator<Buffer> {
  const detector = new IncompressibleDetector();
  const jobs: Job[] = [];
  let inFlight = 0;
  let before: Buffer | undefined;
  let afterIncompressible = false;
  let checksum = 0;
  let size = 0;
  async function* finishOldest(): AsyncGenerator<Buffer> {
    const job = jobs.shift();
    if (job === undefined) return;
    const {run, compressed, spent} = job;
    const pieces = compressed ? await compressed : store(run);
    yield* pieces;
    inFlight -= run.length;
    if (spent) free(spent);
  }
  yield gzipHeader;
  for await (const block of blocks) {
    checksum = crc32(block, checksum);
    size += block.length;
    for (const {start, end, isIncompressible} of detector.runs(block)) {
      const run = block.subarray(start, end);
      const dictionary =
        start > 0 ? block.subarray(Math.max(0, start - windowBytes), start) : before?.subarray(-windowBytes);
      jobs.push({
        run,
        ...(!isIncompressible && {compressed: deflate(run, afterIncompressible ? undefined : dictionary, level)}),
        spent: end === block.length ? before : undefined,
      });
      afterIncompressible = isIncompressible && run.length >= windowBytes;
      inFlight += run.length;
      while (inFlight >= bytesInFlight || jobs.length >= runsInFlight) yield* finishOldest();
    }
    before = block;
  }
  while (jobs.length > 0) yield* finishOldest();
  yield lastBlock;
  yield trailer(checksum, size);
}

/** Blocks of deflate that hold `bytes` as they are. */
function store(bytes: Buffer): readonly Buffer[] {
  const pieces: Buffer[] = [];
  for (let start = 0; start < bytes.length; start += storedBytes) {
    const content = bytes.subarray(start, start + storedBytes);
    const head = Buffer.alloc(5);
    head.writeUInt16LE(content.length, 1);
    head.writeUInt16LE(content.length ^ 0xffff, 3);
    pieces.push(head, content);
  }
  return pieces;
}

/**
 * Pieces that share their memory, one as a rule. With the most memory that zlib takes, 400 KiB a run: a tenth less CPU,
 * for up to
 * 0.1 % more bytes.
 */
function deflate(bytes: Buffer, dictionary: Buffer | undefined, level: number): Promise<readonly Buffer[]> {
  const stream = createDeflateRaw({
    level,
    memLevel: 9,
    chunkSize: bytes.length + outputRoom,
    flush: constants.Z_SYNC_FLUSH,
    ...(dictionary && {dictionary}),
  });
  const compressed = new Promise<readonly Buffer[]>((resolve, reject) => {
    const pieces: Buffer[] = [];
    stream.on('data', (piece: Buffer) => pieces.push(piece));
    stream.once('error', reject);
    // To end the stream would be one more turn on a thread, for nothing.
    stream.write(bytes, () => {
      resolve(pieces);
      stream.close();
    });
  });
  // It is awaited in its turn; a failure before that must not count as unhandled.
  compressed.catch(() => undefined);
  return compressed;
}

function trailer(checksum: number, size: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32LE(checksum, 0);
  bytes.writeUInt32LE(size % 2 ** 32, 4);
  return bytes;
}

/** A stretch of a block. */
export interface Run {
  readonly start: number;
  readonly end: number;
  /** Whether a compressor would save next to nothing, as in fonts, archives and half of a photograph. */
  readonly isIncompressible: boolean;
}

/** Bytes that are judged together, by every fifth: numbers of 2, 4 or 8 bytes, or 3 colours, do not hide from it. */
const pieceBytes = 4096;
const sampleStep = 5;
const samples = Math.ceil(pieceBytes / sampleStep);
/** Shorter noise is left to the compressor: a run of its own costs more than it saves. */
const leastNoiseBytes = 4 * pieceBytes;
/** Two bytes of noise are equal once in 256 times. Where it is 9 % more often, the best code for bytes saves 0.8 %. */
const mostEqualPairs = samples + (samples * (samples - 1) * 1.09) / 256;
/**
 * The 4 bytes after a byte that has these bits clear are remembered: one place in 32, wherever the same bytes stand
 * again.
 */
const placeMask = 31;
/** There is room for as many places as noise has in 32 KiB, which is how far a compressor looks back. */
const placeBits = 10;
/** So many sequences that were there before are no accident: what occurs twice compresses, whatever its bytes are. */
const leastRepeats = 4;

/**
 * Finds what hardly compresses, in a tenth of the time that a compressor takes: by how often two bytes are equal, and
 * by whether sequences come again. In doubt it is not noise. The answer depends on the bytes alone.
 */
export class IncompressibleDetector {
  readonly #counts = new Uint32Array(256);
  readonly #remembered = new Int32Array(2 ** placeBits);

  /** Cuts the next block where noise begins and ends. */
  *runs(block: Buffer): Generator<Run> {
    let start = 0;
    let noiseStart = 0;
    for (let piece = 0; piece <= block.length; piece += pieceBytes) {
      if (piece + pieceBytes <= block.length && this.#isIncompressible(block.subarray(piece, piece + pieceBytes)))
        continue;
      // Noise, if any, is from noiseStart to here.
      if (piece - noiseStart >= leastNoiseBytes) {
        if (noiseStart > start) yield {start, end: noiseStart, isIncompressible: false};
        yield {start: noiseStart, end: piece, isIncompressible: true};
        start = piece;
      }
      noiseStart = piece + pieceBytes;
    }
    if (start < block.length) yield {start, end: block.length, isIncompressible: false};
  }

  #isIncompressible(piece: Buffer): boolean {
    return this.#equalPairs(piece) <= mostEqualPairs && this.#repeats(piece) < leastRepeats;
  }

  /** How many pairs of samples are equal, each counted with itself too. */
  #equalPairs(piece: Buffer): number {
    const counts = this.#counts.fill(0);
    for (let index = 0; index < pieceBytes; index += sampleStep) {
      const byte = piece[index] ?? 0;
      counts[byte] = (counts[byte] ?? 0) + 1;
    }
    let pairs = 0;
    for (const count of counts) pairs += count * count;
    return pairs;
  }

  /** How many sequences were there before, and remembers those of this piece. */
  #repeats(piece: Buffer): number {
    let repeats = 0;
    for (let index = 0; index < pieceBytes - 4; index++) {
      if (((piece[index] ?? 0) & placeMask) !== 0) continue;
      const sequence = piece.readInt32LE(index + 1);
      const place = Math.imul(sequence, 0x9e3779b1) >>> (32 - placeBits);
      if (this.#remembered[place] === sequence) repeats += 1;
      this.#remembered[place] = sequence;
    }
    return repeats;
  }
}
