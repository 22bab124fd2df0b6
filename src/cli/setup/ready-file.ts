import {rm} from 'node:fs/promises';
import * as v from 'valibot';
import {createError} from '../../errors/index.js';
import {outputError} from '../../errors/system-failure.js';
import {readTextFile} from '../../files/read-file.js';
import {readPrivateFile, replacePrivateFile} from '../../files/write-files.js';

/** What scripts get to know about the runtime that is ready. */
const contentSchema = v.object({
  origin: v.string(),
  appsOrigin: v.string(),
  dataDirectory: v.string(),
  pid: v.number(),
});

/**
 * Removes the ready file of an earlier runtime, so that nobody takes it for this one's.
 * @param path absolute.
 * @throws RuntimeCliError `ERR_OUTPUT` when it is something else.
 */
export async function removeReadyFile(path: string): Promise<void> {
  const found = await readPrivateFile(path).catch((error: unknown) => {
    throw outputError(path, error);
  });
  if (found !== undefined && !v.is(contentSchema, found.value)) {
    throw createError(
      'ERR_OUTPUT',
      `${path} contains something other than a runtime's address, so --ready-file does not overwrite it.`,
      {suggestions: ['Pass a different file to --ready-file, or remove this one.']},
    );
  }
  await rm(path, {force: true});
}

/**
 * Writes the ready file, complete from the first moment. Returns a function that removes it, but not one of another
 * runtime.
 * @throws RuntimeCliError `ERR_OUTPUT` when it cannot be written.
 */
export async function writeReadyFile(
  path: string,
  {origin, appsOrigin, dataDirectory}: Omit<v.InferOutput<typeof contentSchema>, 'pid'>,
): Promise<() => Promise<void>> {
  const text = `${JSON.stringify({origin, appsOrigin, dataDirectory, pid: process.pid})}\n`;
  await replacePrivateFile(path, text).catch((error: unknown) => {
    throw outputError(path, error);
  });
  return async () => {
    if ((await readTextFile(path).catch(() => undefined)) === text) await rm(path, {force: true});
  };
}
