import type {DefaultedKey, SettingKey, SettingValue} from './definitions.js';

/** Source of a value. */
export interface SettingSource {
  readonly kind: 'flag' | 'environment' | 'config' | 'stored' | 'default';
  /** `--target`, `MYCLI_TARGET`, the path of the configuration file, the origin of stored credentials, or `default`. */
  readonly name: string;
}

/** A resolved setting. */
export interface Setting<T> {
  readonly value: T;
  readonly source: SettingSource;
}

/** A type for each setting: of those that have a default, and of those that may be unset. */
type Each<Values extends Readonly<Record<SettingKey, unknown>>> = {
  readonly [K in DefaultedKey]: Setting<Values[K]>;
} & {
  readonly [K in Exclude<SettingKey, DefaultedKey>]?: Setting<Values[K]> | undefined;
};

/** Dependencies of a bundle, or `auto`: those that package.json declares. */
export type Dependencies = Exclude<SettingValue<'dependencies'>, string> | 'auto';

/** Settings as resolution leaves them: secrets and `dependencies` may still name a file or stdin. */
export type UnreadSettings = Each<{[K in SettingKey]: SettingValue<K>}>;

/** All settings of a command. */
export type Settings = Each<{[K in SettingKey]: K extends 'dependencies' ? Dependencies : SettingValue<K>}>;

/** What a configuration file says about settings; its paths are absolute. */
export type ConfigSettings = {readonly [K in SettingKey]?: SettingValue<K> | undefined};
