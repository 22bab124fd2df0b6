import {readdir, realpath} from 'node:fs/promises';
import {basename, dirname, extname, join, relative, resolve} from 'node:path';
import * as v from 'valibot';
import {defineConfig} from '../../config.js';
import {createError, reasonOf} from '../../errors/index.js';
import {asRecord, isRecord, parseSettingsJson} from '../../text/json.js';
import {isOutside} from '../../text/paths.js';
import {asSentence, oneLine} from '../../text/sentence.js';
import {flagValue, near, shellLine} from '../../text/suggest.js';
import {foreignFile, foreignOwner, isTrusted} from '../../files/ownership.js';
import {exists, readTextFile} from '../../files/read-file.js';
import {isSecretHeader, isSecretName, plainName} from '../../http/redact.js';
import {loadModule, type Guard} from '../../modules/load-module.js';
import {definitions, secretKeys, settingKeys, variableOf, type SettingKey} from '../../settings/definitions.js';
import {describeProblems, fieldProblems, keyed, objectSchema, nonEmpty} from '../../settings/schemas.js';
import {targetSettings} from '../../settings/target-settings.js';
import type {ConfigFile, ConfigSettings} from './settings.js';
import {finished} from './text.js';

const endings = ['ts', 'mts', 'cts', 'js', 'mjs', 'cjs', 'json'];
const configFileNames: readonly string[] = endings.map((ending) => `mycli.config.${ending}`);
const declarationFile = /\.d\.[cm]?ts$/;

export interface ConfigSearch {
  readonly cwd: string;
  readonly warn: (message: string) => void;
  /** Runs the file, if it is code. @default nothing is done around it */
  readonly guardCode?: Guard | undefined;
  /** Whether a file of another user is an error. @default it is passed over with a warning */
  readonly refusesForeign?: boolean | undefined;
}

/**
 * Reads the configuration file at `explicit` (relative to the working directory), or else the nearest one from the
 * working directory up to the repository's root. Outside a repository, only the working directory is searched.
 * TypeScript and JavaScript files are executed, so that one that another user owns is never used.
 */
export async function loadConfigFile(search: ConfigSearch, explicit?: string): Promise<ConfigFile | undefined> {
  const path = await findConfigFile(search, explicit);
  if (path === undefined) return undefined;
  return located(await configFile(path, search), search.cwd, explicit !== undefined);
}

/** The path of the file that `loadConfigFile` would read. */
export async function findConfigFile(search: ConfigSearch, explicit?: string): Promise<string | undefined> {
  if (explicit !== undefined) return resolve(search.cwd, explicit);
  const {searched, above} = await directoriesToSearch(search.cwd);
  for (const directory of searched) {
    const path = await configIn(directory, search);
    if (path !== undefined) return path;
  }
  for (const directory of above) {
    const path = await configIn(directory).catch(() => undefined);
    if (path === undefined || !isTrusted(path)) continue;
    const advice = `To use it, pass ${shellLine(...flagValue('--cwd', directory))}`;
    search.warn(`Ignored ${path}: outside a git repository, only the working directory is searched. ${advice}`);
    break;
  }
  return undefined;
}

type FileContent = Omit<ConfigFile, 'directory' | 'otherProject'>;

/** Adds the folder that relative defaults belong to. A named file may be meant for a project below its folder. */
async function located(file: FileContent, cwd: string, isNamed: boolean): Promise<ConfigFile> {
  const own = await realpath(dirname(file.path));
  const start = await realpath(cwd);
  if (isOutside(relative(own, start))) return {...file, directory: cwd};
  const build = relative(own, file.settings.buildDirectory ?? join(own, 'build'));
  for (let directory = start; directory !== own; directory = dirname(directory)) {
    const marks = ['package.json', ...(isOutside(build) ? [] : [build])].map((name) => exists(join(directory, name)));
    if (!(await Promise.all(marks)).includes(true)) continue;
    return isNamed ? {...file, directory} : {...file, directory: own, otherProject: directory};
  }
  return {...file, directory: own};
}

