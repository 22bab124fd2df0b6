import {lstat, realpath, stat} from 'node:fs/promises';
import {basename, dirname, extname, join, resolve} from 'node:path';
import * as v from 'valibot';
import {describeProblems, fieldProblems, objectSchema, type FieldProblem} from '../../bundle/option-schemas.js';
import {defineConfig} from '../../config.js';
import {createError, nearest} from '../../errors/index.js';
import {isRecord, parseJson} from '../../errors/json.js';
import {asSentence} from '../../errors/sentence.js';
import {flagValue, shellLine} from '../../errors/suggest.js';
import {reasonOf} from '../../errors/system-failure.js';
import {readTextFile} from '../../files/read-file.js';
import {isSecretName, plainName} from '../../http/redact.js';
import {loadModule} from '../../modules/load-module.js';
import {definitions, secretKeys, settingKeys, variableOf, type SettingKey} from './definitions.js';
import {text} from './kinds.js';
import type {ConfigFileSettings, ConfigSettings} from './settings.js';

/** Names of configuration files, highest precedence first. */
const configFileNames: readonly string[] = [
  'mycli.config.ts',
  'mycli.config.mts',
  'mycli.config.js',
  'mycli.config.mjs',
  'mycli.config.json',
];

/** Where to look for a configuration file. */
interface ConfigSearch {
  /** Absolute. */
  readonly cwd: string;
  /** ID of the user; files of others are ignored. Undefined on platforms without user IDs. */
  readonly uid: number | undefined;
  /** Called for an ignored file. */
  readonly warn: (message: string) => void;
}

/** A loaded configuration file. */
interface LoadedConfig extends ConfigFileSettings {
  /** Absolute. */
  readonly path: string;
}

/**
 * Reads the configuration file at `explicit` (relative to the working directory), or searches for one. TypeScript and
 * JavaScript files are executed.
 * @throws RuntimeCliError `ERR_CONFIG_INVALID`, `ERR_CONFIG_SECRET`.
 */
export async function loadConfigFile(search: ConfigSearch, explicit?: string): Promise<LoadedConfig | undefined> {
  const path = explicit === undefined ? await findConfigFile(search) : resolve(search.cwd, explicit);
  if (path === undefined) return undefined;
  return {path, ...configSettings(await readConfig(path), path)};
}

async function readConfig(path: string): Promise<Readonly<Record<string, unknown>>> {
  if (basename(path) === 'package.json') {
    const {mycli} = await readJsonObject(path);
    if (isRecord(mycli)) return mycli;
    throw createError('ERR_CONFIG_INVALID', `The "mycli" key of ${path} is not an object.`);
  }
  if (extname(path) === '.json') return readJsonObject(path);
  // It may be executed by a mycli that is installed elsewhere.
  const exported = await loadModule(path, {mycli: {defineConfig}});
  const config = exported['config'] ?? exported['default'];
  if (isRecord(config)) return config;
  throw createError('ERR_CONFIG_INVALID', `${path} does not export a configuration.`, {
    suggestions: ['Export an object, either as the default export or as config.'],
  });
}

/**
 * Reads a JSON object from a file.
 * @throws RuntimeCliError `ERR_CONFIG_INVALID` when it cannot be read or is something else.
 */
async function readJsonObject(path: string): Promise<Readonly<Record<string, unknown>>> {
  const value = await readJson(path);
  if (isRecord(value)) return value;
  throw createError('ERR_CONFIG_INVALID', `${path} does not contain a JSON object.`);
}

async function readJson(path: string): Promise<unknown> {
  try {
    return parseJson(await readTextFile(path));
  } catch (error) {
    const reason = reasonOf(error).replaceAll(/\s+/g, ' ');
    throw createError('ERR_CONFIG_INVALID', asSentence(`${path} cannot be read: ${reason}`), {
      suggestions:
        error instanceof SyntaxError ? ['Correct the file: JSON has no comments and no trailing commas.'] : [],
      cause: error,
    });
  }
}

/**
 * Finds the nearest configuration file from the working directory up to the repository's root. Outside a repository,
 * only the working directory is searched. Since it is code, one that another user owns is never used.
 * @throws RuntimeCliError `ERR_CONFIG_INVALID` when a package.json on the way cannot be read.
 */
export async function findConfigFile(search: ConfigSearch): Promise<string | undefined> {
  for (const directory of await directoriesToSearch(search.cwd)) {
    for (const name of configFileNames) {
      const path = join(directory, name);
      if (await isUsable(path, search)) return path;
    }
    const manifest = join(directory, 'package.json');
    if ((await hasConfig(manifest)) && (await isUsable(manifest, search))) return manifest;
  }
  return undefined;
}

