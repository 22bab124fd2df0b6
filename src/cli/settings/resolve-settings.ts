import {OptionText} from '../../backends/option-text.js';
import {createError} from '../../errors/index.js';
import {isRecord} from '../../errors/json.js';
import {isSecretName} from '../../http/redact.js';
import type {Environment} from '../../http/types.js';
import {definitions, settingKeys, variableOf, type SettingKey} from '../../settings/definitions.js';
import {Secret} from './text.js';
import type {ConfigSettings, Setting, SettingValue, UnreadSettings, ValueSource} from './settings.js';
import {finished, InvalidValue, isMerged, judged, merged, optionsAt, readings, shownText} from './text.js';

/** Flags as given on the command line, without environment variables or defaults. */
export type FlagValues = Readonly<Record<string, unknown>>;

/** The sources to resolve settings from. */
export interface SettingsInput {
  readonly flags: FlagValues;
  readonly env: Environment;
  /** Absolute base directory for relative paths in flags and environment variables. */
  readonly cwd: string;
  /** The values of the configuration file. */
  readonly config?: ConfigSettings | undefined;
  /** The values of the configuration file for single targets, by slug. */
  readonly targets?: ReadonlyMap<string, ConfigSettings> | undefined;
  /** Path of the configuration file. */
  readonly configPath?: string | undefined;
}

/** What one source has for a setting. Reading it may fail. */
interface Candidate {
  readonly source: ValueSource;
  readonly read: () => unknown;
}

/**
 * Resolves every setting with its source: flag > environment > configuration file > default.
 * @throws RuntimeCliError `ERR_USAGE` for a flag, `ERR_OPTION_INVALID` for an environment variable with an invalid
 * value.
 */
export function resolveSettings(input: SettingsInput): UnreadSettings {
  const resolved = settingKeys.map((key) => [key, resolveSetting(key, input)] as const);
  // TypeScript cannot know that a loop covered every key. Those with a default always have a value.
  return Object.fromEntries<Setting<unknown> | undefined>(resolved) as UnreadSettings;
}

/**
 * Resolves one setting.
 * @throws RuntimeCliError as `resolveSettings`.
 */
export function resolveSetting<K extends SettingKey>(
  key: K,
  input: SettingsInput,
): Setting<SettingValue<K>> | undefined {
  const candidates = candidatesFor(key, input);
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

/** The sources that have a setting, highest precedence first. Stored credentials come before the default. */
function candidatesFor(key: SettingKey, input: SettingsInput): readonly Candidate[] {
  const {flag, syntax, default: standard} = definitions[key];
  const {convert, convertVariable} = readings[syntax];
  const given = flag && input.flags[flag.name];
  const variable = variableOf(key);
  const inEnvironment = variable === undefined ? undefined : input.env[variable];
  const configured = configuredValue(key, input);
  const candidates: Candidate[] = [];
  if (flag !== undefined && given !== undefined) {
    const source: ValueSource = {kind: 'flag', name: `--${flag.name}`};
    const texts = [given].flat().map(String);
    candidates.push({source, read: () => fromText(key, source, input, () => convert(texts))});
  }
  if (variable !== undefined && inEnvironment !== undefined && !isBlank(inEnvironment)) {
    const source: ValueSource = {kind: 'environment', name: variable};
    const read = () => convertVariable?.(inEnvironment) ?? convert([inEnvironment]);
    candidates.push({source, read: () => fromText(key, source, input, read)});
  }
  if (configured !== undefined && input.configPath !== undefined) {
    const source: ValueSource = {kind: 'config', name: input.configPath};
    candidates.push({source, read: () => fromConfig(key, configured, source.name, input)});
  }
  if (standard !== undefined) {
    const source: ValueSource = {kind: 'default', name: 'default'};
    candidates.push({source, read: () => finished(syntax, standard, input.cwd)});
  }
  return candidates;
}

/** Whether the variable of a setting is set but empty, as CI systems leave those of missing secrets. */
export function isVariableEmpty(key: SettingKey, env: Environment): boolean {
  const name = variableOf(key);
  const given = name === undefined ? undefined : env[name];
  return given !== undefined && isBlank(given);
}

function isBlank(text: string): boolean {
  return text.trim() === '';
}

function fromText(key: SettingKey, source: ValueSource, input: SettingsInput, convert: () => unknown): unknown {
  const {schema, syntax} = definitions[key];
  try {
    const value = judged(readings[syntax].schema ?? schema, convert());
    if (syntax === 'backendOptions') return {[String(resolveSetting('runtimeBackend', input)?.value)]: value};
    return finished(syntax, value, input.cwd);
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    // The value is not repeated, because it may be a misplaced secret.
    throw createError(source.kind === 'flag' ? 'ERR_USAGE' : 'ERR_OPTION_INVALID', `${source.name} ${error.message}.`);
  }
}

function fromConfig(key: SettingKey, value: unknown, path: string, input: SettingsInput): unknown {
  const {syntax, config} = definitions[key];
  if (syntax !== 'backendOptions') return value;
  try {
    return optionsAt(value, resolveSetting('targetSlug', input)?.value);
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    throw createError('ERR_CONFIG_INVALID', `${String(config)} in ${path} ${error.message}.`);
  }
}

/** The value in the configuration file: for the target of the command if there is one, or else for all targets. */
function configuredValue(key: SettingKey, input: SettingsInput): unknown {
  const {config, targets} = input;
  if (definitions[key].perTarget !== true || targets === undefined || targets.size === 0) return config?.[key];
  const target = resolveSetting('targetSlug', input)?.value;
  return (target === undefined ? undefined : targets.get(target)?.[key]) ?? config?.[key];
}

/** A value overridden by a source with higher precedence. */
export interface OverriddenValue {
  readonly source: ValueSource;
  /** Secrets are masked. */
  readonly value?: unknown;
  /** Why the value is invalid. */
  readonly problem?: string | undefined;
}

/** The values of a setting by source, highest precedence first. Each is what would apply without the ones before it. */
export function explainSetting(key: SettingKey, input: SettingsInput): readonly OverriddenValue[] {
  const candidates = candidatesFor(key, input);
  return candidates.map(({source}, index) => {
    try {
      return {source, value: masked(key, valueOf(key, candidates.slice(index)))};
    } catch (error) {
      // The effective values are already resolved, so only an overridden variable can be invalid.
      if (!(error instanceof Error)) throw error;
      return {source, problem: error.message};
    }
  });
}

/** A value without secrets. */
export function masked(key: SettingKey, value: unknown): unknown {
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
