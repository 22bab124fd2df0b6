import type {BundleId, BundleItem} from '../../backends/contract.js';
import type {RuntimeBackend} from '../../backends/names.js';
import {bundleFingerprint} from '../../bundle/index.js';
import type {BundleContent, PackResult} from '../../bundle/types.js';
import {reasonOf} from '../../errors/system-failure.js';
import {findBundle} from '../list.js';
import {createdTime} from '../pages.js';
import {clockSkewMs, openBackend, placeOf} from '../open-backend.js';
import type {PushRuntimeBundleBackendOptions} from './options.js';
import type {PushRecord} from './records.js';
import type {Host} from '../host.js';
import {asSentence} from '../../text/sentence.js';

/** The bundle of the last push, which a new one would only duplicate. */
export interface UnchangedBundle {
  readonly bundleId: BundleId;
  /** When it was uploaded, ISO 8601. */
  readonly pushedAt: string;
  /** The message of the last push, if the server reports it. */
  readonly message?: string | undefined;
  /** The archive that was uploaded. */
  readonly archive: PackResult;
}

interface Comparison {
  /** Undefined if the bundle is different, or the last one is not usable. */
  readonly unchanged?: UnchangedBundle | undefined;
  readonly warnings: readonly string[];
}

type PushOptions = PushRuntimeBundleBackendOptions;

/**
 * With `ifChanged`, compares a bundle with that of the last push to the same project and backend, which only counts if
 * the server still has it. Any doubt is a warning, and neither skips the upload nor fails the push.
 * @param digest Finds out the bundle's `contentSha256`. Not called if nothing was pushed, or something of another size.
 */
export async function compareWithLastPush(
  backend: RuntimeBackend,
  bundle: BundleContent,
  digest: () => Promise<string>,
  options: PushOptions,
  host: Host,
): Promise<Comparison> {
  if (!options.ifChanged || options.pushRecords === undefined) return {warnings: []};
  const inDoubt = (doubt: string, error: unknown): Comparison => {
    options.signal?.throwIfAborted();
    return {warnings: [asSentence(`${doubt}, so the bundle is uploaded: ${reasonOf(error)}`)]};
  };
  let record: PushRecord | undefined;
  try {
    record = await options.pushRecords.read(placeOf(backend, options, host));
  } catch (error) {
    return inDoubt('The record of the last push cannot be read', error);
  }
  if (record?.fileBytes !== fileBytesOf(bundle)) return {warnings: []};
  const contentSha256 = await digest();
  if (record.fingerprint !== bundleFingerprint({...bundle, contentSha256})) return {warnings: []};
  try {
    return {unchanged: await confirmRecord(record, contentSha256, backend, options, host), warnings: []};
  } catch (error) {
    const id = String(record.bundleId);
    return inDoubt(`Could not check whether bundle ${id} of the last push still exists`, error);
  }
}

function fileBytesOf({files}: BundleContent): number {
  return files.reduce((bytes, {size}) => bytes + size, 0);
}

/**
 * Records an upload for the next push. If this fails, the push still succeeds, with a warning only if it used
 * `ifChanged`.
 */
export async function recordPush(
  backend: RuntimeBackend,
  bundle: BundleContent & PackResult,
  bundleId: BundleId,
  options: PushOptions,
  host: Host,
): Promise<readonly string[]> {
  const {size, sha256} = bundle;
  const [fingerprint, fileBytes] = [bundleFingerprint(bundle), fileBytesOf(bundle)];
  const record = {bundleId, fingerprint, fileBytes, size, sha256, pushedAt: host.now().toISOString()};
  try {
    await options.pushRecords?.write(placeOf(backend, options, host), record);
    return [];
  } catch (error) {
    const warning = asSentence(
      `Bundle ${String(bundleId)} could not be recorded for the next push: ${reasonOf(error)}`,
    );
    if (options.ifChanged) return [warning];
    host.logger.debug(warning);
    return [];
  }
}

/**
 * Whether a bundle cannot be the recorded one although it has its ID: a server that was set up anew, such as a local
 * runtime without a data folder, gives out the same IDs again.
 */
function isAnother(found: BundleItem, {sha256, pushedAt}: PushRecord): boolean {
  const isLater = createdTime(found) > Date.parse(pushedAt) + clockSkewMs;
  return isLater || (found.sha256 !== undefined && found.sha256 !== sha256);
}

const unusableStates = {broken: 'broken', deleting: 'being deleted', unknown: 'in an unknown state'} as const;

async function confirmRecord(
  record: PushRecord,
  contentSha256: string,
  backend: RuntimeBackend,
  options: PushOptions,
  host: Host,
): Promise<UnchangedBundle | undefined> {
  const {bundleId, pushedAt, size, sha256} = record;
  const found = await findBundle(await openBackend(backend, options, host), bundleId);
  if (found && isAnother(found, record)) {
    host.logger.info(`Bundle ID ${String(bundleId)} of the last push now belongs to another bundle.`);
    return undefined;
  }
  if (found?.status === 'ready' || found?.status === 'preparing')
    return {bundleId, pushedAt, message: found.message, archive: {size, sha256, contentSha256}};
  const state = found ? unusableStates[found.status] : 'gone';
  host.logger.info(`Bundle ${String(bundleId)} of the last push is ${state}.`);
  return undefined;
}
