import {basename, dirname, extname, resolve} from 'node:path';
import {createError} from '../../errors/index.js';
import {isRecord} from '../settings/parsers.js';
import {configSettings, type ConfigSettings} from './config-settings.js';
import {findConfigFile, type ConfigSearch} from './find-config-file.js';
import {readJsonObject} from './read-json-object.js';

/** A configuration file that was read. */
export interface LoadedConfig {
  /** Absolute. */
  readonly path: string;
  readonly settings: ConfigSettings;
}

/**
 * Reads the configuration file that `explicit` names (relative to the working directory), or the one that is found.
 * TypeScript and JavaScript files are run.
 * @throws RuntimeCliError `ERR_CONFIG_INVALID`, `ERR_CONFIG_SECRET`.
 */
export async function loadConfigFile(search: ConfigSearch, explicit?: string): Promise<LoadedConfig | undefined> {
  const path = explicit === undefined ? await findConfigFile(search) : resolve(search.cwd, explicit);
  if (path === undefined) return undefined;
  const config = await readConfig(path);
  return {path, settings: await validate(config, path)};
}

async function readConfig(path: string): Promise<Readonly<Record<string, unknown>>> {
  if (basename(path) === 'package.json') {
    const {mycli} = await readJsonObject(path);
    if (isRecord(mycli)) return mycli;
    throw createError('ERR_CONFIG_INVALID', `${path} has no object mycli.`);
  }
  if (extname(path) === '.json') return readJsonObject(path);
  const {loadModule} = await import('../../modules/index.js');
  const exported = await loadModule(path);
  const config = exported['config'] ?? exported['default'];
  if (isRecord(config)) return config;
  throw createError('ERR_CONFIG_INVALID', `${path} exports no configuration.`, {
    suggestions: ['Export an object, as the default export or as config.'],
  });
}

async function validate(config: Readonly<Record<string, unknown>>, path: string): Promise<ConfigSettings> {
  const [{parseConfigFile, configKeys}, {checkConfigKeys}] = await Promise.all([
    import('./config-schema.js'),
    import('./check-config-keys.js'),
  ]);
  checkConfigKeys(config, configKeys, path);
  const result = parseConfigFile(config);
  if (result.success) return configSettings(result.output, dirname(path));
  const {describeProblems, fieldProblems} = await import('../../bundle/content-schema.js');
  const problems = fieldProblems(result.issues);
  throw createError('ERR_CONFIG_INVALID', `${path} is not valid: ${describeProblems(problems)}.`, {
    suggestions: ['Correct the file.'],
    details: {file: path, problems},
  });
}
