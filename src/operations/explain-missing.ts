import type {BackendCapability, BundleId} from '../backends/contract.js';
import {capabilityTitle} from '../backends/members.js';
import {amendError, createError, isRuntimeCliError, type RuntimeCliError} from '../errors/index.js';
import {quickLook} from './call-backend.js';
import {findBundle} from './list-bundles.js';
import type {OpenBackend} from './open-backend.js';
import {knownAmong, targetsIfListed} from './targets/find-targets.js';

type Subject = {readonly bundleId: BundleId} | {readonly targetSlug: string; readonly capability: BackendCapability};

/** Says of a 404 whether the target, the bundle or the capability is missing, as far as lists tell. */
export function explainMissing(open: OpenBackend, subject: Subject): (error: unknown) => Promise<never> {
  return async (error) => {
    if (!isRuntimeCliError(error)) throw error;
    throw 'bundleId' in subject
      ? await aboutBundle(error, open, subject.bundleId)
      : await aboutTarget(error, open, subject.targetSlug, subject.capability);
  };
}

async function aboutBundle(error: RuntimeCliError, open: OpenBackend, bundleId: BundleId): Promise<RuntimeCliError> {
  if (!open.backend.listBundles) return error;
  const {message, advice, details} = unknownBundles(open, [bundleId]);
  if (error.code === 'ERR_BUNDLE_UNKNOWN') return amendError(error, {suggestions: advice});
  if (error.status !== 404) return error;
  const isKnown = await quickLook(open, async (again) => (await findBundle(again, bundleId)) !== undefined);
  open.signal.throwIfAborted();
  if (isKnown !== false) return error;
  return amendError(error, {code: 'ERR_BUNDLE_UNKNOWN', message, advice, details});
}

export function unknownBundles(open: OpenBackend, ids: readonly BundleId[]): RuntimeCliError {
  const message = `The project "${open.projectSlug}" has no bundle ${ids.join(' or ')}.`;
  return createError('ERR_BUNDLE_UNKNOWN', message, {
    suggestions: [['Run: ', {run: ['bundle:list', ...open.flags()]}]],
    details: {bundleId: ids[0]},
  });
}

async function aboutTarget(
  error: RuntimeCliError,
  open: OpenBackend,
  targetSlug: string,
  capability: BackendCapability,
): Promise<RuntimeCliError> {
  if (error.status !== 404) return error;
  const targets = await quickLook(open, targetsIfListed);
  open.signal.throwIfAborted();
  if (targets === undefined) return error;
  knownAmong(targets, open, targetSlug);
  return amendError(error, {
    code: 'ERR_CAPABILITY_UNSUPPORTED',
    message: `This service does not support ${capabilityTitle(capability)}. ${error.message}`,
    details: {backend: open.backend.name, capability},
  });
}
