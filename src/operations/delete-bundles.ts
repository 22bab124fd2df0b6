import type {BundleId} from '../backends/contract.js';
import type {BackendSelection, RuntimeBackend, RuntimeBackendPreference} from '../backends/select.js';
import {amendError, createError, isRuntimeCliError, type RuntimeCliError} from '../errors/index.js';
import {callBackSafely, count, resolveBackend, resolveStep, watched, type Host, type StepView} from './steps.js';
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
  /** One at least. The same id twice counts once. */
  readonly bundleIds: readonly BundleId[];
  /** Asked when the backend is known and before anything is sent; when it rejects, nothing is deleted. */
  readonly confirm?: ((backend: RuntimeBackend) => Promise<void>) | undefined;
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
  const selection = await host.runSteps([resolveStep], (step) =>
    step('resolve', (view) => resolveBackend(view, () => chooseDeleteBackend(options, host))),
  );
  await options.confirm?.(selection.backend);
  const title = `Delete ${count(options.bundleIds.length, 'bundle')}`;
  return host.runSteps([{name: 'delete', title}], (step) =>
    step('delete', async (view) => {
      const result = await deleteBundlesFrom(selection, watched(options, view), host, view);
      view.done(`Deleted ${count(result.deleted.length, 'bundle')}`);
      return result;
    }),
  );
}

/** Verifies a deletion and chooses its backend; nothing is sent. */
async function chooseDeleteBackend(options: DeleteBundlesOptions, host: Host): Promise<BackendSelection> {
  if (options.bundleIds.length === 0) throw createError('ERR_OPTION_INVALID', 'bundleIds must not be empty.');
  const command = ['bundle:delete', ...options.bundleIds, '--project', options.projectSlug];
  const selection = await chooseForBundle(options, ['delete'], command, host);
  for (const id of options.bundleIds) idFor(selection.backend, id, options);
  return selection;
}

/** Deletes bundles with the backend that was chosen. */
async function deleteBundlesFrom(
  {backend: name}: BackendSelection,
  options: DeleteBundlesOptions,
  host: Host,
  view: StepView,
): Promise<DeleteBundlesResult> {
  const open = await openBackend(name, 'deploy', options, host);
  const ids = [...new Set(options.bundleIds.map((id) => idFor(name, id, options)))];
  const deletions: BundleDeletion[] = [];
  for (const bundleId of ids) {
    const error = await failureOf(() => invoke(open, 'deleteBundle', {bundleId}));
    const deletion = {bundleId, error};
    deletions.push(deletion);
    view.detail(error === undefined ? `Deleted bundle ${String(bundleId)}` : describeFailure(bundleId, error));
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
