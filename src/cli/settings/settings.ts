import {relative} from 'node:path';
import {inspect} from 'node:util';
import {OptionText, stringsIn} from '../../backends/plugins/option-text.js';
import {backendTitle, mayUse} from '../../backends/names.js';
import {createError, type RunSetting} from '../../errors/index.js';
import {asRecord, isRecord, ownValue, textOrJson} from '../../text/json.js';
import {shownAddress} from '../../http/origin.js';
import {createMasker, isMaskedHeader, isSecretName, passwordsIn} from '../../http/redact.js';
import type {Environment} from '../../text/platform.js';
import type {Syntax} from '../../settings/row.js';
import {
  definitions,
  secretKeys,
  settingKeys,
  usualFlag,
  variableOf,
  type ConfigKey,
  type DefaultedKey,
  type FlagSet,
  type KeysOf,
  type SecretKey,
  type SettingKey,
  type ValidValue,
} from '../../settings/definitions.js';
import {finished, InvalidValue, judged, merged, readings, Secret} from './text.js';

export interface ValueSource {
  /** An argument counts as a flag. */
  readonly kind: 'flag' | 'environment' | 'config' | 'stored' | 'default';
  /** `--target`, `MYCLI_TARGET`, the path of the configuration file, the origin of stored credentials, or `default`. */
  readonly name: string;
}

export interface Setting<T> {
  readonly value: T;
  readonly source: ValueSource;
}

export type SettingValue<K extends SettingKey> = K extends SecretKey
  ? Secret
  : ValidValue<K> | (K extends 'dependencies' ? 'auto' : never);

/** All settings of a command. Those without a default may be unset. */
export type Settings = {
  readonly [K in DefaultedKey]: Setting<SettingValue<K>>;
} & {
  readonly [K in Exclude<SettingKey, DefaultedKey>]?: Setting<SettingValue<K>> | undefined;
};

export function valuesOf<Set extends FlagSet>(settings: Settings, set: Set) {
  const keys = settingKeys.filter((key) => definitions[key].set === set);
  // TypeScript cannot know that a loop covered every key.
  return Object.fromEntries<unknown>(keys.map((key) => [key, settings[key]?.value])) as {
    readonly [K in KeysOf<Set>]: NonNullable<Settings[K]>['value'] | (K extends DefaultedKey ? never : undefined);
  };
}

/** The values of the settings in an object of the configuration file, by their keys there. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- it is a part of the keys in the answer
export function valuesIn<Name extends string>(settings: Settings, object: Name) {
  const entries = settingKeys.flatMap((key) => {
    const [first, name] = definitions[key].config?.split('.') ?? [];
    return first === object && name !== undefined ? [[name, settings[key]?.value] as const] : [];
  });
  // TypeScript cannot know that a loop covered every key.
  return Object.fromEntries<unknown>(entries) as {
    readonly [K in SettingKey as ConfigKey<K> extends `${Name}.${infer Key}` ? Key : never]:
      | NonNullable<Settings[K]>['value']
      | (K extends DefaultedKey ? never : undefined);
  };
}

/** The settings in a configuration file, with absolute paths. */
export type ConfigSettings = {readonly [K in SettingKey]?: SettingValue<K> | undefined};

export interface ConfigFile {
  readonly path: string;
  /** Absolute folder that relative defaults belong to. */
  readonly directory: string;
  /** A project of its own between the working directory and the folder of the file: either could be meant. */
  readonly otherProject?: string | undefined;
  readonly settings: ConfigSettings;
  /** What it sets for each target, by slug: these values replace those for all targets. */
  readonly targets: ReadonlyMap<string, ConfigSettings>;
}

export type FlagValues = Readonly<Record<string, unknown>>;

/** The target that an argument of a command means. */
export interface TargetArgument {
  readonly slug: string;
  /** As in the help: `SLUG`. */
  readonly argument: string;
}

export interface SettingsSources {
  readonly flags: FlagValues;
  readonly target?: TargetArgument | undefined;
  readonly env: Environment;
  /** Absolute base directory for relative paths in flags and environment variables. */
  readonly cwd: string;
  readonly file?: ConfigFile | undefined;
  readonly stored?: Partial<Settings> | undefined;
}

interface Candidate {
  readonly source: ValueSource;
  readonly read: () => unknown;
}

