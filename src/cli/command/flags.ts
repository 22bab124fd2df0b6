import {createError} from '../../errors/index.js';
import {hiddenValue} from '../../errors/suggestion.js';
import {exists} from '../../files/read-file.js';
import {defaultListLimit} from '../../settings/schemas.js';
import {
  definitions,
  headings,
  settingKeys,
  summaryOf,
  type FlagName,
  type FlagSet,
  type KeysOfEach,
  type SettingKey,
} from '../../settings/definitions.js';
import type {Interfaces} from '@oclif/core';
import * as Flags from '@oclif/core/flags';
import type {FlagValues, SettingValue} from '../settings/settings.js';
import {readings, type Secret} from '../settings/text.js';

const shapes = {
  one: (key: SettingKey) => Flags.string(properties(key)),
  several: (key: SettingKey) => Flags.string({...properties(key), multiple: true, multipleNonGreedy: true}),
  // `--no-...` overrides the environment and the configuration file.
  switch: (key: SettingKey) => Flags.boolean({...properties(key), allowNo: true}),
};
type ShapeOf<Value> = [Value] extends [boolean]
  ? 'switch'
  : [Extract<Value, string | number | Secret>] extends [never]
    ? 'several'
    : 'one';
type SettingFlags<Set extends FlagSet> = {
  [K in KeysOfEach<Set> as FlagName<K>]: ReturnType<(typeof shapes)[ShapeOf<SettingValue<K>>]>;
};

// Not oclif's `env` and `options`: settings are validated where they are resolved, with one schema for all sources.
function properties(key: SettingKey) {
  const {flag, set} = definitions[key];
  return {
    ...(flag?.char === undefined ? {} : {char: flag.char}),
    ...(flag?.value === undefined ? {} : {helpValue: flag.value}),
    helpGroup: headings[set],
    summary: summaryOf(key),
  };
}

export function flagsOf<Set extends FlagSet>(...sets: readonly Set[]): SettingFlags<Set> {
  const keys = sets.flatMap((set) => settingKeys.filter((key) => definitions[key].set === set));
  const flags = keys.flatMap((key) => {
    const {flag, syntax} = definitions[key];
    return flag === undefined ? [] : [[flag.name, shapes[readings[syntax].shape](key)] as const];
  });
  // TypeScript cannot know that a loop covered every row.
  return Object.fromEntries<unknown>(flags) as SettingFlags<Set>;
}

const {login: _login, ...sets} = headings;
/** The sets of all settings, except those of a login. */
export const usualSets = Object.keys(sets) as (keyof typeof sets)[];

export const connectionFlags = flagsOf('connection');
export const bundleFlags = flagsOf('bundle');

const {target: _, ...withoutTarget} = connectionFlags;
/** For commands about a whole project, and those that take the target as an argument. */
export const projectFlags = withoutTarget;

const settingFlags: ReadonlySet<string> = new Set(settingKeys.flatMap((key) => definitions[key].flag?.name ?? []));

export const emptyArgument = 'An argument is empty. If it is a variable of the shell, set it.';

type DeclaredFlags = Readonly<Record<string, Pick<Interfaces.OptionFlag<unknown>, 'helpValue' | 'summary'>>>;

interface ParsedLine {
  readonly flags: FlagValues;
  readonly args: Readonly<Record<string, unknown>>;
}

/**
 * Refuses empty arguments, `--output=` and the like, and what a suggested command has for a value: `--target SLUG`,
 * or `…` for one that is not shown.
 */
