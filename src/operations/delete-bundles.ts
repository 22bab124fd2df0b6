import type {BundleId} from '../backends/contract.js';
import type {BackendSelection, RuntimeBackend, RuntimeBackendPreference} from '../backends/select.js';
import {amendError, createError, isRuntimeCliError, type RuntimeCliError} from '../errors/index.js';
import {callBackSafely, count, resolveBackend, resolveStep, watched, type Host, type StepView} from './steps.js';
import {explainMissingBundle, namingCapabilities, resolveBundleId} from './list.js';
import {chooseForBundle, idFor, invoke, openBackend} from './open-backend.js';
import type {CommonOptions, ConnectionOptions} from './options.js';

/** What became of one bundle. */
export interface BundleDeletion {
  readonly bundleId: BundleId;
  /** Why it was not deleted. */
  readonly error?: RuntimeCliError | undefined;
}

/** Options of `deleteBundles`. */
export interface DeleteBundlesOptions extends CommonOptions, ConnectionOptions {
  readonly preference: RuntimeBackendPreference;
  readonly projectSlug: string;
  /** One at least; `latest` is the newest usable one. The same id twice counts once. */
  readonly bundleIds: readonly BundleId[];
  /** Asked when backend and bundles are known and before anything is deleted; when it rejects, nothing is. */
  readonly confirm?: ((backend: RuntimeBackend, bundleIds: readonly BundleId[]) => Promise<void>) | undefined;
  /** Told of each bundle as soon as it is known what became of it. */
  readonly onDeletion?: ((deletion: BundleDeletion) => void) | undefined;
}

/** What `deleteBundles` resolves to, when every bundle was deleted. */
export interface DeleteBundlesResult {
  readonly backend: RuntimeBackend;
  readonly projectSlug: string;
  readonly deleted: readonly BundleId[];
}

/**
 * Deletes bundles, one after the other. When the server refuses one, the others are deleted all the same; what would
 * end them in the same way (credentials, network, rate limit) ends the deletion.
 * @throws RuntimeCliError when any of them was not deleted: the first failure, whose `details` tell which were
 * `deleted`, which `failed` and which were `notTried`. An abort is such a failure when `signal.reason` is a
 * RuntimeCliError, and is thrown as it is otherwise.
 */
export async function deleteBundles(options: DeleteBundlesOptions, host: Host): Promise<DeleteBundlesResult> {
  const {selection, ids} = await host.runSteps([resolveStep], (step) =>
    step('resolve', async (view) => {
      const chosen = await resolveBackend(view, () => chooseDeleteBackend(options, host));
      return {selection: chosen, ids: await resolveIds(chosen, watched(options, view), host)};
    }),
  );
  await options.confirm?.(selection.backend, ids);
  const title = `Delete ${count(ids.length, 'bundle')}`;
  return host.runSteps([{name: 'delete', title}], (step) =>
    step('delete', async (view) => {
      const result = await deleteBundlesFrom(selection, ids, watched(options, view), host, view);
      view.done(`Deleted ${count(result.deleted.length, 'bundle')}`);
      return result;
    }),
  );
}

/** Verifies a deletion and chooses its backend; nothing is sent. */
async function chooseDeleteBackend(options: DeleteBundlesOptions, host: Host): Promise<BackendSelection> {
  if (options.bundleIds.length === 0) throw createError('ERR_OPTION_INVALID', 'bundleIds must not be empty.');
  const command = ['bundle:delete', ...options.bundleIds, '--project', options.projectSlug];
  const listing = options.bundleIds.flatMap(namingCapabilities);
  const selection = await chooseForBundle(options, ['delete', ...listing], command, host);
  for (const id of options.bundleIds) if (id !== 'latest') idFor(selection.backend, id, options);
  return selection;
}

async function resolveIds(
  {backend}: BackendSelection,
  options: DeleteBundlesOptions,
  host: Host,
): Promise<readonly BundleId[]> {
  const open = await openBackend(backend, 'deploy', options, host);
  const ids: BundleId[] = [];
  for (const id of options.bundleIds) ids.push(await resolveBundleId(open, id, options));
  return [...new Set(ids)];
}

/** Deletes bundles with the backend that was chosen. */
async function deleteBundlesFrom(
  {backend: name}: BackendSelection,
  ids: readonly BundleId[],
  options: DeleteBundlesOptions,
  host: Host,
  view: StepView,
): Promise<DeleteBundlesResult> {
  const open = await openBackend(name, 'deploy', options, host);
  const deletions: BundleDeletion[] = [];
  for (const bundleId of ids) {
    const error = await failureOf(() =>
      invoke(open, 'deleteBundle', {bundleId}).catch(async (reason: unknown) => {
        throw await explainMissingBundle(reason, open, bundleId);
      }),
    );
    const deletion = {bundleId, error};
    deletions.push(deletion);
    // The error at the end says what failed, and a single bundle is the outcome of the step.
    if (error === undefined && ids.length > 1) view.detail(`Deleted bundle ${String(bundleId)}`);
    callBackSafely(() => options.onDeletion?.(deletion));
    if (error !== undefined && error.code !== 'ERR_REJECTED') break;
  }
  const deleted = deletions.filter(({error}) => error === undefined).map(({bundleId}) => bundleId);
  if (deleted.length === ids.length) return {backend: name, projectSlug: options.projectSlug, deleted};
  throw incompleteError(ids, deletions, deleted);
}

async function failureOf(call: () => Promise<void>): Promise<RuntimeCliError | undefined> {
  try {
    await call();
    return undefined;
  } catch (error) {
    if (isRuntimeCliError(error)) return error;
    throw error;
  }
}

function incompleteError(
  ids: readonly BundleId[],
  deletions: readonly BundleDeletion[],
  deleted: readonly BundleId[],
): Error {
  const failures = deletions.flatMap(({bundleId, error}) => (error === undefined ? [] : [{bundleId, error}]));
  const [first] = failures;
  if (first === undefined) throw new Error('Bug: the deletion is incomplete without a failure.');
  const notTried = ids.slice(deletions.length);
  const outcome = [
    ...(deleted.length === 0 ? [] : [`Deleted: ${deleted.join(', ')}.`]),
    ...failures.map(({bundleId, error}) => describeFailure(bundleId, error)),
    ...(notTried.length === 0 ? [] : [`Not tried: ${notTried.join(', ')}.`]),
  ];
  return amendError(first.error, {
    message: outcome.join(' '),
    details: {
      deleted,
      failed: failures.map(({bundleId, error}) => ({bundleId, code: error.code, message: error.message})),
      notTried,
    },
  });
}

/** A request that was given up under way, or was answered with something else, may have been carried out. */
function describeFailure(bundleId: BundleId, {code, message}: RuntimeCliError): string {
  const maybe = ['ERR_INTERRUPTED', 'ERR_OUTCOME_UNKNOWN', 'ERR_RESPONSE_INVALID'].includes(code);
  return `Bundle ${String(bundleId)} ${maybe ? 'may have been' : 'was not'} deleted: ${message}`;
}
