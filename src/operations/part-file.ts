import {constants} from 'node:fs';
import {lstat, open, readFile, rm, writeFile, type FileHandle} from 'node:fs/promises';
import {Writable} from 'node:stream';
import {finished} from 'node:stream/promises';
import type {BundleId, DownloadResume, DownloadStart} from '../backends/contract.js';
import {outputError} from '../errors/system-failure.js';

/** What a part belongs to: bytes of anything else are not added to it. */
export interface PartIdentity {
  readonly backend: string;
  readonly projectSlug: string;
  readonly bundleId: BundleId;
}

/**
 * The part of a file that has arrived: `path`, and beside it `path.json`, which tells what it belongs to, so that a later
 * run can go on with it.
 */
export class PartFile {
  readonly path: string;
  readonly #identity: PartIdentity;

  constructor(path: string, identity: PartIdentity) {
    this.path = path;
    this.#identity = identity;
  }

  /** What an earlier download has left; nothing when there is none, or none that can be gone on with. */
  async resume(): Promise<DownloadResume | undefined> {
    try {
      const stats = await lstat(this.path);
      const state: unknown = JSON.parse(await readFile(this.#statePath, 'utf8'));
      const validator = validatorOf(state, this.#identity);
      // One with another name is whole: a run was killed while it moved it into its place.
      const isPart = stats.isFile() && stats.nlink === 1 && stats.size > 0;
      return isPart && validator !== undefined ? {offset: stats.size, validator} : undefined;
    } catch {
      // Missing or damaged: the download begins at the beginning.
      return undefined;
    }
  }

  /** Opens a stream for what arrives. `onBytes` is told how much there is. */
  write(onBytes: (transferred: number, total: number | undefined) => void): PartWriter {
    return new PartWriter(this.path, (start) => this.#keepState(start), onBytes);
  }

  /** Removes the part. */
  async discard(): Promise<void> {
    await rm(this.path, {force: true});
    await this.forgetState();
  }

  /** The part is whole: nothing is to be known of it any more. */
  async forgetState(): Promise<void> {
    await rm(this.#statePath, {force: true});
  }

  get #statePath(): string {
    return `${this.path}.json`;
  }

  async #keepState({validator}: DownloadStart): Promise<void> {
    if (validator === undefined) await this.forgetState();
    else await writeFile(this.#statePath, `${JSON.stringify({...this.#identity, validator})}\n`);
  }
}

/** Writes what arrives into a part: behind what is there, when the bytes begin there, else in its place. */
export class PartWriter extends Writable {
  /** Bytes that have arrived through this writer. */
  received = 0;
  /** Bytes of the whole file, when they are known. */
  total: number | undefined;
  readonly #path: string;
  readonly #keepState: (start: DownloadStart) => Promise<void>;
  readonly #onBytes: (transferred: number, total: number | undefined) => void;
  #start: DownloadStart = {offset: 0};
  #opened: Promise<FileHandle> | undefined;

  constructor(
    path: string,
    keepState: (start: DownloadStart) => Promise<void>,
    onBytes: (transferred: number, total: number | undefined) => void,
  ) {
    super({highWaterMark: 1024 * 1024});
    this.#path = path;
    this.#keepState = keepState;
    this.#onBytes = onBytes;
    // Whoever writes is told of errors too.
    this.on('error', () => undefined);
  }

  /** Takes note of where the bytes begin, before the first one. */
  begin(start: DownloadStart): void {
    this.#start = start;
    this.total = start.total;
  }

  /** Ends the writing, when the backend has not done it; resolves when everything is in the file. */
  async complete(): Promise<void> {
    if (!this.writableEnded) this.end();
    await finished(this);
  }

  /** Gives up; resolves when the file is closed. */
  async abandon(): Promise<void> {
    this.destroy();
    await finished(this).catch(() => undefined);
    await this.#opened?.then((handle) => handle.close()).catch(() => undefined);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: (error?: Error) => void): void {
    this.#append(chunk).then(() => {
      callback();
    }, callback);
  }

  override _final(callback: (error?: Error | null) => void): void {
    this.#open()
      .then((handle) => handle.close())
      .then(() => {
        callback();
      }, callback);
  }

  async #append(chunk: Buffer): Promise<void> {
    const handle = await this.#open();
    await handle.writeFile(chunk).catch((error: unknown) => {
      throw outputError(this.#path, error);
    });
    this.received += chunk.length;
    this.#onBytes(this.#start.offset + this.received, this.total);
  }

  #open(): Promise<FileHandle> {
    this.#opened ??= this.#openAt(this.#start).catch((error: unknown) => {
      throw outputError(this.#path, error);
    });
    return this.#opened;
  }

  async #openAt(start: DownloadStart): Promise<FileHandle> {
    const {O_WRONLY, O_CREAT, O_EXCL, O_APPEND, O_NOFOLLOW} = constants;
    // Neither through a link that someone else may have put there nor into a file that has another name.
    if (start.offset > 0) return open(this.#path, O_WRONLY | O_NOFOLLOW | O_APPEND);
    await rm(this.#path, {force: true});
    const handle = await open(this.#path, O_WRONLY | O_CREAT | O_EXCL, 0o666);
    try {
      await this.#keepState(start);
      return handle;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }
}

function validatorOf(state: unknown, identity: PartIdentity): string | undefined {
  if (typeof state !== 'object' || state === null) return undefined;
  const {validator, ...rest} = state as Readonly<Record<string, unknown>>;
  const isOurs = Object.entries(identity).every(([key, value]) => rest[key] === value);
  return isOurs && typeof validator === 'string' ? validator : undefined;
}
