import type * as v from 'valibot';
import {asRecord, tryJson} from '../../text/json.js';
import {legacy, type legacySchemas} from '../../wire/legacy.js';
import {fetchPage, listedVariable, readAcceptance, readAnswer, variablesBody} from '../answers.js';
import type {HostBackend} from '../host-backend.js';
import {configurationMembers, settingsBody} from '../configuration-members.js';
import type {LogEntry, TargetItem, TargetState} from '../contract.js';
import {connectLegacy, logsAddress, type LegacyBackendOptions, type LegacyContext} from './connection.js';

const {operations} = legacy;

/** What a clone copies. The service leaves out proxies and the production flag. */
const copied = {clone_environment_variables: true, clone_redirects: true, clone_b2c_target_info: true};

/** What the backend can do with targets, besides deploying to them. */
export const targetMembers = {
  async listTargets(range, context: LegacyContext) {
    return fetchPage(connectLegacy(context), operations.listTargets, {}, range, targetItem);
  },

  async createTarget({targetSlug, name = targetSlug, copyFrom, settings}, context: LegacyContext) {
    const send = connectLegacy(context);
    const copy = {from_target_slug: copyFrom, ...copied};
    const response =
      copyFrom === undefined
        ? await send(operations.createTarget, {}, {json: {...settingsBody('legacy', settings), slug: targetSlug, name}})
        : await send(operations.cloneTarget, {targetSlug}, {json: copy});
    const {answer, raw} = readAnswer(response, operations.createTarget);
    return {...targetItem(answer), raw};
  },

  async deleteTarget({targetSlug}, context: LegacyContext) {
    readAcceptance(await connectLegacy(context)(operations.deleteTarget, {targetSlug}));
  },

  /** Some services answer with pages, some with all variables in one object. Nobody needs the values. */
  async listVariables({targetSlug, ...range}, context: LegacyContext) {
    const page = await fetchPage(connectLegacy(context), operations.listVariables, {targetSlug}, range, (row) => row);
    const items = page.items
      .flatMap((row) => Object.entries(row))
      .map(([name, {publishing_status_description: status, updated_at: updatedAt, updated_by: updatedBy}]) =>
        listedVariable(name, {status, updatedAt, updatedBy}),
      );
    return {items, cursor: page.cursor};
  },

  async listProjects(range, context: LegacyContext) {
    return fetchPage(connectLegacy(context), operations.listProjects, {}, range, ({slug: projectSlug, name}) => ({
      projectSlug,
      name,
    }));
  },

  ...configurationMembers('legacy', operations, connectLegacy, (targetSlug) => ({targetSlug})),

  async setVariables({targetSlug, ...changes}, context: LegacyContext) {
    const json = variablesBody(changes);
    readAcceptance(await connectLegacy(context)(operations.setVariables, {targetSlug}, {json}));
  },

  async invalidate({targetSlug, pattern}, context: LegacyContext) {
    readAcceptance(await connectLegacy(context)(operations.invalidate, {targetSlug}, {json: {pattern, items: null}}));
  },

  /** Each connection has a token of its own. */
  async *tailLogs({targetSlug}, context: LegacyContext) {
    const response = await connectLegacy(context)(operations.createLogToken, {targetSlug});
    const {token} = readAnswer(response, operations.createLogToken).answer;
    context.maskSecret(token);
    const url = logsAddress(context);
    const query = {project: context.projectSlug, environment: targetSlug, access_token: token};
    url.search = new URLSearchParams(query).toString();
    for await (const message of context.openSocket(url)) yield* entriesOf(message);
  },
} satisfies Partial<HostBackend<LegacyBackendOptions>>;

/** The entries of a message: a JSON array of `{message, timestamp}`. Anything else is one entry, and nothing is none. */
function* entriesOf(text: string): Generator<LogEntry, void, undefined> {
  if (text.trim() === '') return;
  const json = tryJson(text);
  const rows: readonly unknown[] = Array.isArray(json) ? json : [text];
  for (const row of rows) {
    const {message = row, timestamp} = asRecord(row);
    const entry = entryOf(typeof message === 'string' ? message : JSON.stringify(message));
    yield {...entry, time: entry.time ?? isoTime(timestamp)};
  }
}

/** A time in milliseconds or as text; undefined if it is none. */
function isoTime(time: unknown): string | undefined {
  const date = new Date(typeof time === 'number' || typeof time === 'string' ? time : NaN);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
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
function targetItem(row: v.InferOutput<typeof legacySchemas.LegacyTarget>): TargetItem {
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