/** The sources that have a setting: flag > variable > configuration file > stored credentials > default. */
function candidatesFor(key: SettingKey, sources: SettingsSources): readonly Candidate[] {
  const {flag, syntax, default: standard} = definitions[key];
  const {flags, target, env, cwd, file, stored} = sources;
  const found: Candidate[] = [];
  const add = (source: ValueSource, read: () => unknown) => void found.push({source, read});
  const addText = (source: ValueSource, texts: readonly string[]) =>
    add(source, () => fromText(key, source, texts, sources));
  const text = flag && flags[flag.name];
  // A command with this flag can do without a target, whatever other sources say.
  if (key === 'targetSlug' && flags['no-target'] === true) return [];
  // A variable of a script that is not set.
  if (key === 'targetSlug' && text === '') {
    const suggestions = 'no-target' in flags ? ['To push without deploying, pass --no-target.'] : [];
    throw createError('ERR_USAGE', '--target must not be empty.', {suggestions});
  }
  if (key === 'targetSlug' && target !== undefined) addText({kind: 'flag', name: target.argument}, [target.slug]);
  if (flag !== undefined && text !== undefined) {
    addText({kind: 'flag', name: `--${flag.name}`}, [text].flat().map(String));
  }
  const variable = variableOf(key) ?? '';
  const variableText = env[variable] ?? '';
  if (variableText.trim() !== '') addText({kind: 'environment', name: variable}, [variableText]);
  const configured = file && fromFile(key, file, sources);
  if (file !== undefined && configured !== undefined) add({kind: 'config', name: file.path}, () => configured);
  const setting = stored?.[key];
  if (setting !== undefined) add(setting.source, () => setting.value);
  if (standard !== undefined)
    add({kind: 'default', name: 'default'}, () => finished(syntax, standard, file?.directory ?? cwd));
  return found;
}

/** Resolves every setting with its source. Secrets are not read: they may still be `@FILE` or `-`. */
export function resolveSettings(sources: SettingsSources): Settings {
  const resolved = settingKeys.map((key) => [key, resolveSetting(key, sources)] as const);
  // TypeScript cannot know that a loop covered every key. Those with a default always have a value.
  return Object.fromEntries<Setting<unknown> | undefined>(resolved) as Settings;
}

function resolveSetting<K extends SettingKey>(key: K, sources: SettingsSources): Setting<SettingValue<K>> | undefined {
  const candidates = candidatesFor(key, sources);
  const [strongest] = candidates;
  // The schema of its row has made the value.
  return strongest && {value: valueOf(key, candidates) as SettingValue<K>, source: strongest.source};
}

function valueOf(key: SettingKey, candidates: readonly Candidate[]): unknown {
  const {depth = 0} = readings[definitions[key].syntax];
  if (depth === 0) return candidates[0]?.read();
  return candidates.map(({read}) => read()).reduceRight((weaker, stronger) => merged(weaker, stronger, depth));
}

function fromFile(key: SettingKey, {path, settings, targets}: ConfigFile, sources: SettingsSources): unknown {
  const target = () => resolveSetting('targetSlug', sources)?.value ?? '';
  if (key === 'backendOptions') return settings[key] && optionsAt(settings[key], target(), path);
  const isOwn = definitions[key].perTarget !== undefined && targets.size > 0;
  return (isOwn ? targets.get(target())?.[key] : undefined) ?? settings[key];
}

/** Options of backends for a target: those in `targets.SLUG` over the others. */
function optionsAt(owners: SettingValue<'backendOptions'>, target: string, path: string): unknown {
  const merging = Object.entries(owners).map(([owner, {targets = {}, ...base}]) => {
    if (isRecord(targets) && Object.values(targets).every(isRecord))
      return [owner, merged(base, ownValue(targets, target) ?? {}, 1)] as const;
    const problem = `must have an object of options for each target in ${owner}.targets`;
    throw createError('ERR_CONFIG_INVALID', `backends in ${path} ${problem}.`);
  });
  return Object.fromEntries(merging);
}

function fromText(
  key: SettingKey,
  {kind, name}: ValueSource,
  texts: readonly string[],
  sources: SettingsSources,
): unknown {
  const {schema, syntax} = definitions[key];
  const {convert, schema: textSchema = schema} = readings[syntax];
  const {cwd: directory} = sources;
  try {
    const value = judged(textSchema, convert(texts, {directory, isVariable: kind === 'environment'}));
    if (syntax === 'backendOptions') return {[String(resolveSetting('runtimeBackend', sources)?.value)]: value};
    return finished(syntax, value, directory);
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    // The value is not repeated, because it may be a misplaced secret.
    const {message, suggestions} = error;
    throw createError(kind === 'flag' ? 'ERR_USAGE' : 'ERR_OPTION_INVALID', `${name} ${message}.`, {suggestions});
  }
}

/** A value overridden by a source with higher precedence. */
export interface OverriddenValue {
  readonly source: ValueSource;
  /** Secrets are masked. */
  readonly value?: unknown;
  /** Why the value is invalid. */
  readonly problem?: string | undefined;
}