/** Refuses to choose between the project of the file and one below it, where the working directory is. */
export function refuseOtherProject(file: ConfigFile | undefined): void {
  if (file?.otherProject === undefined) return;
  const {path, directory, otherProject} = file;
  const message = `${otherProject} looks like a project of its own, but the configuration belongs to ${directory}.`;
  throw createError('ERR_CONFIG_INVALID', `${message} Nothing was built or changed.`, {
    suggestions: [
      `For ${directory}, pass ${shellLine('-C', directory)}`,
      `For ${otherProject} with ${path}, pass ${shellLine('--config', path)}`,
      `Or give ${otherProject} a configuration file.`,
    ],
    details: {file: path, directory, otherProject},
  });
}

async function readConfig(path: string, {guardCode}: ConfigSearch): Promise<Config> {
  if (basename(path) === 'package.json') {
    const {mycli} = await readJsonObject(path);
    if (isRecord(mycli)) return mycli;
    throw createError('ERR_CONFIG_INVALID', `The "mycli" key of ${path} is not an object.`);
  }
  if (extname(path) === '.json') return readJsonObject(path);
  // It may be executed by a mycli that is installed elsewhere.
  const exported = await loadModule(path, {mycli: {defineConfig}}, guardCode);
  const config = exported['config'] ?? asRecord(exported['default'])['config'] ?? exported['default'];
  if (isRecord(config)) return config;
  throw createError('ERR_CONFIG_INVALID', `${path} does not export a configuration.`, {
    suggestions: ['Export an object, either as the default export or as config.'],
  });
}

const jsonAdvice = 'JSON has no comments, no trailing commas, and paths with slashes, such as "./build".';

async function readJsonObject(path: string): Promise<Config> {
  let value: unknown;
  try {
    value = parseSettingsJson(await readTextFile(path));
  } catch (error) {
    throw createError('ERR_CONFIG_INVALID', asSentence(`${path} cannot be read: ${oneLine(reasonOf(error))}`), {
      suggestions: error instanceof SyntaxError ? [jsonAdvice] : [],
      cause: error,
    });
  }
  // No setting has one, as `.\build` and `.\files` do.
  if (/\\[bf]/.test(JSON.stringify(value).replaceAll('\\\\', ''))) {
    const message = `${path} has a backspace or a form feed in a value: in JSON, \\b and \\f stand for them.`;
    throw createError('ERR_CONFIG_INVALID', message, {suggestions: [jsonAdvice]});
  }
  if (isRecord(value)) return value;
  throw createError('ERR_CONFIG_INVALID', `${path} does not contain a JSON object.`);
}

/** The configuration file in a folder. @param search passes over files of others. Without it, any counts. */
export async function configIn(directory: string, search?: ConfigSearch): Promise<string | undefined> {
  const names = await readdir(directory).catch((): readonly string[] => []);
  const usable: string[] = [];
  for (const name of configFileNames.filter((known) => names.includes(known))) {
    if (await isUsable(join(directory, name), search)) usable.push(name);
  }
  for (const name of names.filter((one) => one.startsWith('mycli.config.') && !declarationFile.test(one))) {
    if (!configFileNames.includes(name))
      search?.warn(`Ignored ${join(directory, name)}. The name of a configuration ends in .${endings.join(', .')}.`);
  }
  const [used, ...others] = usable;
  for (const name of others) search?.warn(`Ignored ${join(directory, name)}, because ${String(used)} is beside it.`);
  const manifest = join(directory, 'package.json');
  const isManifest = names.includes('package.json') && (await hasKey(manifest)) && (await isUsable(manifest, search));
  if (used === undefined) return isManifest ? manifest : undefined;
  if (isManifest) search?.warn(`Ignored the "mycli" key of ${manifest}, because ${used} is beside it.`);
  return join(directory, used);
}

const mostManifestBytes = 10_000_000;

/** Whether a package.json has our key. That of somebody else is only read as far as one is long. */
async function hasKey(manifest: string): Promise<boolean> {
  if (isTrusted(manifest)) return (await readJsonObject(manifest))['mycli'] !== undefined;
  const json = await readTextFile(manifest, mostManifestBytes).catch(() => '');
  return /"mycli"\s*:/.test(json);
}

