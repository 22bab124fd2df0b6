import {environmentName} from '../flags/environment-name.js';
import type {SettingKey} from './settings.js';

/** How people call a setting, and where they can set it. */
export interface SettingName {
  /** Begins "The ... is not known". */
  readonly label: string;
  /** Name of the flag, without dashes. */
  readonly flag?: string;
  /** Key in the configuration file; none for secrets and for what belongs to one run. */
  readonly config?: string;
}

/** The names of every setting. */
export const settingNames: Readonly<Record<SettingKey, SettingName>> = {
  projectSlug: {label: 'project', flag: 'project', config: 'projectSlug'},
  targetSlug: {label: 'target', flag: 'target', config: 'targetSlug'},
  runtimeBackend: {label: 'backend', flag: 'runtime-backend', config: 'runtimeBackend'},
  origin: {label: 'origin', flag: 'origin', config: 'origin'},
  apiKey: {label: 'API key', flag: 'api-key'},
  apiUser: {label: 'user of the API key', flag: 'api-user', config: 'apiUser'},
  apiOrigin: {label: 'Api origin', flag: 'api-origin', config: 'api.origin'},
  organizationId: {label: 'organization', flag: 'organization', config: 'api.organizationId'},
  tokenUrl: {label: 'token URL', flag: 'token-url', config: 'api.tokenUrl'},
  clientId: {label: 'client id', flag: 'client-id', config: 'api.clientId'},
  clientSecret: {label: 'client secret', flag: 'client-secret'},
  scopes: {label: 'OAuth scopes', flag: 'scope', config: 'api.scopes'},
  apiToken: {label: 'Api token', flag: 'api-token'},
  backendOptions: {label: 'backend options', flag: 'backend-option', config: 'backends'},
  requestTimeout: {label: 'request timeout', flag: 'request-timeout', config: 'requestTimeout'},
  maxRetries: {label: 'number of retries', flag: 'max-retries', config: 'rateLimit.maxRetries'},
  baseDelayMs: {label: 'base delay of retries', flag: 'retry-base-delay', config: 'rateLimit.baseDelayMs'},
  maxDelayMs: {label: 'longest delay of retries', flag: 'retry-max-delay', config: 'rateLimit.maxDelayMs'},
  statusCodes: {label: 'rate limit statuses', flag: 'retry-status', config: 'rateLimit.statusCodes'},
  rateLimitPrefix: {label: 'prefix of rate limit messages', config: 'rateLimit.prefix'},
  buildDirectory: {label: 'build directory', flag: 'build-directory', config: 'buildDirectory'},
  projectDirectory: {label: 'project directory', flag: 'project-directory', config: 'projectDirectory'},
  message: {label: 'message', flag: 'message', config: 'message'},
  ssrOnly: {label: 'server-only patterns', flag: 'ssr-only', config: 'ssrOnly'},
  ssrShared: {label: 'shared patterns', flag: 'ssr-shared', config: 'ssrShared'},
  ssrParameters: {label: 'SSR parameters', flag: 'ssr-param', config: 'ssrParameters'},
  nodeVersion: {label: 'Node.js version', flag: 'node-version'},
  v2: {label: 'v2 format', flag: 'v2', config: 'v2'},
  ifChanged: {label: 'comparison with the last push', flag: 'if-changed', config: 'ifChanged'},
  rootDir: {label: 'root folder', flag: 'root-dir', config: 'rootDir'},
  configPath: {label: 'configuration path', flag: 'config-path', config: 'configPath'},
  matchMode: {label: 'match mode', flag: 'match-mode', config: 'matchMode'},
  dependencies: {label: 'dependencies', flag: 'dependencies', config: 'bundleMetadata.dependencies'},
  ccOverrides: {label: 'overrides', flag: 'cc-override', config: 'bundleMetadata.ccOverrides'},
  ignore: {label: 'ignore patterns', flag: 'ignore', config: 'ignore'},
  allowSensitiveFiles: {
    label: 'permission for sensitive files',
    flag: 'allow-sensitive-files',
    config: 'allowSensitiveFiles',
  },
  compressionLevel: {label: 'compression level', flag: 'compression-level', config: 'compressionLevel'},
  wait: {label: 'waiting', flag: 'wait', config: 'wait'},
  waitForSlot: {label: 'waiting for a running deployment', flag: 'wait-for-slot', config: 'waitForSlot'},
  pollInterval: {label: 'poll interval', flag: 'poll-interval', config: 'pollInterval'},
  timeout: {label: 'timeout', flag: 'timeout', config: 'timeout'},
};

/** What to type for a setting, in words: `--target (MYCLI_TARGET)`. */
export function flagAndVariable(key: SettingKey): string {
  const {flag, label} = settingNames[key];
  return flag === undefined ? label : `--${flag} (${environmentName(flag)})`;
}
