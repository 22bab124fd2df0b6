import {randomBytes, randomUUID} from 'node:crypto';
import {createWriteStream} from 'node:fs';
import {lstat, mkdir, readdir, rm, writeFile} from 'node:fs/promises';
// oxlint-disable-next-line no-restricted-imports -- a runtime without a data folder creates and removes its own
import {tmpdir} from 'node:os';
import path from 'node:path';
import {pipeline} from 'node:stream/promises';
import * as v from 'valibot';
import {isDebrisName} from '../../bundle/index.js';
import {createError} from '../../errors/index.js';
import {reasonOf, systemCode} from '../../errors/system-failure.js';
import {dataFiles, dataFolders, dataMarks} from '../../files/own-files.js';
import {otherLock, takeLock} from '../../files/lock.js';
import {readJsonFile} from '../../files/read-file.js';
import {createSweptDirectory, type TemporaryDirectory} from '../../files/temporary-directory.js';
import {makePrivateDirectory, moveFile} from '../../files/write-files.js';
import {listPaths} from '../../text/entry-names.js';
import {asSentence} from '../../text/sentence.js';
import type {LocalRuntimeCredentials} from '../runtime-options.js';

export type DataFolder = Pick<TemporaryDirectory, 'path' | 'remove'>;

/**
 * Opens a folder for one runtime, or creates a temporary one after removing those that killed runtimes left behind. It
 * may come from a checkout: links and named pipes in it are refused. `remove()` leaves a given folder alone.
 */
export async function openDataFolder(dataDirectory: string | undefined): Promise<DataFolder> {
  const folder =
    dataDirectory === undefined
      ? await createSweptDirectory(tmpdir())
      : {path: path.resolve(dataDirectory), remove: () => Promise.resolve()};
  const names = await readdir(folder.path).catch((error: unknown): string[] => {
    if (systemCode(error) !== 'ENOENT') throw error;
    return [];
  });
  // What a start that was killed left behind has not all the marks.
  const others = names.filter((name) => !isOwn(name) && !isDebrisName(name));
  if (others.length > 0 && !dataMarks.every((mark) => names.includes(mark))) throw inUse(folder.path, others);
  await makePrivateDirectory(folder.path);
  await verify(folder.path);
  // Its credentials are not for a repository.
  if (others.length === 0 && !names.includes('.gitignore'))
    await writeFile(path.join(folder.path, '.gitignore'), '*\n');
  for (const name of dataFolders) {
    // Not recursive: on a full disk, that fails with ENOENT.
    await mkdir(path.join(folder.path, name), {mode: 0o700}).catch((error: unknown) => {
      if (systemCode(error) !== 'EEXIST') throw error;
    });
  }
  return dataDirectory === undefined ? folder : {path: folder.path, remove: await keepToOne(folder.path)};
}

/** Keeps other runtimes out, which would overwrite the records of this one, until a call of what it resolves to. */
async function keepToOne(folder: string): Promise<() => Promise<void>> {
  try {
    return await takeLock(path.join(folder, 'state.json'), {patienceMs: 0});
  } catch (cause) {
    const lock = otherLock(cause);
    if (lock === undefined) throw unusableFolder(folder, cause);
    throw createError('ERR_OPTION_INVALID', `A local runtime is already running on the data folder ${folder}.`, {
      suggestions: [`Stop it, or choose another data folder. If no mycli is running, remove ${lock}.`],
      cause,
    });
  }
}

export function unusableFolder(folder = 'in the temporary folder', cause: unknown): Error {
  return createError('ERR_OPTION_INVALID', asSentence(`The data folder ${folder} cannot be used: ${reasonOf(cause)}`), {
    suggestions: ['Check that it is writable and that the disk is not full, or pass another one with --data.'],
    cause,
  });
}

function isOwn(name: string): boolean {
  return [...dataFolders, ...dataFiles, '.gitignore'].includes(name) || name.startsWith('.state.json.lock-');
}

function inUse(folder: string, others: readonly string[]): Error {
  const message = `The folder ${folder} is not for the data of a local runtime: it contains ${listPaths(others)}.`;
  return createError('ERR_OPTION_INVALID', message, {
    suggestions: ['Choose a new or an empty folder, such as .runtime-data.'],
  });
}

