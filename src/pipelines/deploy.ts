import type {BundleId, DeploymentState} from '../backends/contract.js';
import type {Suggestion} from '../errors/index.js';
import {requireCapability} from '../operations/call-backend.js';
import {chooseCapable, openNamed, withFallback, withOtherBackend} from '../operations/choose-backend.js';
import {followUpCapabilities, planRelease, verifyPromotion, type Release} from '../operations/deploy/release.js';
import {lookForPlace, type PlaceOptions} from '../operations/deploy/new-place.js';
import {describeRollback, planRollback} from '../operations/deploy/rollback-bundle.js';
import {deployFallback, deployStored} from '../operations/deploy/start-deployment.js';
import {pollDeployment} from '../operations/deploy/wait-for-deployment.js';
import {changeRules} from '../operations/guard/guards.js';
import {namingCapabilities, resolveBundleId, targetIn, verifyId} from '../operations/list-bundles.js';
import type {OpenBackend} from '../operations/open-backend.js';
import type {
  DeployBundleOptions,
  DeployBundleResult,
  PromoteBundleOptions,
  PromoteBundleResult,
  RollbackBundleOptions,
  RollbackBundleResult,
  TargetOptions,
  WaitForDeploymentOptions,
} from '../operations/options.js';
import {findRunning} from '../operations/targets/find-targets.js';
import {oneLine} from '../text/sentence.js';
import {shellLine} from '../text/suggest.js';
import type {PipelineHost} from './host.js';
import {known, type Ledger} from './ledger.js';
import {accept, check, confirmNew, confirmTarget, guard, invalidateAfter, rollback, wait} from './release-steps.js';
import {runPipeline, type Rows, type Step} from './run.js';

interface DeployRequest {
  readonly release: Release;
  readonly connection: TargetOptions & PlaceOptions;
  /** The bundle to deploy. Undefined if it is found. */
  readonly bundleId?: BundleId | undefined;
  /** The target whose bundle is promoted. */
  readonly from?: string | undefined;
}

const resolve: Step<DeployRequest> = {
  name: 'resolve',
  title: 'Prepare',
  async run(ledger, host) {
    const {connection, release, bundleId, from} = ledger.request;
    const finding = bundleId === undefined ? (['history'] as const) : namingCapabilities(bundleId);
    const needed = [...(from === undefined ? (['deploy'] as const) : []), ...finding, ...followUpCapabilities(release)];
    const chosen = await chooseCapable({...connection, wait: release.wait}, needed, host);
    Object.assign(ledger, chosen, {bundleId, from});
    const {backend} = chosen.open;
    if (from !== undefined && !backend.promote) requireCapability(backend, 'deploy');
    if (bundleId !== undefined && release.operation === 'deploy') verifyId(backend, bundleId, meantInstead);
    return release.operation === 'rollback' ? {} : lookForPlace(chosen.open, connection);
  },
};

function meantInstead(typed: string | undefined): readonly Suggestion[] {
  if (typed === undefined) return [];
  const from = targetIn(typed);
  if (from !== undefined)
    return [[`To deploy what ${from} runs, run `, {run: ['bundle:promote', '--from', from], again: true}]];
  const push = {run: ['bundle:push', typed], again: true};
  const asTarget = shellLine('latest', '--target', typed);
  return [`If it is the target, pass ${asTarget}.`, ['If it is a build folder, run ', push]];
}

function adviseOther({fallback}: Ledger) {
  return (error: unknown) => {
    throw withOtherBackend(error, fallback?.backend.name);
  };
}

const findPrevious: Step<DeployRequest> = {
  name: 'find',
  title: 'Find the bundle to roll back to',
  due: ({release}) => release?.operation === 'rollback',
  async run(ledger, {outlet}) {
    const {request, open, release} = known(ledger, 'open', 'release');
    const plan = await planRollback(open, release.targetSlug, request.bundleId).catch(adviseOther(ledger));
    outlet.title(`Rolling back to ${describeRollback(plan)}`);
    plan.warnings.forEach((warning) => outlet.warn(warning));
    return {bundleId: plan.bundleId, rolledBackFrom: plan.current?.bundleId};
  },
};

