import {tmpdir} from 'node:os';
import type {Writable} from 'node:stream';
import type {BundleSource, InspectArchiveOptions, PreviewBuildOptions} from './operations/bundle-options.js';
import type {
  DeployPreviewOptions,
  DeployedPreview,
  InvalidateOptions,
  InvalidateResult,
  SetVariablesOptions,
  SetVariablesResult,
  TailLogsOptions,
} from './operations/targets/options.js';
import type {LogEntry} from './backends/contract.js';
import type {ArchiveInspection} from './bundle/contents/bundle-contents.js';
import type {PackResult} from './bundle/types.js';
import {createSweptDirectory} from './files/temporary-directory.js';
import type {AuthStrategy} from './http/types.js';
import {bundleSourceIn} from './operations/bundle-source.js';
import {optionSchemas, type OptionSchemas} from './operations/option-schemas.js';
import type {PushV2Options, PushV2Result} from './operations/push/options.js';
import {targetChanges} from './operations/targets/changes.js';
import * as build from './pipelines/build.js';
import * as remove from './pipelines/delete.js';
import * as deploy from './pipelines/deploy.js';
import * as diff from './pipelines/diff.js';
import * as previews from './pipelines/previews.js';
import * as push from './pipelines/push.js';
import * as read from './pipelines/read.js';
import * as configuration from './pipelines/configure.js';
import * as targets from './pipelines/targets.js';
import type {PipelineHost} from './pipelines/host.js';
import {callFromLibrary, type CallOptions} from './pipelines/library-call.js';
import {rejectProblems, valueProblems} from './settings/definitions.js';
import {packageVersion} from './version.js';

/** The options of calls that change something and have no dry run: they reject `dryRun` rather than ignore it. */
const {dryRun: _, ...changing} = optionSchemas;

/**
 * Builds a bundle, uploads it to the backend that `preference` selects, and deploys it if there is a target.
 * @throws RuntimeCliError for what users can cause; `signal.reason` if aborted.
 */
export const pushRuntimeBundle = libraryCall(resultOf(push.pushRuntimeBundle, push.pushResult), changing);

/**
 * Does everything that a push does before its first write: verifies the push, and with `ifChanged` builds the
 * bundle and compares it with the last one pushed.
 * @throws RuntimeCliError for everything that would make the push fail before it sends anything.
 */
export const previewPush = libraryCall(push.previewPush);

/**
 * Builds a v2 bundle and uploads it to the legacy origin, without deploying it.
 * @throws RuntimeCliError for what users can cause; `signal.reason` if aborted.
 */
export function pushBundleV2(options: PushV2Options, auth: AuthStrategy): Promise<PushV2Result> {
  return call(options, (data, host) => push.pushBundleV2(data, auth, host), changing);
}

/**
 * Builds an archive file and its manifest.
 * @throws RuntimeCliError for what users can cause; `signal.reason` if aborted.
 */
export const buildBundle = libraryCall(build.buildBundle);

/**
 * Builds an archive into a stream, without a manifest, and ends it (stdout stays open).
 * @throws RuntimeCliError for everything a user can cause; the stream's own error; `signal.reason` when aborted.
 */
export function buildBundleInto(destination: Writable, options: PreviewBuildOptions): Promise<PackResult> {
  return call(options, (data, host) => build.buildBundleInto(destination, data, host));
}

/**
 * Verifies a build's files, configuration and pattern matches. Writes nothing.
 * @throws RuntimeCliError for everything that would make the build fail before it writes anything.
 */
export const previewBuild = libraryCall(build.previewBuild);

/**
 * Inspects an archive file: its files, configuration, matches and problems.
 * @throws RuntimeCliError `ERR_ARCHIVE_INVALID` when it is damaged or not a bundle; `signal.reason` when aborted.
 */
export function inspectArchive(path: string, options: InspectArchiveOptions = {}): Promise<ArchiveInspection> {
  return call(options, (data, host) => read.inspectArchive(path, data, host));
}

/**
 * Downloads a bundle to a temporary folder and inspects it.
 * @throws RuntimeCliError for what users can cause; `signal.reason` if aborted.
 */
export const inspectBundle = libraryCall(read.inspectBundle);

/**
 * Compares two bundles by the digests of their files. Each is an archive, a build folder, an uploaded
 * bundle or what a target runs.
 * @throws RuntimeCliError for what users can cause; `signal.reason` if aborted.
 */
export const diffBundles = libraryCall(diff.diffBundles);

/**
 * Parses how users name a bundle. `running:TARGET` is what a target runs, `bundle:ID` an uploaded bundle. Any other
 * text that exists as a path, or has a slash, a backslash or a dot, is a path. The rest is a bundle ID, or `latest`.
 * @throws RuntimeCliError `ERR_ARCHIVE_INVALID` if the path does not exist.
 */
