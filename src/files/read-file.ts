import {constants, openSync, type Stats} from 'node:fs';
import {readFile, stat} from 'node:fs/promises';
import {buffer} from 'node:stream/consumers';
import {parseJson} from '../text/json.js';

/** UTF-8, or PowerShell's UTF-16 with a mark. @throws Error: what is read wrongly would be obeyed wrongly. */
export function decodeText(bytes: Uint8Array): string {
  const [first, second] = bytes;
  const wide = first === 0xff && second === 0xfe ? 'utf-16le' : 'utf-16be';
  const encoding = wide === 'utf-16le' || (first === 0xfe && second === 0xff) ? wide : 'utf-8';
  try {
    const text = new TextDecoder(encoding, {fatal: true}).decode(bytes);
    if (!text.includes('\0')) return text;
  } catch {
    // The message of the system names no way out.
  }
  throw new Error('it is not text in UTF-8. Save it as UTF-8');
}

/** Reads a text file, which must be regular: reading a named pipe would block until it has a writer. */
export async function readTextFile(path: string, maxBytes = Infinity): Promise<string> {
  const {size} = await verifyRegularFile(path);
  if (size > maxBytes) throw new Error(`it has ${size} bytes, more than ${maxBytes}`);
  return readText(path);
}

/** @throws Error if it cannot be read, or is not JSON */
export async function readJsonFile(path: string): Promise<unknown> {
  return parseJson(await readTextFile(path));
}

/** Reads a text file that the user named with `@FILE`. It may be a pipe, as in `<(command)`. */
export async function readText(path: string): Promise<string> {
  return decodeText((await stat(path)).isFIFO() ? await readPipe(path) : await readFile(path));
}

/** Reads a pipe as a stream: the process could not end while it waits for a writer in a thread. */
async function readPipe(path: string): Promise<Buffer> {
  // The pipe of a shell is open already. Opened again, it would not tell that its writer has ended.
  const inherited = path === '/dev/stdin' ? 0 : /^\/(?:dev|proc\/self)\/fd\/(\d+)$/.exec(path)?.[1];
  const fd = inherited ?? openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const {Socket} = await import('node:net');
  return buffer(new Socket({fd: Number(fd), writable: false}));
}

/** Whether there is anything at a path. A link counts when what it leads to is there. */
export async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}

export async function verifyRegularFile(path: string): Promise<Stats> {
  const stats = await stat(path);
  if (stats.isFile()) return stats;
  throw new Error('it is not a regular file');
}
