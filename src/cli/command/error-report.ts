import {relative} from 'node:path';
import type {Interfaces} from '@oclif/core';
import {amendError, createError, exitCodes, isRuntimeCliError, type RuntimeCliError} from '../../errors/index.js';
import {placeInProject} from '../../errors/places.js';
import {leadingWords, withoutMarks} from './command-line.js';
import {namesBundle} from './named-commands.js';
import {flagOf, isJsonFlag, isNamed, similarFlag} from './repeated-words.js';
import {emptyArgument} from './flags.js';
import {withoutEscapeSequences} from '../../text/escape-sequences.js';
import {isOutside} from '../../text/paths.js';
import {asSentence, oneLine} from '../../text/sentence.js';
import {near, shellLine, suggestNames} from '../../text/suggest.js';
import type {Suggestion} from '../../errors/suggestion.js';
import {messageOf, openFilesError} from '../../errors/system-failure.js';
import {isLikelySecret} from '../../http/redact.js';
import {isRecord} from '../../text/json.js';
import {settingKeys, usualFlag, variableOf, type SettingKey} from '../../settings/definitions.js';
import type {Output} from '../output/output.js';
import {placesOf} from '../settings/settings.js';
import type {EventError} from '../../operations/events.js';
import {pipeSecret} from '../setup/prompts.js';
import {oldFlags, whyNeedless} from '../setup/other-clients.js';

export function reportOf(error: RuntimeCliError, output: Pick<Output, 'texts'>): EventError {
  const {code, message, exitCode, status, advice, method, path, requestId} = error;
  const known = Object.entries({...error.details, method, path, requestId}).filter(([, value]) => value !== undefined);
  return {
    code,
    message,
    exitCode,
    status,
    suggestions: output.texts(advice, true),
    details: known.length > 0 ? Object.fromEntries(known) : undefined,
  };
}

/** Any error as one of ours. `foreign`: a plugin's command was running, whose errors are meant for users. */
export function asOwnError(error: unknown, {foreign = false} = {}): RuntimeCliError {
  if (isRuntimeCliError(error)) return error;
  // Our own commands convert these themselves; this one was thrown before any command, or by a plugin's.
  if (isUsageError(error)) return usageError(error);
  if (isOclifError(error)) {
    const suggestions = [error.suggestions ?? [], error.ref === undefined ? [] : `See ${error.ref}`].flat();
    return createError('ERR_UNEXPECTED', error.message, {exitCode: error.oclif.exit, suggestions, cause: error});
  }
  const limit = openFilesError(error);
  if (limit !== undefined) return limit;
  return foreign ? createError('ERR_UNEXPECTED', messageOf(error), {cause: error}) : unexpectedError(error);
}

export function unexpectedError(error: unknown): RuntimeCliError {
  return createError('ERR_UNEXPECTED', asSentence(`mycli failed unexpectedly: ${messageOf(error)}`), {
    suggestions: ['This is a bug. Please report it with the output of the same command with --debug.'],
    cause: error,
  });
}

/**
 * An uncaught error, as that of the file of the project whose code threw it, if there is one.
 * @param root The folder of our package.
 * @param cwd A folder of the project.
 */
export function blameUserCode(error: unknown, root: string, cwd: string): unknown {
  const cause = {suggestions: ['Correct it: it throws, or rejects a promise that nothing waits for.'], cause: error};
  const reason = oneLine(messageOf(error));
  // Our code throws errors only.
  if (!(error instanceof Error)) {
    const message = asSentence(`Code of a configuration file or a plugin failed: ${reason}`);
    return createError('ERR_CONFIG_INVALID', message, cause);
  }
  const place = placeInProject(error, cwd);
  if (place === undefined || !isOutside(relative(root, place.path))) return error;
  return createError('ERR_CONFIG_INVALID', asSentence(`Code in ${place.path} failed: ${reason}`), cause);
}

type Flags = Readonly<
  Record<string, Pick<Interfaces.OptionFlag<unknown>, 'name' | 'char' | 'required' | 'helpValue' | 'summary'>>
>;

interface CommandLine {
  readonly flags?: Flags;
  readonly args?: object;
  readonly argv?: readonly string[];
}

