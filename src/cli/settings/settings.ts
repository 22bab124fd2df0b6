import {relative} from 'node:path';
import {inspect} from 'node:util';
import {mayUse} from '../../backends/select.js';
import {createError, isRuntimeCliError, type RuntimeCliError} from '../../errors/index.js';
import {isRecord} from '../../errors/json.js';
import {partsOf, type CommandToRun} from '../../errors/suggestion.js';
import {shownAddress} from '../../http/origin.js';
import {
  definitions,
  secretKeys,
  settingKeys,
  variableOf,
  type DefaultedKey,
  type FlagSet,
  type KeysOf,
  type SecretKey,
  type SettingKey,
  type ValidValue,
} from '../../settings/definitions.js';
import {shownText, type Secret} from './text.js';

export interface ValueSource {
  readonly kind: 'flag' | 'environment' | 'config' | 'stored' | 'default';
  /** `--target`, `MYCLI_TARGET`, the path of the configuration file, the origin of stored credentials, or `default`. */
  readonly name: string;
}

export interface Setting<T> {
  readonly value: T;
  readonly source: ValueSource;
}

/** The value of a setting. `auto` stands for the dependencies in package.json. */
export type SettingValue<K extends SettingKey> = K extends SecretKey
  ? Secret
  : ValidValue<K> | (K extends 'dependencies' ? 'auto' : never);

/** All settings of a command. Those without a default may be unset. */
export type Settings = {
  readonly [K in DefaultedKey]: Setting<SettingValue<K>>;
} & {
  readonly [K in Exclude<SettingKey, DefaultedKey>]?: Setting<SettingValue<K>> | undefined;
};

/** The values of the settings of a set, by name. */
export function valuesOf<Set extends FlagSet>(settings: Settings, set: Set) {
  const keys = settingKeys.filter((key) => definitions[key].set === set);
  // TypeScript cannot know that a loop covered every key.
  return Object.fromEntries<unknown>(keys.map((key) => [key, settings[key]?.value])) as {
    readonly [K in KeysOf<Set>]: NonNullable<Settings[K]>['value'] | (K extends DefaultedKey ? never : undefined);
  };
}

/** The settings in a configuration file, with absolute paths. */
export type ConfigSettings = {readonly [K in SettingKey]?: SettingValue<K> | undefined};

export interface ConfigFile {
  readonly path: string;
  readonly settings: ConfigSettings;
  /** What it sets for each target, by slug: these values replace those for all targets. */
  readonly targets: ReadonlyMap<string, ConfigSettings>;
}

export function secretValues(settings: Settings): readonly string[] {
  return secretKeys.flatMap((key) => settings[key]?.value.reveal() ?? []);
}

/** What a command prints before it changes anything: the destination and its sources, except defaults. */
export function describeResolved(settings: Settings, cwd: string): readonly string[] {
  const {apiOrigin, runtimeBackend} = settings;
  const {value: preference} = runtimeBackend;
  const showsApi = mayUse(preference, 'api') && (preference !== 'auto' || apiOrigin !== undefined);
  const showsLegacy = mayUse(preference, 'legacy');
  const keys = [
    'runtimeBackend',
    ...(showsApi ? (['apiOrigin'] as const) : []),
    ...(showsLegacy ? (['origin'] as const) : []),
    'projectSlug',
    'targetSlug',
  ] as const;
  return describeSettings(settings, keys, cwd);
}

/**
 * The flags that a command to type need not have, because the configuration or the environment give the same.
 * @param otherFile whether the configuration file, or its folder, is given by a flag, which that command may not have
 */
export function impliedFlags(settings: Settings, otherFile: boolean) {
  const kinds = otherFile ? ['environment'] : ['environment', 'config'];
  const {runtimeBackend, apiOrigin} = settings;
  const isOnlyLegacy = runtimeBackend.source.kind === 'default' && apiOrigin === undefined;
  const chosen = isOnlyLegacy ? [{flag: '--runtime-backend' as const, value: 'legacy'}] : [];
  const given = (['projectSlug', 'targetSlug', 'runtimeBackend'] as const).flatMap((key) => {
    const {flag} = definitions[key];
    const setting = settings[key];
    if (flag === undefined || setting === undefined || !kinds.includes(setting.source.kind)) return [];
    return [{flag: `--${flag.name}` as const, value: setting.value}];
  });
  return [...chosen, ...given];
}

