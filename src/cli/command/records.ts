import {createHash} from 'node:crypto';
import {lstat, readdir, rm} from 'node:fs/promises';
import {join} from 'node:path';
import * as v from 'valibot';
import {createError} from '../../errors/index.js';
import {otherLock, takeLock, withLock} from '../../files/lock.js';
import {makePrivateDirectory, readPrivateFile, replaceTextFile} from '../../files/write-files.js';
import type {CheckRecords} from '../../operations/host.js';
import type {UploadPlace, UploadStates} from '../../backends/upload-state.js';
import type {PushPlace, PushRecords} from '../../operations/push/options.js';

// What runs remember for later ones, in a data folder: one JSON file for each place, replaced atomically, which only
// its owner can read. A record that cannot be read is an error, which callers take as a warning.

const version = v.literal(1);
const digest = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));
const bytes = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const time = v.pipe(v.string(), v.isoTimestamp());
const bundleId = v.union([v.number(), v.pipe(v.string(), v.minLength(1))]);

const pushRecord = v.object({
  version,
  bundleId,
  fingerprint: digest,
  fileBytes: bytes,
  size: bytes,
  sha256: digest,
  pushedAt: time,
});
const checkRecord = v.object({version, failed: v.array(v.object({bundleId, failedAt: time}))});
const uploadState = v.object({version, state: v.unknown()});

const keptChecks = 50;
/** How long the state of an upload is kept, in milliseconds. Services drop incomplete uploads within a week, too. */
const keptStateMs = 7 * 24 * 60 * 60_000;

export function pushRecordFiles(dataDirectory: string): PushRecords {
  const files = recordFiles(join(dataDirectory, 'pushes'), pushRecord, 'a record of a push');
  return {
    read: (place) => files.read(nameOf(place)),
    write: (place, record) =>
      files.change(nameOf(place), (known) =>
        // Of pushes at the same time, the one that uploaded last.
        known !== undefined && known.pushedAt > record.pushedAt ? undefined : {place, ...record},
      ),
  };
}

export function checkRecordFiles(dataDirectory: string): CheckRecords {
  const files = recordFiles(join(dataDirectory, 'checks'), checkRecord, 'a record of checks');
  return {
    read: async (place) => (await files.read(nameOf(place, place.targetSlug)))?.failed ?? [],
    add: (place, check) =>
      files.change(nameOf(place, place.targetSlug), (known) => ({
        place,
        failed: [check, ...(known?.failed ?? [])].slice(0, keptChecks),
      })),
  };
}

/** Remembers the state of each unfinished upload, for seven days. */
export function uploadStateFiles(dataDirectory: string): Required<UploadStates> {
  const directory = join(dataDirectory, 'uploads');
  const files = recordFiles(directory, uploadState, 'the state of an upload');
  const fileOf = (place: UploadPlace) => nameOf(place, place.sha256);
  return {
    async lock(place) {
      await removeOlderThan(keptStateMs, directory);
      return takeLock(join(directory, fileOf(place)), {patienceMs: 200}).catch((error: unknown) => {
        if (otherLock(error) === undefined) throw error;
        return undefined;
      });
    },
    read: async (place) => (await files.read(fileOf(place)))?.state,
    write: (place, state) => files.write(fileOf(place), {place, state}),
    remove: (place) => files.remove(fileOf(place)),
  };
}

function nameOf({backend, origin, organizationId, optionsSha256, projectSlug}: PushPlace, ...more: readonly string[]) {
  const parts = [backend, origin, organizationId, optionsSha256, projectSlug, ...more];
  return `${createHash('sha256').update(JSON.stringify(parts)).digest('hex')}.json`;
}

type JsonRecord = Readonly<Record<string, unknown>>;

export function recordFiles<const Schema extends v.GenericSchema>(directory: string, schema: Schema, what: string) {
  const read = async (name: string): Promise<v.InferOutput<Schema> | undefined> => {
    const path = join(directory, name);
    const file = await readPrivateFile(path);
    if (file === undefined) return undefined;
    const result = v.safeParse(schema, file.value);
    if (result.success) return result.output;
    throw createError('ERR_CONFIG_INVALID', `${path} is not ${what}.`);
  };
  const replace = (name: string, record: JsonRecord): Promise<void> =>
    replaceTextFile(join(directory, name), `${JSON.stringify({version: 1, ...record}, undefined, 2)}\n`, 0o600);
  return {
    read,
    async write(name: string, record: JsonRecord) {
      await makePrivateDirectory(directory);
      await replace(name, record);
    },
    /** Replaces a record by what becomes of it; undefined leaves it. One that cannot be read is replaced. */
    async change(name: string, next: (known: v.InferOutput<Schema> | undefined) => JsonRecord | undefined) {
      await makePrivateDirectory(directory);
      await withLock(join(directory, name), async () => {
        const record = next(await read(name).catch(() => undefined));
        if (record !== undefined) await replace(name, record);
      });
    },
    remove: (name: string) => rm(join(directory, name), {force: true}),
  };
}

async function removeOlderThan(ageMs: number, directory: string): Promise<void> {
  await makePrivateDirectory(directory);
  for (const name of await readdir(directory)) {
    const path = join(directory, name);
    const stats = await lstat(path).catch(() => undefined);
    if (stats && Date.now() - stats.mtimeMs > ageMs) await rm(path, {recursive: true, force: true});
  }
}
