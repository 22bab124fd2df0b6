import type {BundleId, DeploymentStatus} from '../../backends/contract.js';
import {projectTitle, type RuntimeBackend} from '../../backends/select.js';
import {placeFlags} from '../../errors/suggest.js';
import type {CommandToRun, Suggestion} from '../../errors/suggestion.js';
import type {RollbackBundleResult} from '../../operations/deploy/rollback-bundle.js';
import type {NextSteps} from '../../pipelines/next-steps.js';
import type {DeployBundleResult} from '../../operations/options.js';
import type {Output} from './output.js';

/** A push or a deployment that has succeeded. */
export interface Outcome<Result> {
  readonly result: Result;
  readonly next: NextSteps;
  /** How long it took, in words. */
  readonly took: string;
}

/** Shows the outcome of a deployment and what to do next. */
export function renderDeployment({result, took, next}: Outcome<DeployBundleResult>, output: Output): void {
  output.outcome(describeOutcome(result, took));
  for (const line of afterDeployment(result.status, result, next)) output.hint(line);
  renderUrl(result, output);
}

/** `Deployed bundle 42 to staging of shop in 12.3 s.` */
function describeOutcome(result: DeployBundleResult, took: string): string {
  const {bundleId, targetSlug, projectSlug, backend, status, deploymentId} = result;
  const where = `${targetSlug} of ${projectTitle(projectSlug, backend)}`;
  if (status === 'finished') return `Deployed bundle ${String(bundleId)} to ${where} in ${took}.`;
  const id = deploymentId === undefined ? '' : ` ${String(deploymentId)}`;
  return `The deployment${id} of bundle ${String(bundleId)} to ${where} is ${status.replace('_', ' ')}.`;
}

/** Shows the outcome of a rollback and how to undo it. */
export function renderRollback(
  {result, took, next: {commandFlags}}: Outcome<RollbackBundleResult>,
  output: Output,
): void {
  const {rolledBackFrom} = result;
  output.outcome(describeOutcome(result, took));
  if (rolledBackFrom !== undefined)
    output.hint(['Undo: ', {run: ['bundle:deploy', rolledBackFrom, ...placeFlags(result, commandFlags)]}]);
  renderUrl(result, output);
}

/** Shows where it runs: the last line, alone, for people and for `tail -1`. */
export function renderUrl({url}: {readonly url?: string | undefined}, output: Output): void {
  if (url !== undefined) output.result(url, {bold: true});
}

/** Where a bundle is or can be deployed. */
interface DeployedTo {
  readonly backend: RuntimeBackend;
  readonly projectSlug: string;
  readonly targetSlug: string;
}

/** The command to deploy an uploaded bundle. The user must replace `TARGET`. */
export function deployCommand(
  bundleId: BundleId,
  where: Omit<DeployedTo, 'targetSlug'>,
  commandFlags?: readonly string[],
): CommandToRun {
  return {run: ['bundle:deploy', bundleId, ...placeFlags({...where, targetSlug: 'TARGET'}, commandFlags)]};
}

/** What to do after a deployment: roll back once it has finished, if possible, or check on it before. */
export function afterDeployment(
  status: DeploymentStatus | undefined,
  where: DeployedTo,
  {commandFlags, canRollBack, hasHistory}: NextSteps,
): readonly Suggestion[] {
  const flags = placeFlags(where, commandFlags);
  if (status === 'finished') return canRollBack ? [['Roll back: ', {run: ['bundle:rollback', ...flags]}]] : [];
  return hasHistory ? [['Check on it: ', {run: ['status', ...flags]}]] : [];
}
