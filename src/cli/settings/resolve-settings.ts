import {OptionText} from '../../backends/option-text.js';
import {createError} from '../../errors/index.js';
import {isRecord} from '../../errors/json.js';
import {isSecretName} from '../../http/redact.js';
import type {Environment} from '../../http/types.js';
import {definitions, settingKeys, variableOf, type SettingKey} from '../../settings/definitions.js';
import type {ConfigFile, Setting, Settings, SettingValue, ValueSource} from './settings.js';
import {finished, InvalidValue, isMerged, judged, merged, optionsAt, readings, Secret, shownText} from './text.js';

/** Flags as given on the command line, without environment variables or defaults. */
export type FlagValues = Readonly<Record<string, unknown>>;

export interface SettingsSources {
  readonly flags: FlagValues;
  readonly env: Environment;
  /** Absolute base directory for relative paths in flags and environment variables. */
  readonly cwd: string;
  readonly file?: ConfigFile | undefined;
  /** Stored credentials, for the service that the other sources lead to. */
  readonly stored?: Partial<Settings> | undefined;
}

/** What one source has for a setting. Reading it may fail. */
interface Candidate {
  readonly source: ValueSource;
  readonly read: () => unknown;
}

/** The sources that have a setting: flag > variable > configuration file > stored credentials > default. */
function candidatesFor(key: SettingKey, sources: SettingsSources): readonly Candidate[] {
  return [fromFlag, fromVariable, fromFile, fromStored, fromDefault].flatMap((find) => find(key, sources) ?? []);
}

/**
 * Resolves every setting with its source. Secrets are not read: they may still be `@FILE` or `-`.
 * @throws RuntimeCliError `ERR_USAGE` for a flag, `ERR_OPTION_INVALID` for an environment variable with an invalid
 * value.
 */
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

/** The value that the first of the candidates gives, pairs merged over those of the others. */
function valueOf(key: SettingKey, candidates: readonly Candidate[]): unknown {
  const {syntax} = definitions[key];
  if (!isMerged(syntax)) return candidates[0]?.read();
  return candidates.map(({read}) => read()).reduceRight((weaker, stronger) => merged(syntax, weaker, stronger));
}

function fromFlag(key: SettingKey, sources: SettingsSources): Candidate | undefined {
  const {flag} = definitions[key];
  const given = flag && sources.flags[flag.name];
  if (flag === undefined || given === undefined) return undefined;
  const source = {kind: 'flag', name: `--${flag.name}`} as const;
  return {source, read: () => fromText(key, source, [given].flat().map(String), sources)};
}

function fromVariable(key: SettingKey, sources: SettingsSources): Candidate | undefined {
  const name = variableOf(key);
  const given = name === undefined ? undefined : sources.env[name];
  if (name === undefined || given === undefined || given.trim() === '') return undefined;
  const source = {kind: 'environment', name} as const;
  return {source, read: () => fromText(key, source, [given], sources)};
}

function fromFile(key: SettingKey, sources: SettingsSources): Candidate | undefined {
  const {file} = sources;
  if (file === undefined) return undefined;
  const {syntax, config, perTarget} = definitions[key];
  const targetSlug = () => resolveSetting('targetSlug', sources)?.value ?? '';
  const own = perTarget === true && file.targets.size > 0 ? file.targets.get(targetSlug())?.[key] : undefined;
  const value = own ?? file.settings[key];
  if (value === undefined) return undefined;
  const read = () => {
    try {
      return syntax === 'backendOptions' ? optionsAt(value, targetSlug()) : value;
    } catch (error) {
      if (!(error instanceof InvalidValue)) throw error;
      throw createError('ERR_CONFIG_INVALID', `${String(config)} in ${file.path} ${error.message}.`);
    }
  };
  return {source: {kind: 'config', name: file.path}, read};
}

function fromStored(key: SettingKey, {stored}: SettingsSources): Candidate | undefined {
  const setting = stored?.[key];
  return setting && {source: setting.source, read: () => setting.value};
}

function fromDefault(key: SettingKey, {cwd}: SettingsSources): Candidate | undefined {
  const {default: standard, syntax} = definitions[key];
  if (standard === undefined) return undefined;
  return {source: {kind: 'default', name: 'default'}, read: () => finished(syntax, standard, cwd)};
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
    const value = judged(textSchema, convert(texts, {name, directory, isVariable: kind === 'environment'}));
    if (syntax === 'backendOptions') return {[String(resolveSetting('runtimeBackend', sources)?.value)]: value};
    return finished(syntax, value, directory);
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    // The value is not repeated, because it may be a misplaced secret.
    throw createError(kind === 'flag' ? 'ERR_USAGE' : 'ERR_OPTION_INVALID', `${name} ${error.message}.`);
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

/** A value without secrets. */
function masked(key: SettingKey, value: unknown): unknown {
  const {syntax} = definitions[key];
  if (value instanceof Secret) return value.toString();
  if (typeof value === 'string') return shownText(syntax, value);
  return syntax === 'backendOptions' ? withoutSecrets(value) : value;
}

/** Masks backend options whose names sound like secrets, at any depth. */
function withoutSecrets(value: unknown): unknown {
  if (value instanceof OptionText) return withoutSecrets(value.shown);
  if (!isRecord(value)) return value;
  const entries = Object.entries(value);
  return Object.fromEntries(
    entries.map(([key, item]) => [key, isSecretName(key) ? new Secret('').toString() : withoutSecrets(item)]),
  );
}
