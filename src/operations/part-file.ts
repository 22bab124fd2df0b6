import {constants} from 'node:fs';
import {open, rm, writeFile, type FileHandle} from 'node:fs/promises';
import {Writable} from 'node:stream';
import {finished} from 'node:stream/promises';
import {isDeepStrictEqual} from 'node:util';
import * as v from 'valibot';
import type {BundleId, DownloadResume, DownloadStart} from '../backends/contract.js';
import {Digest} from '../bundle/archive/digest.js';
import {isOwn} from '../files/ownership.js';
import {isRuntimeCliError} from '../errors/index.js';
import {parseJson} from '../errors/json.js';
import {outputError} from '../errors/system-failure.js';

/** What a part belongs to. Bytes of anything else are not appended to it. */
interface PartIdentity {
  readonly backend: string;
  readonly projectSlug: string;
  readonly bundleId: BundleId;
}

/** The recorded state of an interrupted part. */
const stateSchema = v.object({
  backend: v.string(),
  projectSlug: v.string(),
  bundleId: v.union([v.string(), v.number()]),
  validator: v.string(),
  size: v.number(),
  sha256: v.string(),
});

/**
 * A partial download at `path`. When it is interrupted, `path.json` records what it belongs to and its digest, so a
 * later run can resume it. A part that someone else created or changed is not resumed.
 */
export class PartFile {
  readonly path: string;
  readonly #identity: PartIdentity;

  constructor(path: string, identity: PartIdentity) {
    this.path = path;
    this.#identity = identity;
  }

  /** What an earlier download left; undefined if there is nothing to resume. */
  async resume(): Promise<DownloadResume | undefined> {
    try {
      const {validator, size, sha256, ...identity} = v.parse(stateSchema, parseJson(await this.#readState()));
      if (!isDeepStrictEqual(identity, this.#identity) || size === 0) return undefined;
      const found = await digestOf(this.path);
      return found.size === size && found.sha256 === sha256 ? {offset: size, validator} : undefined;
    } catch {
      // Missing, damaged or not ours: start from the beginning.
      return undefined;
    }
  }

  /** Opens a stream for the download. `onBytes` receives the total so far. */
  write(onBytes: (transferred: number, total: number | undefined) => void): PartWriter {
    return new PartWriter(this, onBytes);
  }

  /** Removes the part. */
  async discard(): Promise<void> {
    await this.#remove(this.path);
    await this.forgetState();
  }

  /** The part has changed or is complete, so its state is no longer needed. */
  forgetState(): Promise<void> {
    return this.#remove(this.#statePath);
  }

  /** Records the state of the closed part in a private file. */
  async keepState(validator: string): Promise<void> {
    await this.forgetState();
    const state = {...this.#identity, validator, ...(await digestOf(this.path))};
    await writeFile(this.#statePath, `${JSON.stringify(state)}\n`, {flag: 'wx', mode: 0o600});
  }

  /** @throws RuntimeCliError `ERR_OUTPUT` when there is something other than a file. */
  async #remove(path: string): Promise<void> {
    await rm(path, {force: true}).catch((error: unknown) => {
      throw outputError(path, error);
    });
  }

  async #readState(): Promise<string> {
    const handle = await openOurs(this.#statePath, 0o077);
    try {
      return await handle.readFile('utf8');
    } finally {
      await handle.close();
    }
  }

  get #statePath(): string {
    return `${this.path}.json`;
  }
}

/** Opens a file only if it is a regular one of ours, with none of the permissions in `forbidden`. */
async function openOurs(path: string, forbidden: number): Promise<FileHandle> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const stats = await handle.stat();
  if (stats.isFile() && isOwn(stats, forbidden)) return handle;
  await handle.close();
  throw new Error(`${path} is not a partial download of mycli.`);
}

async function digestOf(path: string): Promise<{readonly size: number; readonly sha256: string}> {
  const handle = await openOurs(path, 0o002);
  const digest = new Digest();
  for await (const chunk of handle.createReadStream()) digest.update(chunk as Buffer);
  return {size: digest.size, sha256: digest.hex()};
}

/** Writes a download to a part: appends if the bytes continue it, otherwise replaces it. */
class PartWriter extends Writable {
  /** Bytes received by this writer. */
  received = 0;
  readonly #part: PartFile;
  readonly #onBytes: (transferred: number, total: number | undefined) => void;
  #start: DownloadStart = {offset: 0};
  #handle: FileHandle | undefined;
  #written = Promise.resolve();

  constructor(part: PartFile, onBytes: (transferred: number, total: number | undefined) => void) {
    super({highWaterMark: 1024 * 1024});
    this.#part = part;
    this.#onBytes = onBytes;
    // The writer receives errors too.
    this.on('error', () => undefined);
  }

  /** Records where the bytes start, before the first one. */
  begin(start: DownloadStart): void {
    this.#start = start;
  }

  /** Ends the stream unless the backend has. Resolves once everything is in the file. */
  async complete(): Promise<void> {
    if (!this.writableEnded) this.end();
    await finished(this);
  }

  /** Gives up. Resolves once the file is closed and its state, if it can be resumed, is recorded. */
  async abandon(): Promise<void> {
    this.destroy();
    await finished(this).catch(() => undefined);
    const {validator} = this.#start;
    // A part without a recorded state starts over.
    if (this.#handle && validator !== undefined) await this.#part.keepState(validator).catch(() => undefined);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: (error?: Error) => void): void {
    this.#written = this.#append(chunk);
    this.#written.then(() => callback(), callback);
  }

  override _final(callback: (error?: Error) => void): void {
    this._write(Buffer.alloc(0), 'utf8', callback);
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    const close = () => this.#handle?.close() ?? Promise.resolve();
    void this.#written.then(close, close).then(() => callback(error), callback);
  }

  async #append(chunk: Buffer): Promise<void> {
    const {offset, total} = this.#start;
    try {
      this.#handle ??= await this.#open(offset);
      await this.#handle.writeFile(chunk);
    } catch (error) {
      throw isRuntimeCliError(error) ? error : outputError(this.#part.path, error);
    }
    this.received += chunk.length;
    if (chunk.length > 0) this.#onBytes(offset + this.received, total);
  }

  async #open(offset: number): Promise<FileHandle> {
    const {O_WRONLY, O_CREAT, O_EXCL, O_APPEND, O_NOFOLLOW} = constants;
    const {path} = this.#part;
    // Its recorded state is no longer valid.
    await this.#part.forgetState();
    if (offset > 0) return open(path, O_WRONLY | O_NOFOLLOW | O_APPEND);
    await this.#part.discard();
    return open(path, O_WRONLY | O_CREAT | O_EXCL, 0o666);
  }
}
