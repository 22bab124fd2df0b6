import {createError} from '../../errors/index.js';
import type {Environment} from '../../http/types.js';
import {definitions, settingKeys, variableOf, type SettingKey, type SettingValue} from './definitions.js';
import {InvalidValue, judged} from './kinds.js';
import type {ConfigSettings, Setting, ValueSource, UnreadSettings} from './settings.js';

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

/** How to look up a setting in each source, highest precedence first. Stored credentials come before the default. */
const lookUp = {flag: fromFlag, environment: fromVariable, config: fromConfig, default: fromDefault};
/** A source that a setting is resolved from. */
export type ResolvedSource = keyof typeof lookUp;
/** These sources, highest precedence first. */
export const resolvedSources = Object.keys(lookUp) as ResolvedSource[];

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
 * @param sources where to look, highest precedence first.
 * @throws RuntimeCliError as `resolveSettings`.
 */
export function resolveSetting<K extends SettingKey>(
  key: K,
  input: SettingsInput,
  sources: readonly ResolvedSource[] = resolvedSources,
): Setting<SettingValue<K>> | undefined {
  const {overlay} = definitions[key].kind;
  let strongest: Setting<SettingValue<K>> | undefined;
  for (const source of sources) {
    const found = lookUp[source](key, input);
    if (found === undefined) continue;
    if (overlay === undefined) return found;
    strongest =
      strongest === undefined ? found : {value: overlay(found.value, strongest.value), source: strongest.source};
  }
  return strongest;
}

function fromFlag<K extends SettingKey>(key: K, input: SettingsInput): Setting<SettingValue<K>> | undefined {
  const {flag, kind} = definitions[key];
  const given = flag && input.flags[flag.name];
  if (flag === undefined || given === undefined) return undefined;
  const texts: readonly unknown[] = Array.isArray(given) ? given : [given];
  return fromText(key, {kind: 'flag', name: `--${flag.name}`}, input, () => kind.convert(texts.map(String)));
}

function fromVariable<K extends SettingKey>(key: K, input: SettingsInput): Setting<SettingValue<K>> | undefined {
  const {kind} = definitions[key];
  const name = variableOf(key);
  const given = name === undefined ? undefined : input.env[name];
  if (name === undefined || given === undefined || isBlank(given)) return undefined;
  return fromText(
    key,
    {kind: 'environment', name},
    input,
    () => kind.convertVariable?.(given) ?? kind.convert([given]),
  );
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

function fromText<K extends SettingKey>(
  key: K,
  source: ValueSource,
  input: SettingsInput,
  convert: () => unknown,
): Setting<SettingValue<K>> {
  const {kind, owner} = definitions[key];
  try {
    const converted = convert();
    const owned = owner === undefined ? converted : {[String(resolveSetting(owner, input)?.value)]: converted};
    const value = judged(kind, owned);
    return {value: kind.absolute?.(value, input.cwd) ?? value, source};
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    // The value is not repeated, because it may be a misplaced secret.
    throw createError(source.kind === 'flag' ? 'ERR_USAGE' : 'ERR_OPTION_INVALID', `${source.name} ${error.message}.`);
  }
}

function fromConfig<K extends SettingKey>(key: K, input: SettingsInput): Setting<SettingValue<K>> | undefined {
  const {configPath} = input;
  const value = configuredValue(key, input);
  if (value === undefined || configPath === undefined) return undefined;
  const {kind, place} = definitions[key];
  const source: ValueSource = {kind: 'config', name: configPath};
  if (kind.atTarget === undefined || place === undefined) return {value, source};
  const target = resolveSetting(place, input)?.value;
  try {
    return {value: kind.atTarget(value, target), source};
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    throw createError('ERR_CONFIG_INVALID', `${String(definitions[key].config)} in ${configPath} ${error.message}.`);
  }
}

/** The value in the configuration file: for the target of the command if there is one, or else for all targets. */
function configuredValue<K extends SettingKey>(key: K, input: SettingsInput): SettingValue<K> | undefined {
  const {config, targets} = input;
  const {perTarget} = definitions[key];
  if (perTarget === undefined || targets === undefined || targets.size === 0) return config?.[key];
  const target = resolveSetting(perTarget, input)?.value;
  return (target === undefined ? undefined : targets.get(target)?.[key]) ?? config?.[key];
}

function fromDefault<K extends SettingKey>(key: K, {cwd}: SettingsInput): Setting<SettingValue<K>> | undefined {
  const {default: value, kind} = definitions[key];
  if (value === undefined) return undefined;
  return {value: kind.absolute?.(value, cwd) ?? value, source: {kind: 'default', name: 'default'}};
}
