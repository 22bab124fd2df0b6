import type {NotedAhead} from '../../backends/host-backend.js';
import {callInContext} from '../../backends/call.js';
import {backendMembers} from '../../backends/members.js';
import {failsEveryRequest} from '../../backends/answers.js';
import type {DeploymentItem} from '../../backends/contract.js';
import {isUnderWay} from '../../backends/references.js';
import {isRuntimeCliError} from '../../errors/index.js';
import {invoke} from '../call-backend.js';
import type {Release} from '../deploy/release.js';
import {targetBusy} from '../deploy/start-deployment.js';
import {readHistory} from '../list-bundles.js';
import type {OpenBackend} from '../open-backend.js';
import {planPush, type PushPlan, type PushRoute} from './plan-push.js';

/** From this size on, an upload is worth a request that tells whether it can succeed, in bytes. */
const largeBytes = 20_000_000;

/**
 * Plans a push while the requests are made that its upload needs anyway. What fails then, fails before anything is
 * packed: credentials, the certificate, a target that is busy. Before a large upload, one more request may tell.
 */
export async function planAhead(route: PushRoute): Promise<PushPlan> {
  const ended = new AbortController();
  const open = route.open.with({signal: ended.signal});
  const looking = lookAhead(route, open);
  // It is awaited later.
  looking.catch(() => undefined);
  try {
    const plan = await planPush(route);
    const noted = await looking;
    if (noted === undefined) await lookBeforeLargeUpload(plan, open);
    return {...plan, noted};
  } finally {
    ended.abort();
  }
}

async function lookAhead(route: PushRoute, open: OpenBackend): Promise<NotedAhead | undefined> {
  const {backend, secrets} = open;
  const {format, options, fallback, release} = route;
  // Others may deploy an unchanged bundle meanwhile, so the target is read later.
  const targetSlug = options.ifChanged ? undefined : options.targetSlug;
  // With a fallback, a refusal of the upload decides.
  if (backend.ahead === undefined || fallback !== undefined) return undefined;
  const ask = backend.ahead.bind(backend, {format, targetSlug});
  const noted = await ifRelevant(
    open,
    callInContext(backend, backendMembers.upload, await open.context(), ask, secrets),
  );
  refuseBusy(release, noted?.underWay);
  return noted;
}

/** Reads the history of the target, or the list of bundles, before an upload that takes long. */
async function lookBeforeLargeUpload(
  {content, options, fallback, release}: PushPlan,
  open: OpenBackend,
): Promise<void> {
  const {backend} = open;
  const size = content.kind === 'build' ? content.plan.totalBytes : content.bundle.size;
  // With `ifChanged`, the list is read anyway, and there may be nothing to upload.
  if (size <= largeBytes || backend.plugin !== undefined || fallback !== undefined || options.ifChanged) return;
  if (release === undefined) {
    await ifRelevant(open, invoke(open, 'listBundles', {limit: 1}));
    return;
  }
  const [newest] = (await ifRelevant(open, readHistory(open, release.targetSlug, 2))) ?? [];
  refuseBusy(release, newest);
}

/** @throws RuntimeCliError `ERR_TARGET_BUSY` if the newest deployment is under way, unless the push waits for its end */
function refuseBusy(release: Release | undefined, newest: DeploymentItem | undefined): void {
  if (release === undefined || release.waitForSlot || newest === undefined || !isUnderWay(newest.status)) return;
  throw targetBusy(release.targetSlug, newest);
}

/** Resolves to undefined after a failure that does not predict how the upload will end. */
async function ifRelevant<Result>({signal}: OpenBackend, work: Promise<Result>): Promise<Result | undefined> {
  return work.catch((error: unknown) => {
    signal.throwIfAborted();
    if (failsEveryRequest(error) || !isRuntimeCliError(error)) throw error;
    return undefined;
  });
}