/**
 * The configuration file in a folder, whoever owns it.
 * @throws RuntimeCliError `ERR_CONFIG_INVALID` when its package.json cannot be read.
 */
export async function configIn(directory: string): Promise<string | undefined> {
  for (const name of configFileNames) {
    const path = join(directory, name);
    if (await exists(path)) return path;
  }
  const manifest = join(directory, 'package.json');
  return (await hasConfig(manifest)) ? manifest : undefined;
}

async function directoriesToSearch(cwd: string): Promise<readonly string[]> {
  // The folder itself, not a link to it: the link's parents may belong to someone else.
  const start = await realpath(cwd);
  const directories = [start];
  for (let directory = start; ; directory = dirname(directory)) {
    if (directory !== start) directories.push(directory);
    // A folder, or in work trees and submodules a file.
    if (await exists(join(directory, '.git'))) return directories;
    if (dirname(directory) === directory) return [start];
  }
}

async function isUsable(path: string, {uid, warn}: ConfigSearch): Promise<boolean> {
  if (!(await exists(path))) return false;
  // Check both the link and its target: the owner of either controls the code.
  const owners = [(await lstat(path)).uid, (await stat(path)).uid];
  if (uid === undefined || owners.every((owner) => owner === uid)) return true;
  warn(
    `Ignored ${path}, because it belongs to another user. Pass ${shellLine(...flagValue('--config', path))} to use it anyway.`,
  );
  return false;
}

async function hasConfig(manifest: string): Promise<boolean> {
  if (!(await exists(manifest))) return false;
  return (await readJsonObject(manifest))['mycli'] !== undefined;
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch {
    return false;
  }
}

type Config = Readonly<Record<string, unknown>>;

/** The place of a setting in a configuration file: `api.origin` is in the object `api`, others are at the top level. */
interface Place<K extends SettingKey = SettingKey> {
  readonly key: K;
  readonly path: string;
  readonly object: string | undefined;
  readonly name: string;
}

const places: readonly Place[] = settingKeys.flatMap((key) => {
  const {config: path} = definitions[key];
  if (path === undefined) return [];
  const dot = path.indexOf('.');
  return [{key, path, object: dot === -1 ? undefined : path.slice(0, dot), name: path.slice(dot + 1)}];
});
/** The places that exist in each object of `targets`, too. */
const targetPlaces = places.filter(({key}) => definitions[key].perTarget !== undefined);
const objectsOf = (some: readonly Place[]) => [...new Set(some.flatMap(({object}) => object ?? []))];
/** The key that editors use to find a schema. */
const schemaKey = '$schema';
/** The key of the objects with the settings of each target. */
const targetsKey = 'targets';

/**
 * The settings in a configuration file. Its paths are relative to its folder.
 * @param file absolute path.
 * @throws RuntimeCliError `ERR_CONFIG_SECRET`, `ERR_CONFIG_INVALID`.
 */
function configSettings(config: Config, file: string): ConfigFileSettings {
  checkKeys(config, file);
  const shared = settingsIn(config, places, file);
  const targets = Object.keys(objectIn(config, targetsKey)).map((target) => {
    const own = objectIn(objectIn(config, targetsKey), target);
    return {target, prefix: `${targetsKey}.${target}.`, ...settingsIn(own, targetPlaces, file)};
  });
  const problems = [
    ...problemsOf(schemaKey, v.optional(text.schema), config),
    ...problemsOf(targetsKey, targetsSchema, config),
    ...shared.problems,
    ...targets.flatMap(({prefix, problems: own}) =>
      own.map(({field, message}) => ({field: `${prefix}${field}`, message})),
    ),
  ];
  if (problems.length === 0) {
    return {settings: shared.settings, targets: new Map(targets.map(({target, settings}) => [target, settings]))};
  }
  throw createError('ERR_CONFIG_INVALID', `${file} is invalid: ${describeProblems(problems)}.`, {
    suggestions: ['Correct the file. Run mycli help config for its settings.'],
    details: {file, problems},
  });
}

const targetsSchema = v.optional(v.pipe(objectSchema, v.record(v.string(), objectSchema)));

