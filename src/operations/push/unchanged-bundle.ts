import type {PushRecord, PushRecords, UnchangedBundle} from './options.js';
import type {BundleId, BundleItem} from '../../backends/contract.js';
import {bundleFingerprint} from '../../bundle/index.js';
import {previewIn} from '../../bundle/provenance/provenance.js';
import type {BundleContent, PackResult} from '../../bundle/types.js';
import {reasonOf} from '../../errors/system-failure.js';
import {findBundle} from '../list-bundles.js';
import type {OpenBackend} from '../open-backend.js';
import {clockSkewMs, createdTime} from '../pages.js';
import {asSentence} from '../../text/sentence.js';

/** How a push uses what the last one has left. */
export interface LastPush {
  /** Whether an unchanged bundle is not uploaded again. */
  readonly ifChanged: boolean;
  readonly pushRecords: PushRecords | undefined;
  /** The preview that the bundle is for: others' bundles are deleted with theirs. */
  readonly preview: string | undefined;
}

/** With `ifChanged`, the last push if it was of the same bundle, which the server still has. A doubt is a warning. */
export async function compareWithLastPush(
  open: OpenBackend,
  bundle: BundleContent,
  digest: () => Promise<string>,
  {ifChanged, pushRecords, preview}: LastPush,
): Promise<UnchangedBundle | undefined> {
  if (!ifChanged || pushRecords === undefined) return undefined;
  const doubt = (what: string) => (error: unknown) => {
    open.signal.throwIfAborted();
    open.host.outlet.warn(asSentence(`${what}, so the bundle is uploaded: ${reasonOf(error)}`));
    return undefined;
  };
  const record = await pushRecords.read(open.place()).catch(doubt('The record of the last push cannot be read'));
  if (record?.fileBytes !== fileBytesOf(bundle)) return undefined;
  const contentSha256 = await digest();
  if (record.fingerprint !== bundleFingerprint({...bundle, contentSha256})) return undefined;
  const unclear = `Could not check whether bundle ${String(record.bundleId)} of the last push still exists`;
  return confirmRecord(open, record, contentSha256, preview).catch(doubt(unclear));
}

function fileBytesOf({files}: BundleContent): number {
  return files.reduce((bytes, {size}) => bytes + size, 0);
}

/** Records an upload for the next push. A failure is only a warning. */
export async function recordPush(
  open: OpenBackend,
  bundle: BundleContent & PackResult,
  bundleId: BundleId,
  {ifChanged, pushRecords}: LastPush,
): Promise<void> {
  const {host} = open;
  const {size, sha256} = bundle;
  const [fingerprint, fileBytes] = [bundleFingerprint(bundle), fileBytesOf(bundle)];
  const record = {bundleId, fingerprint, fileBytes, size, sha256, pushedAt: host.now().toISOString()};
  await pushRecords?.write(open.place(), record).catch((error: unknown) => {
    const what = `Bundle ${String(bundleId)} could not be recorded for the next push`;
    const warning = asSentence(`${what}: ${reasonOf(error)}`);
    if (ifChanged) host.outlet.warn(warning);
    else host.logger.debug(warning);
  });
}

/** Whether another bundle has the recorded ID: a server that was set up anew gives out the same IDs again. */
function isAnother(found: BundleItem, {sha256, pushedAt}: PushRecord): boolean {
  const isLater = createdTime(found) > Date.parse(pushedAt) + clockSkewMs;
  return isLater || (found.sha256 !== undefined && found.sha256 !== sha256);
}

const unusable: Partial<Record<BundleItem['status'], string>> = {
  broken: 'is broken',
  deleting: 'is being deleted',
  unknown: 'is in an unknown state',
};

async function confirmRecord(
  open: OpenBackend,
  record: PushRecord,
  contentSha256: string,
  preview: string | undefined,
): Promise<UnchangedBundle | undefined> {
  const {bundleId, pushedAt, size, sha256} = record;
  const found = await findBundle(open, bundleId);
  const own = previewIn(found?.message);
  const problem =
    found === undefined
      ? 'is gone'
      : isAnother(found, record)
        ? 'has an ID that belongs to another bundle now'
        : own !== undefined && own !== preview
          ? 'was uploaded for a preview and is deleted with it'
          : unusable[found.status];
  if (problem === undefined)
    return {bundleId, pushedAt, message: found?.message, archive: {size, sha256, contentSha256}};
  open.host.logger.info(`Bundle ${String(bundleId)} of the last push ${problem}.`);
  return undefined;
}