/** A setting with its value, its source and the values it overrode. */
export interface ExplainedSetting {
  readonly name: SettingKey;
  readonly source: ValueSource;
  /** Secrets are masked. */
  readonly value: unknown;
  /** Highest precedence first, the default last. Each is what would apply without the ones before it. */
  readonly overrode: readonly OverriddenValue[];
}

/** Every setting that has a value, with its value in each source. */
export function explainEach(sources: SettingsSources): readonly ExplainedSetting[] {
  return settingKeys.flatMap((name) => {
    const candidates = candidatesFor(name, sources);
    const values = candidates.map(({source}, index): OverriddenValue => {
      try {
        return {source, value: masked(name, valueOf(name, candidates.slice(index)))};
      } catch (error) {
        // The effective values are already resolved, so only an overridden variable can be invalid.
        if (!(error instanceof Error)) throw error;
        return {source, problem: error.message};
      }
    });
    const [strongest, ...overrode] = values;
    return strongest === undefined ? [] : [{name, source: strongest.source, value: strongest.value, overrode}];
  });
}

/** What to show of a text. A URL is not validated here, so it may contain a password. */
export function shownText(syntax: Syntax, value: string): string {
  return syntax === 'url' ? shownAddress(value) : value;
}

function masked(key: SettingKey, value: unknown): unknown {
  const {syntax} = definitions[key];
  if (value instanceof Secret) return value.toString();
  if (typeof value === 'string') return shownText(syntax, value);
  if (syntax === 'headers') {
    const shown = ([name, text]: readonly [string, unknown]) =>
      isMaskedHeader(name) && !String(text).startsWith('@') ? [name, new Secret('').toString()] : [name, text];
    return Object.fromEntries(Object.entries(asRecord(value)).map(shown));
  }
  return syntax === 'backendOptions' ? withoutSecrets(value) : value;
}

/** Masks backend options whose names sound like secrets, and passwords in URLs, at any depth. */
function withoutSecrets(value: unknown): unknown {
  if (value instanceof OptionText) return withoutSecrets(value.shown);
  if (typeof value === 'string') return createMasker(passwordsIn(value))(value);
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (!isRecord(value)) return value;
  const shown = (key: string, item: unknown) => (isSecretName(key) ? new Secret('').toString() : withoutSecrets(item));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shown(key, item)]));
}

export function secretValues(settings: Settings): readonly string[] {
  const {checkHeaders, check} = settings;
  const headers = [checkHeaders?.value, ...(check?.value ?? []).map((item) => item.headers)];
  return [
    ...secretKeys.flatMap((key) => settings[key]?.value.reveal() ?? []),
    ...stringsIn(settings.backendOptions.value).flatMap(passwordsIn),
    ...headers
      .flatMap((own) => Object.entries(own ?? {}))
      .flatMap(([name, value]) => (isMaskedHeader(name) ? [value] : [])),
  ];
}

/** What a command prints before it changes anything: the destination and its sources, except defaults. */
export function describeResolved(settings: Settings, cwd: string): readonly string[] {
  const {value: preference} = settings.runtimeBackend;
  const addresses = [
    ...(mayUse(preference, 'api') ? (['apiOrigin'] as const) : []),
    ...(mayUse(preference, 'legacy') ? (['origin'] as const) : []),
  ];
  return describeSettings(settings, ['runtimeBackend', ...addresses, 'projectSlug', 'targetSlug'], cwd);
}

/**
 * What suggested commands may have to name.
 * @param fresh as a shell resolves them without the flags and variables of this run
 * @param cwd that relative paths in flags belong to
 */
export function runSettings(run: Settings, fresh: Settings, flags: FlagValues, cwd: string): readonly RunSetting[] {
  return settingKeys.flatMap((key) => {
    const {flag, syntax} = definitions[key];
    if (flag === undefined) return [];
    const textOf = (value: string) => (syntax === 'path' ? relative(cwd, value) || '.' : shownText(syntax, value));
    const textsOf = (settings: Settings): readonly unknown[] => {
      const value: unknown = settings[key]?.value;
      // Never a secret, only the name of its file.
      if (value instanceof Secret)
        return settings === run && /^@/.test(String(flags[flag.name])) ? [flags[flag.name]] : [];
      // The only one that can serve.
      if (key === 'runtimeBackend' && value === 'auto' && run.apiOrigin === undefined) return ['legacy'];
      return key === 'backendOptions' ? optionTexts(settings) : [value].flat();
    };
    const shownOf = (settings: Settings) =>
      textsOf(settings)
        .filter((text) => typeof text === 'string' || typeof text === 'number')
        .map((text) => textOf(String(text)));
    const texts = {run: shownOf(run), fresh: shownOf(fresh)};
    // Options are merged one by one. What replaces a list is the whole list.
    const news = key === 'backendOptions' ? texts.run.filter((text) => !texts.fresh.includes(text)) : texts.run;
    return [{flag: `--${flag.name}` as const, ...texts, run: news}];
  });
}

