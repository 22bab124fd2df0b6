import {createError} from '../../errors/index.js';
import {wrongAnswer} from '../../http/index.js';
import {
  asNumber,
  asRecord,
  asText,
  asWarnings,
  fromTarget,
  numericId,
  pageQuery,
  readAcceptance,
  readPage,
  readWritten,
  requestedBundleId,
  type Answer,
} from '../answers.js';
import type {
  BundleId,
  DeployResult,
  DeploymentItem,
  DeploymentRef,
  DeploymentState,
  DeploymentStatus,
  ListRange,
  ListResult,
} from '../contract.js';
import {connect, type LegacyContext} from './connection.js';
import {asSentence} from '../../errors/sentence.js';
import {placeFlags} from '../../errors/suggest.js';

/**
 * The newest deployment before ours. This protocol has no deployment IDs, so ours is a later one with our bundle.
 * `none`: there was no earlier one. `unknown`: why that is not known; no deployment is taken for ours then.
 */
type Before = {readonly createdAt: string; readonly count?: number | undefined} | 'none' | {readonly unknown: string};

/** The members of a list that hold its rows and their total. */
export const page = {rows: 'results', total: 'count'};

const rowsPerPoll = 100;

/** Members of the answer to a deploy request, all optional. */
const deployAnswer = ['bundle', 'bundle_id', 'status', 'deploy_type', 'external_publish_id', 'created_at', 'warnings'];

/** Requests a deployment. */
export async function deploy(
  {bundleId, targetSlug}: {readonly bundleId: BundleId; readonly targetSlug: string},
  context: LegacyContext,
): Promise<DeployResult> {
  const {http, url} = connect(context);
  const {projectSlug} = context;
  const id = requestedBundleId(bundleId, 'legacy');
  const {before, warnings} = await noteBefore(targetSlug, context);
  const request = http.post(url('projects', projectSlug, 'target', targetSlug, 'deploy'), {json: {bundle_id: id}});
  const response = await fromTarget(request);
  const look = ['bundle:history', ...placeFlags({projectSlug, targetSlug, backend: 'legacy'})];
  const {answer, raw} = readWritten(look, () => readAcceptance(response, deployAnswer));
  return {
    deployment: {bundleId: id, targetSlug, before},
    status: statusWords.get(answer['status']) ?? 'queued',
    warnings: [...warnings, ...asWarnings(answer['warnings'])],
    raw,
  };
}

/** One page of a target's deployments. */
export async function listDeployments(
  {targetSlug, ...range}: ListRange & {readonly targetSlug: string},
  context: LegacyContext,
): Promise<ListResult<DeploymentItem>> {
  const response = await fetchDeployments(targetSlug, range, context);
  return readPage(response, page, (row) => deploymentItem(row, targetSlug), pageQuery(range));
}

/**
 * Records a target's newest deployment before ours is requested, if we will wait for ours. Should that fail, the
 * deployment goes ahead with a warning and cannot be tracked.
 */
export async function noteBefore(
  targetSlug: string,
  context: LegacyContext,
): Promise<{readonly before: Before; readonly warnings: readonly string[]}> {
  if (!context.wait) return {before: {unknown: 'It was requested without waiting for it.'}, warnings: []};
  try {
    return {before: await newestDeployment(targetSlug, context), warnings: []};
  } catch (error) {
    context.signal.throwIfAborted();
    const reason = asSentence(error instanceof Error ? error.message : String(error));
    const unknown = `The earlier deployments could not be read. ${reason}`;
    return {before: {unknown}, warnings: [`The deployment cannot be tracked. ${unknown}`]};
  }
}

/** @throws RuntimeCliError when the answer leaves open which deployment is the newest. */
async function newestDeployment(targetSlug: string, context: LegacyContext): Promise<Before> {
  // The second one shows whether the list starts with the newest.
  const response = await fetchDeployments(targetSlug, {limit: 2}, context);
  const {items, total} = readPage(response, page, (row) => row);
  if (items.length === 0) {
    if (total === undefined || total === 0) return 'none';
    throw wrongAnswer(response, 'has a total above 0, but no items');
  }
  const [first] = items;
  if (first !== undefined && Number.isNaN(createdTime(first)))
    throw wrongAnswer(response, 'has an item without "created_at"');
  const isWhole = total === undefined ? items.length !== 2 : items.length >= total;
  if (!isWhole && !isNewestFirst(items)) throw wrongAnswer(response, 'does not list the newest deployment first');
  const createdAt = items
    .map((row) => asText(row['created_at']) ?? '')
    .reduce((a, b) => (Date.parse(b) > Date.parse(a) ? b : a));
  return {createdAt, count: total === undefined || total < items.length ? undefined : total};
}

/**
 * Finds the deployment that `deployment` identifies: the first one of its bundle after the recorded one, or if it was
 * read from a list, the one that was created at its time.
 */
