import type {BundleId, DeploymentItem} from '../../backends/contract.js';
import type {RuntimeBackend} from '../../backends/select.js';
import {asSentence} from '../../errors/sentence.js';
import {reasonOf} from '../../errors/system-failure.js';
import type {FailedCheck, Host} from '../host.js';
import {createdTime} from '../pages.js';
import {clockSkewMs, placeOf} from '../place.js';
import type {CommonOptions, ConnectionOptions} from '../options.js';

type Options = CommonOptions & ConnectionOptions & {readonly projectSlug: string; readonly targetSlug: string};

/** The bundles that failed a check on a target, as far as they were recorded. */
export async function failedChecks(
  backend: RuntimeBackend,
  options: Options,
  host: Host,
): Promise<readonly FailedCheck[]> {
  try {
    return (await host.checkRecords?.read({...placeOf(backend, options, host), targetSlug: options.targetSlug})) ?? [];
  } catch (error) {
    host.logger.warn(asSentence(`The record of failed checks cannot be read: ${reasonOf(error)}`));
    return [];
  }
}

/** Records that a bundle failed a check. */
export async function recordFailedCheck(
  backend: RuntimeBackend,
  bundleId: BundleId,
  options: Options,
  host: Host,
): Promise<void> {
  try {
    const failed = {bundleId, failedAt: host.now().toISOString()};
    await host.checkRecords?.add({...placeOf(backend, options, host), targetSlug: options.targetSlug}, failed);
  } catch (error) {
    host.logger.debug(asSentence(`The failed check could not be recorded: ${reasonOf(error)}`));
  }
}

/** Whether a deployment failed its check. A later one of the same bundle did not, or was not checked. */
export function hasFailedCheck(deployment: DeploymentItem, failed: readonly FailedCheck[]): boolean {
  return failed.some(
    ({bundleId, failedAt}) =>
      String(bundleId) === String(deployment.bundleId) && createdTime(deployment) <= Date.parse(failedAt) + clockSkewMs,
  );
}
