import {amendError, createError, isRuntimeCliError} from '../errors/index.js';
import {resumesUpload} from '../errors/suggestion.js';
import {jsonText} from '../text/json.js';
import {asSentence} from '../text/sentence.js';
import {reasonOf} from '../errors/system-failure.js';
import {containsSecret} from '../http/redact.js';
import type {Logger} from '../http/types.js';
import type {BackendLocation} from './built-in-backends.js';
import type {Backend, UploadState} from './contract.js';

/** An upload that can be resumed: where to, and of which archive. Plain JSON without secrets. */
export interface UploadPlace extends BackendLocation {
  /** The project's slug; with OAuth, the storefront's ID. */
  readonly projectSlug: string;
  /** Digest of the archive, hex. */
  readonly sha256: string;
}

/**
 * Keeps what plugins' backends need to resume an upload. Of several pushes of the same archive at the same time, one
 * uses it. If a method rejects, there is a warning, and the push goes on.
 */
export interface UploadStates {
  /** Resolves to what was last written, by this push or an earlier one; undefined if nothing is there. */
  read(place: UploadPlace): Promise<unknown>;
  /**
   * Replaces what is there.
   * @param state Plain JSON without secrets.
   */
  write(place: UploadPlace, state: unknown): Promise<void>;
  /** Removes what is there, if anything. */
  remove(place: UploadPlace): Promise<void>;
  /**
   * For a store that several processes share: keeps the others from a place before it is read. Resolves to what is
   * called when the upload has ended; undefined if another process has the place. @default no other process uses it
   */
  lock?(place: UploadPlace): Promise<(() => Promise<void>) | undefined>;
}

/** Maximum size of a state, in bytes of JSON. */
const maxBytes = 64 * 1024;

interface StateUse {
  readonly backend: Pick<Backend, 'name'>;
  /** It may grow. */
  readonly secrets: readonly string[];
  readonly logger: Warn;
}

/** The places whose state an upload of this process uses. */
const placesInUse = new WeakMap<UploadStates, Set<string>>();

/**
 * Calls `upload` with the state of an earlier push of the same archive to the same place, unless another has it.
 * `hasSent`: whether there is something to resume. A backend may save a state before it sends anything.
 */
export async function withUploadState<Result>(
  resumable: {readonly states: UploadStates; readonly place: UploadPlace} | undefined,
  use: StateUse & {readonly hasSent: () => boolean},
  upload: (state: UploadState | undefined) => Promise<Result>,
): Promise<Result> {
  if (resumable === undefined) return upload(undefined);
  const {states, place} = resumable;
  const lock = async () => (states.lock ? states.lock(place) : lockInProcess(states, place));
  // What cannot be locked cannot be written: that is warned of if the backend writes.
  const release = await lock().catch(() => () => Promise.resolve());
  if (release === undefined) return upload(undefined);
  let savedState: unknown;
  const store: UploadState = {
    read: async () => (savedState = await states.read(place)),
    async write(saved) {
      await states.write(place, saved);
      savedState = saved;
    },
    async remove() {
      savedState = undefined;
      await states.remove(place);
    },
  };
  const state = uploadStateOf(store, use);
  try {
    const result = await upload(state);
    await state.remove();
    return result;
  } catch (error) {
    if (savedState === undefined || !isRuntimeCliError(error) || !use.hasSent()) throw error;
    throw amendError(error, {suggestions: [resumesUpload]});
  } finally {
    await orWarn(use.logger, 'The state of the upload cannot be released', release);
  }
}

function lockInProcess(states: UploadStates, place: UploadPlace): (() => Promise<void>) | undefined {
  const inUse = placesInUse.get(states) ?? new Set();
  const key = JSON.stringify(place);
  if (inUse.has(key)) return undefined;
  placesInUse.set(states, inUse.add(key));
  return async () => void inUse.delete(key);
}

type Warn = Pick<Logger, 'warn'>;

async function orWarn<Result>(logger: Warn, what: string, work: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await work();
  } catch (error) {
    logger.warn(asSentence(`${what}: ${reasonOf(error)}`));
    return undefined;
  }
}

/** The state of an upload as its backend sees it. If it can't be kept, there is a warning. */
export function uploadStateOf(store: UploadState, {backend, secrets, logger}: StateUse): UploadState {
  return {
    read: () =>
      orWarn(logger, 'The state of an earlier upload cannot be read, so the upload starts over', async () =>
        store.read(),
      ),
    async write(state) {
      const json = jsonText(state);
      if (json === undefined) throw refusedState(backend, 'is not plain JSON');
      const bytes = Buffer.byteLength(json);
      if (bytes > maxBytes) throw refusedState(backend, `has ${String(bytes)} bytes, more than ${String(maxBytes)}`);
      if (containsSecret(json, secrets)) throw refusedState(backend, 'contains a secret');
      await orWarn(logger, 'If this upload is interrupted, it cannot be resumed', async () =>
        store.write(JSON.parse(json)),
      );
    },
    async remove() {
      await orWarn(logger, 'The state of the upload cannot be removed', async () => store.remove());
    },
  };
}

function refusedState({name}: Pick<Backend, 'name'>, problem: string): Error {
  return createError('ERR_BACKEND_FAILED', `The ${name} backend failed: the state of its upload ${problem}.`, {
    suggestions: ['This is a bug in its plugin. Report it to its authors.'],
    details: {backend: name},
  });
}