/** An error of oclif, with an exit code. The other keys are those of errors about the command line. */
export interface OclifError extends Error {
  readonly oclif: {readonly exit?: number | undefined};
  readonly suggestions?: readonly string[];
  readonly ref?: string;
  readonly flags?: readonly string[];
  readonly args?: readonly (string | {readonly name: string; readonly description?: string})[];
  readonly parse?: {
    readonly input?: CommandLine;
    readonly output?: ParsedFlags;
  };
}

export interface ParsedFlags extends Pick<Interfaces.ParserOutput, 'raw'> {
  readonly flags: Readonly<Record<string, unknown>>;
}

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
    (error.oclif.exit ?? exitCodes.usage) === exitCodes.usage
  );
}

/** Converts oclif's error about the command line, which holds the whole configuration and all arguments. */
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
  const line = parse?.input ?? {};
  if (unknown.length > 0) return describeUnknownFlags(unknown, line, command);
  const extra = args.filter((arg) => typeof arg === 'string');
  if (extra.length > 0) return describeExtra(extra, line, command);
  const missing = args.filter((arg) => typeof arg !== 'string');
  if (missing.length > 0) {
    const names = missing.map(({name}) => name.toUpperCase()).join(', ');
    const suggestions: Suggestion[] = missing.flatMap(({description = []}) => description);
    if (missing.some(({name}) => name === 'bundle'))
      suggestions.push(['Run ', {run: ['bundle:list']}, ' to list the bundles.']);
    if (command === 'bundle:deploy') suggestions.push(['To push a build, run ', {run: ['bundle:push']}]);
    return {message: `Missing ${missing.length === 1 ? 'argument' : 'arguments'}: ${names}`, suggestions};
  }
  const given = parse?.output?.flags;
  const lacking = Object.entries(line.flags ?? {}).find(
    ([name, {required}]) => required === true && given !== undefined && given[name] === undefined,
  );
  if (lacking !== undefined) {
    const [name, {helpValue = 'VALUE', summary = []}] = lacking;
    return {message: `Missing flag: --${name} ${[helpValue].flat().join(' ')}`, suggestions: [summary].flat()};
  }
  const lines = withoutEscapeSequences(withoutMarks(message))
    .replace('See more help with --help', '')
    .replace(/^Parsing (--[\w-]+)\s+/, '$1: ')
    // It may be a secret.
    .replace(/^(Expected --[\w-]+)=.*(?= to be one of: )/m, '$1')
    .replace(/^The following errors? occurred:/, '')
    .split('\n');
  const reasons = lines.map((line) => line.trim()).filter((line) => line !== '');
  const [, value = '', options] = /^Expected (?:--[\w-]+=)?(.*) to be one of: (.*)$/m.exec(withoutMarks(message)) ?? [];
  return {
    message: asSentence(reasons.join('; ')),
    suggestions: suggestNames(near(value, options?.split(', ') ?? []).slice(0, 1)),
  };
}

/** For an argument that looks like a secret, which no message repeats. */
export const passSecret =
  'Never pass a secret as an argument: log in once, set MYCLI_API_KEY, or pass --api-key @FILE.';

/** After `--`, nothing is a flag. npm takes it for itself, others pass it on. */
export const leaveOutDashes = 'If it is a flag, leave out the -- before it.';

/** What comes before a command. PowerShell keeps one that is not quoted to itself. */
export const endOfFlags = '-- (in PowerShell: "--")';

export function unexpectedArgument(word: string): string {
  return isLikelySecret(word) ? 'Unexpected argument.' : `Unexpected argument: ${word}`;
}

/** It may be a secret. */
const hiddenExtra: Description = {message: 'Unexpected argument.', suggestions: [passSecret]};

/** What users type as arguments, by the flag for it. */
const argumentNouns: Readonly<Record<string, string>> = {
  'copy-from': 'target to copy',
  target: 'target',
  project: 'project',
};

/** How to pass a value of which an argument is a part: `--message 'fix it'`, `--columns id,status`. */
function suggestJoined(argument: string, typed: readonly string[], flags: Flags): readonly string[] {
  const at = typed.slice(0, typed.lastIndexOf(argument)).findLastIndex((word) => word.startsWith('-'));
  const flag = Object.values(flags).find((each) => isNamed(typed[at] ?? '', each));
  const separator = {NAMES: ',', TEXT: ' '}[String(flag?.helpValue)];
  if (flag === undefined || separator === undefined) return [];
  return [`Pass ${shellLine(`--${flag.name}`, leadingWords(typed.slice(at + 1)).join(separator))}.`];
}