/** A line for each setting that has a value, with its source: `project  my-shop  (--project)`. */
export function describeSettings(settings: Settings, keys: readonly SettingKey[], cwd: string): readonly string[] {
  const rows = keys.flatMap((key) => {
    const setting = settings[key];
    return setting === undefined || setting.source.kind === 'default' ? [] : [{...definitions[key], setting}];
  });
  const width = Math.max(...rows.map(({label}) => label.length));
  return rows.map(({label, syntax, setting}) => {
    const {value} = setting;
    const shown =
      typeof value === 'string' ? shownText(syntax, value) : inspect(value, {breakLength: Number.POSITIVE_INFINITY});
    return `${label.padEnd(width)}  ${shown}  (${describeSource(setting.source, cwd)})`;
  });
}

/** A source in few words: a configuration file is named as seen from the working directory. */
export function describeSource({kind, name}: ValueSource, cwd: string): string {
  return kind === 'config' ? relative(cwd, name) || name : name;
}

/**
 * The value of a required setting.
 * @throws RuntimeCliError `ERR_USAGE` when it is not set, saying how to set it.
 */
export function requireSetting<K extends SettingKey>(settings: Settings, key: K): NonNullable<Settings[K]>['value'] {
  const setting = settings[key];
  if (setting !== undefined) return setting.value;
  throw missingSetting(key);
}

export function missingSetting(key: SettingKey): RuntimeCliError {
  const {label, flag, config} = definitions[key];
  const places = [
    ...(flag === undefined ? [] : [String(variableOf(key))]),
    ...(config === undefined ? [] : [`${config} in mycli.config`]),
  ];
  const pass = flag === undefined ? 'Set' : `Pass --${flag.name} ${flag.value ?? 'VALUE'}, or set`;
  return createError('ERR_USAGE', `No ${label} specified.`, {suggestions: [`${pass} ${places.join(' or ')}.`]});
}

/** The flag and variable of a setting: `--target (MYCLI_TARGET)`. */
export function flagAndVariable(key: SettingKey): string {
  const {flag, label} = definitions[key];
  return flag === undefined ? label : `--${flag.name} (${String(variableOf(key))})`;
}

/** An error that names settings by their flags and variables, and suggests a login with the origin of `--origin`. */
export function describeError(error: unknown, settings: Settings): unknown {
  if (!isRuntimeCliError(error)) return error;
  const {code, message, advice, details, exitCode} = error;
  const {origin} = settings;
  const names = namesBySource(details?.['problems'], settings);
  const isLogin = code === 'ERR_CREDENTIALS_MISSING' || code === 'ERR_SETUP_INCOMPLETE';
  const place = isLogin && origin?.source.kind === 'flag' ? ['--origin', shownAddress(origin.value)] : [];
  if (names.length + place.length === 0) return error;
  const reword = (text: string) => {
    let reworded = text;
    for (const [key, name] of names)
      reworded = reworded.replace(new RegExp(`(?<![\\w-])${key}(?!\\w)`, 'g'), () => name);
    return reworded;
  };
  const complete = ({run}: CommandToRun) => ({run: run.join() === 'auth:login' ? [...run, ...place] : run});
  const suggestions = advice.map((said) =>
    partsOf(said).map((part) => (typeof part === 'string' ? reword(part) : complete(part))),
  );
  return createError(code, reword(message), {suggestions, details, exitCode, cause: error});
}

/** The settings that options with problems come from, with the name of a flag or a variable. */
function namesBySource(problems: unknown, settings: Settings): readonly (readonly [SettingKey, string])[] {
  const options: readonly unknown[] = Array.isArray(problems)
    ? problems.filter(isRecord).map(({option}) => option)
    : [];
  return settingKeys.flatMap((key) => {
    const source = settings[key]?.source;
    const isTyped = source?.kind === 'flag' || source?.kind === 'environment';
    return isTyped && options.includes(key) ? [[key, source.name] as const] : [];
  });
}
