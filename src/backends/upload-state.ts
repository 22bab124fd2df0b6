import {createError} from '../errors/index.js';
import {asSentence} from '../text/sentence.js';
import {reasonOf} from '../errors/system-failure.js';
import {containsSecret} from '../http/redact.js';
import type {Logger} from '../http/types.js';
import type {Backend, UploadState} from './contract.js';

/** Maximum size of a state, in bytes of JSON. */
const maxBytes = 64 * 1024;

/**
 * The state of an upload as its backend sees it. Refuses what a backend must not save. If a state cannot be kept for
 * another reason, there is a warning, and the next push starts over.
 * @param store where the state is kept
 * @param surroundings `secrets` may grow
 */
export function uploadStateOf(
  backend: Pick<Backend, 'name'>,
  store: UploadState,
  {secrets, logger}: {readonly secrets: readonly string[]; readonly logger: Pick<Logger, 'warn'>},
): UploadState {
  const orWarn = async <Result>(what: string, work: () => Promise<Result>): Promise<Result | undefined> => {
    try {
      return await work();
    } catch (error) {
      logger.warn(asSentence(`${what}: ${reasonOf(error)}`));
      return undefined;
    }
  };
  return {
    read: () =>
      orWarn('The state of an earlier upload cannot be read, so the upload starts over', async () => store.read()),
    async write(state) {
      const json = jsonOf(state);
      if (json === undefined) throw refusedState(backend, 'is not plain JSON');
      const bytes = Buffer.byteLength(json);
      if (bytes > maxBytes) throw refusedState(backend, `has ${String(bytes)} bytes, more than ${String(maxBytes)}`);
      if (containsSecret(json, secrets)) throw refusedState(backend, 'contains a secret');
      await orWarn('If this upload is interrupted, it cannot be resumed', async () => store.write(JSON.parse(json)));
    },
    async remove() {
      await orWarn('The state of the upload cannot be removed', async () => store.remove());
    },
  };
}

function jsonOf(state: unknown): string | undefined {
  try {
    return JSON.stringify(state);
  } catch {
    return undefined;
  }
}

function refusedState({name}: Pick<Backend, 'name'>, problem: string): Error {
  return createError('ERR_BACKEND_FAILED', `The ${name} backend failed: the state of its upload ${problem}.`, {
    suggestions: ['This is a bug in its plugin. Report it to its authors.'],
    details: {backend: name},
  });
}
