import {setImmediate} from 'node:timers/promises';
import type {TailLogsOptions} from './options.js';
import {callBackend} from '../../backends/call.js';
import type {LogEntry} from '../../backends/contract.js';
import {backendMembers} from '../../backends/members.js';
import {isRuntimeCliError, type ErrorCode} from '../../errors/index.js';
import {invoke} from '../call-backend.js';
import {pause} from '../deploy/poll.js';
import {callBackSafely} from '../host.js';
import type {OpenBackend} from '../open-backend.js';
import {withoutEscapeSequences} from '../../text/escape-sequences.js';
import {oneLine} from '../../text/sentence.js';
import {explainMissing} from '../explain-missing.js';
import {explainMissingProject} from './find-targets.js';

/** How often in a row a connection may fail, and how long one lasts that counts as none of them, in milliseconds. */
const [maxFailures, provenMs] = [8, 5000];
const longestPauseMs = 30_000;

const transientCodes: ReadonlySet<string> = new Set<ErrorCode>([
  'ERR_NETWORK',
  'ERR_TIMEOUT',
  'ERR_SERVER',
  'ERR_MAINTENANCE',
]);

/** Follows the logs of a target, with a new connection whenever one ends. The first one must succeed. */
export async function* followLogs(
  open: OpenBackend,
  {targetSlug, onReconnect}: Pick<TailLogsOptions, 'targetSlug' | 'onReconnect'>,
): AsyncGenerator<LogEntry, void, undefined> {
  const {signal} = open;
  let isProven = false;
  for (let failures = 0; ;) {
    const began = performance.now();
    let reason = 'The connection was closed.';
    try {
      for await (const entry of entriesOf(open, targetSlug)) {
        [isProven, failures] = [true, 0];
        yield entry;
      }
      isProven = true;
    } catch (error) {
      if (performance.now() - began > provenMs) [isProven, failures] = [true, 0];
      if (!isProven)
        return explainMissing(open, {targetSlug, capability: 'tail-logs'})(error).catch(async (explained: unknown) => {
          throw await explainMissingProject(explained, open);
        });
      if (!isRuntimeCliError(error) || !transientCodes.has(error.code) || failures >= maxFailures) throw error;
      reason = error.message;
    }
    signal.throwIfAborted();
    failures += 1;
    callBackSafely(() => onReconnect?.(reason));
    await pause(Math.min(500 * 2 ** failures, longestPauseMs), signal);
  }
}

/** The entries of one connection. Whatever fails is an error of the catalogue. */
async function* entriesOf(open: OpenBackend, targetSlug: string): AsyncGenerator<LogEntry, void, undefined> {
  const {backend, signal, secrets} = open;
  const {doing} = backendMembers.tailLogs;
  const entries = (await invoke(open, 'tailLogs', {targetSlug}))[Symbol.asyncIterator]();
  try {
    for (let read = 1; ; read += 1) {
      const next = await callBackend(backend, doing, signal, () => entries.next(), secrets);
      if (next.done === true) return;
      yield cleaned(next.value);
      // Signals are heard although a message has millions of entries.
      if (read % 1000 === 0) await setImmediate();
    }
  } finally {
    await entries.return?.(undefined);
  }
}

/** What an app logs may control a terminal. Its line breaks and tabs stay. */
function cleaned({message, time, level, requestId}: LogEntry): LogEntry {
  const line = (text: string | undefined) => (text === undefined ? undefined : oneLine(text) || undefined);
  return {
    message: withoutEscapeSequences(message).replaceAll(/(?![\t\n])\p{Cc}/gu, ''),
    time: line(time),
    level: line(level),
    requestId: line(requestId),
  };
}
