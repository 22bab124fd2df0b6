import {basename, resolve} from 'node:path';
import type {BundleInspection, DownloadBundleOptions, DownloadBundleResult} from './bundle-options.js';
import type {BackendCapability, BundleId, DownloadResume, DownloadStart} from '../backends/contract.js';
import {backendTitle} from '../backends/names.js';
import {cannotWrite, outputError, reasonOf, systemCode} from '../errors/system-failure.js';
import {readManifest} from '../bundle/archive/manifest.js';
import {readArchive} from '../bundle/prebuilt/read-archive.js';
import {exists} from '../files/read-file.js';
import {moveFile, verifyRegular} from '../files/write-files.js';
import {amendError, createError, isRuntimeCliError, type ErrorCode, type Suggestion} from '../errors/index.js';
import type {Host} from './host.js';
import {explainMissing} from './explain-missing.js';
import type {HostBackend} from '../backends/host-backend.js';
import {namingCapabilities, resolveBundleId, targetIn, verifyId} from './list-bundles.js';
import {rejectProblems, slugProblems} from '../settings/definitions.js';
import {findRunning} from './targets/find-targets.js';
import {invoke} from './call-backend.js';
import type {OpenBackend} from './open-backend.js';
import type {ProjectResult} from './options.js';
import {PartFile, type PartRequest} from './part-file.js';
import {withLock} from '../files/lock.js';
import {asSentence} from '../text/sentence.js';

interface Destination extends Pick<DownloadBundleOptions, 'bundleId' | 'output' | 'force' | 'cwd'> {
  /** Whether nothing is kept of it. @default false */
  readonly isTemporary?: boolean;
}

/** `bundle 42`, `the latest bundle`, `what staging runs` */
export function describeBundle(bundleId: BundleId): string {
  const target = targetIn(bundleId);
  if (target !== undefined) return `what ${target} runs`;
  return bundleId === 'latest' ? 'the latest bundle' : `bundle ${String(bundleId)}`;
}

export function downloadCapabilities(bundleId: BundleId): readonly BackendCapability[] {
  return ['download', ...namingCapabilities(bundleId)];
}

/** As `verifyId`, or refuses what is no slug behind `running:`. */
export function verifyNamed(backend: HostBackend, bundleId: BundleId, meant = meantTarget): void {
  const target = targetIn(bundleId);
  if (target === undefined) verifyId(backend, bundleId, meant);
  else rejectProblems(slugProblems('running', target));
}

async function idToDownload(open: OpenBackend, bundleId: BundleId): Promise<BundleId> {
  verifyNamed(open.backend, bundleId);
  const target = targetIn(bundleId);
  return target === undefined ? resolveBundleId(open, bundleId) : (await findRunning(open, target)).bundleId;
}

export function meantTarget(typed: string | undefined): readonly Suggestion[] {
  if (typed === 'running') return ['For what the configured target runs, pass running: with the colon.'];
  return typed === undefined || slugProblems('running', typed).length > 0
    ? []
    : [`If it is a target, pass running:${typed}.`];
}

/** Downloads an archive to a file, which is created once it is complete and valid. Until then it is `FILE.part`. */
export async function downloadBundleFrom(open: OpenBackend, options: Destination): Promise<DownloadBundleResult> {
  const {force = false, isTemporary = false} = options;
  const {project, host} = open;
  const bundleId = await idToDownload(open, options.bundleId);
  const paths = outputPaths(options, bundleId, host);
  for (const path of new Set(Object.values(paths))) await verifyOutput(path, force);
  // Two that write one part would both take the other's bytes for the server's.
  return withLock(paths.compressed, download, {patienceMs: 0});

  async function download(): Promise<DownloadBundleResult> {
    const part = new PartFile(`${paths.compressed}.part`, {...project, bundleId});
    const {activity, timeouts} = await open.context();
    const {resumedFrom, reported} = await fetchArchive(open, bundleId, part, (transferred, total) => {
      activity.touch();
      host.outlet.progress({phase: 'download', transferred, total, idleMs: timeouts.idleMs});
    })
      .catch(explainMissing(open, {bundleId}))
      .catch(async (error: unknown) => {
        throw isTemporary ? error : await withPart(error, part);
      });
    const {size, sha256, contentSha256, entries, compressed} = await verifyArchive(part, bundleId, reported, open);
    const path = compressed ? paths.compressed : paths.plain;
    const manifest = await readManifest(path).catch(() => undefined);
    const verified = reported !== undefined || manifest?.sha256 === sha256;
    await verifyOutput(path, force);
    await moveFile(part.path, path).catch(cannotWrite(path));
    await part.forgetState();
    if (!compressed && path.endsWith('.gz')) host.logger.warn(`${path} is not compressed, despite its name.`);
    const files = entries.length;
    return {...project, bundleId, path, size, sha256, contentSha256, files, resumedFrom, verified};
  }
}

export async function readDownloaded<Result>(
  open: OpenBackend,
  bundleId: BundleId,
  read: (path: string) => Promise<Result>,
): Promise<Pick<BundleInspection, keyof ProjectResult | 'bundleId'> & {readonly result: Result}> {
  const workspace = await open.host.createTemporaryDirectory();
  try {
    const output = resolve(workspace.path, 'archive');
    const downloaded = await downloadBundleFrom(open, {bundleId, output, isTemporary: true});
    return {...open.project, bundleId: downloaded.bundleId, result: await read(output)};
  } finally {
    await workspace.remove();
  }
}