/** The settings at `some` places of a configuration, and the problems with them. */
function settingsIn(
  config: Config,
  some: readonly Place[],
  file: string,
): {readonly settings: ConfigSettings; readonly problems: readonly FieldProblem[]} {
  const found: [SettingKey, unknown][] = [];
  const take = <K extends SettingKey>({key, path, object, name}: Place<K>): readonly FieldProblem[] => {
    const {schema, absolute} = definitions[key].kind;
    const value = (object === undefined ? config : objectIn(config, object))[name];
    if (value === undefined) return [];
    const result = v.safeParse(schema, value);
    if (!result.success) return problemsAt(path, result.issues);
    found.push([key, absolute?.(result.output, dirname(file)) ?? result.output]);
    return [];
  };
  const problems = [
    ...objectsOf(some).flatMap((object) => problemsOf(object, v.optional(objectSchema), config)),
    ...some.flatMap((place) => take(place)),
  ];
  return {settings: Object.fromEntries<unknown>(found), problems};
}

function objectIn(config: Config, name: string): Config {
  const object = config[name];
  return isRecord(object) ? object : {};
}

function problemsOf(path: string, schema: v.GenericSchema, config: Config): readonly FieldProblem[] {
  return problemsAt(path, v.safeParse(schema, config[path]).issues ?? []);
}

function problemsAt(path: string, issues: readonly v.BaseIssue<unknown>[]): readonly FieldProblem[] {
  return fieldProblems(issues).map(({field, message}) => ({field: field === '' ? path : `${path}.${field}`, message}));
}

/** Refuses secrets and unknown keys. Objects that are values of settings can have any keys. */
function checkKeys(config: Config, file: string): void {
  checkKeysAt(config, places, [schemaKey, targetsKey], file);
  const targets = objectIn(config, targetsKey);
  for (const target of Object.keys(targets)) {
    checkKeysAt(objectIn(targets, target), targetPlaces, [], file, `${targetsKey}.${target}.`);
  }
  for (const {key, path} of places) {
    if (definitions[key].owner !== undefined) refuseOwnedSecrets(objectIn(config, path), key, path, file);
  }
}

function checkKeysAt(
  config: Config,
  some: readonly Place[],
  others: readonly string[],
  file: string,
  prefix = '',
): void {
  const known = some.filter(({object}) => object === undefined).map(({name}) => name);
  refuseUnknown(config, [...known, ...objectsOf(some), ...others], file, prefix);
  for (const object of objectsOf(some)) {
    const names = some.filter((place) => place.object === object).map(({name}) => name);
    refuseUnknown(objectIn(config, object), names, file, `${prefix}${object}.`);
  }
}

function refuseUnknown(object: Config, known: readonly string[], file: string, prefix = ''): void {
  const key = Object.keys(object).find((name) => !known.includes(name));
  if (key === undefined) return;
  if (isSecretName(key)) refuseSecret(file, `${prefix}${key}`, placeOfSecret(key));
  // Its flag is a better hint than its spelling.
  const setting = settingKeys.find((candidate) => definitions[candidate].flag?.name === key);
  const named = known.find((name) => setting !== undefined && definitions[setting].config === `${prefix}${name}`);
  const meant = named ?? nearest(key, known);
  throw createError('ERR_CONFIG_INVALID', `${file} has an unknown key: ${prefix}${key}.`, {
    suggestions: [meant === undefined ? `Known keys: ${known.join(', ')}.` : `Did you mean ${meant}?`],
  });
}

/** Refuses secrets in the values of each owner. */
function refuseOwnedSecrets(owners: Config, key: SettingKey, path: string, file: string): void {
  for (const owner of Object.keys(owners)) {
    const secret = Object.keys(objectIn(owners, owner)).find(isSecretName);
    if (secret === undefined) continue;
    refuseSecret(file, `${path}.${owner}.${secret}`, `Set ${String(variableOf(key))} to ${secret}=...`);
  }
}

/** Where to set a secret instead, by the key that was tried. */
function placeOfSecret(name: string): string {
  const key = settingKeys.find((candidate) =>
    [candidate, ...(definitions[candidate].aliases ?? [])].some((known) => plainName(known) === plainName(name)),
  );
  const flag = key && definitions[key].flag;
  if (key === undefined || flag === undefined) {
    return `Set it in an environment variable, such as ${String(secretKeys.map(variableOf)[0])}.`;
  }
  return `Set ${String(variableOf(key))}, or pass --${flag.name} @FILE.`;
}

function refuseSecret(file: string, path: string, place: string): never {
  throw createError(
    'ERR_CONFIG_SECRET',
    `${file} contains a secret, ${path}. Secrets are not allowed in configuration files.`,
    {suggestions: [place, `Remove ${path} from the file, and revoke the secret if others could read it.`]},
  );
}
