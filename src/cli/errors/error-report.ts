import {createError, exitCodes, isRuntimeCliError, type RuntimeCliError} from '../../errors/index.js';
import {withoutPlugin} from '../process/process-end.js';
import {isOclifError, isUsageError, usageError, type OclifError} from './oclif-errors.js';
import {asSentence} from '../../errors/sentence.js';

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

/**
 * The report of any error.
 * @param plugin the plugin that caused it, if known and if the command is not its own
 */
export function reportError(error: unknown, plugin?: string): ErrorReport {
  if (isRuntimeCliError(error)) return reportOwn(error);
  if (plugin !== undefined) return reportPlugin(error, plugin);
  // Our own commands convert these themselves; this one was thrown before any command, or by a plugin's.
  if (isUsageError(error)) return reportOwn(usageError(error));
  if (isOclifError(error)) return reportOclif(error);
  return reportOwn(unexpectedError(error));
}

/** The error for a bug in mycli. */
export function unexpectedError(error: unknown): RuntimeCliError {
  return createError('ERR_UNEXPECTED', asSentence(`mycli failed unexpectedly: ${messageOf(error)}`), {
    suggestions: ['This is a bug. Please report it with the output of the same command with --debug.'],
    cause: error,
  });
}

function reportPlugin(error: unknown, plugin: string): ErrorReport {
  const suggestions = [withoutPlugin(plugin)];
  if (isOclifError(error)) {
    const message = asSentence(`Plugin ${plugin} ended the command: ${error.message}`);
    return {...reportOclif(error), message, suggestions};
  }
  const message = asSentence(`Plugin ${plugin} failed unexpectedly: ${messageOf(error)}`);
  return reportOwn(createError('ERR_UNEXPECTED', message, {suggestions}));
}

function reportOwn(error: RuntimeCliError): ErrorReport {
  const {code, message, exitCode, status, suggestions, details, method, path, requestId} = error;
  const request = Object.entries({method, path, requestId}).filter(([, value]) => value !== undefined);
  const allDetails = {...details, ...Object.fromEntries(request)};
  return {
    code,
    message,
    exitCode,
    ...(status === undefined ? {} : {status}),
    suggestions,
    ...(Object.keys(allDetails).length === 0 ? {} : {details: allDetails}),
  };
}

function reportOclif(error: OclifError): ErrorReport {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : 'ERR_UNEXPECTED';
  return {code, message: error.message, exitCode: error.oclif.exit ?? exitCodes.unexpected, suggestions: []};
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
