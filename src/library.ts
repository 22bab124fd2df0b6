import {tmpdir} from 'node:os';
import type {Writable} from 'node:stream';
import type {PackResult} from './bundle/types.js';
import {createSweptDirectory} from './files/temporary-directory.js';
import type {AuthStrategy} from './http/index.js';
import {bundleSource as sourceOf, type BundleSource} from './operations/bundle-source.js';
import type {PreviewBuildOptions} from './operations/build-bundle.js';
import type {ArchiveInspection} from './bundle/contents/inspect-archive.js';
import type {InspectArchiveOptions} from './operations/inspect-bundle.js';
import type {CommonOptions} from './operations/options.js';
import type {PushV2Options, PushV2Result} from './operations/push/options.js';
import * as build from './pipelines/build.js';
import * as remove from './pipelines/delete.js';
import * as deploy from './pipelines/deploy.js';
import * as diff from './pipelines/diff.js';
import {withEvents} from './pipelines/event-feed.js';
import * as promote from './pipelines/promote.js';
import * as push from './pipelines/push.js';
import * as read from './pipelines/read.js';
import * as rollback from './pipelines/rollback.js';
import type {PipelineHost} from './pipelines/host.js';
import {packageVersion} from './version.js';

/**
 * Builds a bundle, uploads it to the backend that `preference` selects, and deploys it if there is a target.
 * @throws RuntimeCliError for everything a user can cause; `signal.reason` when aborted.
 */
export const pushRuntimeBundle = libraryCall(push.pushRuntimeBundle);

/**
 * Does everything a push does before it sends anything that writes: verifies the push, and with `ifChanged` builds the
 * bundle and compares it with the last one pushed.
 * @throws RuntimeCliError for everything that would make the push fail before it sends anything.
 */
export const previewPush = libraryCall(push.previewPush);

/**
 * Builds a v2 bundle and uploads it to the legacy origin, without deploying it.
 * @throws RuntimeCliError for everything a user can cause; `signal.reason` when aborted.
 */
export function pushBundleV2(options: PushV2Options, auth: AuthStrategy): Promise<PushV2Result> {
  return withEvents(options, processHost(), (host) => push.pushBundleV2(options, auth, host));
}

/**
 * Builds an archive file and its manifest.
 * @throws RuntimeCliError for everything a user can cause; `signal.reason` when aborted.
 */
export const buildBundle = libraryCall(build.buildBundle);

/**
 * Builds an archive into a stream, without a manifest, and ends it (stdout stays open).
 * @throws RuntimeCliError for everything a user can cause; the stream's own error; `signal.reason` when aborted.
 */
export function buildBundleInto(destination: Writable, options: PreviewBuildOptions): Promise<PackResult> {
  return withEvents(options, processHost(), (host) => build.buildBundleInto(destination, options, host));
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
  return withEvents(options, processHost(), (host) => read.inspectArchive(path, options, host));
}

/**
 * Downloads a bundle to a temporary folder and inspects it.
 * @throws RuntimeCliError for everything a user can cause; `signal.reason` when aborted.
 */
export const inspectBundle = libraryCall(read.inspectBundle);

/**
 * Compares two bundles by the digests of their files. Each is an archive, a build directory, an uploaded
 * bundle or what a target runs.
 * @throws RuntimeCliError for everything a user can cause; `signal.reason` when aborted.
 */
export const diffBundles = libraryCall(diff.diffBundles);

/**
 * What a text for users names: `running:TARGET` what a target runs, `bundle:ID` an uploaded bundle. Anything else that
 * exists, or contains a slash, a backslash or a dot, is a path. The rest is the ID of an uploaded bundle, or `latest`.
 * @throws RuntimeCliError `ERR_ARCHIVE_INVALID` if the path does not exist.
 */
export function bundleSource(text: string): Promise<BundleSource> {
  return sourceOf(text, process.cwd());
}

/**
 * Deploys an uploaded bundle, or the latest one, to a target.
 * @throws RuntimeCliError for everything a user can cause; `signal.reason` when aborted.
 */
export const deployBundle = libraryCall(deploy.deployBundle);

/**
 * Waits for a deployment to end.
 * @throws RuntimeCliError `ERR_DEPLOYMENT_FAILED`, `ERR_WAIT_TIMEOUT` or `ERR_OUTCOME_UNKNOWN` when it did not finish.
 */