/** What to do with a bundle that a command takes in another place, or not at all. */
function suggestBundle(bundle: string, flags: Flags, command?: string): Suggestion {
  if (command === 'bundle:deploy') return ['Pass the bundle first: ', {run: [command, bundle, '--target', 'SLUG']}];
  if ('from' in flags) return ['To deploy a bundle, run ', {run: ['bundle:deploy', bundle]}];
  return 'to' in flags ? `Pass --to ${bundle}.` : ['To see a bundle, run ', {run: ['bundle:inspect', bundle]}];
}

/** Users type targets, projects and bundles as arguments where commands have flags for them. */
function describeExtra(
  extra: readonly string[],
  {flags = {}, argv: typed = []}: CommandLine,
  command?: string,
): Description {
  const [first = '', second = ''] = extra;
  const isAddress = /^https?:/.test(first);
  if (isLikelySecret(first) || (command === 'auth:login' && !isAddress)) return hiddenExtra;
  if (first === '') return {message: emptyArgument};
  const message = `Unexpected argument: ${first}`;
  const suggest = (...suggestions: readonly Suggestion[]): Description => ({message, suggestions});
  if (/^\d+$/.test(first) && ['-w', '--wait'].includes(typed[typed.lastIndexOf(first) - 1] ?? ''))
    return suggest(`--wait takes no value. To wait ${first} seconds at most, pass --timeout ${first}.`);
  const joined = suggestJoined(first, typed, flags);
  if (joined.length > 0) return suggest(...joined);
  if (first.startsWith('-')) return suggest(leaveOutDashes);
  if (isAddress && 'origin' in flags) return suggest(`If it is the service, pass ${shellLine('--origin', first)}.`);
  if (/^(?:\.\.?$|\.?\.?\/|~)/.test(first))
    return suggest(`If it is the folder of the project, pass ${shellLine('--cwd', first)}`);
  if ('project' in flags && namesBundle(first)) return suggest(suggestBundle(first, flags, command));
  if ('from' in flags) {
    const pass = (from: string, target: string) => shellLine('--from', from, '--target', target);
    if (extra.length > 1) return suggest(`Pass ${pass(first, second)}.`);
    return suggest(
      `To deploy to ${first}, pass ${pass('SLUG', first)}. If it runs the bundle, pass ${pass(first, 'SLUG')}.`,
    );
  }
  const canCopy = command === 'target:create';
  const names = Object.keys(argumentNouns).filter((name) => name in flags && (canCopy || name !== 'copy-from'));
  if (names.length === 0) return {message};
  const pass = names.map((name) => shellLine(`--${name}`, first)).join(' or ');
  const nouns = names.map((name) => argumentNouns[name]);
  const isSecond = command !== undefined && targetArgument.test(command) && !canCopy;
  const only = isSecond ? ['It takes one target. Run it again for another.'] : [];
  return suggest(...only, `If it is the ${nouns.join(' or the ')}, pass ${pass}.`);
}

/** What shows the effect of commands that have no dry run. */
const insteadOfDryRun: Readonly<Record<string, readonly Suggestion[]>> = {
  'bundle:delete': ['Without --yes, it shows what it would delete, and asks.'],
  'bundle:deploy': [['To see what would change, run ', {run: ['bundle:diff', 'running:TARGET', 'ID']}]],
  'bundle:promote': [['To see what would change, run ', {run: ['bundle:diff', 'running:TARGET', 'running:FROM']}]],
  'bundle:rollback': [['Run ', {run: ['bundle:history']}, ' to see what a target ran before.']],
};

const targetArgument = /^target:(?:apply|create|delete|diff)$/;

