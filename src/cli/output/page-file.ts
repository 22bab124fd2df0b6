import {lstat, open} from 'node:fs/promises';
import {dirname} from 'node:path';
import {createError} from '../../errors/index.js';
import {outputError} from '../../errors/system-failure.js';
import {createSweptDirectory} from '../../files/temporary-directory.js';
import {stageFile} from '../../files/write-files.js';
import {pageStart} from '../../html/page.js';

/** Where a page will be. */
export interface PageFile {
  /** Absolute. */
  readonly path: string;
  /** @throws RuntimeCliError `ERR_OUTPUT` when it cannot be written. */
  write(page: string): Promise<void>;
}

/**
 * Verifies that a page can be written, before the work for it begins.
 * @param path absolute.
 * @throws RuntimeCliError `ERR_OUTPUT` when something else than a page of ours is there.
 */
export async function preparePage(path: string): Promise<PageFile> {
  // Some folders, as those of /proc, only seem to be writable.
  const probe = await createSweptDirectory(dirname(path)).catch((error: unknown) => {
    throw outputError(path, error);
  });
  await probe.remove();
  if (!(await isReplaceable(path))) {
    throw createError('ERR_OUTPUT', `${path} is not a page that mycli has made, so --html does not overwrite it.`, {
      suggestions: ['Pass a different file to --html, or remove this one.'],
    });
  }
  return {
    path,
    async write(page) {
      const staged = await stageFile(path, 0o666, async (stream) => {
        await new Promise<void>((done, failed) => {
          stream.once('error', failed);
          stream.end(page, done);
        });
      });
      try {
        await staged.place();
      } finally {
        await staged.discard();
      }
    },
  };
}

async function isReplaceable(path: string): Promise<boolean> {
  const stats = await lstat(path).catch(() => undefined);
  if (stats === undefined) return true;
  if (!stats.isFile()) return false;
  const file = await open(path).catch((error: unknown) => {
    throw outputError(path, error);
  });
  try {
    const {buffer, bytesRead} = await file.read(Buffer.alloc(pageStart.length), 0, pageStart.length, 0);
    return bytesRead === 0 || buffer.toString('latin1', 0, bytesRead) === pageStart;
  } finally {
    await file.close();
  }
}
