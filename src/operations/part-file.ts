import {rmSync, truncateSync, writeFileSync} from 'node:fs';
import {lstat, open, rm} from 'node:fs/promises';
import {Writable} from 'node:stream';
import {finished} from 'node:stream/promises';
import {isDeepStrictEqual} from 'node:util';
import * as v from 'valibot';
import type {DownloadRequest, DownloadResume, DownloadStart} from '../backends/contract.js';
import {cannotWrite, outputError} from '../errors/system-failure.js';
import {isOwn} from '../files/ownership.js';
import {readJsonFile} from '../files/read-file.js';

const stateSchema = v.object({
  backend: v.string(),
  projectSlug: v.string(),
  bundleId: v.union([v.string(), v.number()]),
  validator: v.string(),
});

/** What a part belongs to. Bytes of anything else are not appended to it. */
type PartIdentity = Omit<v.InferOutput<typeof stateSchema>, 'validator'>;

/** What a backend is asked for, to write a part. */
export type PartRequest = Omit<DownloadRequest, 'bundleId' | 'onStart'> & {
  readonly onStart: (start: DownloadStart) => void;
};

/** A partial download at `path`. If it can be resumed, `path.json` says what it belongs to. */
export class PartFile {
  readonly path: string;
  readonly #statePath: string;
  readonly #identity: PartIdentity;

  constructor(path: string, identity: PartIdentity) {
    this.path = path;
    this.#statePath = `${path}.json`;
    this.#identity = identity;
  }

  /** What an earlier download left; undefined if there is nothing to resume. */
  async resume(): Promise<DownloadResume | undefined> {
    try {
      const [part, state] = [await lstat(this.path), await lstat(this.#statePath)];
      // A link, or a file that others may write to, is not what a download leaves.
      if (!part.isFile() || !isOwn(part, 0o002) || !state.isFile() || !isOwn(state, 0o077)) return undefined;
      const {validator, ...identity} = v.parse(stateSchema, await readJsonFile(this.#statePath));
      if (part.size === 0 || !isDeepStrictEqual(identity, this.#identity)) return undefined;
      return {offset: part.size, validator};
    } catch {
      // Missing or damaged: start from the beginning.
      return undefined;
    }
  }

  /** Writes what `download` sends, after the part or from its beginning. `onBytes` gets the total so far. */
  async write(
    resume: DownloadResume | undefined,
    download: (request: PartRequest) => Promise<void>,
    onBytes: (transferred: number, total: number | undefined) => void,
  ): Promise<void> {
    const {path} = this;
    if (resume === undefined) await this.discard();
    const handle = await open(path, resume === undefined ? 'ax' : 'a', 0o666).catch(cannotWrite(path));
    let total: number | undefined;
    let transferred = 0;
    const onStart = (start: DownloadStart) => {
      ({offset: transferred, total} = start);
      if (transferred === 0) this.#begin(start);
    };
    let failure: Error | undefined;
    const writeTo = new Writable({
      highWaterMark: 1024 * 1024,
      write(chunk: Buffer, _encoding, done) {
        handle.writeFile(chunk).then(
          () => {
            transferred += chunk.length;
            onBytes(transferred, total);
            done();
          },
          (error: unknown) => {
            failure = outputError(path, error);
            done(failure);
          },
        );
      },
    });
    // Whoever writes to it hears of its errors, too.
    writeTo.on('error', () => undefined);
    try {
      await download({writeTo, resume, onStart});
      if (!writeTo.writableEnded) writeTo.end();
      await finished(writeTo);
    } catch (error) {
      throw failure ?? error;
    } finally {
      writeTo.destroy();
      await handle.close();
    }
  }

  async discard(): Promise<void> {
    await this.#remove(this.path);
    await this.forgetState();
  }

  /** The part is complete, so its state is no longer needed. */
  forgetState(): Promise<void> {
    return this.#remove(this.#statePath);
  }

  /** The server sends the whole archive. Without a validator, it cannot be resumed. */
  #begin({validator}: DownloadStart): void {
    // By its path: Windows truncates no file by a handle that appends.
    writing(this.path, () => truncateSync(this.path));
    writing(this.#statePath, () => {
      rmSync(this.#statePath, {force: true});
      if (validator === undefined) return;
      const state = JSON.stringify({...this.#identity, validator});
      writeFileSync(this.#statePath, `${state}\n`, {flag: 'wx', mode: 0o600});
    });
  }

  async #remove(path: string): Promise<void> {
    await rm(path, {force: true}).catch(cannotWrite(path));
  }
}

/** An error of the system names the file that was written. */
function writing(path: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    throw outputError(path, error);
  }
}
