import {shownAddress} from '../../http/origin.js';
import {isSecretKey} from '../config/check-config-keys.js';
import {loadConfigFile} from '../config/load-config-file.js';
import {withStoredCredentials} from '../credentials/stored-settings.js';
import {environmentName} from '../flags/environment-name.js';
import {Secret} from '../secret.js';
import type {SettingsOrigin} from './load-settings.js';
import {isRecord} from './parsers.js';
import {resolveSettings, type SettingsInput} from './resolve-settings.js';
import {settingNames} from './setting-names.js';
import type {Setting, SettingKey, Settings, SettingSource, UnreadSettings} from './settings.js';

/** A value that a stronger source has overridden. */
export interface OverriddenValue {
  readonly source: SettingSource;
  /** Secrets are masked. */
  readonly value?: unknown;
  /** Why it could not have been used. */
  readonly problem?: string | undefined;
}

/** A setting, where its value comes from, and what it overrode. */
export interface ExplainedSetting {
  readonly name: SettingKey;
  readonly source: SettingSource;
  /** Secrets are masked. */
  readonly value: unknown;
  /** The strongest first; the default is the last. Overridden stored credentials are not among them. */
  readonly overrode: readonly OverriddenValue[];
}

/** Every setting that has a value. */
export interface ExplainedSettings {
  /** Path of the configuration file, when there is one. */
  readonly configFile?: string | undefined;
  readonly settings: readonly ExplainedSetting[];
  /** As they are resolved; secrets and files are not read. */
  readonly resolved: UnreadSettings;
}

const secretSettings: ReadonlySet<SettingKey> = new Set(['apiKey', 'clientSecret', 'apiToken']);
const addressSettings: ReadonlySet<SettingKey> = new Set(['origin', 'apiOrigin', 'tokenUrl']);

/**
 * Resolves every setting, with what each source says of it. Secrets and `@FILE` are not read.
 * @throws RuntimeCliError of usage or input, as `loadSettings`.
 */
export async function explainSettings(origin: SettingsOrigin): Promise<ExplainedSettings> {
  const {flags, env, cwd, uid, warn} = origin;
  const file = await loadConfigFile({cwd, uid, warn}, origin.configFile);
  const input: SettingsInput = {flags, env, cwd, config: file?.settings, configPath: file?.path};
  const resolved = resolveSettings(input);
  const settings = await withStored(resolved, origin);
  const names = Object.keys(settingNames) as SettingKey[];
  return {configFile: file?.path, settings: names.flatMap((name) => explain(name, settings, input)), resolved};
}

/** Credentials that are stored for the resolved origins; those that are overridden are not looked for. */
async function withStored(resolved: UnreadSettings, {credentialFile}: SettingsOrigin): Promise<Settings> {
  const {apiKey, clientSecret, apiToken, ...plain} = resolved;
  const settings = {
    ...plain,
    dependencies: undefined,
    apiKey: unread(apiKey),
    clientSecret: unread(clientSecret),
    apiToken: unread(apiToken),
  };
  return credentialFile === undefined ? settings : withStoredCredentials(settings, credentialFile);
}

function unread(setting: Setting<string> | undefined): Setting<Secret> | undefined {
  return setting && {value: new Secret(setting.value), source: setting.source};
}

function explain(name: SettingKey, settings: Settings, input: SettingsInput): readonly ExplainedSetting[] {
  const setting = settings[name];
  const stored =
    setting?.source.kind === 'stored' ? [{source: setting.source, value: masked(name, setting.value)}] : [];
  const [strongest, ...overrode] = [...stored, ...valuesOf(name, input)];
  return strongest === undefined ? [] : [{name, source: strongest.source, value: strongest.value, overrode}];
}

/** The values of a setting from the strongest source down: what is left when the stronger ones say nothing of it. */
function valuesOf(key: SettingKey, input: SettingsInput): readonly OverriddenValue[] {
  const found = lookUp(key, input);
  if (found === undefined) return [];
  const weaker = without(key, found.source.kind, input);
  return weaker === undefined ? [found] : [found, ...valuesOf(key, weaker)];
}

function lookUp(key: SettingKey, input: SettingsInput): OverriddenValue | undefined {
  try {
    const setting = resolveSettings(input)[key];
    return setting && {source: setting.source, value: masked(key, setting.value)};
  } catch (error) {
    // Everything that counts was resolved before: only an overridden variable can be wrong.
    const {flag} = settingNames[key];
    if (flag === undefined || !(error instanceof Error)) throw error;
    return {source: {kind: 'environment', name: environmentName(flag)}, problem: error.message};
  }
}

/** The same input without what a source says of one setting; nothing when it is a default. */
function without(key: SettingKey, kind: SettingSource['kind'], input: SettingsInput): SettingsInput | undefined {
  const {flag = ''} = settingNames[key];
  switch (kind) {
    case 'flag':
      return {...input, flags: {...input.flags, [flag]: undefined}};
    case 'environment':
      return {...input, env: {...input.env, [environmentName(flag)]: undefined}};
    case 'config':
      return {...input, config: {...input.config, [key]: undefined}};
    case 'stored':
    case 'default':
      return undefined;
  }
}

function masked(key: SettingKey, value: unknown): unknown {
  if (secretSettings.has(key)) return new Secret('').toString();
  // What is no URL is not refused here, and may hold a password all the same.
  if (addressSettings.has(key) && typeof value === 'string') return shownAddress(value);
  return key === 'backendOptions' ? withoutSecrets(value) : value;
}

/** Options of backends whose names sound like secrets are masked, however deep they are. */
function withoutSecrets(value: unknown): unknown {
  if (!isRecord(value)) return value;
  const entries = Object.entries(value);
  return Object.fromEntries(
    entries.map(([key, item]) => [key, isSecretKey(key) ? new Secret('').toString() : withoutSecrets(item)]),
  );
}
