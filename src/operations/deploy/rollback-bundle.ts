import type {BundleId, DeploymentItem, DeploymentStatus} from '../../backends/contract.js';
import type {RuntimeBackend} from '../../backends/select.js';
import {createError} from '../../errors/index.js';
import {oneLine} from '../../errors/sentence.js';
import {commandLine, flagValue} from '../../errors/suggest.js';
import {
  chooseForBundle,
  idFor,
  withOtherBackend,
  openBackend,
  registryOf,
  type BundleSelection,
  type Command,
} from '../open-backend.js';
import {namingCapabilities, readHistory, resolveBundleId} from '../list.js';
import type {ConnectionOptions, DeployBundleOptions, DeployBundleResult} from '../options.js';
import {guardBundle} from '../guard/guard-bundle.js';
import {activeGuards, askForTarget, guardStep, rollbackRules} from '../guard/guards.js';
import {refuseUnsafe} from '../guard/safety.js';
import {resolveBackend, resolveStep, watched, type Host, type RunStep, type StepView} from '../steps.js';
import {followUpCapabilities, followUpSteps, withFollowUps} from './check-deployment.js';
import {requestDeployment, settleDeployment} from './deploy-bundle.js';

/** Options of `rollbackBundle`. */
export interface RollbackBundleOptions extends Omit<
  DeployBundleOptions,
  'bundleId' | 'onFallback' | 'onResolve' | 'waitForSlot' | 'rollbackOnFailure'
> {
  /**
   * The bundle to roll back to; `latest` is the newest usable one. @default the bundle of the latest finished
   * deployment of another bundle than the current one
   */
  readonly to?: BundleId | undefined;
}

/** The plan of a rollback. */
interface RollbackPlan {
  /** The bundle to deploy. */
  readonly bundleId: BundleId;
  /** The finished deployment that the target runs; undefined if the bundle was given. */
  readonly current?: DeploymentItem | undefined;
  /** The deployment to roll back to; undefined if the bundle was given. */
  readonly previous?: DeploymentItem | undefined;
}

/** What `rollbackBundle` resolves to. */
export interface RollbackBundleResult extends DeployBundleResult {
  /** The bundle that ran before; undefined if the bundle to roll back to was given. */
  readonly rolledBackFrom?: BundleId | undefined;
}

/**
 * Deploys the bundle that a target ran before the current one, or the one given by `to`.
 * @throws RuntimeCliError `ERR_REJECTED` when there is no such bundle, and as `deployBundle`; `signal.reason` when
 * aborted.
 */
export async function rollbackBundle(given: RollbackBundleOptions, host: Host): Promise<RollbackBundleResult> {
  const options = withFollowUps(given);
  const {to, ...rest} = options;
  const {projectSlug, targetSlug} = options;
  refuseUnsafe({...options, operation: 'rollback'}, host);
  const rules = {...options, guard: rollbackRules(options.guard)};
  const findSteps = [resolveStep, {name: 'find', title: 'Find the bundle to roll back to'}] as const;
  const deploySteps = [{name: 'deploy', title: `Deploy to ${targetSlug}`}, ...followUpSteps(options)] as const;
  const find = async (step: RunStep<'resolve' | 'find'>) => {
    const selection = await step('resolve', (view) => resolveBackend(view, () => chooseRollbackBackend(options, host)));
    const orElsewhere = elsewhere(options, selection);
    const plan = await step('find', (view) => planRollback(options, selection, host, view).catch(orElsewhere));
    return {selection, plan};
  };
  const deployFound = async (
    step: RunStep<'deploy' | 'wait' | 'check'>,
    {selection, plan}: {readonly selection: BundleSelection; readonly plan: RollbackPlan},
  ) => {
    const orElsewhere = elsewhere(options, selection);
    const deploy = {...rest, bundleId: plan.bundleId};
    const accepted = await step('deploy', (view) =>
      requestDeployment({...deploy, operation: 'rollback'}, selection, host, view).catch(orElsewhere),
    );
    const result = await settleDeployment(deploy, accepted, host, step);
    return {...result, rolledBackFrom: plan.current?.bundleId};
  };
  if (activeGuards(rules.guard).length === 0)
    return host.runSteps([...findSteps, ...deploySteps], async (step) => deployFound(step, await find(step)));
  const confirming = (bundleId: BundleId) => ({operation: 'rollback', projectSlug, targetSlug, bundleId}) as const;
  const found = await host.runSteps([...findSteps, guardStep(targetSlug)], async (step) => {
    const chosen = await find(step);
    await step('guard', async (view) => {
      const open = await openBackend(chosen.selection.backend, 'deploy', watched(options, view), host);
      await guardBundle(confirming(chosen.plan.bundleId), open, rules, host, view);
    });
    return chosen;
  });
  await askForTarget(confirming(found.plan.bundleId), rules);
  return host.runSteps(deploySteps, (step) => deployFound(step, found));
}

function elsewhere(options: RollbackBundleOptions, {other}: BundleSelection): (error: unknown) => never {
  return (error) => {
    throw withOtherBackend(error, other, rollbackCommand(options));
  };
}

