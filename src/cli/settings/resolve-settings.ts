import {resolve} from 'node:path';
import type {ConfigSettings} from '../config/config-settings.js';
import * as parsers from './parsers.js';
import {SettingReader, type SettingReaderOptions} from './setting-reader.js';
import type {BackendOptions, PlainSettings, Setting, UnreadSettings} from './settings.js';

/** What settings are resolved from. */
export interface SettingsInput extends SettingReaderOptions {
  /** Absolute path that the relative ones of flags and environment variables start from. */
  readonly cwd: string;
  /** The values of the configuration file, its paths resolved. */
  readonly config?: ConfigSettings | undefined;
}

/**
 * Resolves every setting with its source: flag > environment > configuration file > default.
 * @throws RuntimeCliError `ERR_USAGE` for a flag, `ERR_OPTION_INVALID` for an environment variable with a wrong value.
 */
export function resolveSettings(input: SettingsInput): UnreadSettings {
  const reader = new SettingReader(input);
  const config = input.config ?? {};
  return {
    ...connectionSettings(reader, config),
    requestTimeout: requestTimeout(reader, config),
    ...rateLimitSettings(reader, config),
    ...bundleSettings(reader, config, input.cwd),
    ...waitSettings(reader, config),
  };
}

function connectionSettings(reader: SettingReader, config: ConfigSettings) {
  const {text, scopeList} = parsers;
  const runtimeBackend = reader.defaulted('runtimeBackend', 'auto', {parse: text, configured: config.runtimeBackend});
  return {
    runtimeBackend,
    projectSlug: reader.optional('projectSlug', {parse: text, configured: config.projectSlug}),
    targetSlug: reader.optional('targetSlug', {parse: text, configured: config.targetSlug}),
    origin: reader.optional('origin', {parse: text, configured: config.origin}),
    apiKey: reader.optional('apiKey', {parse: text}),
    apiUser: reader.optional('apiUser', {parse: text, configured: config.apiUser}),
    apiOrigin: reader.optional('apiOrigin', {parse: text, configured: config.apiOrigin}),
    organizationId: reader.optional('organizationId', {parse: text, configured: config.organizationId}),
    tokenUrl: reader.optional('tokenUrl', {parse: text, configured: config.tokenUrl}),
    clientId: reader.optional('clientId', {parse: text, configured: config.clientId}),
    clientSecret: reader.optional('clientSecret', {parse: text}),
    scopes: reader.optional('scopes', {parse: scopeList, configured: config.scopes}),
    apiToken: reader.optional('apiToken', {parse: text}),
    backendOptions: backendOptions(reader, config.backendOptions, runtimeBackend.value),
  };
}

function backendOptions(
  reader: SettingReader,
  configured: BackendOptions | undefined,
  backend: string,
): Setting<BackendOptions> {
  const setting = reader.overlaid('backendOptions', {
    parse: parsers.keyValues,
    parseVariable: parsers.keyValueList,
    configured: configured?.[backend],
  });
  if (setting === undefined) return reader.defaulted('backendOptions', {}, {parse: () => ({}), configured});
  return {value: {...configured, [backend]: setting.value}, source: setting.source};
}

function requestTimeout(reader: SettingReader, config: ConfigSettings): Setting<number> {
  const {decimal, longestTimeoutSeconds} = parsers;
  const what = `a number of seconds above 0, at most ${String(longestTimeoutSeconds)}`;
  const parse = decimal(what, (seconds) => seconds > 0 && seconds <= longestTimeoutSeconds);
  return reader.defaulted('requestTimeout', 300, {parse, configured: config.requestTimeout});
}

function rateLimitSettings(reader: SettingReader, config: ConfigSettings) {
  const {count, statusList} = parsers;
  // The defaults are those of `RateLimitMiddlewareConfig`.
  return {
    maxRetries: reader.defaulted('maxRetries', 3, {parse: count, configured: config.maxRetries}),
    baseDelayMs: reader.defaulted('baseDelayMs', 1000, {parse: count, configured: config.baseDelayMs}),
    maxDelayMs: reader.defaulted('maxDelayMs', 30_000, {parse: count, configured: config.maxDelayMs}),
    statusCodes: reader.defaulted('statusCodes', [429], {parse: statusList, configured: config.statusCodes}),
    rateLimitPrefix: reader.optional('rateLimitPrefix', {parse: parsers.text, configured: config.rateLimitPrefix}),
  };
}

function bundleSettings(reader: SettingReader, config: ConfigSettings, cwd: string) {
  const {text, list, toggle, keyValues, keyValueList} = parsers;
  const path: parsers.SettingParser<string> = (texts) => resolve(cwd, text(texts));
  return {
    buildDirectory: reader.defaulted('buildDirectory', resolve(cwd, 'build'), {
      parse: path,
      configured: config.buildDirectory,
    }),
    projectDirectory: reader.defaulted('projectDirectory', cwd, {parse: path, configured: config.projectDirectory}),
    message: reader.optional('message', {parse: text, configured: config.message}),
    ssrOnly: reader.optional('ssrOnly', {parse: list, configured: config.ssrOnly}),
    ssrShared: reader.optional('ssrShared', {parse: list, configured: config.ssrShared}),
    ssrParameters: reader.overlaid('ssrParameters', {
      parse: keyValues,
      parseVariable: keyValueList,
      configured: config.ssrParameters,
    }),
    nodeVersion: reader.optional('nodeVersion', {parse: text}),
    v2: reader.defaulted('v2', false, {parse: toggle, configured: config.v2}),
    ifChanged: reader.defaulted('ifChanged', false, {parse: toggle, configured: config.ifChanged}),
    rootDir: reader.optional('rootDir', {parse: text, configured: config.rootDir}),
    configPath: reader.optional('configPath', {parse: text, configured: config.configPath}),
    matchMode: reader.optional('matchMode', {parse: parsers.matchMode, configured: config.matchMode}),
    dependencies: reader.optional<string | Readonly<Record<string, string>>>('dependencies', {
      parse: text,
      configured: config.dependencies,
    }),
    ccOverrides: reader.optional('ccOverrides', {parse: list, configured: config.ccOverrides}),
    ignore: reader.optional('ignore', {parse: list, configured: config.ignore}),
    allowSensitiveFiles: reader.defaulted('allowSensitiveFiles', false, {
      parse: toggle,
      configured: config.allowSensitiveFiles,
    }),
    compressionLevel: reader.optional('compressionLevel', {
      parse: parsers.compressionLevel,
      configured: config.compressionLevel,
    }),
  };
}

function waitSettings(
  reader: SettingReader,
  config: ConfigSettings,
): Pick<PlainSettings, 'wait' | 'waitForSlot' | 'pollInterval' | 'timeout'> {
  const interval = parsers.decimal('a number of seconds above 0', (seconds) => seconds > 0);
  const duration = parsers.decimal('a number of seconds, 0 or more', () => true);
  return {
    wait: reader.defaulted('wait', false, {parse: parsers.toggle, configured: config.wait}),
    waitForSlot: reader.defaulted('waitForSlot', false, {parse: parsers.toggle, configured: config.waitForSlot}),
    pollInterval: reader.defaulted('pollInterval', 5, {parse: interval, configured: config.pollInterval}),
    timeout: reader.defaulted('timeout', 600, {parse: duration, configured: config.timeout}),
  };
}
