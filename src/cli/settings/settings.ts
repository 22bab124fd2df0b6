import type {BundleV2MatchMode} from '../../bundle/types.js';
import type {Secret} from '../secret.js';

/** Where a value comes from. */
export interface SettingSource {
  readonly kind: 'flag' | 'environment' | 'config' | 'stored' | 'default';
  /** `--target`, `MYCLI_TARGET`, the path of the configuration file, what stored credentials are for, or `default`. */
  readonly name: string;
}

/** A resolved setting. */
export interface Setting<T> {
  readonly value: T;
  readonly source: SettingSource;
}

/** A setting that may be unset. */
type Optional<T> = Setting<T> | undefined;

/** Options of backends, by the backend's name. */
export type BackendOptions = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Settings that need nothing read: flag > environment > configuration file > default. */
export interface PlainSettings {
  readonly runtimeBackend: Setting<string>;
  readonly projectSlug?: Optional<string>;
  readonly targetSlug?: Optional<string>;
  readonly origin?: Optional<string>;
  readonly apiUser?: Optional<string>;
  readonly apiOrigin?: Optional<string>;
  readonly organizationId?: Optional<string>;
  readonly tokenUrl?: Optional<string>;
  readonly clientId?: Optional<string>;
  readonly scopes?: Optional<readonly string[]>;
  /** `backends` of the configuration file; `--backend-option` lies over those of the chosen backend. */
  readonly backendOptions: Setting<BackendOptions>;
  /** Seconds, above 0. */
  readonly requestTimeout: Setting<number>;
  readonly maxRetries: Setting<number>;
  /** Milliseconds. */
  readonly baseDelayMs: Setting<number>;
  /** Milliseconds. */
  readonly maxDelayMs: Setting<number>;
  readonly statusCodes: Setting<readonly number[]>;
  readonly rateLimitPrefix?: Optional<string>;
  /** Absolute. */
  readonly buildDirectory: Setting<string>;
  /** Absolute. */
  readonly projectDirectory: Setting<string>;
  readonly message?: Optional<string>;
  readonly ssrOnly?: Optional<readonly string[]>;
  readonly ssrShared?: Optional<readonly string[]>;
  /** Keys of the configuration file under those of the environment under those of flags. */
  readonly ssrParameters?: Optional<Readonly<Record<string, unknown>>>;
  readonly nodeVersion?: Optional<string>;
  readonly v2: Setting<boolean>;
  readonly ifChanged: Setting<boolean>;
  readonly rootDir?: Optional<string>;
  readonly configPath?: Optional<string>;
  readonly matchMode?: Optional<BundleV2MatchMode>;
  readonly ccOverrides?: Optional<readonly string[]>;
  readonly ignore?: Optional<readonly string[]>;
  readonly allowSensitiveFiles: Setting<boolean>;
  /** 0 to 9. */
  readonly compressionLevel?: Optional<number>;
  readonly wait: Setting<boolean>;
  readonly waitForSlot: Setting<boolean>;
  /** Seconds. */
  readonly pollInterval: Setting<number>;
  /** Seconds; 0: no limit. */
  readonly timeout: Setting<number>;
}

/** Dependencies of a bundle, or `auto`: those that package.json declares. */
export type Dependencies = Readonly<Record<string, string>> | 'auto';

/** Settings as resolution leaves them: secrets and `dependencies` may still name a file or stdin. */
export interface UnreadSettings extends PlainSettings {
  readonly apiKey?: Optional<string>;
  readonly clientSecret?: Optional<string>;
  readonly apiToken?: Optional<string>;
  readonly dependencies?: Optional<string | Readonly<Record<string, string>>>;
}

/** All settings of a command. */
export interface Settings extends PlainSettings {
  readonly apiKey?: Optional<Secret>;
  readonly clientSecret?: Optional<Secret>;
  readonly apiToken?: Optional<Secret>;
  readonly dependencies?: Optional<Dependencies>;
}

/** The name of a setting. */
export type SettingKey = keyof Settings;