export function rejectMissingValues({flags: values, args}: ParsedLine, declared: DeclaredFlags): void {
  if (Object.values(args).flat().includes('')) throw createError('ERR_USAGE', emptyArgument);
  // Not those of lists: a variable may be called NAME.
  const placeholder = Object.keys(args)
    .find((name) => args[name] === name.toUpperCase())
    ?.toUpperCase();
  if (placeholder !== undefined) throw createError('ERR_USAGE', `Replace ${placeholder} with a value.`);
  for (const [name, value] of Object.entries(values)) {
    // Those of settings are checked with those from other sources.
    if (value === '' && !settingFlags.has(name)) throw createError('ERR_USAGE', `--${name} must not be empty.`);
    const {helpValue, summary = []} = declared[name] ?? {};
    if (helpValue !== undefined && [value].flat().includes(helpValue)) {
      const message = `Replace ${String(helpValue)} in --${name} ${String(helpValue)} with a value.`;
      throw createError('ERR_USAGE', message, {suggestions: [summary].flat()});
    }
    if ([value].flat().every((text) => String(text).replace(/^[^=]*=/, '') !== hiddenValue)) continue;
    const message = `The ${hiddenValue} in --${name} stands for a value that is not shown, because it may be secret.`;
    const suggestions = ['Pass the value itself. If an environment variable sets it, leave the flag out.'];
    throw createError('ERR_USAGE', message, {suggestions});
  }
}

export const globalFlags = {
  cwd: Flags.string({
    char: 'C',
    helpGroup: 'GLOBAL',
    helpValue: 'DIR',
    summary: 'Run as if started in this directory.',
  }),
  config: Flags.string({
    helpGroup: 'GLOBAL',
    helpValue: 'FILE',
    summary: 'Configuration file; default: the nearest one.',
  }),
  json: Flags.boolean({helpGroup: 'GLOBAL', summary: 'Print one JSON document to stdout, and nothing else.'}),
  debug: Flags.boolean({helpGroup: 'GLOBAL', summary: 'Log details and stack traces to stderr.'}),
  quiet: Flags.boolean({helpGroup: 'GLOBAL', summary: 'Show only results, warnings and errors.'}),
};

/** Refuses what a shell makes of an unquoted `/*`: the names in the root of this machine. */
export async function refuseExpanded(pattern: string): Promise<string> {
  const isName = /^\/[^/*]+$/.test(pattern) && (await exists(pattern));
  if (!isName) return pattern;
  const message = `${pattern} is a path on this machine: the shell has expanded a pattern that was not quoted.`;
  throw createError('ERR_USAGE', message, {
    suggestions: [`Quote the pattern: '/*'. To clear the path ${pattern} of the site, pass '${pattern}*'.`],
  });
}

export const invalidateFlag = {
  invalidate: Flags.string({
    multiple: true,
    multipleNonGreedy: true,
    helpValue: 'PATTERN',
    summary: 'Clear these paths from the cache, such as /*.',
  }),
};

export const yesFlag = {yes: Flags.boolean({char: 'y', summary: 'Skip the confirmation prompt.'})};

export const dryRunFlag = {
  'dry-run': Flags.boolean({default: false, summary: 'Show what would happen, and change nothing.'}),
};

export const columnsFlag = {
  columns: Flags.string({helpValue: 'NAMES', summary: 'Comma-separated columns to show, in this order.'}),
};

export const listFlags = {
  limit: Flags.integer({helpValue: 'N', min: 1, summary: `Maximum number to show; default ${defaultListLimit}.`}),
  offset: Flags.integer({helpValue: 'N', min: 0, summary: 'Number of newest entries to skip; default 0.'}),
  all: Flags.boolean({exclusive: ['limit'], summary: 'Show all entries.'}),
  ...columnsFlag,
};

export const outputEnvFlag = {
  'output-env': Flags.string({helpValue: 'FILE', summary: 'Write the outputs to this file, in dotenv format.'}),
};

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const unitsMs: Readonly<Record<string, number>> = {m: minuteMs, h: hourMs, d: 24 * hourMs, w: 7 * 24 * hourMs};

/** The age that is the value of a flag, in milliseconds. @throws RuntimeCliError `ERR_USAGE` */
export function ageFlag(name: string, age: string): number {
  const [, amount, unit = ''] = /^(\d{1,6})([mhdw])$/.exec(age.trim()) ?? [];
  const unitMs = unitsMs[unit];
  if (amount !== undefined && unitMs !== undefined) return Number(amount) * unitMs;
  throw createError('ERR_USAGE', `${name} must be a number of minutes, hours, days or weeks.`, {
    suggestions: ['Pass an age such as 15m, 12h, 30d or 6w.'],
  });
}
