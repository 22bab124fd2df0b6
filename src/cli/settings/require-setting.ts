import {createError} from '../../errors/index.js';
import {environmentName} from '../flags/environment-name.js';
import {settingNames} from './setting-names.js';
import type {SettingKey, Settings} from './settings.js';

/**
 * The value of a setting that the command cannot do without.
 * @throws RuntimeCliError `ERR_USAGE` when it is not set, saying how to set it.
 */
export function requireSetting<K extends SettingKey>(settings: Settings, key: K): NonNullable<Settings[K]>['value'] {
  const setting = settings[key];
  if (setting !== undefined) return setting.value;
  const {label, flag, config} = settingNames[key];
  throw createError('ERR_USAGE', `The ${label} is not known.`, {
    suggestions: [
      ...(flag === undefined ? [] : [`Give --${flag}, or set ${environmentName(flag)}.`]),
      ...(config === undefined ? [] : [`Or set ${config} in a mycli.config file.`]),
    ],
  });
}
