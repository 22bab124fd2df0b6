import {OptionText} from '../../backends/option-text.js';
import {isRecord} from '../../errors/json.js';
import {isSecretName} from '../../http/redact.js';
import {loadConfigFile} from './config-file.js';
import {withStoredCredentials} from '../credentials/stored-settings.js';
import {Secret} from './secret.js';
import {definitions, settingKeys, variableOf, type SettingKey} from './definitions.js';
import type {SettingsOrigin} from './load-settings.js';
import {
  resolvedSources,
  resolveSetting,
  resolveSettings,
  type ResolvedSource,
  type SettingsInput,
} from './resolve-settings.js';
import type {Settings, ValueSource, UnreadSettings} from './settings.js';

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
  /** Highest precedence first, the default last. Does not include stored credentials. */
  readonly overrode: readonly OverriddenValue[];
}

/** Every setting that has a value. */
export interface ExplainedSettings {
  /** Path of the configuration file, if there is one. */
  readonly configFile?: string | undefined;
  readonly settings: readonly ExplainedSetting[];
  /** The resolved settings; secrets and files are not read. */
  readonly resolved: UnreadSettings;
}

/**
 * Resolves every setting, with its value in each source. Secrets and `@FILE` are not read.
 * @throws RuntimeCliError of usage or input, as `loadSettings`.
 */
export async function explainSettings(origin: SettingsOrigin): Promise<ExplainedSettings> {
  const {flags, env, cwd, uid, warn, credentialFile} = origin;
  const file = await loadConfigFile({cwd, uid, warn}, origin.configFile);
  const {settings: config, targets, path: configPath} = file ?? {};
  const input: SettingsInput = {flags, env, cwd, config, targets, configPath};
  const resolved = resolveSettings(input);
  const unread = {...resolved, dependencies: undefined};
  const settings = credentialFile === undefined ? unread : await withStoredCredentials(unread, credentialFile);
  return {configFile: file?.path, settings: settingKeys.flatMap((key) => explain(key, settings, input)), resolved};
}

function explain(name: SettingKey, settings: Settings, input: SettingsInput): readonly ExplainedSetting[] {
  const setting = settings[name];
  const stored =
    setting?.source.kind === 'stored' ? [{source: setting.source, value: masked(name, setting.value)}] : [];
  const [strongest, ...overrode] = [...stored, ...valuesOf(name, input, resolvedSources)];
  return strongest === undefined ? [] : [{name, source: strongest.source, value: strongest.value, overrode}];
}

/** The values of a setting by source, highest precedence first. Each is what would apply without the ones before it. */
function valuesOf(
  key: SettingKey,
  input: SettingsInput,
  sources: readonly ResolvedSource[],
): readonly OverriddenValue[] {
  const found = lookUp(key, input, sources);
  if (found === undefined) return [];
  const weaker = sources.slice(sources.findIndex((source) => source === found.source.kind) + 1);
  return [found, ...valuesOf(key, input, weaker)];
}

function lookUp(
  key: SettingKey,
  input: SettingsInput,
  sources: readonly ResolvedSource[],
): OverriddenValue | undefined {
  try {
    const setting = resolveSetting(key, input, sources);
    return setting && {source: setting.source, value: masked(key, setting.value)};
  } catch (error) {
    // The effective values are already resolved, so only an overridden variable can be invalid.
    const name = variableOf(key);
    if (name === undefined || !(error instanceof Error)) throw error;
    return {source: {kind: 'environment', name}, problem: error.message};
  }
}

function masked(key: SettingKey, value: unknown): unknown {
  const {kind, owner} = definitions[key];
  if (value instanceof Secret) return value.toString();
  if (typeof value === 'string') return kind.shown?.(value) ?? value;
  return owner === undefined ? value : withoutSecrets(value);
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
