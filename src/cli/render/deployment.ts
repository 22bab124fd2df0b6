import type {DeployBundleResult} from '../../operations/options.js';
import type {JsonDocument} from '../command-context.js';
import type {Body, BundleDeployDocument} from '../documents.js';
import type {Output} from '../output/output.js';

/** Tells what a deployment has come to, and gives the document of `--json`. */
export function renderDeployment(result: DeployBundleResult, output: Output): JsonDocument {
  const {bundleId, targetSlug, projectSlug, backend, status, deploymentId} = result;
  const id = deploymentId === undefined ? '' : ` ${String(deploymentId)}`;
  output.result(
    status === 'finished'
      ? `Bundle ${String(bundleId)} runs on ${targetSlug} of ${projectSlug} (${backend}).`
      : `The deployment${id} of bundle ${String(bundleId)} to ${targetSlug} of ${projectSlug} (${backend}) is ${status}.`,
  );
  return {...result} satisfies Body<BundleDeployDocument>;
}
