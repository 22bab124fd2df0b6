import type {BundleId, TargetItem} from '../../backends/contract.js';
import type {RuntimeBackend} from '../../backends/names.js';
import {amendError, createError, isRuntimeCliError} from '../../errors/index.js';
import {isProductionName, refuseUnsafe} from '../guard/safety.js';
import {invoke, quickLook} from '../call-backend.js';
import type {RunHost} from '../host.js';
import type {OpenBackend} from '../open-backend.js';
import type {GuardOptions, ProjectOptions} from '../options.js';
import type {DataOf} from '../outlet.js';
import {explainMissingTarget, knownAmong, targetsIfListed, targetStatus} from '../targets.js';
import {isUnclear} from './unclear.js';

/** Options of `deleteTarget`. */
export interface DeleteTargetOptions extends ProjectOptions, GuardOptions {
  readonly targetSlug: string;
  /** Deletes it although it is production, by its name, by what the service says or by `production`. @default false */
  readonly force?: boolean | undefined;
  /** Resolves if there is no such target. @default false: that is an error */
  readonly ifExists?: boolean | undefined;
  /** Called before it is deleted. If it rejects, nothing is deleted. */
  readonly confirm?: ((backend: RuntimeBackend, target: DoomedTarget) => Promise<void>) | undefined;
}

/** A target that is to be deleted. */
export interface DoomedTarget extends TargetItem {
  /** What it runs, if it runs something and the backend reports it. */
  readonly running?: {readonly bundleId: BundleId; readonly message?: string | undefined} | undefined;
}

/** What `deleteTarget` resolves to. */
export interface DeletedTarget {
  readonly backend: RuntimeBackend;
  readonly projectSlug: string;
  readonly targetSlug: string;
  /** False if it was not there. */
  readonly deleted: boolean;
  /** What it ran, if it ran something and the backend reports it. */
  readonly running?: DoomedTarget['running'];
  readonly warnings: readonly string[];
}

/**
 * Finds a target that may be deleted. Undefined if there is none.
 * @throws RuntimeCliError `ERR_GUARD_REFUSED` if it is production.
 */
export async function findDoomed(
  open: OpenBackend,
  {targetSlug, ifExists = false, force = false, production = false}: DataOf<DeleteTargetOptions>,
  host: RunHost,
): Promise<DoomedTarget | undefined> {
  const targets = await targetsIfListed(open);
  const found = targets?.find((item) => item.targetSlug === targetSlug);
  if (targets !== undefined && found === undefined && ifExists) return undefined;
  const item = targets === undefined ? {targetSlug} : knownAmong(targets, open, targetSlug);
  const isProduction = production || item.production === true || isProductionName(targetSlug);
  refuseUnsafe({operation: 'delete-target', targetSlug, production: isProduction}, host);
  if (isProduction && !force) throw productionRefused(targetSlug);
  const status = open.backend.listDeployments && (await quickLook(open, (again) => targetStatus(again, item)));
  const {bundleId, message} = status?.live ?? {};
  return {...item, running: bundleId === undefined ? undefined : {bundleId, message}};
}

function productionRefused(targetSlug: string): Error {
  const message = `Target ${targetSlug} is production.`;
  return createError('ERR_GUARD_REFUSED', `${message} Nothing was deleted.`, {
    suggestions: ['Pass --force if it is to be deleted.'],
    details: {targetSlug, failures: [{guard: 'production', message}]},
  });
}

/** Deletes a target, once. If the answer is unclear, it looks whether the target is still there. */
export async function deleteTargetFrom(open: OpenBackend, item: DoomedTarget, host: RunHost): Promise<void> {
  const {targetSlug, state} = item;
  const {backend, projectSlug} = open;
  if (state === 'deleting') return;
  const write = {operation: 'delete-target', backend: backend.name, projectSlug, targetSlug, bundleIds: []} as const;
  await host.writes?.before(write);
  try {
    await invoke(open, 'deleteTarget', {targetSlug});
  } catch (error) {
    if (!isRuntimeCliError(error) || open.signal.aborted) throw error;
    if (!isUnclear(error)) throw await explainMissingTarget(error, open, targetSlug, 'delete-target');
    const targets = await targetsIfListed(open).catch(() => undefined);
    open.signal.throwIfAborted();
    const left = targets?.find((one) => one.targetSlug === targetSlug);
    if (targets !== undefined && (left === undefined || left.state === 'deleting')) {
      host.outlet.warn(`The service answered with an error, but target ${targetSlug} is gone or being deleted.`);
      return;
    }
    const known = targets === undefined ? 'Whether it is still there is not known' : 'It is still listed';
    throw amendError(error, {
      message: `Target ${targetSlug} may be deleted yet. ${known}${left?.state ? ` (${left.state})` : ''}. ${error.message}`,
      details: {targetSlug, state: left?.state},
    });
  }
}
