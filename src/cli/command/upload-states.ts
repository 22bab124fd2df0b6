import {createHash} from 'node:crypto';
import {lstat, readdir, rm} from 'node:fs/promises';
import {join} from 'node:path';
import * as v from 'valibot';
import {createError} from '../../errors/index.js';
import {makePrivateDirectory, readPrivateFile, replacePrivateFile} from '../../files/write-files.js';
import type {UploadPlace, UploadStates} from '../../operations/push/records.js';

/** How long a state is kept, in milliseconds. Services drop incomplete uploads after a day to a week, too. */
const keptMs = 7 * 24 * 60 * 60_000;

/** Validates the state of an upload. */
const parseUploadState = v.safeParser(v.object({version: v.literal(1), state: v.unknown()}));

/**
 * Keeps the state of each unfinished upload in a file in `uploads/` of a data folder, readable only by its owner, for
 * seven days. A file is replaced atomically.
 */
export function uploadStateFiles(dataDirectory: string): UploadStates {
  const directory = join(dataDirectory, 'uploads');
  const pathOf = (place: UploadPlace) => join(directory, `${digest(place)}.json`);
  return {
    async read(place) {
      await makePrivateDirectory(directory);
      await removeOld(directory);
      return readState(pathOf(place));
    },
    async write(place, state) {
      await makePrivateDirectory(directory);
      await replacePrivateFile(pathOf(place), `${JSON.stringify({version: 1, place, state}, undefined, 2)}\n`);
    },
    remove: (place) => rm(pathOf(place), {force: true}),
  };
}

/** Includes everything that tells uploads apart, so that a state never reaches another bundle, project or service. */
function digest({backend, origin, organizationId, optionsSha256, projectSlug, sha256}: UploadPlace): string {
  const parts = [backend, origin, organizationId, optionsSha256, projectSlug, sha256];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

async function readState(path: string): Promise<unknown> {
  const file = await readPrivateFile(path);
  if (file === undefined) return undefined;
  const result = parseUploadState(file.value);
  if (result.success) return result.output.state;
  throw createError('ERR_CONFIG_INVALID', `${path} is not the state of an upload.`);
}

/** Removes states that are too old. */
async function removeOld(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const path = join(directory, name);
    const stats = await lstat(path).catch(() => undefined);
    if (stats?.isFile() === true && Date.now() - stats.mtimeMs > keptMs) await rm(path, {force: true});
  }
}
