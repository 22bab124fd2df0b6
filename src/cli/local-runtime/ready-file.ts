import {rm} from 'node:fs/promises';
import {createError} from '../../errors/index.js';
import {isRecord} from '../../errors/json.js';
import {outputError} from '../../errors/system-failure.js';
import {readPrivateFile, replacePrivateFile} from '../../files/write-files.js';

/** What scripts get to know about the runtime that is ready. */
interface ReadyRuntime {
  readonly origin: string;
  readonly appsOrigin: string;
  readonly dataDirectory: string;
}

/** The file of `--ready-file`, which exists while the runtime is ready. */
export interface ReadyFile {
  /** Creates it, complete from the first moment. @throws RuntimeCliError `ERR_OUTPUT` when it cannot be written. */
  write(runtime: ReadyRuntime): Promise<void>;
  remove(): Promise<void>;
}

/**
 * Removes what a killed runtime has left at `path`, so that nobody takes it for this one's.
 * @param path absolute.
 * @throws RuntimeCliError `ERR_OUTPUT` when something else is there.
 */
export async function openReadyFile(path: string): Promise<ReadyFile> {
  const found = await readPrivateFile(path).catch((error: unknown) => {
    throw outputError(path, error);
  });
  if (found !== undefined && !(isRecord(found.value) && 'origin' in found.value && 'dataDirectory' in found.value)) {
    throw createError(
      'ERR_OUTPUT',
      `${path} contains something other than a runtime's address, so --ready-file does not overwrite it.`,
      {suggestions: ['Pass a different file to --ready-file, or remove this one.']},
    );
  }
  await rm(path, {force: true});
  return {
    async write({origin, appsOrigin, dataDirectory}) {
      try {
        await replacePrivateFile(path, `${JSON.stringify({origin, appsOrigin, dataDirectory})}\n`);
      } catch (error) {
        throw outputError(path, error);
      }
    },
    remove: () => rm(path, {force: true}),
  };
}
