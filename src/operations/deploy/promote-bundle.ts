import type {BundleId} from '../../backends/contract.js';
import {rejectProblems, slugProblems} from '../../settings/option-problems.js';
import {createError} from '../../errors/index.js';
import {flagValue} from '../../errors/suggest.js';
import {findRunning, notRunning} from '../list.js';
import {
  chooseForBundle,
  openBackend,
  registryOf,
  requireCapability,
  withOtherBackend,
  type BundleSelection,
} from '../open-backend.js';
import type {DeployBundleOptions, DeployBundleResult} from '../options.js';
import {guardBundle, watchBundle} from '../guard/guard-bundle.js';
import {activeGuards, askForTarget, guardStep} from '../guard/guards.js';
import {refuseUnsafe} from '../guard/safety.js';
import {resolveBackend, resolveStep, warnAll, watched, type Host, type RunStep, type StepView} from '../steps.js';
import {followUpCapabilities, followUpSteps, requireTargetUrl, withFollowUps} from './check-deployment.js';
import {settleDeployment, type AcceptedDeployment} from './deploy-bundle.js';
import {requestDeploy, type DeploymentWatch} from './request-deploy.js';
import {watchForRollback, orRollBack} from './rollback-on-failure.js';

/** Options of `promoteBundle`. */
export interface PromoteBundleOptions extends Omit<DeployBundleOptions, 'bundleId' | 'onFallback' | 'onResolve'> {
  /** Slug of the target whose bundle is deployed. */
  readonly from: string;
}

/** What `promoteBundle` resolves to. */
export interface PromoteBundleResult extends DeployBundleResult {
  /** The target that ran the bundle. */
  readonly promotedFrom: string;
}

/**
 * Deploys the bundle that one target runs to another. Uses the backend's own promotion if it has one, and otherwise
 * deploys the bundle like `deployBundle`.
 * @throws RuntimeCliError `ERR_REJECTED` when the server does not report what `from` runs, and as `deployBundle`;
 * `signal.reason` when aborted.
 */
export async function promoteBundle(given: PromoteBundleOptions, host: Host): Promise<PromoteBundleResult> {
  const options = withFollowUps(given);
  const {from, ...rest} = options;
  const {targetSlug} = options;
  refuseUnsafe({...options, operation: 'promote'}, host);
  const findSteps = [resolveStep, {name: 'find', title: `Find the bundle that ${from} runs`}] as const;
  const deploySteps = [{name: 'deploy', title: `Deploy to ${targetSlug}`}, ...followUpSteps(options)] as const;
  const find = async (step: RunStep<'resolve' | 'find'>) => {
    const selection = await step('resolve', (view) => resolveBackend(view, () => choosePromoter(options, host)));
    const orElsewhere = elsewhere(options, selection);
    const bundleId = await step('find', (view) => findLive(options, selection, host, view).catch(orElsewhere));
    return {selection, bundleId};
  };
  const deployFound = async (
    step: RunStep<'deploy' | 'wait' | 'check' | 'rollback'>,
    {selection, bundleId}: {readonly selection: BundleSelection; readonly bundleId: BundleId},
  ) => {
    const orElsewhere = elsewhere(options, selection);
    const watch = watchForRollback(options);
    const watching = watchBundle(watch, confirmationOf(options, bundleId), options, host);
    const result = await orRollBack({options, watch, host, step}, async () => {
      const accepted = await step('deploy', (view) =>
        requestPromotion({...options, watch: watching}, bundleId, selection, host, view).catch(orElsewhere),
      );
      return settleDeployment({...rest, bundleId}, accepted, host, step);
    });
    return {...result, promotedFrom: from};
  };
  if (activeGuards(options.guard).length === 0)
    return host.runSteps([...findSteps, ...deploySteps], async (step) => deployFound(step, await find(step)));
  const found = await host.runSteps([...findSteps, guardStep(targetSlug)], async (step) => {
    const chosen = await find(step);
    await step('guard', async (view) => {
      const open = await openBackend(chosen.selection.backend, 'deploy', watched(options, view), host);
      await guardBundle(confirmationOf(options, chosen.bundleId), open, options, host, view);
    });
    return chosen;
  });
  await askForTarget(confirmationOf(options, found.bundleId), options);
  return host.runSteps(deploySteps, (step) => deployFound(step, found));
}

function elsewhere(options: PromoteBundleOptions, {other}: BundleSelection): (error: unknown) => never {
  return (error) => {
    throw withOtherBackend(error, other, promoteCommand(options));
  };
}

function confirmationOf({projectSlug, targetSlug}: PromoteBundleOptions, bundleId: BundleId) {
  return {operation: 'promote', projectSlug, targetSlug, bundleId} as const;
}

/** Verifies a promotion and chooses its backend. Sends nothing. */
async function choosePromoter(options: PromoteBundleOptions, host: Host): Promise<BundleSelection> {
  const {from, targetSlug} = options;
  if (from === targetSlug) {
    throw createError('ERR_OPTION_INVALID', `--from and --target are both ${from}, so there is nothing to promote.`, {
      suggestions: ['Pass the target that runs the bundle with --from, and the one to deploy it to with --target.'],
      details: {problems: [{option: 'from', message: 'must not be the target itself'}]},
    });
  }
  rejectProblems(slugProblems('from', from));
  const capabilities = ['history', ...followUpCapabilities(options)] as const;
  const selection = await chooseForBundle(options, capabilities, promoteCommand(options), host);
  const backend = registryOf(options).get(selection.backend);
  if (!backend.promote) requireCapability(backend, 'deploy');
  return selection;
}

function promoteCommand({projectSlug, from, targetSlug}: PromoteBundleOptions): readonly string[] {
  return [
    'bundle:promote',
    ...flagValue('--project', projectSlug),
    ...flagValue('--from', from),
    ...flagValue('--target', targetSlug),
  ];
}

/** The bundle that `from` runs. Changes nothing. */
async function findLive(
  options: PromoteBundleOptions,
  {backend}: BundleSelection,
  host: Host,
  view: StepView,
): Promise<BundleId> {
  const {from} = options;
  const open = await openBackend(backend, 'deploy', {...watched(options, view), targetSlug: from}, host);
  const {bundleId, message, deployed} = await findRunning(open, from);
  if (bundleId === undefined) throw notRunning(open, from, deployed);
  view.done(`${from} runs bundle ${String(bundleId)}${message === undefined ? '' : ` "${message}"`}`);
  return bundleId;
}

async function requestPromotion(
  options: PromoteBundleOptions & {readonly watch: DeploymentWatch | undefined},
  bundleId: BundleId,
  {backend}: BundleSelection,
  host: Host,
  view: StepView,
): Promise<AcceptedDeployment> {
  const {from, projectSlug, targetSlug} = options;
  const shown = watched(options, view);
  const open = await openBackend(backend, 'deploy', shown, host);
  await requireTargetUrl(open, options);
  await host.writes?.before({operation: 'promote', backend, projectSlug, targetSlug, bundleIds: [bundleId]});
  const result = await requestDeploy(open, {bundleId, targetSlug, from}, shown);
  host.writes?.learn({deployment: result.deployment, status: result.status});
  const warnings = result.warnings ?? [];
  view.done(`Promotion of bundle ${String(bundleId)} from ${from} to ${targetSlug} accepted`);
  warnAll(view, warnings);
  return {backend, bundleId, result, warnings};
}
