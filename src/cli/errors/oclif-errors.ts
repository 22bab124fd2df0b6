import {stripVTControlCharacters} from 'node:util';
import {createError, nearest, type RuntimeCliError} from '../../errors/index.js';
import {isRecord} from '../../errors/json.js';

const usageExitCode = 2;

/** An error that oclif made: it says which exit code it wants. */
export interface OclifError extends Error {
  readonly oclif: {readonly exit?: number | undefined};
}

/** The exit code of a request to exit (`this.exit()`, help); none for anything else. */
export function requestedExitCode(error: unknown): number | undefined {
  return isOclifError(error) && 'code' in error && error.code === 'EEXIT' ? (error.oclif.exit ?? 0) : undefined;
}

/** Whether an error is oclif's, of whichever copy of it: by shape. */
export function isOclifError(error: unknown): error is OclifError {
  return error instanceof Error && 'oclif' in error && isRecord(error.oclif);
}

/** Whether oclif complains about the command line. It gives the same exit code to everything that names none. */
export function isUsageError(error: unknown): error is OclifError {
  return (
    isOclifError(error) &&
    requestedExitCode(error) === undefined &&
    (error.oclif.exit ?? usageExitCode) === usageExitCode
  );
}

/**
 * Turns oclif's complaint about the command line into an error of ours: one sentence, and what to type. Its own carries
 * the whole configuration and all arguments.
 * @param command id of the command that was called, when there is one.
 */
export function usageError(error: OclifError, command?: string): RuntimeCliError {
  const help = command === undefined ? 'mycli --help' : `mycli ${command} --help`;
  const {message, suggestions} = describe(error);
  return createError('ERR_USAGE', message, {suggestions: [...suggestions, `Run ${help} for usage.`]});
}

function describe(error: OclifError): {readonly message: string; readonly suggestions: readonly string[]} {
  const unknown = stringsOf(error, 'flags');
  if (unknown.length > 0) return describeUnknownFlags(unknown, knownFlags(error));
  // What was typed is not repeated: it may be a secret.
  if (stringsOf(error, 'args').length > 0) return {message: 'Too many arguments.', suggestions: []};
  const missing = 'args' in error && Array.isArray(error.args) ? error.args.filter(isRecord) : [];
  if (missing.length > 0) {
    const names = missing.map(({name}) => String(name).toUpperCase()).join(', ');
    return {message: `Missing argument: ${names}`, suggestions: []};
  }
  return {message: sentence(error.message), suggestions: []};
}

function describeUnknownFlags(unknown: readonly string[], known: readonly string[]) {
  // What stands after `=` may be a secret.
  const names = unknown.map((flag) => flag.replace(/=.*$/s, ''));
  const suggestions = names.flatMap((name) => {
    const meant = nearest(name.replace(/^-+/, ''), known);
    return meant === undefined ? [] : [`Did you mean --${meant}?`];
  });
  return {message: `Unknown flag${names.length > 1 ? 's' : ''}: ${names.join(', ')}`, suggestions};
}

function knownFlags(error: OclifError): readonly string[] {
  const parse: unknown = 'parse' in error ? error.parse : undefined;
  const input: unknown = isRecord(parse) ? parse['input'] : undefined;
  const flags: unknown = isRecord(input) ? input['flags'] : undefined;
  return isRecord(flags) ? Object.keys(flags) : [];
}

function stringsOf(error: OclifError, key: 'args' | 'flags'): readonly string[] {
  const value: unknown = key in error ? Reflect.get(error, key) : undefined;
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

function sentence(message: string): string {
  const lines = stripVTControlCharacters(message)
    .replace('See more help with --help', '')
    .replace(/^Parsing (--[\w-]+)\s+/, '$1: ')
    .replace(/^The following errors? occurred:/, '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const text = lines.join('; ');
  return /[.?!]$/.test(text) ? text : `${text}.`;
}

/** What was looked for in vain. */
interface MissingCommand {
  /** As it was typed. */
  readonly typed: string;
  /** What it may have been meant as, when that is not as it was typed. */
  readonly id?: string | undefined;
  /** Commands, and what else may have been meant. */
  readonly known: readonly string[];
  /** The sentence that says where to find what there is. */
  readonly see: string;
}

/**
 * The error for a command that there is not, with the nearest one. oclif passes it on from hooks, whatever hooks of
 * plugins come to: only errors that say how to exit are.
 */
export function noSuchCommand({typed, id = typed, known, see}: MissingCommand): RuntimeCliError {
  const near = nearest(id, known);
  // In the form that was typed.
  const meant = typed.includes(' ') && !typed.includes(':') ? near?.replaceAll(':', ' ') : near;
  const error = createError('ERR_COMMAND_NOT_FOUND', `Unknown command: ${typed === '' ? '""' : typed}`, {
    suggestions: [...(meant === undefined ? [] : [`Did you mean mycli ${meant}?`]), see],
  });
  return Object.assign(error, {oclif: {exit: error.exitCode}});
}
