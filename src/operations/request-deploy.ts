import {callBackend} from '../backends/call.js';
import type {BundleId, DeployResult} from '../backends/contract.js';
import {createError} from '../errors/index.js';
import {callBackSafely} from './callbacks.js';
import type {OpenBackend} from './open-backend.js';
import type {CommonOptions} from './options.js';

/**
 * Asks a backend to deploy a bundle. The progress of the phase is that of its one request.
 * @throws RuntimeCliError when it is refused; `signal.reason` when aborted.
 */
export async function requestDeploy(
  {backend, context}: OpenBackend,
  request: {readonly bundleId: BundleId; readonly targetSlug: string},
  {onProgress}: Pick<CommonOptions, 'onProgress'>,
): Promise<DeployResult> {
  const {deploy} = backend;
  if (!deploy) throw createError('ERR_CAPABILITY_UNSUPPORTED', `the ${backend.name} backend does not support "deploy"`);
  const show = (transferred: number) => {
    callBackSafely(() => onProgress?.({phase: 'deploy', transferred, total: 1}));
  };
  show(0);
  const result = await callBackend(backend, 'deploying the bundle', context.signal, () =>
    deploy.call(backend, request, context),
  );
  show(1);
  return result;
}