async function verify(folder: string): Promise<void> {
  for (const name of [...dataFolders, ...dataFiles]) {
    const stats = await lstat(path.join(folder, name)).catch(() => undefined);
    const isRight = dataFiles.includes(name) ? stats?.isFile() : stats?.isDirectory();
    if (isRight === false) throw damaged(path.join(folder, name));
  }
  const entries = await readdir(path.join(folder, 'bundles'), {recursive: true, withFileTypes: true}).catch(() => []);
  const stranger = entries.find((entry) => !entry.isFile() && !entry.isDirectory());
  if (stranger) throw damaged(path.join(stranger.parentPath, stranger.name));
}

function damaged(name: string): Error {
  return createError('ERR_OPTION_INVALID', `The data folder is damaged: ${name} is not what it should be.`, {
    suggestions: ['Remove what is there, or choose another data folder. Links in a data folder are not followed.'],
  });
}

/** Bytes of an upload to collect while others are written, so that they are written together. */
const queuedBytes = 512 * 1024;

export function storeStream(source: AsyncIterable<Buffer>, file: string): Promise<void> {
  return pipeline(source, createWriteStream(file, {flags: 'wx', mode: 0o600, highWaterMark: queuedBytes}));
}

/** Writes JSON to `file` atomically: it has either the previous content or all of `value`. */
export async function writeJson(file: string, value: unknown, dataFolder: string): Promise<void> {
  const temporary = path.join(dataFolder, 'temporary', `${randomUUID()}.json`);
  try {
    await writeFile(temporary, `${JSON.stringify(value)}\n`, {flag: 'wx', mode: 0o600});
    await moveFile(temporary, file);
  } catch (error) {
    await rm(temporary, {force: true});
    throw error;
  }
}

/**
 * Reads a JSON file of a data folder; undefined if there is none.
 * @throws RuntimeCliError `ERR_OPTION_INVALID` if it cannot be read or does not fit the schema.
 */
export async function readDataFile<Schema extends v.GenericSchema>(
  file: string,
  schema: Schema,
): Promise<v.InferOutput<Schema> | undefined> {
  try {
    return v.parse(schema, await readJsonFile(file));
  } catch (cause) {
    if (systemCode(cause) === 'ENOENT') return undefined;
    throw createError('ERR_OPTION_INVALID', `A file of the data folder cannot be read: ${file}.`, {
      cause,
      suggestions: ['Remove the file, or choose another data folder.'],
    });
  }
}

// The folder may come from someone else, and users put its credentials into shells and dotenv files.
const word = v.pipe(v.string(), v.regex(/^[\w.-]{1,200}$/));
const credentialsSchema = v.object({apiKey: word, organizationId: word, clientId: word, clientSecret: word});

/** Credentials without the token URL, which depends on the port. */
type StoredCredentials = Omit<LocalRuntimeCredentials, 'tokenUrl'>;

/** Opens the credentials of a data folder, or makes them. Those in `given` take precedence and are not stored. */
export async function openCredentials(
  dataFolder: string,
  given: Partial<Record<keyof StoredCredentials, string | undefined>>,
): Promise<StoredCredentials> {
  const file = path.join(dataFolder, 'credentials.json');
  const saved = (await readDataFile(file, credentialsSchema)) ?? (await makeCredentials(file, dataFolder));
  return {
    apiKey: given.apiKey ?? saved.apiKey,
    organizationId: given.organizationId ?? saved.organizationId,
    clientId: given.clientId ?? saved.clientId,
    clientSecret: given.clientSecret ?? saved.clientSecret,
  };
}

/** Replaces the API key of a data folder, which admits nobody from then on. */
export async function storeNewApiKey(dataFolder: string): Promise<string> {
  const file = path.join(dataFolder, 'credentials.json');
  const apiKey = randomBytes(20).toString('hex');
  await writeJson(file, {...(await readDataFile(file, credentialsSchema)), apiKey}, dataFolder);
  return apiKey;
}

async function makeCredentials(file: string, dataFolder: string): Promise<StoredCredentials> {
  const secret = (bytes: number): string => randomBytes(bytes).toString('hex');
  const credentials = {
    apiKey: secret(20),
    organizationId: `org-${secret(4)}`,
    clientId: `client-${secret(4)}`,
    clientSecret: secret(20),
  };
  await writeJson(file, credentials, dataFolder);
  return credentials;
}