export async function findDeployment(deployment: DeploymentRef, context: LegacyContext): Promise<DeploymentState> {
  const {bundleId, targetSlug} = deployment;
  const createdAt = asText(deployment['createdAt']);
  if (createdAt !== undefined) return findListed({bundleId, targetSlug, createdAt}, context);
  const before = parseBefore(deployment['before']);
  if (isUnknown(before)) {
    throw createError(
      'ERR_OUTCOME_UNKNOWN',
      `The state of the deployment of bundle ${String(bundleId)} is unknown. ${before.unknown}`,
      {suggestions: ["Check the target on the hosting service's website."]},
    );
  }
  const response = await fetchDeployments(String(targetSlug), {limit: rowsPerPoll}, context);
  const {items: rows, total, raw} = readPage(response, page, (row) => row);
  const count = isNewestFirst(rows) ? total : undefined;
  const ours = rows
    .filter((row, index) => isAfter(row, index, count, before))
    .sort((a, b) => createdTime(b) - createdTime(a))
    .findLast((row) => numericId(asRecord(row['bundle'])['id']) === bundleId);
  // Accepted, but not listed yet.
  if (!ours) return {status: 'queued', raw};
  return {status: statusOf(ours), raw: ours};
}

/** @throws RuntimeCliError `ERR_OUTCOME_UNKNOWN` when it is no longer among the newest. */
async function findListed(
  {bundleId, targetSlug, createdAt}: {bundleId: unknown; targetSlug: unknown; createdAt: string},
  context: LegacyContext,
): Promise<DeploymentState> {
  const response = await fetchDeployments(String(targetSlug), {limit: rowsPerPoll}, context);
  const {items: rows} = readPage(response, page, (row) => row);
  const listed = rows.find(
    (row) => numericId(asRecord(row['bundle'])['id']) === bundleId && asText(row['created_at']) === createdAt,
  );
  if (listed) return {status: statusOf(listed), raw: listed};
  throw createError(
    'ERR_OUTCOME_UNKNOWN',
    `The deployment of bundle ${String(bundleId)} from ${createdAt} is not among the last ${String(rowsPerPoll)}.`,
    {suggestions: ["Check the target on the hosting service's website."]},
  );
}

function isAfter(
  row: Answer,
  index: number,
  count: number | undefined,
  before: Exclude<Before, {unknown: string}>,
): boolean {
  if (before === 'none') return true;
  const created = createdTime(row);
  const limit = Date.parse(before.createdAt);
  if (created !== limit) return created > limit;
  // Times may only be precise to the second. Among equal ones, rows that were added on top are later.
  return count !== undefined && before.count !== undefined && index < count - before.count;
}

function isNewestFirst(rows: readonly Answer[]): boolean {
  const times = rows.map(createdTime);
  return times.every((time, index) => !(time > (times[index - 1] ?? Infinity)));
}

function createdTime(row: Answer): number {
  return Date.parse(asText(row['created_at']) ?? '');
}

function isUnknown(before: Before): before is {readonly unknown: string} {
  return typeof before === 'object' && 'unknown' in before;
}

/** Parses the reference of a deployment, which the caller returns as plain JSON. */
function parseBefore(value: unknown): Before {
  if (value === 'none') return value;
  const {createdAt, count, unknown} = asRecord(value);
  if (typeof createdAt === 'string' && !Number.isNaN(Date.parse(createdAt))) return {createdAt, count: asNumber(count)};
  return {unknown: asText(unknown) ?? 'The deployments before it were not recorded.'};
}

async function fetchDeployments(targetSlug: string, range: ListRange, context: LegacyContext) {
  const {http, url} = connect(context);
  const address = url('projects', context.projectSlug, 'target', targetSlug, 'deploy');
  return http.get(address, {searchParams: pageQuery(range)});
}

/** A row of the deployment list as a history item. It has no ID, and no member is guaranteed. */
function deploymentItem(row: Answer, targetSlug: string): DeploymentItem {
  const bundle = asRecord(row['bundle']);
  const bundleId = numericId(bundle['id']);
  const createdAt = asText(row['created_at']);
  const found =
    createdAt === undefined ? {before: {unknown: 'The list does not say when it was created.'}} : {createdAt};
  return {
    deployment: {bundleId, targetSlug, ...found},
    ...{bundleId, createdAt},
    status: listedStatus(row),
    message: asText(bundle['message']),
    createdBy: asText(row['user']),
  };
}

const statusWords = new Map<unknown, DeploymentStatus>([
  ['Queued', 'queued'],
  ['In Progress', 'in_progress'],
  ['Finished', 'finished'],
  ['Failed', 'failed'],
]);

/** @throws RuntimeCliError `ERR_RESPONSE_INVALID` for an unknown status. */
function statusOf(row: Answer): DeploymentStatus {
  const status = listedStatus(row);
  if (status !== 'unknown') return status;
  throw createError(
    'ERR_RESPONSE_INVALID',
    `The legacy backend returned an unknown deployment status: ${JSON.stringify(row['status'])}.`,
  );
}

/** The status of a deployment. The server may omit it at first. */
function listedStatus({status}: Answer): DeploymentItem['status'] {
  return statusWords.get(status ?? 'Queued') ?? 'unknown';
}
