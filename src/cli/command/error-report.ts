import {stripVTControlCharacters} from 'node:util';
import type {Interfaces} from '@oclif/core';
import {createError, exitCodes, isRuntimeCliError, type RuntimeCliError, nearest} from '../../errors/index.js';
import {asSentence} from '../../errors/sentence.js';
import {suggestionText, type Suggestion} from '../../errors/suggestion.js';
import {messageOf} from '../../errors/system-failure.js';
import {isRecord} from '../../errors/json.js';
import type {EventError} from '../../operations/events.js';
import {leadingWords} from './command-line.js';

export interface Failure extends Omit<EventError, 'suggestions'> {
  readonly advice: readonly Suggestion[];
}

export function reportOf({code, message, exitCode, status, advice, details}: Failure): EventError {
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

const usageExitCode = 2;

type KnownFlags = Readonly<Record<string, {readonly char?: string; readonly helpValue?: string} | undefined>>;

/** An error of oclif, with an exit code. The other keys are those of errors about the command line. */
export interface OclifError extends Error {
  readonly oclif: {readonly exit?: number | undefined};
  readonly flags?: readonly string[];
  readonly args?: readonly (string | {readonly name: string; readonly description?: string})[];
  readonly parse?: {readonly input?: {readonly flags?: KnownFlags; readonly argv?: readonly string[]}};
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
  const {message, suggestions = []} = describe(error, command);
  const usage = {run: command === undefined ? ['--help'] : [command, '--help']};
  return createError('ERR_USAGE', message, {suggestions: [...suggestions, ['Run ', usage, ' for usage.']]});
}

interface Description {
  readonly message: string;
  readonly suggestions?: readonly Suggestion[];
}

function describe({message, flags: unknown = [], args = [], parse}: OclifError, command?: string): Description {
  const {flags = {}, argv = []} = parse?.input ?? {};
  if (unknown.length > 0) return describeUnknownFlags(unknown, Object.keys(flags), command);
  const extra = args.filter((arg) => typeof arg === 'string');
  if (extra.length > 0) return describeExtra(extra, flags, argv);
  const missing = args.filter((arg) => typeof arg !== 'string');
  if (missing.length > 0) {
    const names = missing.map(({name}) => name.toUpperCase()).join(', ');
    const lists: readonly Suggestion[] = missing.some(({name}) => name === 'bundle')
      ? [['Run ', {run: ['bundle:list']}, ' to list the bundles.']]
      : [];
    const suggestions = [...missing.flatMap(({description = []}) => description), ...lists];
    return {message: `Missing argument: ${names}`, suggestions};
  }
  const required = [...stripVTControlCharacters(message).matchAll(/Missing required flag ([\w-]+)/g)];
  if (required.length === 0) return {message: sentence(message)};
  const names = required.map(([, name = '']) => name);
  return {
    message: `Missing flag${names.length > 1 ? 's' : ''}: ${names.map((name) => `--${name}`).join(', ')}`,
    suggestions: names.map((name) => `Pass --${name} ${flags[name]?.helpValue ?? 'VALUE'}.`),
  };
}

/** Words like `my-shop2`. Anything else is not repeated, because it may be a secret. */
const plainWord = /^[a-z]{2,12}(?:[-_][a-z]{2,12}){0,3}\d{0,2}$/;

/** Users forget the flags of what commands have no argument for: the project and the targets. */
function describeExtra(extra: readonly string[], flags: KnownFlags, words: readonly string[]): Description {
  const [first = ''] = extra;
  if (!extra.every((word) => plainWord.test(word))) return {message: 'Too many arguments.'};
  const message = `Unexpected argument: ${first}`;
  if ('from' in flags) {
    const [from, to = 'SLUG'] = extra;
    return {message, suggestions: [`Pass --from ${String(from)} --target ${to}.`]};
  }
  const missing = ['project', 'target'].filter((name) => {
    const char = flags[name]?.char;
    return name in flags && !words.some((word) => word === `-${String(char)}` || word.startsWith(`--${name}`));
  });
  if (missing.length === 0) return {message};
  const pass = missing.map((name) => `--${name} ${first}`).join(' or ');
  return {message, suggestions: [`If it is the ${missing.join(' or the ')}, pass ${pass}.`]};
}

function describeUnknownFlags(unknown: readonly string[], known: readonly string[], command?: string): Description {
  // What follows `=` may be a secret.
  const names = unknown.map((flag) => flag.replace(/=.*$/s, ''));
  const suggestions = names.flatMap((name): readonly Suggestion[] => {
    if (command === 'auth:login' && /^--(?:api-key|client-secret|api-token)$/.test(name)) {
      return [['A login reads the secret from a prompt, or from stdin: ', {run: ['auth:login']}, ' < key.txt']];
    }
    const meant = meantFlag(name.replace(/^-+/, ''), known);
    return meant === undefined ? [] : [`Did you mean --${meant}?`];
  });
  return {message: `Unknown flag${names.length > 1 ? 's' : ''}: ${names.join(', ')}`, suggestions};
}

/** What flags of other command lines are called here. */
const elsewhere: Readonly<Record<string, string>> = {
  prod: 'target production',
  production: 'target production',
  to: 'target',
  env: 'target',
  dir: 'build-directory',
  verbose: 'debug',
};

/** What an unknown flag may stand for: `q` for `quiet`, `data-dir` for `data`, `projekt` for `project`. */
function meantFlag(name: string, known: readonly string[]): string | undefined {
  const usual = elsewhere[name];
  if (usual !== undefined && known.includes(usual.replace(/ .*/, ''))) return usual;
  if (name.length === 1) return known.find((flag) => flag.startsWith(name));
  return nearest(name, known) ?? known.find((flag) => name.startsWith(`${flag}-`));
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
  return asSentence(lines.join('; '));
}

export const seeHelp = 'Run mycli help to list all commands.';

/** The error for an unknown command. Suggests the closest one: never asks, and never runs another one. */
export function unknownCommand(id: string, argv: readonly string[], {commands}: Interfaces.Config): RuntimeCliError {
  if (id.startsWith('-')) return createError('ERR_USAGE', `Unknown flag: ${id}`, {suggestions: [seeHelp]});
  const known = commands.filter(({hidden}) => !hidden).map((command) => command.id);
  const [next] = leadingWords(argv);
  const spaced = `${id}:${String(next)}`;
  if (next !== undefined && nearest(spaced, known) !== undefined)
    return noSuchCommand({typed: `${id} ${next}`, id: spaced, known, see: seeHelp});
  // `inspect` for `bundle:inspect`.
  const named = known.filter((command) => command.endsWith(`:${id}`));
  return noSuchCommand({typed: id, id: named[0], known: named.length > 0 ? named : known, see: seeHelp});
}

/** The error for a topic with other words, such as `mycli bundle psh`. */
export function unknownInTopic(topic: string, argv: readonly string[], {commandIDs}: Interfaces.Config): Error {
  const words = argv.filter((argument) => !argument.startsWith('-'));
  return noSuchCommand({
    typed: [topic, ...words].join(' '),
    id: `${topic}:${String(argv[0])}`,
    known: commandIDs,
    see: `Run mycli ${topic} --help for usage.`,
  });
}

interface MissingCommand {
  readonly typed: string;
  /** What to compare with the known commands, if not `typed`. */
  readonly id?: string | undefined;
  readonly known: readonly string[];
  /** The sentence that says where to find what is available. */
  readonly see: string;
}

export function noSuchCommand({typed, id = typed, known, see}: MissingCommand): RuntimeCliError {
  const near = nearest(id, known);
  // In the form that the user typed.
  const meant = typed.includes(' ') && !typed.includes(':') ? near?.replaceAll(':', ' ') : near;
  return createError('ERR_COMMAND_NOT_FOUND', `Unknown command: ${typed === '' ? '""' : typed}`, {
    suggestions: [...(meant === undefined ? [] : [`Did you mean mycli ${meant}?`]), see],
  });
}

/** What a hook of a plugin has thrown to end the command. */
export class PluginFailure extends Error {
  constructor(
    readonly plugin: string,
    override readonly cause: unknown,
  ) {
    super(cause instanceof Error ? cause.message : String(cause), {cause});
  }
}

/**
 * The error of a command that something else ended.
 * @param plugin the plugin that ended it, if known
 */
export function endedEarly(plugin?: string): Error {
  const message = 'The command exited before it finished';
  if (plugin !== undefined) {
    const suggestions = [withoutPlugin(plugin)];
    return createError('ERR_ENDED_EARLY', `${message}: plugin ${plugin} ended the process.`, {suggestions});
  }
  const cause = 'Code that it ran ended the process or waits for something that never happens.';
  const suggestions = [`${cause} Check config.server, mycli.config and plugins.`];
  return createError('ERR_ENDED_EARLY', `${message}.`, {suggestions});
}

/** What to do about a plugin that breaks a command. */
export function withoutPlugin(plugin: string): Suggestion {
  return [
    `Report this to the authors of ${plugin}. To go on without it, run `,
    {run: ['plugins:uninstall', plugin]},
    ', or set MYCLI_SKIP_PLUGINS=1.',
  ];
}
