import {stripVTControlCharacters} from 'node:util';
import {createError, nearest, type RuntimeCliError} from '../../errors/index.js';
import {isRecord} from '../../errors/json.js';
import type {Suggestion} from '../../errors/suggestion.js';

const usageExitCode = 2;

/** An error of oclif, with an exit code. */
export interface OclifError extends Error {
  readonly oclif: {readonly exit?: number | undefined};
}

/** The exit code of a request to exit (`this.exit()`, help); undefined for other errors. */
export function requestedExitCode(error: unknown): number | undefined {
  return isOclifError(error) && 'code' in error && error.code === 'EEXIT' ? (error.oclif.exit ?? 0) : undefined;
}

/** Whether an error is oclif's, or another copy's: by shape. */
export function isOclifError(error: unknown): error is OclifError {
  return error instanceof Error && 'oclif' in error && isRecord(error.oclif);
}

/** Whether oclif rejects the command line. It uses the same exit code for errors that specify none. */
export function isUsageError(error: unknown): error is OclifError {
  return (
    isOclifError(error) &&
    requestedExitCode(error) === undefined &&
    (error.oclif.exit ?? usageExitCode) === usageExitCode
  );
}

/**
 * Converts oclif's error about the command line to ours: one sentence, and what to type. Its own holds the whole
 * configuration and all arguments.
 * @param command ID of the command, if known.
 */
export function usageError(error: OclifError, command?: string): RuntimeCliError {
  const {message, suggestions} = describe(error, command);
  return createError('ERR_USAGE', message, {
    suggestions: [
      ...suggestions,
      ['Run ', {run: command === undefined ? ['--help'] : [command, '--help']}, ' for usage.'],
    ],
  });
}

function describe(
  error: OclifError,
  command: string | undefined,
): {readonly message: string; readonly suggestions: readonly Suggestion[]} {
  const flags = knownFlags(error);
  const unknown = stringsOf(error, 'flags');
  if (unknown.length > 0) return describeUnknownFlags(unknown, Object.keys(flags), command);
  const [extra] = stringsOf(error, 'args');
  if (extra !== undefined) return describeExtra(extra, flags, givenWords(error));
  const missing = 'args' in error && Array.isArray(error.args) ? error.args.filter(isRecord) : [];
  if (missing.length > 0) {
    const names = missing.map(({name}) => String(name).toUpperCase()).join(', ');
    const meanings = missing.flatMap(({description}) => (typeof description === 'string' ? [description] : []));
    const lists: readonly Suggestion[] = missing.some(({name}) => name === 'bundle')
      ? [['Run ', {run: ['bundle:list']}, ' to list the bundles.']]
      : [];
    return {message: `Missing argument: ${names}`, suggestions: [...meanings, ...lists]};
  }
  const required = [...stripVTControlCharacters(error.message).matchAll(/Missing required flag ([\w-]+)/g)];
  if (required.length > 0) {
    const names = required.map(([, name = '']) => `--${name}`);
    const pass = required.map(([, name = '']) => `Pass --${name} ${flags[name]?.helpValue ?? 'VALUE'}.`);
    return {message: `Missing flag${names.length > 1 ? 's' : ''}: ${names.join(', ')}`, suggestions: pass};
  }
  return {message: sentence(error.message), suggestions: []};
}

/** Words like `my-shop`. Anything else is not repeated, because it may be a secret. */
const plainWord = /^[a-z]{2,12}(?:-[a-z]{2,12}){0,3}$/;

/** Users forget the flags of what commands have no argument for: the project and the target. */
function describeExtra(extra: string, flags: KnownFlags, words: readonly string[]) {
  if (!plainWord.test(extra)) return {message: 'Too many arguments.', suggestions: []};
  const missing = ['project', 'target'].filter((name) => {
    const char = flags[name]?.char;
    return name in flags && !words.some((word) => word === `-${String(char)}` || word.startsWith(`--${name}`));
  });
  const suggestions =
    missing.length === 0
      ? []
      : [`If it is the ${missing.join(' or the ')}, pass ${missing.map((name) => `--${name} ${extra}`).join(' or ')}.`];
  return {message: `Unexpected argument: ${extra}`, suggestions};
}

