import type {BundleId, BundleItem, ListRange, ListResult} from '../backends/contract.js';
import type {RuntimeBackend} from '../backends/select.js';
import {createError} from '../errors/index.js';
import type {Host} from './host.js';
import {createdTime, listPages} from './list-pages.js';
import {invoke, type OpenBackend} from './open-backend.js';
import type {ListBundlesOptions} from './options.js';
import {runList} from './run-list.js';

/** One page of a project's bundles. */
export interface ListBundlesResult {
  readonly backend: RuntimeBackend;
  readonly projectSlug: string;
  /** Newest first. */
  readonly bundles: readonly BundleItem[];
  /** Total number, if the server reports it. */
  readonly total?: number | undefined;
}

/**
 * Lists the bundles of a project.
 * @throws RuntimeCliError for everything a user can cause; `signal.reason` when aborted.
 */
export async function listBundles(options: ListBundlesOptions, host: Host): Promise<ListBundlesResult> {
  const {projectSlug} = options;
  const list = {title: 'List the bundles', capability: 'list', noun: 'bundle'} as const;
  const {backend, items, total} = await runList(options, list, host, listPage);
  return {backend, projectSlug, bundles: items, total};
}

/**
 * The newest bundle of the project that can be deployed, by creation time.
 * @throws RuntimeCliError `ERR_REJECTED` when there is none.
 */
export async function findLatestBundle(open: OpenBackend): Promise<BundleItem> {
  let latest: BundleItem | undefined;
  for await (const {items} of listPages({limit: Infinity, offset: 0}, (range) => listPage(open, range))) {
    for (const item of items) {
      if (item.status === 'ready' && (!latest || createdTime(item) > createdTime(latest))) latest = item;
    }
  }
  if (latest) return latest;
  throw createError('ERR_REJECTED', `the project "${open.context.projectSlug}" has no bundle that can be deployed`, {
    suggestions: [`Push one: mycli bundle:push --project ${open.context.projectSlug}`],
  });
}

/** The bundle with this id, when the project has it. The newest are looked at first. */
export async function findBundle(open: OpenBackend, bundleId: BundleId): Promise<BundleItem | undefined> {
  for await (const {items} of listPages({limit: Infinity, offset: 0}, (range) => listPage(open, range))) {
    const found = items.find((item) => item.bundleId === bundleId);
    if (found) return found;
  }
  return undefined;
}

function listPage(open: OpenBackend, range: ListRange): Promise<ListResult<BundleItem>> {
  return invoke(open, 'listBundles', range);
}