/** Verifies a rollback and chooses its backend. Sends nothing. */
async function chooseRollbackBackend(options: RollbackBundleOptions, host: Host): Promise<BundleSelection> {
  const selection = await chooseForBundle(
    options,
    [
      'deploy',
      ...followUpCapabilities(options),
      ...(options.to === undefined ? (['history'] as const) : []),
      ...namingCapabilities(options.to),
    ],
    rollbackCommand(options),
    host,
  );
  if (options.to !== undefined && options.to !== 'latest') idFor(selection.backend, options.to, options);
  return selection;
}

function rollbackCommand({projectSlug, targetSlug, to}: RollbackBundleOptions): Command {
  return [
    'bundle:rollback',
    '--project',
    projectSlug,
    '--target',
    targetSlug,
    ...(to === undefined ? [] : ['--to', to]),
  ];
}

/** Finds the bundle to roll back to. Changes nothing. */
async function planRollback(
  options: RollbackBundleOptions,
  selection: BundleSelection,
  host: Host,
  view: StepView,
): Promise<RollbackPlan> {
  const plan = await findPrevious(watched(options, view), selection, host);
  view.done(`Rolling back to ${describePlan(plan)}`);
  return plan;
}

/** `bundle 3 "main: 1a2b3c", deployed 2026-01-01T00:00:00Z; currently bundle 4` */
function describePlan({bundleId, current, previous}: RollbackPlan): string {
  const message = previous?.message === undefined ? '' : ` "${oneLine(previous.message)}"`;
  const when = previous?.createdAt === undefined ? '' : `, deployed ${previous.createdAt}`;
  const now = current === undefined ? '' : `; currently bundle ${String(current.bundleId)}`;
  return `bundle ${String(bundleId)}${message}${when}${now}`;
}

async function findPrevious(
  options: RollbackBundleOptions,
  {backend}: BundleSelection,
  host: Host,
): Promise<RollbackPlan> {
  const open = await openBackend(backend, 'deploy', options, host);
  if (options.to !== undefined) return {bundleId: await resolveBundleId(open, options.to, options)};
  const items = await readHistory(open, options.targetSlug, Infinity);
  const plan = previousDeployment(items);
  if (plan === undefined) throw nothingToRollBackTo(options, endedDeployments(items)[0]);
  return plan;
}

/** What users can do after a deployment. */
export interface NextSteps {
  /** Flags that suggested commands repeat. */
  readonly commandFlags?: readonly string[] | undefined;
  /** Whether there is a bundle to roll back to. */
  readonly canRollBack: boolean;
  /** Whether the backend has a history. */
  readonly hasHistory: boolean;
}

/** A deployment, finished or not, and how to reach its backend. */
interface Deployed extends ConnectionOptions {
  readonly result: {readonly backend: RuntimeBackend; readonly status?: DeploymentStatus | undefined};
  readonly projectSlug: string;
  readonly targetSlug?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Finds what users can do after a deployment. It never fails, because the deployment has succeeded: if we cannot find a
 * bundle to roll back to, there is none.
 * @param looks whether to ask the server
 */
export async function nextSteps(
  {result: {backend, status}, targetSlug, ...options}: Deployed,
  host: Host,
  {looks}: {readonly looks: boolean},
): Promise<NextSteps> {
  const hasHistory = registryOf(options).get(backend).listDeployments !== undefined;
  const {commandFlags} = host;
  if (!looks || !hasHistory || status !== 'finished' || targetSlug === undefined)
    return {commandFlags, hasHistory, canRollBack: false};
  try {
    const open = await openBackend(backend, 'deploy', options, host);
    const items = await readHistory(open, targetSlug);
    return {commandFlags, hasHistory, canRollBack: previousDeployment(items) !== undefined};
  } catch {
    return {commandFlags, hasHistory, canRollBack: false};
  }
}

/** Of a target's deployments, newest first: the running one, and the latest before it of another bundle. */
function previousDeployment(
  items: readonly DeploymentItem[],
): {readonly current: DeploymentItem; readonly previous: DeploymentItem; readonly bundleId: BundleId} | undefined {
  const [current, ...earlier] = endedDeployments(items);
  if (current?.status !== 'finished' || current.bundleId === undefined) return undefined;
  for (const previous of earlier) {
    const {bundleId, status} = previous;
    if (status === 'finished' && bundleId !== undefined && bundleId !== current.bundleId)
      return {current, previous, bundleId};
  }
  return undefined;
}

/** A deployment of unknown status may be the one that runs. */
function endedDeployments(items: readonly DeploymentItem[]): readonly DeploymentItem[] {
  return items.filter(({status}) => status === 'finished' || status === 'unknown');
}

function nothingToRollBackTo(
  {projectSlug, targetSlug}: RollbackBundleOptions,
  current: DeploymentItem | undefined,
): Error {
  const none = `The target "${targetSlug}" has no finished deployment`;
  const message =
    current === undefined
      ? `${none} to roll back to.`
      : current.status !== 'finished' || current.bundleId === undefined
        ? `The server does not report which bundle the target "${targetSlug}" runs.`
        : `${none} of a bundle other than ${String(current.bundleId)} to roll back to.`;
  return createError('ERR_REJECTED', message, {
    suggestions: [
      `Pass --to ID. Run ${commandLine('bundle:list', ...flagValue('--project', projectSlug))} to list the bundles.`,
    ],
  });
}