function describeUnknownFlags(unknown: readonly string[], known: readonly string[], command: string | undefined) {
  // What follows `=` may be a secret.
  const names = unknown.map((flag) => flag.replace(/=.*$/s, ''));
  const suggestions = names.flatMap((name): readonly Suggestion[] => {
    if (command === 'auth:login' && /^--(?:api-key|client-secret|api-token)$/.test(name)) {
      return [['A login reads the secret from a prompt, or from stdin: ', {run: ['auth:login']}, ' < key.txt']];
    }
    const usual = elsewhere[name.replace(/^-+/, '')];
    if (usual !== undefined && known.includes(usual.flag)) return [usual.advice];
    if (name === '--yes' && !known.includes('yes')) return ['Leave it out: this command asks for no confirmation.'];
    const meant = meantFlag(name.replace(/^-+/, ''), known);
    return meant === undefined ? [] : [`Did you mean --${meant}?`];
  });
  return {message: `Unknown flag${names.length > 1 ? 's' : ''}: ${names.join(', ')}`, suggestions};
}

/** What flags of other command lines are called here. */
const elsewhere: Readonly<Record<string, {readonly flag: string; readonly advice: string}>> = {
  prod: {flag: 'target', advice: 'Name the target instead: --target production'},
  production: {flag: 'target', advice: 'Name the target instead: --target production'},
  to: {flag: 'target', advice: 'Did you mean --target?'},
  env: {flag: 'target', advice: 'Did you mean --target?'},
  dir: {flag: 'build-directory', advice: 'Did you mean --build-directory?'},
  verbose: {flag: 'debug', advice: 'Did you mean --debug?'},
};

/** What an unknown flag may stand for: `q` for `quiet`, `data-dir` for `data`, `projekt` for `project`. */
function meantFlag(name: string, known: readonly string[]): string | undefined {
  if (name.length === 1) return known.find((flag) => flag.startsWith(name));
  return nearest(name, known) ?? known.find((flag) => name.startsWith(`${flag}-`));
}

type KnownFlags = Readonly<Record<string, {readonly char?: string; readonly helpValue?: string} | undefined>>;

function parseInput(error: OclifError): Readonly<Record<string, unknown>> {
  const parse: unknown = 'parse' in error ? error.parse : undefined;
  const input: unknown = isRecord(parse) ? parse['input'] : undefined;
  return isRecord(input) ? input : {};
}

function knownFlags(error: OclifError): KnownFlags {
  const {flags} = parseInput(error);
  return isRecord(flags) ? (flags as KnownFlags) : {};
}

function givenWords(error: OclifError): readonly string[] {
  const {argv} = parseInput(error);
  return Array.isArray(argv) ? argv.map(String) : [];
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
    .replace(/(--[\w-]+)(?:=\S*)? cannot also be provided when using (--[\w-]+)/g, '$2 cannot be used with $1')
    .replace(/All of the following must be provided when using (--[\w-]+): /g, '$1 requires ')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const text = lines.join('; ');
  return /[.?!]$/.test(text) ? text : `${text}.`;
}

/** What was not found. */
interface MissingCommand {
  /** As it was typed. */
  readonly typed: string;
  /** What to compare with the known commands, if not `typed`. */
  readonly id?: string | undefined;
  /** Commands, and other candidates. */
  readonly known: readonly string[];
  /** The sentence that says where to find what is available. */
  readonly see: string;
}

/**
 * The error for an unknown command, with the closest known one. It has an exit code for oclif, which only then passes
 * it on from hooks, whatever plugins' hooks do.
 */
export function noSuchCommand({typed, id = typed, known, see}: MissingCommand): RuntimeCliError {
  const near = nearest(id, known);
  // In the form that the user typed.
  const meant = typed.includes(' ') && !typed.includes(':') ? near?.replaceAll(':', ' ') : near;
  const error = createError('ERR_COMMAND_NOT_FOUND', `Unknown command: ${typed === '' ? '""' : typed}`, {
    suggestions: [...(meant === undefined ? [] : [`Did you mean mycli ${meant}?`]), see],
  });
  return Object.assign(error, {oclif: {exit: error.exitCode}});
}
