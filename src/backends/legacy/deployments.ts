import * as v from 'valibot';
import {asRecord} from '../../text/json.js';
import {createError} from '../../errors/index.js';
import {asSentence} from '../../text/sentence.js';
import {messageOf} from '../../errors/system-failure.js';
import {legacy, legacySchemas} from '../../wire/legacy.js';
import {
  asText,
  deploymentStatus,
  failsEveryRequest,
  fetchPage,
  fromTarget,
  listedStatus,
  readAcceptance,
} from '../answers.js';
import type {
  DeployRequest,
  DeployResult,
  DeploymentItem,
  DeploymentRef,
  DeploymentState,
  ListRange,
  ListResult,
  TargetRange,
} from '../contract.js';
import {isUnderWay} from '../members.js';
import {connectLegacy, type LegacyContext} from './connection.js';

const {LegacyDeployAccepted, LegacyDeployment} = legacySchemas;
type Row = v.InferOutput<typeof LegacyDeployment>;

/**
 * The newest deployment before ours. This protocol has no deployment IDs, so ours is a later one with our bundle.
 * `none`: there was no earlier one. `unknown`: why that is not known; no deployment is taken for ours then.
 */
type Before = {readonly createdAt: string; readonly count?: number | undefined} | 'none' | {readonly unknown: string};

/** What there was before a deployment is requested. */
export interface Noted {
  readonly before: Before;
  /** The newest deployment, if it is under way: the service will refuse ours. */
  readonly underWay?: DeploymentItem | undefined;
  readonly warnings: readonly string[];
}

const rowsPerPoll = 100;

/** @param request `noted`: from before the upload of its bundle, which nobody can have deployed since */
export async function deploy(
  {bundleId, targetSlug, noted}: DeployRequest & {readonly noted?: Noted | undefined},
  context: LegacyContext,
): Promise<DeployResult> {
  const send = connectLegacy(context);
  const {before, warnings} = noted ?? (await noteBefore(targetSlug, context));
  const request = send(legacy.operations.deploy, {targetSlug}, {json: {bundle_id: bundleId}});
  const raw = readAcceptance(await fromTarget(request));
  const {status, warnings: more = []} = v.parse(LegacyDeployAccepted, raw ?? {});
  const listed = listedStatus(status);
  return {
    deployment: {bundleId, targetSlug, before},
    status: listed === 'unknown' ? 'queued' : listed,
    warnings: [...warnings, ...more],
    raw,
  };
}

export async function listLegacyDeployments(
  {targetSlug, ...range}: TargetRange,
  context: LegacyContext,
): Promise<ListResult<DeploymentItem>> {
  return fetchRows(targetSlug, range, context, (row) => deploymentItem(row, targetSlug));
}

/** Maximum time to read what only waiting needs, in milliseconds. */
const noteMs = 10_000;

/** Notes a target's newest deployment before ours is requested. Unless every request fails, ours goes ahead. */
export async function noteBefore(targetSlug: string, context: LegacyContext): Promise<Noted> {
  if (!context.wait) return {before: {unknown: 'It was requested without waiting for it.'}, warnings: []};
  const late = AbortSignal.timeout(noteMs);
  const http = context.http.extend({signal: AbortSignal.any([context.signal, late])});
  try {
    return {...(await newestDeployment(targetSlug, {...context, http})), warnings: []};
  } catch (error) {
    context.signal.throwIfAborted();
    if (failsEveryRequest(error)) throw error;
    const reason = late.aborted
      ? `There was no answer within ${String(noteMs / 1000)} s.`
      : asSentence(messageOf(error));
    const unknown = `The earlier deployments could not be read. ${reason}`;
    return {before: {unknown}, warnings: [`The deployment cannot be tracked. ${unknown}`]};
  }
}

