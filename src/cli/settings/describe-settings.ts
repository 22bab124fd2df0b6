import {inspect} from 'node:util';
import {shownAddress} from '../../http/origin.js';
import {settingNames} from './setting-names.js';
import type {SettingKey, Settings} from './settings.js';

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
export function describeSettings(settings: Settings, keys: readonly SettingKey[]): readonly string[] {
  const rows = keys.flatMap((key) => {
    const setting = settings[key];
    return setting === undefined ? [] : [{key, label: settingNames[key].label, setting}];
  });
  const width = Math.max(...rows.map(({label}) => label.length));
  return rows.map(({key, label, setting}) => {
    const {value} = setting;
    const shown =
      typeof value === 'string' ? shownText(key, value) : inspect(value, {breakLength: Number.POSITIVE_INFINITY});
    return `${label.padEnd(width)}  ${shown}  (${setting.source.name})`;
  });
}

function shownText(key: SettingKey, value: string): string {
  return key === 'origin' || key === 'apiOrigin' ? shownAddress(value) : value;
}
