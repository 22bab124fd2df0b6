import {asRecord, textOrJson, tryJson} from '../../text/json.js';
import {legacy} from '../../wire/legacy.js';
import {readAnswer} from '../answers.js';
import type {LogEntry, TargetRequest} from '../contract.js';
import {connectLegacy, logsAddress, type LegacyContext} from './connection.js';

const {createLogToken} = legacy.operations;

/** Each connection has a token of its own. */
export async function* tailLogs({targetSlug}: TargetRequest, context: LegacyContext): AsyncGenerator<LogEntry> {
  const response = await connectLegacy(context)(createLogToken, {targetSlug});
  const {token, warnings} = readAnswer(response, createLogToken).answer;
  context.maskSecret(token);
  warnings?.forEach((warning) => context.logger.warn(warning));
  const url = logsAddress(context);
  const query = {project: context.projectSlug, environment: targetSlug, access_token: token};
  url.search = new URLSearchParams(query).toString();
  for await (const message of context.openSocket(url)) yield* entriesOf(message);
}

/** The entries of a message: a JSON array of `{message, timestamp}`. Anything else is one entry. */
function* entriesOf(text: string): Generator<LogEntry, void, undefined> {
  if (text.trim() === '') return;
  const json = tryJson(text);
  const rows: readonly unknown[] = Array.isArray(json) ? json : [text];
  for (const row of rows) {
    const {message = row, timestamp} = asRecord(row);
    const entry = entryOf(textOrJson(message));
    yield {...entry, time: isoTime(timestamp) ?? entry.time};
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