/** `above`: the folders that are not searched because there is no repository. The nearest is first in both. */
async function directoriesToSearch(
  cwd: string,
): Promise<{readonly searched: readonly string[]; readonly above: readonly string[]}> {
  // The folder itself, not a link to it: the link's parents may belong to someone else.
  const start = await realpath(cwd);
  const above: string[] = [];
  for (let directory = start; ; directory = dirname(directory)) {
    if (directory !== start) above.push(directory);
    // A folder, or in work trees and submodules a file.
    if (await exists(join(directory, '.git'))) return {searched: [start, ...above], above: []};
    if (dirname(directory) === directory) return {searched: [start], above};
  }
}

async function isUsable(path: string, search: ConfigSearch | undefined): Promise<boolean> {
  if (!(await exists(path))) return false;
  const owner = search && foreignOwner(path);
  if (search === undefined || owner === undefined) return true;
  const advice = `If you trust it, pass ${shellLine(...flagValue('--config', path))}`;
  if (search.refusesForeign === true) throw foreignFile(path, owner, [advice]);
  search.warn(`Ignored ${path}, because it belongs to another user (${String(owner)}). ${advice}`);
  return false;
}

type Config = Readonly<Record<string, unknown>>;

const configuredKeys = settingKeys.filter((key) => definitions[key].config !== undefined);
const perTargetKeys = configuredKeys.filter((key) => definitions[key].perTarget !== undefined);
const topKeys = configuredKeys.filter((key) => definitions[key].perTarget !== 'only');
/** `api.origin` is in the object `api`, others are at the top level. */
const pathOf = (key: SettingKey): readonly string[] => definitions[key].config?.split('.') ?? [];

/** Names have no spaces around them. */
function schemaInFile(key: SettingKey): v.GenericSchema {
  const {schema, syntax} = definitions[key];
  const trimmed = v.transform((value: unknown) => (typeof value === 'string' ? value.trim() : value));
  return syntax === 'id' ? v.pipe(v.unknown(), trimmed, schema) : schema;
}

function schemaOf(keys: readonly SettingKey[], others: v.ObjectEntries = {}) {
  const entries: Record<string, v.GenericSchema> = {};
  for (const name of new Set(keys.map((key) => pathOf(key)[0] ?? ''))) {
    const own = keys.filter((key) => pathOf(key)[0] === name);
    const isObject = own.some((key) => pathOf(key).length > 1);
    const inside = own.map((key) => [String(pathOf(key)[1]), v.optional(schemaInFile(key))] as const);
    const [single] = own;
    if (isObject) entries[name] = v.pipe(objectSchema, v.strictObject(Object.fromEntries(inside)));
    else if (single !== undefined) entries[name] = schemaInFile(single);
  }
  const optional = Object.entries(entries).map(([name, schema]) => [name, v.optional(schema)] as const);
  return v.pipe(objectSchema, v.strictObject({...Object.fromEntries(optional), ...others}));
}

/** The schema of a configuration file. `$schema` is for editors; `targets` has the settings of single targets. */
const fileSchema = schemaOf(topKeys, {
  $schema: v.optional(nonEmpty),
  targets: v.optional(keyed(schemaOf(perTargetKeys))),
});

async function configFile(file: string, search: ConfigSearch): Promise<FileContent> {
  const config = await readConfig(file, search);
  const {success, output, issues = []} = v.safeParse(fileSchema, config);
  const unknown = issues.find(({kind, expected}) => kind === 'schema' && expected === 'never');
  const unknownPath = unknown?.path?.map(({key}) => String(key));
  if (unknownPath !== undefined) throw unknownKey(unknownPath, file);
  refuseBackendSecrets(asRecord(config['backends']), file);
  if (success) {
    const targets = Object.entries(asRecord(output['targets']));
    const content = {
      path: file,
      settings: settingsIn(output, topKeys, file),
      targets: new Map(targets.map(([target, own]) => [target, settingsIn(own, perTargetKeys, file)])),
    };
    for (const settings of [content.settings, ...content.targets.values()]) refuseSecretHeaders(settings, file);
    return content;
  }
  const problems = fieldProblems(issues);
  throw createError('ERR_CONFIG_INVALID', `${file} is invalid: ${describeProblems(problems)}.`, {
    suggestions: ['Correct the file. Its keys are in docs/reference/configuration.md of the package mycli.'],
    details: {file, problems},
  });
}