/** @throws Error when the answer leaves open which deployment is the newest. */
async function newestDeployment(targetSlug: string, context: LegacyContext): Promise<Omit<Noted, 'warnings'>> {
  // The second one shows whether the list starts with the newest.
  const {items, total} = await fetchRows(targetSlug, {limit: 2}, context, (row) => row);
  const [first, second] = items;
  if (first === undefined && !total) return {before: 'none'};
  const createdAt = first?.created_at ?? '';
  if (Number.isNaN(Date.parse(createdAt)) || (second && createdTime(second) > Date.parse(createdAt))) {
    throw new Error('The list does not start with the newest deployment.');
  }
  const item = first && deploymentItem(first, targetSlug);
  return {before: {createdAt, count: total}, underWay: item && isUnderWay(item.status) ? item : undefined};
}

/** Finds a deployment: the first of its bundle after the noted one, or one from a list by its time. */
export async function getDeployment(deployment: DeploymentRef, context: LegacyContext): Promise<DeploymentState> {
  const {bundleId, targetSlug} = deployment;
  const createdAt = asText(deployment['createdAt']);
  const before = parseBefore(deployment['before']);
  if (createdAt === undefined && isUnknown(before)) {
    throw outcomeUnknown(`The state of the deployment of bundle ${String(bundleId)} is unknown. ${before.unknown}`);
  }
  const {items, total, raw} = await fetchRows(String(targetSlug), {limit: rowsPerPoll}, context, (row) => row);
  // The list begins with the newest.
  const ours = items.findLastIndex((row, index) => {
    if (row.bundle?.id !== bundleId) return false;
    return createdAt === undefined ? isAfter(row, index, total, before) : row.created_at === createdAt;
  });
  const row = items[ours];
  if (row) return {status: deploymentStatus('legacy', row.status), raw: [raw['results']].flat()[ours]};
  // Accepted, but not listed yet.
  if (createdAt === undefined) return {status: 'queued', raw};
  throw outcomeUnknown(
    `The deployment of bundle ${String(bundleId)} from ${createdAt} is not among the last ${String(rowsPerPoll)}.`,
  );
}

function outcomeUnknown(message: string): Error {
  return createError('ERR_OUTCOME_UNKNOWN', message, {
    suggestions: ["Check the target on the hosting service's website."],
  });
}

function isAfter(row: Row, index: number, count: number | undefined, before: Before): boolean {
  if (before === 'none') return true;
  if (isUnknown(before)) return false;
  const [created, limit] = [createdTime(row), Date.parse(before.createdAt)];
  if (created !== limit) return created > limit;
  // Times may only be precise to the second. Among equal ones, rows that were added on top are later.
  return count !== undefined && before.count !== undefined && index < count - before.count;
}

function createdTime(row: Row): number {
  return Date.parse(row.created_at ?? '');
}

function isUnknown(before: Before): before is {readonly unknown: string} {
  return typeof before === 'object' && 'unknown' in before;
}

/** Parses the reference of a deployment, which the caller returns as plain JSON. */
function parseBefore(value: unknown): Before {
  if (value === 'none') return value;
  const {createdAt, count, unknown} = asRecord(value);
  if (typeof createdAt === 'string' && !Number.isNaN(Date.parse(createdAt)))
    return {createdAt, count: typeof count === 'number' ? count : undefined};
  return {unknown: asText(unknown) ?? 'The deployments before it were not recorded.'};
}

function fetchRows<Item>(targetSlug: string, range: ListRange, context: LegacyContext, toItem: (row: Row) => Item) {
  return fetchPage(connectLegacy(context), legacy.operations.listDeployments, {targetSlug}, range, toItem);
}

/** A row of the deployment list as a history item. It has no ID, and no member is guaranteed. */
function deploymentItem({bundle, created_at: createdAt, status, user}: Row, targetSlug: string): DeploymentItem {
  const bundleId = bundle?.id;
  const identity =
    createdAt === undefined ? {before: {unknown: 'The list does not say when it was created.'}} : {createdAt};
  return {
    deployment: {bundleId, targetSlug, ...identity},
    bundleId,
    createdAt,
    // It may have ended long ago, so that the target runs its bundle.
    status: status === undefined ? 'unknown' : listedStatus(status),
    message: bundle?.message,
    createdBy: user,
  };
}
