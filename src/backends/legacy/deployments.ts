import {createError, isRuntimeCliError} from '../../errors/index.js';
import {readJson} from '../../http/index.js';
import {asNumber, asRecord, asRecords, asText, type Answer} from '../answers.js';
import type {DeploymentItem, DeploymentRef, DeploymentState, DeploymentStatus, ListRange} from '../contract.js';
import {connect, type LegacyContext} from './connection.js';

/**
 * The newest deployment before ours, for this protocol has no deployment ids: ours is a later one with our bundle.
 * `none`: there was none. `unknown`: the server does not show deployments to these credentials.
 */
type Before = {readonly createdAt: string; readonly count: number} | 'none' | 'unknown';

const rowsPerPoll = 100;

/** One page of a target's deployments, as the server answers it. */
export async function listDeployments(targetSlug: string, range: ListRange, context: LegacyContext): Promise<unknown> {
  const {http, url} = connect(context);
  const address = url('projects', context.projectSlug, 'target', targetSlug, 'deploy');
  return readJson(await http.get(address, {searchParams: {...range}}));
}

/** Notes the newest deployment of a target, before ours is asked for. */
export async function newestDeployment(targetSlug: string, context: LegacyContext): Promise<Before> {
  try {
    const answer = asRecord(await listDeployments(targetSlug, {limit: 1, offset: 0}, context));
    const createdAt = asText(asRecords(answer['results'])[0]?.['created_at']);
    return createdAt === undefined ? 'none' : {createdAt, count: asNumber(answer['count']) ?? 0};
  } catch (error) {
    if (!isRuntimeCliError(error)) throw error;
    if (error.status === 404) return 'none';
    if (error.status === 403) return 'unknown';
    throw error;
  }
}

/** Looks for the deployment that `deployment` names: the first one of its bundle after those that were there before. */
export async function findDeployment(deployment: DeploymentRef, context: LegacyContext): Promise<DeploymentState> {
  const {bundleId, targetSlug} = deployment;
  const before = parseBefore(deployment['before']);
  if (before === 'unknown') {
    throw createError(
      'ERR_OUTCOME_UNKNOWN',
      `the state of the deployment of bundle ${String(bundleId)} cannot be read: the API key may not list deployments`,
      {
        suggestions: ['Look at the target on the web page of the hosting service.'],
      },
    );
  }
  const raw = await listDeployments(String(targetSlug), {limit: rowsPerPoll, offset: 0}, context);
  const answer = asRecord(raw);
  const count = asNumber(answer['count']) ?? 0;
  const ours = asRecords(answer['results'])
    .filter((row, index) => isAfter(row, index, count, before))
    .findLast((row) => asRecord(row['bundle'])['id'] === bundleId);
  // Accepted, and not in the list yet.
  if (!ours) return {status: 'queued', raw};
  return {status: statusOf(ours), raw: ours};
}

function isAfter(row: Answer, index: number, count: number, before: Exclude<Before, 'unknown'>): boolean {
  if (before === 'none') return true;
  const created = Date.parse(asText(row['created_at']) ?? '');
  const limit = Date.parse(before.createdAt);
  // Times may be no finer than a second: of those with the same one, the rows that came on top are later.
  return created > limit || (created === limit && index < count - before.count);
}

function parseBefore(value: unknown): Before {
  const {createdAt, count} = asRecord(value);
  if (typeof createdAt === 'string' && typeof count === 'number') return {createdAt, count};
  return value === 'none' ? 'none' : 'unknown';
}

/** A row of the deployments as an item of the history. */
export function deploymentItem(row: Answer, targetSlug: string): readonly DeploymentItem[] {
  const bundle = asRecord(row['bundle']);
  const bundleId = asNumber(bundle['id']);
  if (bundleId === undefined) return [];
  return [
    {
      deployment: {bundleId, targetSlug, before: 'unknown'},
      bundleId,
      status: statusOf(row),
      message: asText(bundle['message']),
      createdAt: asText(row['created_at']),
      createdBy: asText(row['user']),
    },
  ];
}

function statusOf(row: Answer): DeploymentStatus {
  switch (row['status']) {
    case 'Queued':
      return 'queued';
    case 'In Progress':
      return 'in_progress';
    case 'Finished':
      return 'finished';
    case 'Failed':
      return 'failed';
    default:
      throw createError(
        'ERR_RESPONSE_INVALID',
        `the legacy backend answered an unknown deployment status: ${JSON.stringify(row['status'])}`,
      );
  }
}