function settingsIn(config: unknown, keys: readonly SettingKey[], file: string): ConfigSettings {
  const settings = keys.flatMap((key) => {
    const value = pathOf(key).reduce<unknown>((object, name) => (isRecord(object) ? object[name] : undefined), config);
    return value === undefined ? [] : [[key, finished(definitions[key].syntax, value, dirname(file))] as const];
  });
  return Object.fromEntries<unknown>(settings);
}

function unknownKey(path: readonly string[], file: string): Error {
  const key = path.at(-1) ?? '';
  const shown = path.join('.');
  if (isSecretName(key)) return misplacedSecret(file, shown, placeOfSecret(key));
  const isTarget = path[0] === 'targets';
  const objects = path.slice(isTarget ? 2 : 0, -1);
  const siblings = (isTarget ? perTargetKeys : topKeys).filter((candidate) =>
    objects.every((name, index) => pathOf(candidate)[index] === name),
  );
  const names = siblings.map((candidate) => pathOf(candidate)[objects.length] ?? '');
  const keys = [...new Set([...names, ...(path.length === 1 ? ['$schema', 'targets'] : [])])];
  const isSetting = isTarget && path.length === 3 && Object.hasOwn(targetSettings, key);
  const similar = isSetting ? [...path.slice(0, 2), 'settings', key].join('.') : near(key, keys)[0];
  return createError('ERR_CONFIG_INVALID', `${file} has an unknown key: ${shown}.`, {
    suggestions: [similar === undefined ? `Known keys: ${keys.join(', ')}.` : `Did you mean ${similar}?`],
  });
}

function refuseBackendSecrets(backends: Config, file: string): void {
  for (const [backend, options] of Object.entries(backends)) {
    const {targets, ...base} = asRecord(options);
    refuseSecret(base, `backends.${backend}`, file);
    for (const [target, own] of Object.entries(asRecord(targets))) {
      refuseSecret(asRecord(own), `backends.${backend}.targets.${target}`, file);
    }
  }
}

function refuseSecret(options: Config, path: string, file: string): void {
  const secret = Object.keys(options).find(isSecretName);
  if (secret === undefined) return;
  const place = `Add ${secret}=... to MYCLI_BACKEND_OPTION (key=value,key=value, or JSON) instead.`;
  throw misplacedSecret(file, `${path}.${secret}`, place);
}

function refuseSecretHeaders({checkHeaders = {}, check = []}: ConfigSettings, file: string): void {
  const headers = [checkHeaders, ...check.map((item) => item.headers ?? {})].flatMap((own) => Object.entries(own));
  const secret = headers.find(([name, value]) => !value.startsWith('@') && isSecretHeader(name, value));
  if (secret === undefined) return;
  const [name] = secret;
  const place = `Use ${name}: '@FILE', or set MYCLI_CHECK_HEADER to ${name}=VALUE.`;
  throw misplacedSecret(file, `check.headers.${name}`, place);
}

function placeOfSecret(name: string): string {
  const known = secretKeys.filter((key) => plainName(key) === plainName(name));
  return `Set ${(known.length > 0 ? known : secretKeys).map(variableOf).join(' or ')} instead.`;
}

function misplacedSecret(file: string, path: string, place: string): Error {
  const message = `${file} contains a secret, ${path}. Secrets are not allowed in configuration files.`;
  return createError('ERR_CONFIG_INVALID', message, {
    suggestions: [place, `Remove ${path} from the file, and revoke the secret if others could read it.`],
  });
}
