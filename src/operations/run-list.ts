import type {BackendCapability, ListRange, ListResult} from '../backends/contract.js';
import type {RuntimeBackend, RuntimeBackendPreference} from '../backends/select.js';
import {count} from './describe.js';
import type {Host} from './host.js';
import {collectPages, listRange} from './list-pages.js';
import {chooseBackend, openBackend, type BackendCallOptions, type OpenBackend} from './open-backend.js';
import {verifySlugs} from './plan-push.js';
import {resolveBackend, resolveStep, watched} from './steps.js';

/** Options of every list. */
type ListOptions = BackendCallOptions & {
  readonly preference: RuntimeBackendPreference;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
};

/** What is listed. */
interface ListKind {
  readonly title: string;
  readonly capability: BackendCapability;
  readonly noun: string;
}

/** Chooses the backend of a list and collects its pages. */
export async function runList<Item extends {readonly createdAt?: string | undefined}>(
  options: ListOptions,
  {title, capability, noun}: ListKind,
  host: Host,
  page: (open: OpenBackend, range: ListRange) => Promise<ListResult<Item>>,
): Promise<{readonly backend: RuntimeBackend; readonly items: readonly Item[]; readonly total?: number | undefined}> {
  return host.runSteps([resolveStep, {name: 'list', title}], async (step) => {
    options.signal?.throwIfAborted();
    verifySlugs(options);
    const range = listRange(options);
    const {backend} = await step('resolve', (view) =>
      resolveBackend(view, () => chooseBackend(options.preference, options, [capability], host)),
    );
    return step('list', async (view) => {
      const open = await openBackend(backend, 'deploy', watched(options, view), host);
      const {items, total} = await collectPages(range, (part) => page(open, part));
      view.done(`Found ${count(items.length, noun)}`);
      return {backend, items, total};
    });
  });
}