/** The options of the chosen backend, as they are typed. Of a secret, only the name of its file. */
function optionTexts({runtimeBackend, backendOptions}: Settings): readonly string[] {
  const options = Object.entries(ownValue(backendOptions.value, runtimeBackend.value) ?? {});
  return options.flatMap(([name, value]) => {
    const text = textOrJson(value instanceof OptionText ? value.text : value);
    return isSecretName(name) && !text.startsWith('@') ? [] : [`${name}=${text}`];
  });
}

/** Whether a flag or a variable sets it: it is meant for this run. */
export function isTyped(setting: Setting<unknown> | undefined): boolean {
  return setting?.source.kind === 'flag' || setting?.source.kind === 'environment';
}

/** What an option is called where it was set: by its flag, its variable, or its key in the configuration file. */
export function nameOf(option: string, settings: Settings): string {
  const key = settingKeys.find((name) => name === option.split('.', 1)[0]);
  const {kind, name} = (key && settings[key]?.source) ?? {};
  if (key !== undefined && kind === 'config') return `${definitions[key].config ?? key} in ${String(name)}`;
  return kind === 'flag' || kind === 'environment' ? String(name) : option;
}

/** A line for each setting that has a value, with its source: `project  my-shop  (--project)`. */
export function describeSettings(settings: Settings, keys: readonly SettingKey[], cwd: string): readonly string[] {
  const rows = keys.flatMap((key) => {
    const setting = settings[key];
    return setting === undefined || setting.source.kind === 'default' ? [] : [{...definitions[key], key, setting}];
  });
  const width = Math.max(...rows.map(({label}) => label.length));
  return rows.map(({key, label, syntax, setting: {value, source}}) => {
    const plain = Array.isArray(value) ? value.join(' ') : value;
    const text = typeof plain === 'string' ? shownText(syntax, plain) : inspect(plain);
    // The service, or another branch, may keep a preview from this slug.
    const isPreview = key === 'targetSlug' && source.name === 'BRANCH';
    const shown = isPreview ? 'preview of the branch' : key === 'runtimeBackend' ? backendTitle(text) : text;
    return `${label.padEnd(width)}  ${shown}  (${sourceName(source, cwd)})`;
  });
}

/** A source in few words: a configuration file is named as seen from the working directory. */
export function sourceName({kind, name}: ValueSource, cwd: string): string {
  return kind === 'config' ? relative(cwd, name) || name : name;
}

export function requireSetting<K extends SettingKey>(settings: Settings, key: K): NonNullable<Settings[K]>['value'] {
  const setting = settings[key];
  if (setting !== undefined) return setting.value;
  throw missingSetting(key);
}

/** What a text names, where `running:` is what the configured target runs. */
export function withConfiguredTarget(text: string, settings: Settings): string {
  return text === 'running:' ? `running:${requireSetting(settings, 'targetSlug')}` : text;
}

/**
 * @param passed What to type for it in the command that needs it.
 * @param places Where else it can be set.
 */
export function missingSetting(key: SettingKey, passed = flagUsage(usualFlag(key)), places = placesOf(key)) {
  const code = ['origin', 'apiOrigin'].includes(key) ? 'ERR_ORIGIN_MISSING' : 'ERR_USAGE';
  const pass = passed === undefined ? 'Set' : `Pass ${passed}, or set`;
  return createError(code, `No ${definitions[key].label} specified.`, {suggestions: [`${pass} ${places}.`]});
}

/** `--origin URL` */
export function flagUsage(flag: ReturnType<typeof usualFlag>): string | undefined {
  return flag && `--${flag.name} ${flag.value ?? 'VALUE'}`;
}

/** Where a setting is kept: `MYCLI_TARGET or targetSlug in mycli.config`. */
export function placesOf(key: SettingKey): string {
  const {config} = definitions[key];
  const places = [variableOf(key), config === undefined ? undefined : `${config} in mycli.config`];
  return places.filter((place) => place !== undefined).join(' or ');
}

/** The flag and variable of a setting: `--target (MYCLI_TARGET)`. */
export function flagAndVariable(key: SettingKey): string {
  const flag = usualFlag(key);
  const variable = variableOf(key) ?? definitions[key].label;
  return flag === undefined ? variable : `--${flag.name} (${variable})`;
}
