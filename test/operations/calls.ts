import type {DownloadBundleOptions} from '../../src/operations/download-bundle.js';
import type {DeployBundleOptions} from '../../src/operations/options.js';
import type {PushRuntimeBundleBackendOptions} from '../../src/operations/push/options.js';
import * as deploy from '../../src/pipelines/deploy.js';
import type {PipelineHost} from '../../src/pipelines/host.js';
import {callFromLibrary} from '../../src/pipelines/library-call.js';
import * as push from '../../src/pipelines/push.js';
import * as read from '../../src/pipelines/read.js';

// Calls of the library, with callbacks among their options, in the host of a test.

export function pushRuntimeBundle(options: PushRuntimeBundleBackendOptions, host: PipelineHost) {
  return callFromLibrary(options, host, push.pushRuntimeBundle);
}

export function deployBundle(options: DeployBundleOptions, host: PipelineHost) {
  return callFromLibrary(options, host, deploy.deployBundle);
}

export function downloadBundle(options: DownloadBundleOptions, host: PipelineHost) {
  return callFromLibrary(options, host, read.downloadBundle);
}
