import type {LogEntry} from '../../backends/contract.js';
import {createError} from '../../errors/index.js';
import {messageOf} from '../../errors/system-failure.js';
import {asSentence, oneLine} from '../../text/sentence.js';
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
}

/**
 * Whether an entry is to be shown, at a time by the service's clock, in milliseconds.
 * @throws RuntimeCliError `ERR_USAGE` for an invalid expression
 */
export function entryFilter({sinceMs, level, grep}: EntryRules): (entry: LogEntry, nowMs: number) => boolean {
  const expression = grep === undefined ? undefined : expressionOf(grep);
  const least = level === undefined ? undefined : weightOf(level);
  return ({message, time, level: own}, nowMs) =>
    (sinceMs === undefined || time === undefined || !(Date.parse(time) < nowMs - sinceMs)) &&
    (least === undefined || weightOf(own) >= least) &&
    (expression?.test(message) ?? true);
}

function expressionOf(text: string): RegExp {
  try {
    return new RegExp(text, 'u');
  } catch (error) {
    throw createError('ERR_USAGE', asSentence(`--grep is not a regular expression: ${messageOf(error)}`), {
      suggestions: [String.raw`Put a backslash before characters that are meant as such: \. \[ \(`],
    });
  }
}

export function renderEntry({time, level, requestId, message}: LogEntry, output: Output): void {
  const line = [time, level?.toUpperCase().padEnd(5), requestId, oneLine(message)].filter(Boolean).join('  ');
  output.result(line, {style: styleOf(weightOf(level))});
}

function styleOf(weight: number): LineStyle | undefined {
  if (weight >= levels.indexOf('error')) return 'red';
  if (weight === levels.indexOf('warn')) return 'yellow';
  return weight !== -1 && weight <= levels.indexOf('debug') ? 'dim' : undefined;
}
