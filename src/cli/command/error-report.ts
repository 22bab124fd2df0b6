import {createError, exitCodes, isRuntimeCliError, type RuntimeCliError} from '../../errors/index.js';
import {withoutPlugin} from './ending.js';
import {PluginFailure} from './host-config.js';
import {isOclifError, isUsageError, usageError, type OclifError} from './oclif-errors.js';
import {asSentence} from '../../errors/sentence.js';
import {suggestionText, type Suggestion} from '../../errors/suggestion.js';
import {messageOf} from '../../errors/system-failure.js';

/** An error report. */
export interface ErrorReport {
  /** Stable code to branch on, listed in the error reference. Commands of plugins can have their own. */
  readonly code: string;
  /** One sentence that says what happened, for users. */
  readonly message: string;
  /** Exit code of the process. */
  readonly exitCode: number;
  /** HTTP status. */
  readonly status?: number | undefined;
  /** Ways to fix it: a sentence or a command each. */
  readonly suggestions: readonly string[];
  /** Details that depend on the code. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}

/** An error before its suggestions are spelled. */
export interface Failure extends Omit<ErrorReport, 'suggestions'> {
  readonly advice: readonly Suggestion[];
}

/** The report of a failure, for programs. */
export function reportOf({code, message, exitCode, status, advice, details}: Failure): ErrorReport {
  return {code, message, exitCode, status, suggestions: advice.map(suggestionText), details};
}

/**
 * What an error of any kind says.
 * @param run `foreign`: whether a plugin's command was running, whose errors are meant for users. @default false
 */
export function failureOf(error: unknown, {foreign = false} = {}): Failure {
  if (isRuntimeCliError(error)) return reportOwn(error);
  if (error instanceof PluginFailure) return reportPlugin(error);
  // Our own commands convert these themselves; this one was thrown before any command, or by a plugin's.
  if (isUsageError(error)) return reportOwn(usageError(error));
  if (isOclifError(error)) return reportOclif(error);
  if (foreign) return {...reportOwn(unexpectedError(error)), message: messageOf(error), advice: []};
  return reportOwn(unexpectedError(error));
}

/** The error for a bug in mycli. */
export function unexpectedError(error: unknown): RuntimeCliError {
  return createError('ERR_UNEXPECTED', asSentence(`mycli failed unexpectedly: ${messageOf(error)}`), {
    suggestions: ['This is a bug. Please report it with the output of the same command with --debug.'],
    cause: error,
  });
}

function reportPlugin({plugin, cause}: PluginFailure): Failure {
  const report = failureOf(cause);
  const message = asSentence(`Plugin ${plugin} ended the command: ${report.message}`);
  return {...report, message, advice: [withoutPlugin(plugin)]};
}

function reportOwn(error: RuntimeCliError): Failure {
  const {code, message, exitCode, status, advice, details, method, path, requestId} = error;
  const known = Object.entries({...details, method, path, requestId}).filter(([, value]) => value !== undefined);
  return {code, message, exitCode, status, advice, details: known.length > 0 ? Object.fromEntries(known) : undefined};
}

function reportOclif(error: OclifError): Failure {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : 'ERR_UNEXPECTED';
  return {code, message: error.message, exitCode: error.oclif.exit ?? exitCodes.unexpected, advice: []};
}
