import type {BundleId, DeploymentItem} from '../backends/contract.js';
import type {BackendSelection, RuntimeBackend} from '../backends/select.js';
import {createError} from '../errors/index.js';
import {chooseForBundle, idFor} from './choose-for-bundle.js';
import {deployResult, requestDeployment, waitForAccepted} from './deploy-bundle.js';
import type {Host} from './host.js';
import {historyPage} from './list-deployments.js';
import {listPages} from './list-pages.js';
import {openBackend} from './open-backend.js';
import type {DeployBundleOptions, DeployBundleResult} from './options.js';

/** Options of `rollbackBundle`. */
export interface RollbackBundleOptions extends Omit<
  DeployBundleOptions,
  'bundleId' | 'onFallback' | 'onResolve' | 'waitForSlot'
> {
  /** The bundle to go back to. @default that of the latest finished deployment with another bundle than the current one */
  readonly to?: BundleId | undefined;
}

/** Where a rollback goes. */
export interface RollbackPlan {
  readonly backend: RuntimeBackend;
  /** The bundle that is deployed. */
  readonly bundleId: BundleId;
  /** The finished deployment that the target runs; none when the bundle was named. */
  readonly current?: DeploymentItem | undefined;
  /** The deployment that the rollback goes back to; none when the bundle was named. */
  readonly previous?: DeploymentItem | undefined;
}

/** What `rollbackBundle` resolves to. */
export interface RollbackBundleResult extends DeployBundleResult {
  /** The bundle that ran before; unknown when the bundle to go back to was named. */
  readonly rolledBackFrom?: BundleId | undefined;
}

/**
 * Deploys the bundle that a target ran before the current one, or the one that `to` names.
 * @throws RuntimeCliError `ERR_REJECTED` when there is no such bundle, and everything that a deployment is rejected
 * with; `signal.reason` when aborted.
 */
export async function rollbackBundle(options: RollbackBundleOptions, host: Host): Promise<RollbackBundleResult> {
  const plan = await planRollback(options, await chooseRollbackBackend(options, host), host);
  const deploy = rollbackDeployment(options, plan);
  const accepted = await requestDeployment(deploy, {backend: plan.backend, reason: ''}, host);
  const result = options.wait ? await waitForAccepted(deploy, accepted, host) : deployResult(deploy, accepted);
  return rollbackResult(result, plan);
}

/** Verifies a rollback and chooses its backend; nothing is sent. */
export async function chooseRollbackBackend(options: RollbackBundleOptions, host: Host): Promise<BackendSelection> {
  const selection = await chooseForBundle(
    options,
    [
      'deploy',
      ...(options.wait ? (['wait'] as const) : []),
      ...(options.to === undefined ? (['history'] as const) : []),
    ],
    host,
  );
  if (options.to !== undefined) idFor(selection.backend, options.to);
  return selection;
}

/** Looks where a rollback goes; changes nothing. */
export async function planRollback(
  options: RollbackBundleOptions,
  {backend}: BackendSelection,
  host: Host,
): Promise<RollbackPlan> {
  if (options.to !== undefined) return {backend, bundleId: idFor(backend, options.to)};
  const open = await openBackend(backend, 'deploy', options, host);
  let current: DeploymentItem | undefined;
  const pages = listPages({limit: Infinity, offset: 0}, (range) => historyPage(open, options.targetSlug, range));
  for await (const {items} of pages) {
    for (const item of items.filter(({status}) => status === 'finished')) {
      current ??= item;
      if (item.bundleId !== current.bundleId) return {backend, bundleId: item.bundleId, current, previous: item};
    }
  }
  throw nothingToRollBackTo(options, current);
}

/** The deployment that a rollback is. */
export function rollbackDeployment(
  {to, ...options}: RollbackBundleOptions,
  {bundleId}: RollbackPlan,
): DeployBundleOptions {
  return {...options, bundleId};
}

/** What a rollback resolves to. */
export function rollbackResult(result: DeployBundleResult, {current}: RollbackPlan): RollbackBundleResult {
  return {...result, rolledBackFrom: current?.bundleId};
}

function nothingToRollBackTo(
  {projectSlug, targetSlug}: RollbackBundleOptions,
  current: DeploymentItem | undefined,
): Error {
  const only = current === undefined ? '' : ` of another bundle than ${String(current.bundleId)}`;
  return createError('ERR_REJECTED', `the target "${targetSlug}" has no finished deployment${only} to go back to`, {
    suggestions: [`See what there is with mycli bundle:list --project ${projectSlug}, and name one with --to ID.`],
  });
}