/** After these, a repeat is refused, too. */
const refusals: ReadonlySet<ErrorCode> = new Set(['ERR_BUNDLE_UNKNOWN', 'ERR_REJECTED', 'ERR_CAPABILITY_UNSUPPORTED']);

/** Says of a download that failed what is kept of it. */
async function withPart(error: unknown, part: PartFile): Promise<unknown> {
  const left = await part.resume();
  if (left === undefined || !isRuntimeCliError(error)) return error;
  const name = basename(part.path);
  const bytes = `${String(left.offset)} bytes`;
  const advice = refusals.has(error.code)
    ? `${name} still has the first ${bytes}. Delete it if you no longer want the rest.`
    : `Run the command again to resume after the ${bytes} in ${name}.`;
  return amendError(error, {suggestions: [advice]});
}

/** Fetches the archive, resuming when the stream breaks off. `reported` is the digest that the backend sends. */
async function fetchArchive(
  open: OpenBackend,
  bundleId: BundleId,
  part: PartFile,
  onBytes: (transferred: number, total: number | undefined) => void,
): Promise<{readonly resumedFrom: number; readonly reported: string | undefined}> {
  const {signal} = open;
  const {waitToRetry} = await open.context();
  let resumedFrom: number | undefined;
  let reported: string | undefined;
  for (let retries = 0; ; retries += 1) {
    const resume = await part.resume();
    let received = 0;
    let isOther: boolean | undefined;
    const download = ({onStart, ...request}: PartRequest) =>
      invoke(open, 'download', {
        bundleId,
        ...request,
        onStart: (start) => {
          isOther = resume !== undefined && isOtherArchive(start, resume);
          if (isOther) throw new Error('The backend sent a part of another archive.');
          // A part that starts over keeps nothing.
          resumedFrom = start.offset === 0 ? 0 : (resumedFrom ?? start.offset);
          reported = start.sha256;
          onStart(start);
        },
      });
    try {
      await part.write(resume, download, (transferred, total) => {
        received = transferred;
        onBytes(transferred, total);
      });
      return {resumedFrom: resumedFrom ?? 0, reported};
    } catch (error) {
      const left = await part.resume();
      if (left === undefined) await part.discard();
      // What has come since stays: so many bytes can be fetched however often the connection breaks.
      else if (left.offset > (resume?.offset ?? 0)) retries = 0;
      signal.throwIfAborted();
      if (isOther) {
        await part.discard();
        continue;
      }
      if (!isRuntimeCliError(error)) throw error;
      const isBroken = received > 0 && (error.code === 'ERR_NETWORK' || error.code === 'ERR_TIMEOUT');
      if (resume !== undefined && error.status === 416) {
        // The part is as long as the archive, or longer: only its last step may have failed.
        if (await readArchive(part.path, {signal}).catch(() => undefined))
          return {resumedFrom: resume.offset, reported};
        signal.throwIfAborted();
        await part.discard();
      } else if (!isBroken || !(await waitToRetry({retries, reason: error.message, retryable: true}))) {
        signal.throwIfAborted();
        throw error;
      }
    }
  }
}

/** Whether a server sends other bytes than the missing ones. It may not say which bytes it sends. */
function isOtherArchive({offset, validator}: DownloadStart, resume: DownloadResume): boolean {
  return offset > 0 && (offset !== resume.offset || (validator !== undefined && validator !== resume.validator));
}

async function verifyArchive(
  part: PartFile,
  bundleId: BundleId,
  reported: string | undefined,
  {backend, signal}: OpenBackend,
) {
  try {
    const archive = await readArchive(part.path, {signal});
    if (reported !== undefined && reported !== archive.sha256)
      throw new Error(`its sha256 is ${archive.sha256}, but the backend reports ${reported}`);
    return archive;
  } catch (error) {
    signal.throwIfAborted();
    if (systemCode(error) !== undefined) throw outputError(part.path, error);
    await part.discard();
    const sent = `The ${backendTitle(backend.name)} backend sent an invalid archive for bundle ${String(bundleId)}`;
    throw createError('ERR_RESPONSE_INVALID', asSentence(`${sent}: ${reasonOf(error)}`), {
      suggestions: ['Try again. If that fails, too, the service has a damaged archive: push the build again.'],
      cause: error,
    });
  }
}

/** Where to write an archive, whose name tells whether it is compressed, unless the caller has named it. */
function outputPaths({output, cwd}: Destination, bundleId: BundleId, host: Host) {
  // Bundle IDs of plugins' backends can be any string.
  const name = `bundle-${String(bundleId).replaceAll(/[^\w.-]/g, '_')}.tar`;
  const absolute = (path: string) => resolve(cwd ?? host.cwd, path);
  return {compressed: absolute(output ?? `${name}.gz`), plain: absolute(output ?? name)};
}

async function verifyOutput(path: string, force: boolean): Promise<void> {
  verifyRegular(path, 'Pass a different file with --output.');
  if (force || !(await exists(path))) return;
  throw createError('ERR_OUTPUT', `${path} already exists.`, {
    suggestions: ['Pass a different file with --output, or replace it with --force.'],
  });
}
