import {constants} from 'node:fs';
import {open, rm, type FileHandle} from 'node:fs/promises';
import {Writable} from 'node:stream';
import {finished} from 'node:stream/promises';
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
      const isSame = Object.entries(this.#identity).every(
        ([key, value]) => identity[key as keyof PartIdentity] === value,
      );
      if (!isSame || size === 0) return undefined;
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
    await removeFile(this.path);
    await this.forgetState();
  }

  /** The part is complete, so its state is no longer needed. */
  async forgetState(): Promise<void> {
    await removeFile(this.#statePath);
  }

  /** Records the state of the closed part in a private file. */
  async keepState(validator: string): Promise<void> {
    await this.forgetState();
    const {size, sha256} = await digestOf(this.path);
    const handle = await open(this.#statePath, 'wx', 0o600);
    try {
      await handle.writeFile(`${JSON.stringify({...this.#identity, validator, size, sha256})}\n`);
    } finally {
      await handle.close();
    }
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

/**
 * Opens a file only if it is ours alone: not a link, without other names (a run that was killed while moving a file
 * leaves it two), with none of the permissions in `forbidden`.
 */
async function openOurs(path: string, forbidden: number): Promise<FileHandle> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const stats = await handle.stat();
  if (stats.isFile() && stats.nlink === 1 && isOwn(stats, forbidden)) return handle;
  await handle.close();
  throw new Error(`${path} is not a partial download of mycli.`);
}

/** @throws RuntimeCliError `ERR_OUTPUT` when there is something other than a file. */
async function removeFile(path: string): Promise<void> {
  await rm(path, {force: true}).catch((error: unknown) => {
    throw outputError(path, error);
  });
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
  /** Size of the whole file in bytes, if known. */
  total: number | undefined;
  readonly #part: PartFile;
  readonly #onBytes: (transferred: number, total: number | undefined) => void;
  #start: DownloadStart = {offset: 0};
  #opened: Promise<FileHandle> | undefined;

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
    this.total = start.total;
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
    const isOpened = await this.#opened?.then(
      (handle) => handle.close().then(() => true),
      () => false,
    );
    // A part without a recorded state starts over.
    if (isOpened === true && validator !== undefined) await this.#part.keepState(validator).catch(() => undefined);
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
      throw outputError(this.#part.path, error);
    });
    this.received += chunk.length;
    this.#onBytes(this.#start.offset + this.received, this.total);
  }

  #open(): Promise<FileHandle> {
    this.#opened ??= this.#openAt(this.#start).catch((error: unknown) => {
      throw isRuntimeCliError(error) ? error : outputError(this.#part.path, error);
    });
    return this.#opened;
  }

  async #openAt(start: DownloadStart): Promise<FileHandle> {
    const {O_WRONLY, O_CREAT, O_EXCL, O_APPEND, O_NOFOLLOW} = constants;
    const {path} = this.#part;
    // Its recorded state is no longer valid.
    await this.#part.forgetState();
    if (start.offset > 0) {
      // Never write through someone else's link, or to a file with another name.
      const handle = await open(path, O_WRONLY | O_NOFOLLOW | O_APPEND);
      const {size, nlink} = await handle.stat();
      if (size === start.offset && nlink === 1) return handle;
      await handle.close();
      throw new Error('it was changed in the meantime');
    }
    await removeFile(path);
    return open(path, O_WRONLY | O_CREAT | O_EXCL, 0o666);
  }
}
