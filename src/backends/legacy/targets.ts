import type * as v from 'valibot';
import {legacy} from '../../wire/legacy.js';
import type {targetSchemas} from '../../wire/targets.js';
import {
  checkNewTarget,
  fetchPage,
  listedVariable,
  readAcceptance,
  readAnswer,
  unlessLacking,
  variableChanges,
} from '../answers.js';
import type {
  CreateTargetRequest,
  CreateTargetResult,
  ListRange,
  ListResult,
  LogEntry,
  SetVariablesRequest,
  TargetItem,
  VariableItem,
} from '../contract.js';
import type {TargetState} from '../references.js';
import {connect, logsAddress, type LegacyContext} from './connection.js';
import {partsOf} from './deployments.js';

const {operations} = legacy;

type OfTarget = {readonly targetSlug: string};

export async function listTargets(range: ListRange, context: LegacyContext): Promise<ListResult<TargetItem>> {
  return fetchPage(connect(context), operations.listTargets, {}, range, partsOf, targetItem);
}

export async function createTarget(request: CreateTargetRequest, context: LegacyContext): Promise<CreateTargetResult> {
  const {targetSlug, name = targetSlug, copyFrom} = request;
  checkNewTarget({targetSlug, name});
  const send = connect(context);
  const asked =
    copyFrom === undefined
      ? send(operations.createTarget, {}, {json: {slug: targetSlug, name}})
      : send(operations.cloneTarget, {targetSlug}, {json: cloneOf(copyFrom)});
  const response = await unlessLacking(asked, 'legacy', 'create-target', copyFrom === undefined ? [404, 405] : [405]);
  const {answer, raw} = readAnswer(response, operations.createTarget);
  return {...targetItem(answer), raw};
}

function cloneOf(source: string) {
  return {from_target_slug: source, clone_environment_variables: true, clone_redirects: true};
}

export async function deleteTarget({targetSlug}: OfTarget, context: LegacyContext): Promise<void> {
  const request = connect(context)(operations.deleteTarget, {targetSlug});
  readAcceptance(await unlessLacking(request, 'legacy', 'delete-target'), ['slug']);
}

/** Some services answer with pages, some with all variables in one object. Nobody needs the values. */
export async function listVariables(
  {targetSlug, limit, cursor = '0'}: ListRange & OfTarget,
  context: LegacyContext,
): Promise<ListResult<VariableItem>> {
  const offset = Number(cursor);
  const request = connect(context)(operations.listVariables, {targetSlug}, {searchParams: {limit, offset}});
  const response = await unlessLacking(request, 'legacy', 'variables');
  const {answer} = readAnswer(response, operations.listVariables);
  const {rows, total = Infinity} = answer;
  const items = rows
    .flatMap((row) => Object.entries(row))
    .map(([name, {publishing_status_description: status, updated_at: updatedAt, updated_by: updatedBy}]) =>
      listedVariable(name, {status, updatedAt, updatedBy}),
    );
  const next = offset + rows.length;
  return {items, cursor: rows.length === 0 || next >= total ? undefined : String(next)};
}

export async function setVariables(
  {targetSlug, ...changes}: SetVariablesRequest,
  context: LegacyContext,
): Promise<void> {
  const request = connect(context)(operations.setVariables, {targetSlug}, {json: variableChanges(changes)});
  readAcceptance(await unlessLacking(request, 'legacy', 'set-variables'), []);
}

export async function invalidate(
  {targetSlug, pattern}: OfTarget & {readonly pattern: string},
  context: LegacyContext,
): Promise<void> {
  const request = connect(context)(operations.invalidate, {targetSlug}, {json: {pattern, items: null}});
  readAcceptance(await unlessLacking(request, 'legacy', 'invalidate'), ['result', 'slug']);
}

/** Each connection has a token of its own. */
export async function* tailLogs({targetSlug}: OfTarget, context: LegacyContext): AsyncIterable<LogEntry> {
  const request = connect(context)(operations.createLogToken, {targetSlug});
  const response = await unlessLacking(request, 'legacy', 'tail-logs');
  const {token} = readAnswer(response, operations.createLogToken).answer;
  context.maskSecret(token);
  const url = logsAddress(context);
  const query = {project: context.projectSlug, environment: targetSlug, access_token: token};
  url.search = new URLSearchParams(query).toString();
  for await (const message of context.openSocket(url)) yield* entriesOf(message);
}

/** The entries of a message: a JSON array of `{message}`. Anything else is one entry, and nothing is none. */
function entriesOf(text: string): readonly LogEntry[] {
  if (text.trim() === '') return [];
  const rows = parsedRows(text);
  return (rows ?? [text]).map((row) => entryOf(row));
}

function parsedRows(text: string): readonly string[] | undefined {
  try {
    const given: unknown = JSON.parse(text);
    if (!Array.isArray(given)) return undefined;
    return given.map((row: unknown) => {
      const message: unknown = typeof row === 'object' && row !== null ? Reflect.get(row, 'message') : row;
      return typeof message === 'string' ? message : JSON.stringify(message ?? row);
    });
  } catch {
    return undefined;
  }
}

const levels = 'TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL';
const dated = /^(\d{4}-\d\d-\d\dT[^\t]*)\t([^\t]*)\t([^\t]*)\t([\s\S]*)$/;
const levelled = new RegExp(`^(${levels})\\s+([\\s\\S]*)$`);

/** `TIME TAB REQUEST-ID TAB LEVEL TAB TEXT`, `LEVEL TEXT`, or any text. */
function entryOf(line: string): LogEntry {
  const [, time, requestId, level, message] = dated.exec(line) ?? [];
  if (message !== undefined)
    return {message: message.trimEnd(), time, level: level || undefined, requestId: requestId || undefined};
  const [, word, rest] = levelled.exec(line) ?? [];
  return rest === undefined ? {message: line.trimEnd()} : {message: rest.trimEnd(), level: word};
}

const states = new Map<unknown, TargetState>([
  ['ACTIVE', 'ready'],
  ['CREATE_IN_PROGRESS', 'creating'],
  ['PUBLISH_IN_PROGRESS', 'publishing'],
  ['CREATE_FAILED', 'failed'],
  ['PUBLISH_FAILED', 'failed'],
]);

/** Servers name the host that customers see first, then that of their own network; a URL says both. */
function targetItem(row: v.InferOutput<typeof targetSchemas.LegacyTarget>): TargetItem {
  const {slug, name, state, deletion_status: deletion = 'ACTIVE', is_production: production, url} = row;
  const host = row.ssr_external_hostname || row.cdn_domain_name || undefined;
  return {
    targetSlug: slug,
    name,
    state: deletion === 'ACTIVE' ? states.get(state) : 'deleting',
    production,
    url: url ?? (host === undefined ? undefined : `https://${host}`),
  };
}
