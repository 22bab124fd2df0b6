import {createError} from '../../errors/index.js';
import type {Environment} from '../../http/types.js';
import {environmentName} from '../flags/environment-name.js';
import {InvalidValue} from './invalid-value.js';
import type {SettingParser} from './parsers.js';
import {settingNames} from './setting-names.js';
import type {Setting, SettingKey, SettingSource} from './settings.js';

/** Flags as the command line gave them; nothing that the environment or a default filled in. */
export type FlagValues = Readonly<Record<string, unknown>>;

/** Where the values of settings are looked for, beside the configuration file. */
export interface SettingReaderOptions {
  readonly flags: FlagValues;
  readonly env: Environment;
  /** Path of the configuration file. */
  readonly configPath?: string | undefined;
}

/** How a setting is read. */
export interface SettingReading<T> {
  readonly parse: SettingParser<T>;
  /** For environment variables, when they are written differently. @default `parse` */
  readonly parseVariable?: SettingParser<T>;
  /** What the configuration file says. */
  readonly configured?: T | undefined;
}

const defaultSource: SettingSource = {kind: 'default', name: 'default'};

/** Reads settings: flag > environment > configuration file > default. */
export class SettingReader {
  readonly #options: SettingReaderOptions;

  constructor(options: SettingReaderOptions) {
    this.#options = options;
  }

  /** A setting that may be unset. */
  optional<T>(key: SettingKey, reading: SettingReading<T>): Setting<T> | undefined {
    return this.#fromFlag(key, reading) ?? this.#fromVariable(key, reading) ?? this.#fromConfig(reading);
  }

  /** A setting with a default. */
  defaulted<T>(key: SettingKey, fallback: T, reading: SettingReading<T>): Setting<T> {
    return this.optional(key, reading) ?? {value: fallback, source: defaultSource};
  }

  /** A setting whose keys are overlaid, source by source; it names the strongest source that it has values from. */
  overlaid(
    key: SettingKey,
    reading: SettingReading<Readonly<Record<string, unknown>>>,
  ): Setting<Readonly<Record<string, unknown>>> | undefined {
    const layers = [this.#fromConfig(reading), this.#fromVariable(key, reading), this.#fromFlag(key, reading)];
    const set = layers.filter((layer) => layer !== undefined);
    const strongest = set.at(-1);
    if (strongest === undefined) return undefined;
    return {value: Object.fromEntries(set.flatMap(({value}) => Object.entries(value))), source: strongest.source};
  }

  #fromFlag<T>(key: SettingKey, reading: SettingReading<T>): Setting<T> | undefined {
    const {flag} = settingNames[key];
    const given = flag === undefined ? undefined : this.#options.flags[flag];
    if (flag === undefined || given === undefined) return undefined;
    const texts: readonly unknown[] = Array.isArray(given) ? given : [given];
    return parsed(reading.parse, texts.map(String), {kind: 'flag', name: `--${flag}`});
  }

  #fromVariable<T>(key: SettingKey, reading: SettingReading<T>): Setting<T> | undefined {
    const {flag} = settingNames[key];
    if (flag === undefined) return undefined;
    const name = environmentName(flag);
    const given = this.#options.env[name];
    // CI systems set variables of absent secrets to nothing.
    if (given === undefined || given.trim() === '') return undefined;
    return parsed(reading.parseVariable ?? reading.parse, [given], {kind: 'environment', name});
  }

  #fromConfig<T>({configured}: SettingReading<T>): Setting<T> | undefined {
    const {configPath} = this.#options;
    if (configured === undefined || configPath === undefined) return undefined;
    return {value: configured, source: {kind: 'config', name: configPath}};
  }
}

function parsed<T>(parse: SettingParser<T>, texts: readonly string[], source: SettingSource): Setting<T> {
  try {
    return {value: parse(texts), source};
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    // The value is not repeated: it may be a secret in the wrong place.
    throw createError(source.kind === 'flag' ? 'ERR_USAGE' : 'ERR_OPTION_INVALID', `${source.name} ${error.message}.`);
  }
}
