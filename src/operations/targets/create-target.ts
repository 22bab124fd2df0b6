import type {CreateTargetOptions, CreatedTarget} from './options.js';
import {checkNewTarget} from '../../backends/answers.js';
import type {CreateTargetRequest, TargetItem} from '../../backends/contract.js';
import {backendTitle} from '../../backends/names.js';
import {refuseUnfitSlugs} from '../../backends/resolve-backend.js';
import {createError, isRuntimeCliError} from '../../errors/index.js';
import {allowChange, describeUnsettled, invoke, isSettled} from '../call-backend.js';
import type {OpenBackend} from '../open-backend.js';
import {refusePartialCopy} from './copy-target.js';
import {knownAmong, targetsIfListed, watchTargets} from './find-targets.js';
import {waitForTarget} from './wait-for-target.js';

type RequestedTarget = TargetItem & Pick<CreatedTarget, 'created' | 'raw'>;

function requestOf({targetSlug, copyFrom, name, configuration: {settings} = {}}: CreateTargetOptions) {
  return {targetSlug, name: name ?? settings?.name, copyFrom, settings};
}

/** The target, if it is there already. @throws RuntimeCliError unless that is fine, or if there is none to copy */
export async function findRequested(
  open: OpenBackend,
  options: CreateTargetOptions,
): Promise<RequestedTarget | undefined> {
  const {copyFrom, ifMissing = false} = options;
  const request = requestOf(options);
  refuseUnfit(open, request);
  const targets = await targetsIfListed(open);
  const known = targets?.find((item) => isRequested(open, item, request));
  if (known !== undefined) {
    if (ifMissing) return {...known, created: false};
    throw alreadyThere(open, known);
  }
  if (copyFrom !== undefined && targets !== undefined) knownAmong(targets, open, copyFrom, {advice: []});
  return undefined;
}

/** Asks the service for a target, once. If the answer is unclear, it looks whether the target is there, as a whole. */
export async function createTargetIn(open: OpenBackend, options: CreateTargetOptions): Promise<RequestedTarget> {
  const {targetSlug, ifMissing = false, dryRun = false} = options;
  const request: CreateTargetRequest = requestOf(options);
  const known = await findRequested(open, options);
  if (known !== undefined) return known;
  await allowChange(open, {operation: 'create-target', targetSlug, dryRun});
  if (dryRun) return {targetSlug, name: request.name, created: false};
  try {
    const {warnings = [], ...target} = await invoke(open, 'createTarget', request);
    for (const warning of warnings) open.host.outlet.warn(warning);
    const created = {...target, created: true};
    return ifMissing ? await firstListed(open, created, request) : created;
  } catch (error) {
    return afterFailure(error, open, options);
  }
}

/** @throws RuntimeCliError if the backend cannot take the slug or the name, or copy a target. */
function refuseUnfit(
  {backend}: OpenBackend,
  {targetSlug, name: title = targetSlug, copyFrom}: CreateTargetRequest,
): void {
  const {plugin, targetSlugs, copiesTargets, name} = backend;
  const slug = targetSlugs === 'assigned' ? undefined : targetSlug;
  if (plugin === undefined) checkNewTarget(slug, title);
  else refuseUnfitSlugs(backend, {targetSlug: slug});
  if (copyFrom === undefined || copiesTargets !== false) return;
  throw createError('ERR_CAPABILITY_UNSUPPORTED', `The ${backendTitle(name)} backend cannot copy a target.`, {
    suggestions: ['Create it without --copy-from, then set its variables with env:set.'],
    details: {backend: name},
  });
}

/** Whether a target is what was asked for. One of a service that makes the slug is known by its name. */
function isRequested(
  {backend}: OpenBackend,
  item: TargetItem,
  {targetSlug, name = targetSlug}: CreateTargetRequest,
): boolean {
  if (item.state === 'deleting') return false;
  return item.targetSlug === targetSlug || (backend.targetSlugs === 'assigned' && item.name === name);
}

/**
 * Looks for a new target in the list. If two calls have made two of one name at the same time, the older one stays.
 * @throws RuntimeCliError if it is not listed as what was asked for: the next call would make another one.
 */
async function firstListed(
  open: OpenBackend,
  created: RequestedTarget,
  {targetSlug, name = targetSlug}: CreateTargetRequest,
): Promise<RequestedTarget> {
  const {backend, limits, flags} = open;
  const isAssigned = backend.targetSlugs === 'assigned';
  // The other built-in backend makes what it is asked for.
  if (backend.plugin === undefined && !isAssigned) return created;
  // The limit of the run is for what takes longer.
  const brief = {...open, limits: {...limits, timeout: Math.min(limits.timeout || 60, 60)}};
  const isSame = (item: TargetItem) =>
    item.state !== 'deleting' && (item.targetSlug === targetSlug || item.name === name);
  const made = created.targetSlug;
  const same = await watchTargets(brief, (targets) => {
    const found = targets?.filter(isSame) ?? [created];
    return found.length > 0 || targets?.some((item) => item.targetSlug === made) ? found : undefined;
  });
  const order = (item: TargetItem) => `${item.createdAt ?? ''} ${item.targetSlug}`;
  const [first] = (same ?? []).toSorted((a, b) => (order(a) < order(b) ? -1 : 1));
  if (first === undefined) {
    const message = `Target ${made} was created, but is not listed with the requested slug or name.`;
    throw createError('ERR_BACKEND_FAILED', `${message} The next call would create another one.`, {
      suggestions: [['To delete it, run: ', {run: ['target:delete', made, ...flags()]}]],
      details: {targetSlug: made},
    });
  }
  if (!isAssigned || backend.deleteTarget === undefined || first.targetSlug === made) return created;
  await invoke(open, 'deleteTarget', {targetSlug: made});
  return {...first, created: false};
}

async function afterFailure(error: unknown, open: OpenBackend, options: CreateTargetOptions): Promise<RequestedTarget> {
  const {copyFrom, ifMissing = false, wait = false} = options;
  if (!isRuntimeCliError(error) || open.signal.aborted) throw error;
  const unclear = !isSettled(error);
  // Somebody else may have made it meanwhile.
  if (!unclear && !(ifMissing && error.code === 'ERR_REJECTED')) throw error;
  const targets = await targetsIfListed(open).catch(() => undefined);
  const found = targets?.find((item) => isRequested(open, item, requestOf(options)));
  open.signal.throwIfAborted();
  if (found === undefined) throw error;
  open.host.outlet.settles(unclear);
  if (unclear && copyFrom !== undefined) {
    if (wait) await waitForTarget(open, found.targetSlug);
    await refusePartialCopy(error, open, {...options, targetSlug: found.targetSlug});
  }
  if (unclear) open.host.outlet.warn(`Target ${found.targetSlug} exists, but ${describeUnsettled(error)}`);
  return {...found, created: unclear};
}

function alreadyThere({projectSlug}: OpenBackend, {targetSlug, state}: TargetItem): Error {
  return createError('ERR_REJECTED', `The project "${projectSlug}" already has a target "${targetSlug}".`, {
    suggestions: ['Choose another slug, or deploy to the existing target.'],
    details: {targetSlug, state},
  });
}
