import {createReadStream, createWriteStream} from 'node:fs';
import {mkdir, readFile, rename, rm, symlink, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {pipeline} from 'node:stream/promises';
import type {BackendContext, Bundle, BundleId, DownloadRequest} from 'mycli/backend';
import {copyStream} from './copy-stream.js';
import {failure, systemCode} from './failure.js';
import type {ProjectLayout} from './layout.js';
import {numbersIn, publish, withIncoming} from './numbered-folders.js';

/** `bundle.json`, next to the archive. */
export interface BundleRecord {
  /** Name of the archive in the same folder. */
  readonly archive: 'bundle.tar' | 'bundle.tar.gz';
  readonly format: Bundle['format'];
  readonly size: number;
  readonly sha256: string;
  readonly contentSha256: string;
  readonly message: string;
  readonly rootDir?: string | undefined;
  readonly configPath?: string | undefined;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly createdBy?: string | undefined;
  /** Set when it was deleted. Its archive is gone, and its number is never reused. */
  readonly deletedAt?: string | undefined;
}

/** A record, and the number of its folder. */
export interface StoredBundle extends BundleRecord {
  readonly bundleId: number;
}

type Transfer = Pick<BackendContext, 'signal' | 'onProgress'>;

/** Folder of a bundle's unpacked files. */
const filesFolder = 'files';

/** Stores a bundle completely, with the right digest, or not at all. */
export async function storeBundle(
  project: ProjectLayout,
  bundle: Bundle,
  {createdBy, unpack = false}: {readonly createdBy?: string | undefined; readonly unpack?: boolean | undefined},
  {signal, onProgress}: Transfer,
): Promise<StoredBundle> {
  signal.throwIfAborted();
  const {format, size, sha256, contentSha256, message, rootDir, configPath} = bundle;
  const archive = format === 'v1' ? 'bundle.tar' : 'bundle.tar.gz';
  return withIncoming(project.incoming, async (folder) => {
    const file = createWriteStream(join(folder, archive), {flags: 'wx', flush: true});
    const stored = await copyStream(bundle.createReadStream(), file, size, {signal, onProgress});
    if (stored !== sha256) {
      throw failure('ERR_ARCHIVE_INVALID', `The archive was modified: its sha256 is ${stored}, not ${sha256}.`);
    }
    if (unpack) await storeFiles(bundle, join(folder, filesFolder), signal);
    const record: BundleRecord = {
      ...{archive, format, size, sha256, contentSha256, message, rootDir, configPath},
      ...{createdAt: new Date().toISOString(), createdBy},
    };
    await writeJson(join(folder, 'bundle.json'), record);
    signal.throwIfAborted();
    return {...record, bundleId: await publish(folder, project.bundles)};
  });
}

/** Stores each file of a bundle. A path that the archive contains twice is refused, as it is by the file system. */
async function storeFiles(bundle: Bundle, folder: string, signal: AbortSignal): Promise<void> {
  // Links come last, so that nothing is written through one.
  const links: {readonly path: string; readonly target: string}[] = [];
  for await (const {path, executable, linkTarget, open} of bundle.entries({signal})) {
    const target = join(folder, path);
    await mkdir(dirname(target), {recursive: true});
    if (linkTarget !== undefined) links.push({path: target, target: linkTarget});
    else await pipeline(open(), createWriteStream(target, {flags: 'wx', mode: executable ? 0o755 : 0o644}), {signal});
  }
  for (const {path, target} of links) await symlink(target, path);
}

/** All bundles of a project, newest first. */
export async function readBundles(project: ProjectLayout): Promise<readonly StoredBundle[]> {
  const bundles: StoredBundle[] = [];
  for (const number of await numbersIn(project.bundles)) {
    const bundle = await readRecord(project, number);
    if (bundle && bundle.deletedAt === undefined) bundles.push(bundle);
  }
  return bundles;
}

/** One bundle. @throws when none has this ID. */
export async function readBundle(project: ProjectLayout, bundleId: BundleId): Promise<StoredBundle> {
  // The ID becomes part of a path.
  const found = /^[1-9]\d{0,14}$/.test(String(bundleId)) ? await readRecord(project, Number(bundleId)) : undefined;
  if (found && found.deletedAt === undefined) return found;
  throw failure(
    'ERR_BUNDLE_UNKNOWN',
    found ? `Bundle ${bundleId} was deleted on ${String(found.deletedAt)}.` : `Bundle ${bundleId} does not exist.`,
  );
}

/** Copies a bundle's archive to `writeTo`. @throws when it is not what was stored. */
export async function copyBundle(
  project: ProjectLayout,
  {bundleId, writeTo, onStart}: DownloadRequest,
  transfer: Transfer,
): Promise<void> {
  const {archive, size, sha256, bundleId: number} = await readBundle(project, bundleId);
  const file = join(project.bundles, String(number), archive);
  onStart?.({offset: 0, total: size, sha256});
  const copied = await copyStream(createReadStream(file), writeTo, size, transfer);
  if (copied !== sha256)
    throw failure('ERR_RESPONSE_INVALID', `${file} was modified after it was stored. Do not use it.`);
}

/** Removes a bundle's archive and files. Its record stays, so that its number is not reused. */
export async function removeBundle(project: ProjectLayout, bundleId: BundleId): Promise<void> {
  const {bundleId: number, ...record} = await readBundle(project, bundleId);
  const folder = join(project.bundles, String(number));
  await withIncoming(project.incoming, async (incoming) => {
    const changed = join(incoming, 'bundle.json');
    await writeJson(changed, {...record, deletedAt: new Date().toISOString()});
    await rename(changed, join(folder, 'bundle.json'));
  });
  await rm(join(folder, record.archive), {force: true});
  await rm(join(folder, filesFolder), {recursive: true, force: true});
}

async function readRecord(project: ProjectLayout, bundleId: number): Promise<StoredBundle | undefined> {
  try {
    const text = await readFile(join(project.bundles, String(bundleId), 'bundle.json'), 'utf8');
    return {...(JSON.parse(text) as BundleRecord), bundleId};
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Writes a new file. It is on disk when this resolves. */
export function writeJson(file: string, value: unknown): Promise<void> {
  return writeFile(file, `${JSON.stringify(value, null, 2)}\n`, {flag: 'wx', flush: true});
}
