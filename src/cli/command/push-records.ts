import {createHash} from 'node:crypto';
import {join} from 'node:path';
import * as v from 'valibot';
import {createError} from '../../errors/index.js';
import {makePrivateDirectory, readPrivateFile, replacePrivateFile} from '../../files/write-files.js';
import type {PushPlace, PushRecord, PushRecords} from '../../operations/push/records.js';

const digest = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));
const bytes = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

const pushRecord = v.object({
  version: v.literal(1),
  bundleId: v.union([v.number(), v.pipe(v.string(), v.minLength(1))]),
  fingerprint: digest,
  fileBytes: bytes,
  size: bytes,
  sha256: digest,
  pushedAt: v.pipe(v.string(), v.isoTimestamp()),
});

/** Validates the record of the last push to a place. */
const parsePushRecord = v.safeParser(pushRecord);

/**
 * Stores the last push to each place in a file in `pushes/` of a data folder, readable only by its owner. Pushes
 * replace the file atomically, so concurrent ones do no harm.
 */
export function pushRecordFiles(dataDirectory: string): PushRecords {
  const directory = join(dataDirectory, 'pushes');
  const pathOf = (place: PushPlace) => join(directory, nameOfPlace(place));
  return {
    read: (place) => readRecord(pathOf(place)),
    async write(place, record) {
      await makePrivateDirectory(directory);
      await replacePrivateFile(pathOf(place), `${JSON.stringify({version: 1, place, ...record}, undefined, 2)}\n`);
    },
  };
}

/** The name of the file that belongs to a place, or to a target there. */
export function nameOfPlace(place: PushPlace & {readonly targetSlug?: string}): string {
  const {backend, origin, organizationId, optionsSha256, projectSlug, targetSlug} = place;
  const parts = [backend, origin, organizationId, optionsSha256, projectSlug];
  const text = JSON.stringify(targetSlug === undefined ? parts : [...parts, targetSlug]);
  return `${createHash('sha256').update(text).digest('hex')}.json`;
}

async function readRecord(path: string): Promise<PushRecord | undefined> {
  const file = await readPrivateFile(path);
  if (file === undefined) return undefined;
  const result = parsePushRecord(file.value);
  if (result.success) return result.output;
  throw createError('ERR_CONFIG_INVALID', `${path} is not a record of a push.`);
}
