import {createError} from '../errors/index.js';
import {asSentence} from '../errors/sentence.js';
import {reasonOf} from '../errors/system-failure.js';
import {containsSecret} from '../http/redact.js';
import type {Logger} from '../http/types.js';
import type {Backend, UploadState} from './contract.js';

/** Where the state of an upload is kept. */
export interface KeptState {
  read(): Promise<unknown>;
  write(state: unknown): Promise<void>;
  remove(): Promise<void>;
}

/** What a state can have at most, in bytes of JSON. */
const maxBytes = 64 * 1024;

/**
 * The state of an upload as its backend sees it. Refuses what a backend must not save; what cannot be kept for another
 * reason is a warning, and only costs the next push a resume.
 * @param surroundings `secrets` may grow
 */
export function uploadStateOf(
  backend: Pick<Backend, 'name'>,
  kept: KeptState,
  {secrets, logger}: {readonly secrets: readonly string[]; readonly logger: Pick<Logger, 'warn'>},
): UploadState {
  const tried = async <Result>(what: string, work: () => Promise<Result>): Promise<Result | undefined> => {
    try {
      return await work();
    } catch (error) {
      logger.warn(asSentence(`${what}: ${reasonOf(error)}`));
      return undefined;
    }
  };
  return {
    read: () =>
      tried('The state of an earlier upload cannot be read, so the upload starts over', async () => kept.read()),
    async write(state) {
      const json = jsonOf(state);
      const problem = problemOf(json, secrets);
      if (json === undefined || problem !== undefined) throw refusedState(backend, problem ?? 'is not plain JSON');
      await tried('If this upload is interrupted, it cannot be resumed', async () => kept.write(JSON.parse(json)));
    },
    async remove() {
      await tried('The state of the upload cannot be removed', async () => kept.remove());
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

function problemOf(json: string | undefined, secrets: readonly string[]): string | undefined {
  if (json === undefined) return 'is not plain JSON';
  const bytes = Buffer.byteLength(json);
  if (bytes > maxBytes) return `has ${String(bytes)} bytes, more than ${String(maxBytes)}`;
  return containsSecret(json, secrets) ? 'contains a secret' : undefined;
}

function refusedState({name}: Pick<Backend, 'name'>, problem: string): Error {
  return createError('ERR_BACKEND_FAILED', `The ${name} backend failed: the state of its upload ${problem}.`, {
    suggestions: ['This is a bug in its plugin. Report it to its authors.'],
    details: {backend: name},
  });
}
