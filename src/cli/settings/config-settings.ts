import {dirname} from 'node:path';
import * as v from 'valibot';
import {describeProblems, fieldProblems, objectSchema, type FieldProblem} from '../../bundle/option-schemas.js';
import {createError, nearest} from '../../errors/index.js';
import {isRecord} from '../../errors/json.js';
import {isSecretName, plainName} from './secret.js';
import {definitions, secretKeys, settingKeys, variableOf, type SettingKey} from './definitions.js';
import {text} from './kinds.js';
import type {ConfigSettings} from './settings.js';

type Config = Readonly<Record<string, unknown>>;

/** Where a configuration file has a setting: `api.origin` is in the object `api`, others are in the file itself. */
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
const objects = [...new Set(places.flatMap(({object}) => object ?? []))];
/** Names a schema, for editors. */
const schemaKey = '$schema';

/**
 * What a configuration file says about settings. Its paths start from the folder that it is in.
 * @param file absolute path.
 * @throws RuntimeCliError `ERR_CONFIG_SECRET`, `ERR_CONFIG_INVALID`.
 */
export function configSettings(config: Config, file: string): ConfigSettings {
  checkKeys(config, file);
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
    ...problemsOf(schemaKey, v.optional(text.schema), config),
    ...objects.flatMap((object) => problemsOf(object, v.optional(objectSchema), config)),
    ...places.flatMap((place) => take(place)),
  ];
  if (problems.length === 0) return Object.fromEntries<unknown>(found);
  throw createError('ERR_CONFIG_INVALID', `${file} is not valid: ${describeProblems(problems)}.`, {
    suggestions: ['Correct the file.'],
    details: {file, problems},
  });
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

/** Refuses secrets and unknown keys. Objects that a setting takes as its value may have any key. */
function checkKeys(config: Config, file: string): void {
  const known = places.filter(({object}) => object === undefined).map(({name}) => name);
  refuseUnknown(config, [schemaKey, ...known, ...objects], file);
  for (const object of objects) {
    const names = places.filter((place) => place.object === object).map(({name}) => name);
    refuseUnknown(objectIn(config, object), names, file, `${object}.`);
  }
  for (const {key, path} of places) {
    if (definitions[key].owner !== undefined) refuseOwnedSecrets(objectIn(config, path), key, path, file);
  }
}

function refuseUnknown(object: Config, known: readonly string[], file: string, prefix = ''): void {
  const key = Object.keys(object).find((name) => !known.includes(name));
  if (key === undefined) return;
  if (isSecretName(key)) refuseSecret(file, `${prefix}${key}`, placeOfSecret(key));
  const meant = nearest(key, known);
  throw createError('ERR_CONFIG_INVALID', `${file} has the unknown key ${prefix}${key}.`, {
    suggestions: [meant === undefined ? `Known keys: ${known.join(', ')}.` : `Did you mean ${meant}?`],
  });
}

/** Refuses secrets among the values of each owner. */
function refuseOwnedSecrets(owners: Config, key: SettingKey, path: string, file: string): void {
  for (const owner of Object.keys(owners)) {
    const secret = Object.keys(objectIn(owners, owner)).find(isSecretName);
    if (secret === undefined) continue;
    refuseSecret(file, `${path}.${owner}.${secret}`, `Set ${String(variableOf(key))} to ${secret}=...`);
  }
}

/** Where a secret goes instead, by the key that people try. */
function placeOfSecret(name: string): string {
  const key = settingKeys.find((candidate) =>
    [candidate, ...(definitions[candidate].aliases ?? [])].some((known) => plainName(known) === plainName(name)),
  );
  const flag = key && definitions[key].flag;
  if (key === undefined || flag === undefined) {
    return `Put it into an environment variable, such as ${String(secretKeys.map(variableOf)[0])}.`;
  }
  return `Set ${String(variableOf(key))}, or pass --${flag.name} @FILE.`;
}

function refuseSecret(file: string, path: string, place: string): never {
  throw createError(
    'ERR_CONFIG_SECRET',
    `${file} holds a secret, ${path}: secrets do not belong in a file that is shared.`,
    {suggestions: [place, `Remove ${path} from the file, and replace the secret if others can read it.`]},
  );
}
