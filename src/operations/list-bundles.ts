import {callBackend} from '../backends/call.js';
import type {BundleItem} from '../backends/contract.js';
import type {RuntimeBackend} from '../backends/select.js';
import {createError} from '../errors/index.js';
import type {Host} from './host.js';
import {chooseBackend, openBackend, type OpenBackend} from './open-backend.js';
import type {ListBundlesOptions} from './options.js';
import {verifySlugs} from './plan-push.js';

/** A part of the bundles of a project. */
export interface ListBundlesResult {
  readonly backend: RuntimeBackend;
  /** Newest first. */
  readonly bundles: readonly BundleItem[];
  /** How many there are in all, when the server tells. */
  readonly total?: number | undefined;
}

const pageSize = 200;

/**
 * Lists the bundles of a project.
 * @throws RuntimeCliError for everything a user can cause; `signal.reason` when aborted.
 */
export async function listBundles(options: ListBundlesOptions, host: Host): Promise<ListBundlesResult> {
  verifySlugs(options);
  const {backend: name} = await chooseBackend(options.preference, options, ['list'], host);
  const {limit = 25, offset = 0} = options;
  const {items, total} = await listPage(await openBackend(name, 'deploy', options, host), {limit, offset});
  return {backend: name, bundles: items, total};
}

/**
 * The newest bundle of the project that can be deployed, by creation time.
 * @throws RuntimeCliError `ERR_REJECTED` when there is none.
 */
export async function findLatestBundle(open: OpenBackend): Promise<BundleItem> {
  let latest: BundleItem | undefined;
  for (let offset = 0; ; offset += pageSize) {
    const {items, total} = await listPage(open, {limit: pageSize, offset});
    for (const item of items) {
      if (item.status === 'ready' && (!latest || createdAt(item) > createdAt(latest))) latest = item;
    }
    if (items.length < pageSize && offset + items.length >= (total ?? 0)) break;
    if (items.length === 0) break;
  }
  if (latest) return latest;
  throw createError('ERR_REJECTED', `the project "${open.context.projectSlug}" has no bundle that can be deployed`, {
    suggestions: [`Push one: mycli bundle:push --project ${open.context.projectSlug}`],
  });
}

function listPage({backend, context}: OpenBackend, range: {readonly limit: number; readonly offset: number}) {
  const list = backend.listBundles;
  if (!list) throw createError('ERR_CAPABILITY_UNSUPPORTED', `the ${backend.name} backend does not support "list"`);
  return callBackend(backend, 'listing the bundles', context.signal, () => list.call(backend, range, context));
}

function createdAt(item: BundleItem): number {
  return Date.parse(item.createdAt ?? '') || 0;
}