export function bundleSource(text: string): Promise<BundleSource> {
  return bundleSourceIn(text, process.cwd());
}

/**
 * Deploys an uploaded bundle, or the latest one, to a target.
 * @throws RuntimeCliError for what users can cause; `signal.reason` if aborted.
 */
export const deployBundle = libraryCall(resultOf(deploy.deployBundle, deploy.deployResult), changing);

/**
 * Waits for a deployment to end.
 * @throws RuntimeCliError `ERR_DEPLOYMENT_FAILED`, `ERR_WAIT_TIMEOUT` or `ERR_OUTCOME_UNKNOWN` when it did not finish.
 */
export const waitForDeployment = libraryCall(deploy.waitForDeployment);

/** Lists the bundles of a project. @throws RuntimeCliError for what users can cause; `signal.reason` if aborted. */
export const listBundles = libraryCall(read.listBundles);

/** Lists the deployments to a target. @throws RuntimeCliError for what users can cause; `signal.reason` if aborted. */
export const listDeployments = libraryCall(read.listDeployments);

/**
 * Downloads a bundle's archive to a file, which is created only once it is complete and valid. An interrupted download
 * is kept next to it as `FILE.part`, and the next one resumes it if the server supports that.
 * @throws RuntimeCliError for what users can cause; `signal.reason` if aborted.
 */
export const downloadBundle = libraryCall(read.downloadBundle);

/**
 * Deletes bundles, one after the other. It continues if the server refuses one, but stops at a failure that the others
 * would share (invalid credentials, network, rate limit).
 * @throws RuntimeCliError the first failure, if any was not deleted. Its `details` list which were `deleted`, which
 * `failed` and which were `notTried`. `signal.reason` when aborted.
 */
export const deleteBundles = libraryCall(remove.deleteBundles, changing);

/**
 * Deletes bundles that are no longer needed. It keeps those that a target runs, is getting or could be rolled back to
 * (up to `keep`), the newest ones, and those that are still being uploaded.
 * @throws RuntimeCliError `ERR_CAPABILITY_UNSUPPORTED` if the backend cannot list the targets and their deployments;
 * `ERR_REJECTED` if the server does not report what a target runs; as `deleteBundles`; `signal.reason` when aborted.
 */
export const pruneBundles = libraryCall(remove.pruneBundles);

/**
 * Deploys the bundle that a target ran before the current one, or the one given by `to`.
 * @throws RuntimeCliError for what users can cause; `signal.reason` if aborted.
 */
export const rollbackBundle = libraryCall(resultOf(deploy.rollbackBundle, deploy.rollbackResult), changing);

/**
 * Deploys the bundle that one target runs to another. Uses the backend's own promotion if it has one.
 * @throws RuntimeCliError for what users can cause; `signal.reason` if aborted.
 */
export const promoteBundle = libraryCall(resultOf(deploy.promoteBundle, deploy.promotionResult), changing);

/**
 * Lists what each target of a project runs, its URL, and deployments in progress.
 * @throws RuntimeCliError `ERR_CAPABILITY_UNSUPPORTED` if the backend has no history, or cannot list targets and none
 * is given; `ERR_REJECTED` for a target that its list does not have; for everything else a user can cause;
 * `signal.reason` when aborted.
 */
export const getProjectStatus = libraryCall(read.getProjectStatus);

/**
 * Lists the targets of a project, with their states.
 * @throws RuntimeCliError `ERR_CAPABILITY_UNSUPPORTED` if the backend or the service cannot list targets; for
 * everything else a user can cause; `signal.reason` when aborted.
 */
export const listTargets = libraryCall(targets.listTargets);

/**
 * Creates a target, and waits until it is ready. It is never requested twice: if the answer is lost, the call looks for
 * the target.
 * @throws RuntimeCliError `ERR_REJECTED` if it exists already, `ERR_DEPLOYMENT_FAILED` if creating it failed,
 * `ERR_WAIT_TIMEOUT`, `ERR_OUTCOME_UNKNOWN`; for everything else a user can cause; `signal.reason` when aborted.
 */
export const createTarget = libraryCall(targets.createTarget);

/**
 * Deletes a target, with its history.
 * @throws RuntimeCliError `ERR_GUARD_REFUSED` if it is production and there is no `force`; for everything else a user
 * can cause; `signal.reason` when aborted.
 */
export const deleteTarget = libraryCall(targets.deleteTarget);

/**
 * Lists the projects that the credentials reach.
 * @throws RuntimeCliError `ERR_CAPABILITY_UNSUPPORTED` if the backend or the service cannot list them; for everything
 * else a user can cause; `signal.reason` when aborted.
 */