const findPromoted: Step<DeployRequest> = {
  name: 'find',
  title: ({request}) => `Find the bundle that ${String(request.from)} runs`,
  due: ({release}) => release?.operation === 'promote',
  async run(ledger, {outlet}) {
    const {open, from} = known(ledger, 'open', 'from');
    const {bundleId, message} = await findRunning(open, from).catch(adviseOther(ledger));
    const described = message === undefined ? '' : ` "${oneLine(message)}"`;
    outlet.title(`${from} runs bundle ${String(bundleId)}${described}`);
    return {bundleId};
  },
};

/** With `auto`, only `latest` falls back from Api to legacy. */
const deploy: Step<DeployRequest> = {
  name: 'deploy',
  title({request, release, bundleId = request.bundleId}) {
    const target = String(release?.targetSlug);
    return bundleId === undefined ? `Deploy to ${target}` : `Deploy ${String(bundleId)} to ${target}`;
  },
  async run(ledger, {outlet}) {
    const {selection, open, release, bundleId: named} = known(ledger, 'selection', 'open', 'release', 'bundleId');
    const {request, fallback, from} = ledger;
    const deployWith = async (serving: OpenBackend) => {
      if (serving === fallback) await lookForPlace(serving, {...request.connection, confirmNew: undefined});
      const bundleId = await resolveBundleId(serving, named);
      if (named === 'latest') outlet.note(`Latest bundle: ${String(bundleId)}`);
      Object.assign(ledger, {open: serving, bundleId});
      return deployStored(serving, release, {bundleId, from});
    };
    const reasonFor = (error: unknown) => deployFallback(error, named, fallback);
    const calls = {reasonFor, first: deployWith, second: deployWith};
    await accept(ledger, await withFallback({selection, open, fallback}, calls));
    const what = release.operation === 'promote' ? 'Promotion' : 'Deployment';
    const route = from === undefined ? `to ${release.targetSlug}` : `from ${from} to ${release.targetSlug}`;
    outlet.title(`${what} of bundle ${String(ledger.bundleId)} ${route} accepted`);
    return {};
  },
};

/** A deployment, a rollback or a promotion, in the order of time. */
const rows: Rows<DeployRequest> = [
  resolve,
  findPrevious,
  findPromoted,
  guard,
  confirmNew,
  confirmTarget,
  deploy,
  wait,
  check,
  invalidateAfter,
  rollback,
];

export async function deployBundle(options: DeployBundleOptions, host: PipelineHost): Promise<Ledger> {
  const {bundleId} = options;
  const release = planRelease('deploy', options, host);
  return runPipeline(rows, {release, connection: options, bundleId}, host);
}

export async function rollbackBundle(
  {to: bundleId, ...options}: RollbackBundleOptions,
  host: PipelineHost,
): Promise<Ledger> {
  const release = planRelease('rollback', {...options, guard: changeRules(options.guard)}, host);
  return runPipeline(rows, {release, connection: {...options, confirmNew: undefined}, bundleId}, host);
}

export async function promoteBundle({from, ...options}: PromoteBundleOptions, host: PipelineHost): Promise<Ledger> {
  const release = planRelease('promote', options, host);
  verifyPromotion(from, options.targetSlug);
  return runPipeline(rows, {release, connection: options, from}, host);
}

export function deployResult(ledger: Ledger): DeployBundleResult {
  const needed = known(ledger, 'open', 'release', 'bundleId', 'deployment', 'status');
  const {open, release, bundleId, deployment, status, url, warnings, raw, check: checked} = needed;
  return {
    ...open.project,
    bundleId,
    targetSlug: release.targetSlug,
    deploymentId: deployment.deploymentId,
    url,
    deployment,
    status,
    warnings,
    raw,
    ...(checked && {check: checked}),
  };
}

export function rollbackResult(ledger: Ledger): RollbackBundleResult {
  return {...deployResult(ledger), rolledBackFrom: ledger.rolledBackFrom};
}

export function promotionResult(ledger: Ledger): PromoteBundleResult {
  return {...deployResult(ledger), promotedFrom: known(ledger, 'from').from};
}

export async function waitForDeployment(
  {backend, deployment, ...options}: WaitForDeploymentOptions,
  host: PipelineHost,
): Promise<DeploymentState> {
  const row: Step = {
    name: 'wait',
    title: 'Wait for the deployment',
    async run(ledger, running) {
      const open = await openNamed(backend, options, running);
      Object.assign(ledger, {open, deployment});
      return {result: await pollDeployment(open, deployment)};
    },
  };
  const {result} = await runPipeline([row], {}, host);
  return result as DeploymentState;
}
