import * as v from 'valibot';
import {createError} from '../errors/index.js';
import {asRecord, isRecord} from '../text/json.js';
import {asSentence} from '../text/sentence.js';
import {deploymentSets} from './deployment-rows.js';
import {pushSets} from './push-rows.js';
import type {SettingRow, Syntax} from './row.js';
import {didYouMean} from '../text/suggest.js';
import {fieldProblems, slug} from './schemas.js';
import type {FollowUps, OptionProblem} from './types.js';

type Sets = typeof pushSets & typeof deploymentSets;
/** In display order. A command has the flags of whole sets. */
const sets: Sets = {...pushSets, ...deploymentSets};
export type FlagSet = keyof Sets;

/** The heading of each set in help and in the reference. */
export const headings: Readonly<Record<FlagSet, string>> = {
  connection: 'CONNECTION',
  login: 'CONNECTION',
  bundle: 'BUNDLE',
  push: 'BUNDLE',
  wait: 'DEPLOYMENT',
  slot: 'DEPLOYMENT',
  create: 'DEPLOYMENT',
  check: 'DEPLOYMENT',
  rollback: 'DEPLOYMENT',
  preview: 'DEPLOYMENT',
  target: 'TARGET',
  rateLimit: 'OTHER',
  events: 'OTHER',
  guard: 'GUARD',
};

export type SettingKey = {[Set in FlagSet]: keyof Sets[Set]}[FlagSet];
export type KeysOf<Set extends FlagSet> = SettingKey & keyof Sets[Set];
export type KeysOfEach<Set extends FlagSet> = Set extends FlagSet ? KeysOf<Set> : never;
type Rows = {[K in SettingKey]: {[Set in FlagSet]: K extends keyof Sets[Set] ? Sets[Set][K] : never}[FlagSet]};
/** The name of a setting that always has a value. */
export type DefaultedKey = {[K in SettingKey]: Rows[K] extends {default: unknown} ? K : never}[SettingKey];
export type SecretKey = {[K in SettingKey]: Rows[K] extends {syntax: 'secret'} ? K : never}[SettingKey];
export type AddressKey = {[K in SettingKey]: Rows[K] extends {receives: object} ? K : never}[SettingKey];
export type ValidValue<K extends SettingKey> = v.InferOutput<Rows[K]['schema']>;
/** The key in the configuration file, with the object that contains it. */
export type ConfigKey<K extends SettingKey> = Rows[K] extends {config: infer Key} ? Key : K;
export type FlagName<K extends SettingKey> = Rows[K] extends {flag: {name: infer Name extends string}} ? Name : never;

/** A setting with everything that follows from its row. */
interface SettingDefinition extends SettingRow {
  readonly set: FlagSet;
  readonly config?: string;
  readonly label: string;
  readonly syntax: Syntax;
}

const syntaxes: Readonly<Record<string, Syntax>> = {
  boolean: 'switch',
  number: 'number',
  array: 'list',
  custom: 'pairs',
  picklist: 'word',
};

function define(set: FlagSet, key: string, {config = key, ...row}: SettingRow): SettingDefinition {
  const {type, item} = row.schema as typeof row.schema & {readonly item?: v.GenericSchema};
  const syntax = item?.type === 'number' ? 'numbers' : (syntaxes[type] ?? 'text');
  return {set, label: key, syntax, ...row, ...(config === false ? {} : {config})};
}

const defined = (Object.keys(sets) as FlagSet[]).flatMap((set) =>
  Object.entries<SettingRow>(sets[set]).map(([key, row]) => [key, define(set, key, row)] as const),
);

export const definitions = Object.fromEntries(defined) as Readonly<Record<SettingKey, SettingDefinition>>;

export const settingKeys = defined.map(([key]) => key) as readonly SettingKey[];

export const secretKeys = settingKeys.filter((key): key is SecretKey => definitions[key].syntax === 'secret');

/** The settings that say where secrets go. */
export const addressKeys = settingKeys.filter((key): key is AddressKey => definitions[key].receives !== undefined);

export function variableOf(key: SettingKey): string | undefined {
  const {variable, flag} = definitions[key];
  return variable ?? (flag && `MYCLI_${flag.name.toUpperCase().replaceAll('-', '_')}`);
}

/** The flag of a setting, unless it is only for a login. */
export function usualFlag(key: SettingKey) {
  const {flag, set} = definitions[key];
  return set === 'login' ? undefined : flag;
}

export function summaryOf(key: SettingKey): string {
  const {summary, default: standard} = definitions[key];
  return summary.replace('{default}', () => JSON.stringify(standard).replaceAll(/["[\]]/g, ''));
}

/** What is wrong with the options that settings of these names describe. Those that are not given are fine. */
export function optionProblems(
  options: {readonly [K in SettingKey]?: unknown},
  keys: readonly SettingKey[],
): readonly OptionProblem[] {
  return keys.flatMap((option) =>
    options[option] === undefined ? [] : problemsOf(option, options[option], definitions[option].schema),
  );
}

/** Warnings about options that a v1 bundle ignores. */
export function v2OnlyWarnings(options: object): readonly string[] {
  const ignored = settingKeys.filter((key) => {
    const {v2Only, config = key} = definitions[key];
    const value = config.split('.').reduce<unknown>((object, name) => asRecord(object)[name], options);
    return v2Only === true && value !== undefined;
  });
  return ignored.map((key) => `${key} has no effect on a v1 bundle.`);
}

/** What is wrong with a slug. Slugs become parts of URLs and prefixes in archives. */
export function slugProblems(option: string, value: string): readonly OptionProblem[] {
  return problemsOf(option, value, slug);
}

export function problemsOf(option: string, value: unknown, schema: v.GenericSchema): readonly OptionProblem[] {
  const {issues = []} = v.safeParse(schema, value);
  return fieldProblems(issues).map(({field, message}) => ({
    option: field === '' ? option : `${option}.${field}`,
    message,
  }));
}

/** What is wrong with options that each have a schema: values of another type, and unknown names. */
export function valueProblems(
  options: object,
  schemas: Readonly<Record<string, v.GenericSchema>>,
): readonly OptionProblem[] {
  if (!isRecord(options)) return [{option: 'The argument', message: 'must be an object of options'}];
  const known = new Map(Object.entries(schemas));
  return Object.entries(options).flatMap(([option, value]) => {
    const schema = known.get(option);
    if (value === undefined) return [];
    if (schema !== undefined) return problemsOf(option, value, schema);
    return [{option, message: `is not an option${didYouMean(option, [...known.keys()])}`}];
  });
}

/** Throws one error for all problems, if there are any. @param nameOf what an option is called */
export function rejectProblems(
  problems: readonly OptionProblem[],
  nameOf: (option: string) => string = (option) => option,
): void {
  if (problems.length === 0) return;
  const sentence = asSentence(problems.map(({option, message}) => `${nameOf(option)} ${message}`).join('; '));
  const onlyPatterns = problems.every(({option}) => /^ssr(?:Only|Shared)\b/.test(option));
  throw createError(onlyPatterns ? 'ERR_PATTERN_INVALID' : 'ERR_OPTION_INVALID', sentence, {
    suggestions: problems.flatMap(({suggestion}) => (suggestion === undefined ? [] : [suggestion])),
    details: {problems},
  });
}

export function followUpsOf({check = [], rollbackOnFailure = false, invalidate = []}: FollowUps) {
  const isSet = {check: [check].flat().length > 0, rollbackOnFailure, invalidate: invalidate.length > 0};
  return (['check', 'rollbackOnFailure', 'invalidate'] as const).filter((name) => isSet[name]);
}