export const listProjects = libraryCall(configuration.listProjects);

/**
 * Compares a target with its configuration: settings, redirects, access, names of variables.
 * @throws RuntimeCliError for what users can cause; `signal.reason` if aborted.
 */
export const diffTarget = libraryCall(configuration.diffTarget);

/**
 * Applies the configuration of a target: changes what differs. Nothing is sent twice: if an answer is lost, the call
 * checks whether the change has arrived.
 * @throws RuntimeCliError for what users can cause; `signal.reason` if aborted.
 */
export const applyTarget = libraryCall(configuration.applyTarget);

/**
 * Lists the environment variables of a target, without their values.
 * @throws RuntimeCliError for what users can cause; `signal.reason` if aborted.
 */
export const listVariables = libraryCall(targets.listVariables);

/**
 * Sets and removes environment variables of a target, in one request. The service publishes the target again.
 * @throws RuntimeCliError for everything a user can cause, without a value; `signal.reason` when aborted.
 */
export const setVariables: (options: SetVariablesOptions) => Promise<SetVariablesResult> = libraryCall(
  targets.changeTarget(targetChanges.setVariables),
);

/** Clears the CDN cache of a target. @throws RuntimeCliError for what users can cause; `signal.reason` if aborted. */
export const invalidate: (options: InvalidateOptions) => Promise<InvalidateResult> = libraryCall(
  targets.changeTarget(targetChanges.invalidate),
);

/**
 * Follows what the app of a target logs, until `signal` is aborted or the caller stops reading. It reconnects when
 * a connection ends.
 * @throws RuntimeCliError for what users can cause; `signal.reason` if aborted.
 */
export async function* tailLogs(options: TailLogsOptions): AsyncGenerator<LogEntry, void, undefined> {
  const {entries} = await call(options, targets.openLogs);
  yield* entries;
}

/**
 * Creates the target of a branch if it is missing, pushes to it and waits. Two calls for a branch share one target.
 * @throws RuntimeCliError for what users can cause; `signal.reason` if aborted.
 */
export const deployPreview = libraryCall(
  async (options: DeployPreviewOptions, host: PipelineHost): Promise<DeployedPreview> =>
    previews.deployedPreview(await previews.deployPreview(options, host), options.branch),
  changing,
);

/**
 * Deletes the target of a branch, and the bundles that were uploaded for it. A missing preview is not an error.
 * @throws RuntimeCliError for what users can cause; `signal.reason` if aborted.
 */
export const deletePreview = libraryCall(previews.deletePreview);

/** Lists the previews of a project. @throws RuntimeCliError for what users can cause; `signal.reason` if aborted. */
export const listPreviews = libraryCall(previews.listPreviews);

/**
 * Deletes previews without recent deployments, as `deletePreview` does. It continues after a failure and reports it, as
 * `deleteBundles` does.
 * @throws RuntimeCliError for what users can cause; `signal.reason` if aborted.
 */
export const prunePreviews = libraryCall(previews.prunePreviews);

type Operation<Options, Result> = (options: Options, host: PipelineHost) => Promise<Result>;

function libraryCall<Options extends CallOptions, Result extends object>(
  operation: Operation<Options, Result>,
  schemas: OptionSchemas = optionSchemas,
) {
  return (options: Options): Promise<Result> => call(options, operation, schemas);
}

/** Commands also want to know what else the ledger of a call says. */
function resultOf<Options, Ledger, Result>(
  operation: (options: Options, host: PipelineHost) => Promise<Ledger>,
  result: (ledger: Ledger) => Result,
) {
  return async (options: Options, host: PipelineHost): Promise<Result> => result(await operation(options, host));
}

/** Runs an operation in the actual process, once its options are known and of the right types. */
async function call<Options extends CallOptions, Result extends object>(
  options: Options,
  operation: Operation<Options, Result>,
  schemas: OptionSchemas = optionSchemas,
): Promise<Result> {
  rejectProblems(valueProblems(options, schemas));
  // Many calls may share a signal: each listens to one of its own, so that Node does not warn of a leak.
  const signal = options.signal && AbortSignal.any([options.signal]);
  return callFromLibrary({...options, signal}, processHost(), operation);
}

/** What library calls use of the process, looked up at each call. */
function processHost(): PipelineHost {
  return {
    cwd: process.cwd(),
    env: process.env,
    logger: {
      debug: () => undefined,
      info: () => undefined,
      warn: (message) => process.emitWarning(message, 'MycliWarning'),
    },
    userAgent: `mycli/${packageVersion()} node-${process.version}`,
    now: () => new Date(),
    createTemporaryDirectory: () => createSweptDirectory(tmpdir()),
  };
}
