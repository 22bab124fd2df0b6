import {join} from 'node:path';
import * as v from 'valibot';
import {createError} from '../../errors/index.js';
import {makePrivateDirectory, readPrivateFile, replacePrivateFile} from '../../files/write-files.js';
import type {CheckRecords, FailedCheck} from '../../operations/host.js';
import {nameOfPlace} from './push-records.js';

const parseChecks = v.safeParser(
  v.object({
    version: v.literal(1),
    failed: v.array(
      v.object({
        bundleId: v.union([v.number(), v.pipe(v.string(), v.minLength(1))]),
        failedAt: v.pipe(v.string(), v.isoTimestamp()),
      }),
    ),
  }),
);

/** How many failed checks are kept for a target. */
const keptChecks = 50;

/** Stores the failed checks of each target in a file in `checks/` of a data folder, readable only by its owner. */
export function checkRecordFiles(dataDirectory: string): CheckRecords {
  const directory = join(dataDirectory, 'checks');
  const read = async (path: string): Promise<readonly FailedCheck[]> => {
    const file = await readPrivateFile(path);
    if (file === undefined) return [];
    const result = parseChecks(file.value);
    if (result.success) return result.output.failed;
    throw createError('ERR_CONFIG_INVALID', `${path} is not a record of checks.`);
  };
  return {
    read: (place) => read(join(directory, nameOfPlace(place))),
    async add(place, check) {
      const path = join(directory, nameOfPlace(place));
      const known = await read(path).catch(() => []);
      const failed = [check, ...known].slice(0, keptChecks);
      await makePrivateDirectory(directory);
      await replacePrivateFile(path, `${JSON.stringify({version: 1, place, failed}, undefined, 2)}\n`);
    },
  };
}
