import type {LogEntry} from '../../backends/contract.js';
import {createError, messageOf} from '../../errors/index.js';
import {asSentence} from '../../text/sentence.js';
import type {LineStyle, Output} from './output.js';

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'];

/** How much a level of an app counts, whatever it calls it: `WARNING` is `warn`. -1 for an unknown one. */
function weightOf(level = ''): number {
  const word = level.toLowerCase().replace('warning', 'warn').replace('critical', 'fatal');
  return levels.indexOf(word);
}

interface EntryRules {
  readonly sinceMs: number | undefined;
  readonly level: string | undefined;
  readonly grep: string | undefined;
  readonly request: string | undefined;
}

/** Whether to show an entry, by the service's clock in milliseconds. */
export function entryFilter({sinceMs, level, grep, request}: EntryRules): (entry: LogEntry, nowMs: number) => boolean {
  const expression = grep === undefined ? undefined : expressionOf(grep);
  const least = level === undefined ? undefined : weightOf(level);
  return ({message, time, level: own, requestId}, nowMs) =>
    (sinceMs === undefined || time === undefined || !(Date.parse(time) < nowMs - sinceMs)) &&
    (least === undefined || weightOf(own) >= least) &&
    (request === undefined || request === requestId) &&
    (expression?.test(message) ?? true);
}

function expressionOf(text: string): RegExp {
  try {
    return new RegExp(text, 'u');
  } catch (error) {
    throw createError('ERR_USAGE', asSentence(`--grep is not a regular expression: ${messageOf(error)}`), {
      suggestions: [String.raw`Put a backslash before literal characters: \. \[ \(`],
    });
  }
}

/** Prints an entry. Its other lines are indented, so that none looks like an entry, and keep their own indentation. */
export function renderEntry({time, level, requestId, message}: LogEntry, output: Output): void {
  const style = styleOf(weightOf(level));
  const [first = '', ...more] = message.replaceAll(/[\p{Cf}\p{Zl}\p{Zp}]/gu, '').split('\n');
  const head = [time, level?.toUpperCase().padEnd(5), requestId].filter(Boolean);
  output.result([...head, first.trimEnd()].join('  '), {style});
  for (const line of more) output.result(`  ${line.trimEnd()}`, {style});
}

function styleOf(weight: number): LineStyle | undefined {
  if (weight >= levels.indexOf('error')) return 'red';
  if (weight === levels.indexOf('warn')) return 'yellow';
  return weight !== -1 && weight <= levels.indexOf('debug') ? 'dim' : undefined;
}
