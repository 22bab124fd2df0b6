import type * as v from 'valibot';
import type {FlagSet, SettingRow, Syntax} from './row.js';
import {rows} from './rows.js';

type Rows = typeof rows;
/** The name of a setting. */
export type SettingKey = keyof Rows;
/** The name of a setting that always has a value. */
export type DefaultedKey = {[K in SettingKey]: Rows[K] extends {default: unknown} ? K : never}[SettingKey];
/** The name of a setting that is a secret. */
export type SecretKey = {[K in SettingKey]: Rows[K] extends {syntax: 'secret'} ? K : never}[SettingKey];
/** What the schema of a setting accepts. */
export type ValidValue<K extends SettingKey> = v.InferOutput<Rows[K]['schema']>;
/** The settings of a set. */
export type KeysOf<Set extends FlagSet> = {[K in SettingKey]: Rows[K] extends {set: Set} ? K : never}[SettingKey];
/** The name of the flag of a setting. */
export type FlagName<K extends SettingKey> = Rows[K] extends {flag: {name: infer Name extends string}} ? Name : never;

/** A setting with everything that follows from its row. */
export interface SettingDefinition extends SettingRow {
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

function define([key, {config = key, ...row}]: readonly [string, SettingRow]): readonly [string, SettingDefinition] {
  const {type, item} = row.schema as typeof row.schema & {readonly item?: v.GenericSchema};
  const syntax = item?.type === 'number' ? 'numbers' : (syntaxes[type] ?? 'text');
  return [key, {label: key, syntax, ...row, ...(config === false ? {} : {config})}];
}

/** Every setting, in display order. */
export const definitions = Object.fromEntries(Object.entries<SettingRow>(rows).map(define)) as Readonly<
  Record<SettingKey, SettingDefinition>
>;

/** The name of every setting. */
export const settingKeys: readonly SettingKey[] = Object.keys(rows) as SettingKey[];

/** The names of those that are secrets. */
export const secretKeys = settingKeys.filter((key): key is SecretKey => definitions[key].syntax === 'secret');

/** The environment variable of a setting. Those without a flag have none. */
export function variableOf(key: SettingKey): string | undefined {
  const {variable, flag} = definitions[key];
  return variable ?? (flag && `MYCLI_${flag.name.toUpperCase().replaceAll('-', '_')}`);
}

/** The help text of a setting. */
export function summaryOf(key: SettingKey): string {
  const {summary, default: standard} = definitions[key];
  return summary.replace('{default}', () => JSON.stringify(standard).replaceAll(/["[\]]/g, ''));
}
