import type {BundleId, DeploymentStatus} from '../../backends/contract.js';
import type {RuntimeBackend} from '../../backends/select.js';
import {commandLine} from '../../errors/suggest.js';

/** Where a bundle is, or is to be deployed. */
export interface DeployedTo {
  readonly backend: RuntimeBackend;
  readonly projectSlug: string;
  readonly targetSlug: string;
}

/** What to type to deploy an uploaded bundle; `TARGET` is for the user to fill in. */
export function deployCommand(bundleId: BundleId, {backend, projectSlug}: Omit<DeployedTo, 'targetSlug'>): string {
  return commandLine(
    ...['bundle:deploy', bundleId, '--project', projectSlug, '--target', 'TARGET', '--runtime-backend', backend],
  );
}

/** What to type after a deployment: how to go back when it has finished, how to look at it before. */
export function afterDeployment(status: DeploymentStatus | undefined, where: DeployedTo): readonly string[] {
  const {backend, projectSlug, targetSlug} = where;
  // The backend of a plugin may have no history, which both commands need.
  if (backend !== 'api' && backend !== 'legacy') return [];
  const flags = ['--project', projectSlug, '--target', targetSlug, '--runtime-backend', backend];
  return status === 'finished'
    ? [`Go back with: ${commandLine('bundle:rollback', ...flags)}`]
    : [`Look at it with: ${commandLine('bundle:history', ...flags)}`];
}
