import type {DownloadBundleOptions} from '../../src/operations/bundle-options.js';
import type {ProgressEvent, RuntimeEvent} from '../../src/operations/events.js';
import type {DeployBundleOptions, PromoteBundleOptions, RollbackBundleOptions} from '../../src/operations/options.js';
import type {PushRuntimeBundleBackendOptions} from '../../src/operations/push/options.js';
import * as deploy from '../../src/pipelines/deploy.js';
import type {PipelineHost} from '../../src/pipelines/host.js';
import {callFromLibrary} from '../../src/pipelines/library-call.js';
import * as push from '../../src/pipelines/push.js';
import * as read from '../../src/pipelines/read.js';

// Calls of the library, with callbacks among their options, in the host of a test.

export function pushRuntimeBundle(options: PushRuntimeBundleBackendOptions, host: PipelineHost) {
  return callFromLibrary(options, host, async (data, run) => push.pushResult(await push.pushRuntimeBundle(data, run)));
}

export function deployBundle(options: DeployBundleOptions, host: PipelineHost) {
  return callFromLibrary(options, host, async (data, run) => deploy.deployResult(await deploy.deployBundle(data, run)));
}

export function rollbackBundle(options: RollbackBundleOptions, host: PipelineHost) {
  return callFromLibrary(options, host, async (data, run) =>
    deploy.rollbackResult(await deploy.rollbackBundle(data, run)),
  );
}

export function promoteBundle(options: PromoteBundleOptions, host: PipelineHost) {
  return callFromLibrary(options, host, async (data, run) =>
    deploy.promotionResult(await deploy.promoteBundle(data, run)),
  );
}

export function downloadBundle(options: DownloadBundleOptions, host: PipelineHost) {
  return callFromLibrary(options, host, read.downloadBundle);
}

type Progress = Pick<ProgressEvent, 'transferred' | 'total'> & {
  readonly phase: ProgressEvent['phase'] | 'slot' | 'check';
};

/** An `onEvent` for what an operation says of its progress, and each time that it has looked at what it waits for. */
export function hearing(listen: (progress: Progress) => void) {
  return (event: RuntimeEvent) => {
    if (event.type === 'progress') listen(event);
    if (event.type !== 'wait' || event.reason === 'retry' || event.reason === 'rate-limit') return;
    listen({phase: event.reason === 'deployment' ? 'wait' : event.reason, transferred: 0});
  };
}
