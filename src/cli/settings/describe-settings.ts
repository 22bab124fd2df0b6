import {inspect} from 'node:util';
import {createError} from '../../errors/index.js';
import {definitions, variableOf, type SettingKey} from './definitions.js';
import type {Settings} from './settings.js';

/** What a command prints before it sends anything: where to, and who says so. */
export function describeResolved(settings: Settings): readonly string[] {
  const {apiOrigin, runtimeBackend} = settings;
  const showsApi = runtimeBackend.value === 'api' || (runtimeBackend.value === 'auto' && apiOrigin !== undefined);
  const showsLegacy = runtimeBackend.value === 'legacy' || runtimeBackend.value === 'auto';
  return describeSettings(settings, [
    'runtimeBackend',
    ...(showsApi ? (['apiOrigin'] as const) : []),
    ...(showsLegacy ? (['origin'] as const) : []),
    'projectSlug',
    'targetSlug',
  ]);
}

/** One line for each of the settings that is set, with its source: `project  my-shop  (--project)`. */
function describeSettings(settings: Settings, keys: readonly SettingKey[]): readonly string[] {
  const rows = keys.flatMap((key) => {
    const setting = settings[key];
    return setting === undefined ? [] : [{...definitions[key], setting}];
  });
  const width = Math.max(...rows.map(({label}) => label.length));
  return rows.map(({label, kind, setting}) => {
    const {value} = setting;
    const shown =
      typeof value === 'string'
        ? (kind.shown?.(value) ?? value)
        : inspect(value, {breakLength: Number.POSITIVE_INFINITY});
    return `${label.padEnd(width)}  ${shown}  (${setting.source.name})`;
  });
}

/**
 * The value of a setting that the command cannot do without.
 * @throws RuntimeCliError `ERR_USAGE` when it is not set, saying how to set it.
 */
export function requireSetting<K extends SettingKey>(settings: Settings, key: K): NonNullable<Settings[K]>['value'] {
  const setting = settings[key];
  if (setting !== undefined) return setting.value;
  const {label, flag, config} = definitions[key];
  throw createError('ERR_USAGE', `No ${label} specified.`, {
    suggestions: [
      ...(flag === undefined ? [] : [`Pass --${flag.name}, or set ${String(variableOf(key))}.`]),
      ...(config === undefined ? [] : [`Or set ${config} in a mycli.config file.`]),
    ],
  });
}

/** What to type for a setting, in words: `--target (MYCLI_TARGET)`. */
export function flagAndVariable(key: SettingKey): string {
  const {flag, label} = definitions[key];
  return flag === undefined ? label : `--${flag.name} (${String(variableOf(key))})`;
}
