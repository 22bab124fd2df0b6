import type {BundleId, DeploymentItem} from '../../backends/contract.js';
import {createError} from '../../errors/index.js';
import {oneLine} from '../../errors/sentence.js';
import {flagValue} from '../../errors/suggest.js';
import {chooseForBundle, idFor, openBackend, type BundleSelection, type Command} from '../open-backend.js';
import {namingCapabilities, readHistory, resolveBundleId} from '../list.js';
import type {DeployBundleOptions, DeployBundleResult} from '../options.js';
import type {Host} from '../host.js';
import {followUpCapabilities} from './check-deployment.js';

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
export interface RollbackPlan {
  /** The bundle to deploy. */
  readonly bundleId: BundleId;
  /** The finished deployment that the target runs; undefined if the bundle was given. */
  readonly current?: DeploymentItem | undefined;
  /** The deployment to roll back to; undefined if the bundle was given. */
  readonly previous?: DeploymentItem | undefined;
  /** Bundles that ran later, but were rolled back from. */
  readonly skipped?: readonly BundleId[] | undefined;
}

/** What `rollbackBundle` resolves to. */
export interface RollbackBundleResult extends DeployBundleResult {
  /** The bundle that ran before; undefined if the bundle to roll back to was given. */
  readonly rolledBackFrom?: BundleId | undefined;
}

/** Verifies a rollback and chooses its backend. Sends nothing. */
export async function chooseRollbackBackend(options: RollbackBundleOptions, host: Host): Promise<BundleSelection> {
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

/** The command for a rollback. */
export function rollbackCommand({projectSlug, targetSlug, to}: RollbackBundleOptions): Command {
  return [
    'bundle:rollback',
    '--project',
    projectSlug,
    '--target',
    targetSlug,
    ...(to === undefined ? [] : ['--to', to]),
  ];
}

/** `bundle 3 "main: 1a2b3c", deployed 2026-01-01T00:00:00Z; currently bundle 4` */
export function describeRollback({bundleId, current, previous}: RollbackPlan): string {
  const message = previous?.message === undefined ? '' : ` "${oneLine(previous.message)}"`;
  const when = previous?.createdAt === undefined ? '' : `, deployed ${previous.createdAt}`;
  const now = current === undefined ? '' : `; currently bundle ${String(current.bundleId)}`;
  return `bundle ${String(bundleId)}${message}${when}${now}`;
}

/** Finds the bundle to roll back to. Changes nothing. */
export async function planRollback(
  options: RollbackBundleOptions,
  {backend}: BundleSelection,
  host: Host,
): Promise<RollbackPlan> {
  const open = await openBackend(backend, options, host);
  if (options.to !== undefined) return {bundleId: await resolveBundleId(open, options.to, options)};
  const items = await readHistory(open, options.targetSlug, Infinity);
  const plan = previousDeployment(items);
  if (plan === undefined) throw nothingToRollBackTo(options, items);
  return plan;
}

/** Warnings about the bundles that a rollback skips. */
export function skippedWarnings({skipped = []}: Pick<RollbackPlan, 'skipped'>): readonly string[] {
  return skipped.map(
    (bundleId) =>
      `Skipped bundle ${String(bundleId)}, which was rolled back from. To deploy it, pass --to ${String(bundleId)}.`,
  );
}

/**
 * Of a target's deployments, newest first: the running one, and the latest before it of another bundle that was not
 * rolled back from.
 */
export function previousDeployment(items: readonly DeploymentItem[]): RollbackPlan | undefined {
  const [current, ...earlier] = endedDeployments(items);
  if (current?.status !== 'finished' || current.bundleId === undefined) return undefined;
  const ran = bundlesRun(items);
  const skipped = new Set<BundleId>();
  for (const previous of earlier) {
    const {bundleId, status} = previous;
    if (status !== 'finished' || bundleId === undefined || bundleId === current.bundleId) continue;
    if (!wasRolledBack(bundleId, ran)) return {current, previous, bundleId, skipped: [...skipped]};
    skipped.add(bundleId);
  }
  return undefined;
}

/** The bundles of the finished deployments. */
function bundlesRun(items: readonly DeploymentItem[]): readonly BundleId[] {
  return items.flatMap(({status, bundleId}) => (status === 'finished' && bundleId !== undefined ? [bundleId] : []));
}

/**
 * Whether a target went back from a bundle: what followed its latest deployment had run before it for the first time.
 * @param ran the bundles that the target ran, newest first
 */
function wasRolledBack(bundleId: BundleId, ran: readonly BundleId[]): boolean {
  const successor = ran[ran.indexOf(bundleId) - 1];
  return successor !== undefined && ran.lastIndexOf(successor) > ran.lastIndexOf(bundleId);
}

/** A deployment of unknown status may be the one that runs. */
function endedDeployments(items: readonly DeploymentItem[]): readonly DeploymentItem[] {
  return items.filter(({status}) => status === 'finished' || status === 'unknown');
}

function nothingToRollBackTo(
  {projectSlug, targetSlug}: RollbackBundleOptions,
  items: readonly DeploymentItem[],
): Error {
  const [current] = endedDeployments(items);
  const ran = bundlesRun(items);
  const skipped = [...new Set(ran)].filter((id) => id !== current?.bundleId && wasRolledBack(id, ran));
  const none = `The target "${targetSlug}" has no finished deployment`;
  const message =
    current === undefined
      ? `${none} to roll back to.`
      : current.status !== 'finished' || current.bundleId === undefined
        ? `The server does not report which bundle the target "${targetSlug}" runs.`
        : `${none} of a bundle other than ${String(current.bundleId)} to roll back to.`;
  return createError('ERR_REJECTED', message, {
    suggestions: [
      ...skippedWarnings({skipped}),
      ['Pass --to ID. Run ', {run: ['bundle:list', ...flagValue('--project', projectSlug)]}, ' to list the bundles.'],
    ],
  });
}