function describeUnknownFlags(
  unknown: readonly string[],
  {flags = {}, args = {}, argv: typed = []}: CommandLine,
  command?: string,
): Description {
  const names = unknown.map(flagOf);
  const suggestions = names.flatMap((name): readonly Suggestion[] => {
    if (command === 'auth:login' && /^-(?:k|-(?:api-)?(?:key|token)|-(?:client-)?secret|-password)$/.test(name)) {
      const [kind] = /client-secret|api-token/.exec(name) ?? [];
      return [pipeSecret(kind, 'A login reads the secret from a prompt, or from stdin: ')];
    }
    if (isJsonFlag(name, typed)) return ['Did you mean --json?'];
    const needless = whyNeedless(name, command);
    if (needless !== undefined) return [`Leave out ${name}: ${needless}.`];
    if (command !== undefined && targetArgument.test(command) && /^(?:--target|-t)$/.test(name))
      return [['Pass the target as an argument: ', {run: [command, 'SLUG']}]];
    if (name === '--dry-run') return ['This command has no dry run.', ...(insteadOfDryRun[command ?? ''] ?? [])];
    const word = name.replace(/^-+/, '');
    const setting = settingWithoutFlag(word);
    if (setting !== undefined) return [`${name} is not a flag: set ${placesOf(setting)}.`];
    const similar = similarFlag(word, Object.keys(flags));
    // `--from`, which stands for `--file` elsewhere, for `file`.
    const isArgument = (arg: string) =>
      arg === word || oldFlags.some(({was, now}) => was === `--${arg}` && now === name);
    const argument = Object.keys(args).find(isArgument);
    if (similar === undefined) return argument === undefined ? [] : [`Pass the ${argument} as an argument.`];
    return [names.length > 1 ? `Instead of ${name}, did you mean --${similar}?` : `Did you mean --${similar}?`];
  });
  // They may be those of the command to run.
  if (command === 'runtime:start') suggestions.push(`Put a command to run after ${endOfFlags}.`);
  return {message: `Unknown flag${names.length > 1 ? 's' : ''}: ${names.join(', ')}`, suggestions};
}

/** The setting that has no flag, but would have this one. */
function settingWithoutFlag(name: string): SettingKey | undefined {
  const variable = `MYCLI_${name.replace(/^no-/, '').toUpperCase().replaceAll('-', '_')}`;
  return settingKeys.find((key) => usualFlag(key) === undefined && variableOf(key) === variable);
}

/** Whether the error of a hook ends the command. A hook that lacks a module is only left out. */
export function endsCommand(error: unknown): boolean {
  if (isRuntimeCliError(error)) return true;
  const lacksModule = isOclifError(error) && 'code' in error && error.code === 'MODULE_NOT_FOUND';
  return isOclifError(error) && (error.oclif.exit ?? 0) !== 0 && !lacksModule;
}

export function endedByPlugin(plugin: string, error: unknown): RuntimeCliError {
  if (requestedExitCode(error) !== undefined) return endedEarly(plugin);
  const suggestions = [withoutPlugin(plugin)];
  const own = asOwnError(error);
  return amendError(own, {message: asSentence(`Plugin ${plugin} ended the command: ${own.message}`), suggestions});
}

/** @param plugin whose code has ended the process, or waits, if it is known */
export function endedEarly(plugin?: string): RuntimeCliError {
  if (plugin !== undefined) {
    const what = 'ended the process, or waits for something that never happens';
    const message = `The command exited before it finished: plugin ${plugin} ${what}.`;
    return createError('ERR_ENDED_EARLY', message, {suggestions: [withoutPlugin(plugin)]});
  }
  const cause = 'Code that it ran ended the process or waits for something that never happens.';
  return createError('ERR_ENDED_EARLY', 'The command exited before it finished.', {
    suggestions: [`${cause} Check config.server, mycli.config and plugins.`],
  });
}

/** The error for what a plugin throws where nothing catches it, as in a timer or a listener. */
export function thrownBy(plugin: string, error: unknown): RuntimeCliError {
  const message = asSentence(`Plugin ${plugin} threw an error that nothing catches: ${oneLine(messageOf(error))}`);
  return createError('ERR_ENDED_EARLY', message, {suggestions: [withoutPlugin(plugin)], cause: error});
}

export function withoutPlugin(plugin: string): Suggestion {
  return [
    `Report this to the authors of ${plugin}. Set MYCLI_SKIP_PLUGINS=1 to continue without plugins. To remove it, set that and run `,
    {run: ['plugins:uninstall', plugin]},
  ];
}
