import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  statSync,
} from 'node:fs';
import {Socket} from 'node:net';
import {createError} from '../../errors/index.js';
import {asSentence} from '../../errors/sentence.js';
import {reasonOf, systemCode} from '../../errors/system-failure.js';
import {writeUnguarded} from '../process/foreign-code.js';

/** Its descriptor. */
export const stdout = 1;

/** Paths of this process's own descriptors. */
const descriptorPath = /^\/(?:dev|proc\/self)\/fd\/(\d+)$/;

/**
 * The descriptor or the file that `--events` means.
 * @throws RuntimeCliError `ERR_USAGE` for a descriptor that is none, or has another use.
 */
export function placeOf(destination: string): number | string {
  if (destination === '-' || destination === '/dev/stdout') return stdout;
  const [, digits] = /^fd:(\d{1,9})$/.exec(destination) ?? descriptorPath.exec(destination) ?? [];
  if (digits === undefined) {
    if (!/^(?:fd:.*|\d+)$/.test(destination)) return destination;
    throw createError('ERR_USAGE', `--events must be a file, - or a descriptor such as fd:3, not ${destination}.`, {
      suggestions: [`For a file of that name, pass ./${destination}.`],
    });
  }
  const descriptor = Number(digits);
  if (descriptor === stdout || descriptor > 2) return descriptor;
  throw createError('ERR_USAGE', `--events cannot be written to descriptor ${digits}, which has another use.`, {
    suggestions: ['Pass - for stdout, or a descriptor from fd:3.'],
  });
}

/** Where lines go. */
export interface Destination {
  /** @throws Error of the system; `EAGAIN` when it takes no more at the moment. */
  write(bytes: Uint8Array): number;
  /** Takes back the last bytes, which are not a whole line. */
  takeBack?(bytes: number): void;
  close(): void;
}

/** How a file of events begins, so that no other file is overwritten. */
const firstBytes = '{"version":1,"sequence":1,';

/**
 * Opens a file that is new, empty or has events of an earlier run, or a pipe.
 * @param path absolute.
 * @throws RuntimeCliError `ERR_OUTPUT` when it cannot be written, or contains something else.
 */
export function openFile(path: string): Destination {
  const {O_CREAT, O_NONBLOCK, O_RDWR, O_WRONLY} = constants;
  const unwritable = (error: unknown) =>
    createError('ERR_OUTPUT', asSentence(`The --events file ${path} cannot be written: ${reasonOf(error)}`), {
      suggestions: ['Pass --events a path in an existing folder that you can write to.'],
      cause: error,
    });
  const open = (flags: number) => openSync(path, flags | O_NONBLOCK, 0o600);
  const stats = statSync(path, {throwIfNoEntry: false});
  let descriptor: number | undefined;
  try {
    // Its reader may come later.
    if (stats?.isFIFO() !== true) {
      descriptor = open(stats === undefined || stats.isFile() ? O_CREAT | O_RDWR : O_WRONLY);
      if (fstatSync(descriptor).isFile()) empty(descriptor, path);
    }
  } catch (error) {
    if (descriptor !== undefined) closeSync(descriptor);
    throw systemCode(error) === undefined ? error : unwritable(error);
  }
  let position = 0;
  return {
    write(bytes) {
      descriptor ??= open(O_WRONLY);
      const written = writeUnguarded(descriptor, bytes);
      position += written;
      return written;
    },
    takeBack(bytes) {
      if (descriptor !== undefined && stats?.isFIFO() !== true) ftruncateSync(descriptor, position - bytes);
    },
    close() {
      if (descriptor !== undefined) closeSync(descriptor);
    },
  };
}

function empty(descriptor: number, path: string): void {
  const start = Buffer.alloc(firstBytes.length);
  const size = readSync(descriptor, start, 0, start.length, 0);
  if (size > 0 && start.toString('latin1', 0, size) !== firstBytes) {
    throw createError(
      'ERR_OUTPUT',
      `${path} contains something other than events, so --events does not overwrite it.`,
      {
        suggestions: ['Pass a different file to --events, or remove this one.'],
      },
    );
  }
  ftruncateSync(descriptor, 0);
}

/**
 * A descriptor that the caller has opened, or stdout.
 * @throws RuntimeCliError `ERR_OUTPUT` when it cannot be written.
 */
export function openDescriptor(descriptor: number): Destination {
  const unusable = (why: string, error?: unknown) =>
    createError('ERR_OUTPUT', `The events cannot be written to descriptor ${String(descriptor)}: ${why}.`, {
      suggestions: [
        `Open it for writing, as in mycli push --events fd:${String(descriptor)} ${String(descriptor)}>events.ndjson`,
      ],
      cause: error,
    });
  if (descriptor !== stdout && isOwnPipe(descriptor)) throw unusable('it is not open');
  let opened = descriptor;
  let socket: Socket | undefined;
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile() && !stats.isFIFO() && !stats.isSocket() && !stats.isCharacterDevice()) {
      throw unusable('it is not open');
    }
    if (!isWritable(descriptor)) throw unusable('it is open for reading only');
    // A full pipe must not stop us. stdout is like this already.
    if (descriptor !== stdout && stats.isFIFO()) opened = withoutWaiting(descriptor);
    if (descriptor !== stdout && stats.isSocket()) socket = new Socket({fd: descriptor, readable: false});
  } catch (error) {
    throw systemCode(error) === undefined ? error : unusable(reasonOf(error), error);
  }
  // Its reader may leave at any time.
  socket?.on('error', () => undefined).unref();
  return {
    write: (bytes) => writeUnguarded(opened, bytes),
    close() {
      if (opened !== descriptor) closeSync(opened);
    },
  };
}

/** Whether it was opened for writing. Its reader may have left already, which is no error. */
function isWritable(descriptor: number): boolean {
  try {
    writeUnguarded(descriptor, new Uint8Array());
    return true;
  } catch (error) {
    return systemCode(error) !== 'EBADF';
  }
}

/** The same pipe, opened again: whoever shares the descriptor keeps theirs as it is. */
function withoutWaiting(descriptor: number): number {
  try {
    return openSync(`/proc/self/fd/${String(descriptor)}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    // Another system, or its reader has left.
    return descriptor;
  }
}

/** Whether a pipe leads back to this process: Node has such pipes of its own. */
function isOwnPipe(descriptor: number): boolean {
  const proc = '/proc/self/fd';
  try {
    const pipe = readlinkSync(`${proc}/${String(descriptor)}`);
    if (!pipe.startsWith('pipe:')) return false;
    return readdirSync(proc).some((other) => linkOf(`${proc}/${other}`) === pipe && isForReading(other));
  } catch {
    return false;
  }
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

function isForReading(descriptor: string): boolean {
  const [, flags = '1'] = /^flags:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8')) ?? [];
  return (Number.parseInt(flags, 8) & constants.O_WRONLY) === 0;
}
