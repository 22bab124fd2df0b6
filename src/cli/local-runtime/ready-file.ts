import {rm} from 'node:fs/promises';
import * as v from 'valibot';
import {createError, isRuntimeCliError} from '../../errors/index.js';
import {outputError} from '../../errors/system-failure.js';
import {isRunning, ownPid, processSpace, startOf} from '../../files/ownership.js';
import {readTextFile} from '../../files/read-file.js';
import {readPrivateFile, replacePrivateFile} from '../../files/write-files.js';

/** What scripts get to know about the runtime that is ready. */
interface ReadyRuntime {
  readonly origin: string;
  readonly appsOrigin: string;
  readonly dataDirectory: string;
}

/** The file of `--ready-file`, which exists while the runtime is ready. */
export interface ReadyFile {
  /**
   * Creates it, complete from the first moment.
   * @throws RuntimeCliError `ERR_OUTPUT` when it cannot be written, or another runtime was faster.
   */
  write(runtime: ReadyRuntime): Promise<void>;
  /** Removes it, but not one of another runtime. */
  remove(): Promise<void>;
}

const contentSchema = v.object({
  origin: v.string(),
  appsOrigin: v.string(),
  dataDirectory: v.string(),
  pid: v.number(),
  // Which process had that ID: when it was started, if that can be known, and where the ID is valid.
  pidStart: v.string(),
  pidSpace: v.string(),
});

/**
 * Removes what a killed runtime has left at `path`, so that nobody takes it for this one's.
 * @param path absolute.
 * @throws RuntimeCliError `ERR_OUTPUT` when it is the file of a runtime that is still running, or something else.
 */
export async function openReadyFile(path: string): Promise<ReadyFile> {
  const pidSpace = await processSpace();
  const verifyFree = async (): Promise<void> => {
    const found = await readPrivateFile(path).catch((error: unknown) => {
      throw outputError(path, error);
    });
    if (found === undefined) return;
    const {success, output} = v.safeParse(contentSchema, found.value);
    if (!success) {
      throw createError(
        'ERR_OUTPUT',
        `${path} contains something other than a runtime's address, so --ready-file does not overwrite it.`,
        {suggestions: ['Pass a different file to --ready-file, or remove this one.']},
      );
    }
    // Of a process in another container, nothing is known.
    if (output.pidSpace !== pidSpace || (await isRunning(output.pid, output.pidStart)) === false) return;
    throw createError(
      'ERR_OUTPUT',
      `${path} is the ready file of the local runtime with process ID ${String(output.pid)}, which is still running.`,
      {suggestions: ['Stop that one first, or pass a different file to --ready-file.']},
    );
  };
  await verifyFree();
  await rm(path, {force: true});
  let written: string | undefined;
  return {
    async write({origin, appsOrigin, dataDirectory}) {
      const pidStart = (await startOf(ownPid)) ?? '';
      const content = {origin, appsOrigin, dataDirectory, pid: ownPid, pidStart, pidSpace};
      written = `${JSON.stringify(content satisfies v.InferOutput<typeof contentSchema>)}\n`;
      try {
        await replacePrivateFile(path, written, verifyFree);
      } catch (error) {
        throw isRuntimeCliError(error) ? error : outputError(path, error);
      }
    },
    async remove() {
      if (written === undefined || (await readTextFile(path).catch(() => undefined)) !== written) return;
      await rm(path, {force: true});
    },
  };
}
