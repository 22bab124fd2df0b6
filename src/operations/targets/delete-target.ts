import type {TargetItem} from '../../backends/contract.js';
import type {DeleteTargetOptions, DoomedTarget} from './options.js';
import {amendError, createError, isRuntimeCliError, type RuntimeCliError} from '../../errors/index.js';
import {isProductionName, refuseUnsafe} from '../guard/safety.js';
import {allowChange, describeUnsettled, invoke, isSettled, quickLook} from '../call-backend.js';
import type {Host} from '../host.js';
import type {OpenBackend} from '../open-backend.js';
import {explainMissing} from '../explain-missing.js';
import {knownAmong, targetsIfListed, targetStatus, watchTargets} from './find-targets.js';

/** Finds a target that may be deleted: production only with `force`. Undefined if there is none. */
export async function findDoomed(open: OpenBackend, options: DeleteTargetOptions): Promise<DoomedTarget | undefined> {
  const {targetSlug, ifExists = false, production = false} = options;
  const targets = await targetsIfListed(open);
  if (ifExists && targets?.every((item) => item.targetSlug !== targetSlug)) return undefined;
  const item = targets === undefined ? {targetSlug} : knownAmong(targets, open, targetSlug, {advice: []});
  const isProduction = production || item.production === true || isProductionName(targetSlug);
  refuseProduction({...options, production: isProduction}, open.host);
  const status = open.backend.listDeployments && (await quickLook(open, (again) => targetStatus(again, item)));
  const {bundleId, message} = status?.live ?? {};
  return {...item, running: bundleId === undefined ? undefined : {bundleId, message}};
}

export function refuseProduction(
  {targetSlug, production, force, dryRun = false, confirmTarget}: DeleteTargetOptions,
  host: Host,
): void {
  refuseUnsafe({operation: 'delete-target', targetSlug, production}, host);
  if (production !== true || force === true) return;
  const message = `${targetSlug} is a production target.`;
  // Without a terminal, nobody can be asked.
  const run = ['target:delete', targetSlug, '--force', ...(confirmTarget === undefined ? ['--yes'] : [])];
  throw createError('ERR_GUARD_REFUSED', `${message} Nothing was deleted.`, {
    suggestions: [['To delete it anyway, run: ', {run, again: !dryRun}]],
    details: {targetSlug, failures: [{guard: 'production', message}]},
  });
}

/** Says of a target that the service has refused to delete, or would, that it is the primary one, if it is. */
async function explainPrimary(open: OpenBackend, targetSlug: string, refusal: RuntimeCliError): Promise<void> {
  const details = await quickLook(open, (again) => invoke(again, 'readTarget', {targetSlug}));
  open.signal.throwIfAborted();
  if (details?.primary !== true) return;
  const advice = 'Make another one primary first: set targets.SLUG.primary to true in mycli.config, then run';
  throw amendError(refusal, {
    code: 'ERR_REJECTED',
    message: `${targetSlug} is the primary target of ${open.projectSlug}, which cannot be deleted.`,
    advice: [advice, [{run: ['target:apply', 'SLUG', ...open.flags()]}]],
    details: {targetSlug},
  });
}

/** @throws RuntimeCliError if a target stays in the list, which may be late, or if another one is gone instead. */
async function verifyGone(open: OpenBackend, targetSlug: string, before: readonly TargetItem[]): Promise<void> {
  let left: TargetItem | undefined;
  await watchTargets(open, (after = []) => {
    left = after.find((item) => item.targetSlug === targetSlug && item.state !== 'deleting');
    if (left === undefined) return true;
    const isGone = ({state, targetSlug: slug}: TargetItem) =>
      state !== 'deleting' && after.every((item) => item.targetSlug !== slug);
    const gone = before.filter(isGone).map((item) => item.targetSlug);
    if (gone.length === 0) return undefined;
    const message = `Target ${targetSlug} is still listed after its deletion. Gone instead: ${gone.join(', ')}.`;
    throw createError('ERR_BACKEND_FAILED', message, {details: {targetSlug, gone}});
  });
  if (left === undefined) return;
  const {state} = left;
  const message = `Target ${targetSlug} is still listed after its deletion${state === undefined ? '' : `, as ${state}`}.`;
  if (state !== undefined)
    throw createError('ERR_OUTCOME_UNKNOWN', message, {
      suggestions: [['Check the targets of the project: ', {run: ['target:list', ...open.flags()]}]],
      details: {targetSlug, state},
    });
  // It may be about to go.
  open.host.outlet.warn(message);
}

/** Deletes a target, once. If the answer is unclear, it looks. False: someone else has deleted it (`ifExists`). */
export async function deleteTargetFrom(
  open: OpenBackend,
  {targetSlug, state}: DoomedTarget,
  {dryRun = false, ifExists = false}: Pick<DeleteTargetOptions, 'dryRun' | 'ifExists'>,
): Promise<boolean> {
  if (state === 'deleting') return true;
  await allowChange(open, {operation: 'delete-target', targetSlug, dryRun});
  const isBuiltIn = open.backend.plugin === undefined;
  // The service of a plugin may delete the primary target.
  if (dryRun && isBuiltIn) await explainPrimary(open, targetSlug, createError('ERR_REJECTED', ''));
  if (dryRun) return true;
  // The built-in backends encode slugs.
  const before = isBuiltIn ? undefined : await targetsIfListed(open);
  try {
    await invoke(open, 'deleteTarget', {targetSlug});
  } catch (error) {
    if (!isRuntimeCliError(error) || open.signal.aborted) throw error;
    if (error.status === 409) await explainPrimary(open, targetSlug, error);
    const isMissing = error.status === 404;
    const explain = explainMissing(open, {targetSlug, capability: 'delete-target'});
    if (isMissing ? !ifExists : isSettled(error)) return explain(error);
    const targets = await targetsIfListed(open).catch(() => undefined);
    open.signal.throwIfAborted();
    if (targets?.every((one) => one.targetSlug !== targetSlug || one.state === 'deleting')) {
      open.host.outlet.settles(!isMissing);
      if (isMissing) return false;
      open.host.outlet.warn(`Target ${targetSlug} is gone or being deleted, but ${describeUnsettled(error)}`);
      return true;
    }
    return explain(error);
  }
  if (before !== undefined) await verifyGone(open, targetSlug, before);
  return true;
}