export const waitForDeployment = libraryCall(deploy.waitForDeployment);

/**
 * Lists the bundles of a project.
 * @throws RuntimeCliError for everything a user can cause; `signal.reason` when aborted.
 */
export const listBundles = libraryCall(read.listBundles);

/**
 * Lists the deployments to a target.
 * @throws RuntimeCliError for everything a user can cause; `signal.reason` when aborted.
 */
export const listDeployments = libraryCall(read.listDeployments);

/**
 * Downloads a bundle's archive to a file, which is created only once it is complete and valid. An interrupted download
 * is kept next to it as `FILE.part`, and the next one resumes it if the server supports that.
 * @throws RuntimeCliError for everything a user can cause; `signal.reason` when aborted.
 */
export const downloadBundle = libraryCall(read.downloadBundle);

/**
 * Deletes bundles, one after the other. It goes on if the server refuses one, but stops at a failure that the others
 * would share (credentials, network, rate limit).
 * @throws RuntimeCliError the first failure, if any was not deleted. Its `details` list which were `deleted`, which
 * `failed` and which were `notTried`. `signal.reason` when aborted.
 */
export const deleteBundles = libraryCall(remove.deleteBundles);

/**
 * Deletes bundles that are no longer needed: none that a target runs, is getting or could be rolled back to (as far as
 * `keep` goes), none of the newest, and none that is still being uploaded.
 * @throws RuntimeCliError `ERR_CAPABILITY_UNSUPPORTED` if the backend cannot list the targets and their deployments;
 * `ERR_REJECTED` if the server does not report what a target runs; as `deleteBundles`; `signal.reason` when aborted.
 */
export const pruneBundles = libraryCall(remove.pruneBundles);

/**
 * Deploys the bundle that a target ran before the current one, or the one given by `to`.
 * @throws RuntimeCliError for everything a user can cause; `signal.reason` when aborted.
 */
export const rollbackBundle = libraryCall(rollback.rollbackBundle);

/**
 * Deploys the bundle that one target runs to another. Uses the backend's own promotion if it has one.
 * @throws RuntimeCliError for everything a user can cause; `signal.reason` when aborted.
 */
export const promoteBundle = libraryCall(promote.promoteBundle);

/**
 * Reads the log of a deployment, with `follow` until it is complete.
 * @throws RuntimeCliError `ERR_CAPABILITY_UNSUPPORTED` if the backend has no logs or no history; `ERR_REJECTED` when
 * there is no such deployment; for everything else a user can cause; `signal.reason` when aborted.
 */
export const readDeploymentLogs = libraryCall(read.readDeploymentLogs);

/**
 * Tells what each target of a project runs, where, and what is being deployed to it.
 * @throws RuntimeCliError `ERR_CAPABILITY_UNSUPPORTED` if the backend has no history, or cannot list targets and none
 * is given; `ERR_REJECTED` for a target that its list does not have; for everything else a user can cause;
 * `signal.reason` when aborted.
 */
export const getProjectStatus = libraryCall(read.getProjectStatus);

/** A call of the library: the operation in the actual process, with its events for whoever asked for them. */
function libraryCall<Options extends Pick<CommonOptions, 'onEvent' | 'signal'>, Result>(
  operation: (options: Options, host: PipelineHost) => Promise<Result>,
): (options: Options) => Promise<Result> {
  return (options) => withEvents(options, processHost(), (host) => operation(withOwnSignal(options), host));
}

/** Many calls may share a signal: each listens to one of its own, so that Node does not warn of a leak. */
function withOwnSignal<Options extends Pick<CommonOptions, 'signal'>>(options: Options): Options {
  return options.signal === undefined ? options : {...options, signal: AbortSignal.any([options.signal])};
}

/** What library calls use of the process, looked up at each call. */
function processHost(): PipelineHost {
  return {
    cwd: process.cwd(),
    env: process.env,
    logger: {
      debug: () => undefined,
      info: () => undefined,
      warn: (message) => {
        process.emitWarning(message, 'MycliWarning');
      },
    },
    userAgent: `mycli/${packageVersion()} node-${process.version}`,
    now: () => new Date(),
    createTemporaryDirectory: () => createSweptDirectory(tmpdir()),
  };
}
