import {stat} from 'node:fs/promises';
import {homedir} from 'node:os';
import {join} from 'node:path';
import {isRecord, parseJson} from '../../errors/json.js';
import {readTextFile} from '../../files/read-file.js';
import {normalizeOrigin} from '../../http/origin.js';
import type {CommandContext} from '../command/command-context.js';
import type {Setting, Settings, ValueSource} from '../settings/settings.js';
import {askYesNo} from './prompts.js';

// What other clients of the same service keep. Nothing of it is read before the user agrees.

/** Variables by what they set, those that win first, and the key in `dw.json`. */
const project = {
  origin: {variables: ['MRT_CLOUD_ORIGIN', 'SFCC_MRT_CLOUD_ORIGIN'], field: 'mrtOrigin'},
  projectSlug: {variables: ['MRT_PROJECT', 'SFCC_MRT_PROJECT'], field: 'mrtProject'},
  targetSlug: {variables: ['MRT_ENVIRONMENT', 'MRT_TARGET', 'SFCC_MRT_ENVIRONMENT'], field: 'mrtEnvironment'},
} as const;
const keyVariables = ['MRT_API_KEY', 'SFCC_MRT_API_KEY'];

const projectFile = 'dw.json';
const standardHost = 'cloud.mobify.com';

type Context = Pick<CommandContext, 'cwd' | 'env' | 'output' | 'stdin' | 'signal'>;

/** Offers what a project has set up for another client, for the settings that are not set. */
export async function takeOverProject(settings: Settings, context: Context): Promise<Settings> {
  const {cwd, env} = context;
  const path = join(cwd, projectFile);
  const isSet = (name: string) => (env[name] ?? '') !== '';
  const found: string[] = Object.values(project).flatMap(({variables}) => variables.filter(isSet));
  if (await isFile(path)) found.push(projectFile);
  const question = `Use the address, project and target set up for another client in ${listed(found)}?`;
  if (found.length === 0 || !(await askYesNo(question, true, context))) return settings;
  const content = await readProjectFile(path);
  const settingOf = (key: keyof typeof project): Setting<string> | undefined => {
    const {variables, field} = project[key];
    const name = variables.find(isSet);
    // A file of the project, whose address has to be confirmed before it is given credentials.
    const source: ValueSource = name === undefined ? {kind: 'config', name: path} : {kind: 'environment', name};
    const value = textOf(name === undefined ? content[field] : env[name]);
    return value === undefined ? undefined : {value, source};
  };
  return {
    ...settings,
    origin: settings.origin ?? settingOf('origin'),
    projectSlug: settings.projectSlug ?? settingOf('projectSlug'),
    targetSlug: settings.targetSlug ?? settingOf('targetSlug'),
  };
}

interface OtherKey {
  readonly apiKey: string;
  readonly apiUser?: string | undefined;
}

/** Offers the API key for a service: of a variable, of `dw.json`, else of the user's own file for its host. */
export async function takeOverKey(origin: string, context: Context): Promise<OtherKey | undefined> {
  const {cwd, env, output} = context;
  const {host} = new URL(normalizeOrigin('the address', origin));
  const ownFile = host === standardHost ? '.mobify' : `.mobify--${host}`;
  const own = join(env['HOME'] ?? homedir(), ownFile);
  const found = keyVariables.filter((name) => (env[name] ?? '') !== '');
  if (await isFile(join(cwd, projectFile))) found.push(projectFile);
  if (await isFile(own)) found.push(`~/${ownFile}`);
  const question = `Use the API key of another client in ${listed(found)} for ${origin}?`;
  if (found.length === 0 || !(await askYesNo(question, true, context))) return undefined;
  const variable = keyVariables.map((name) => env[name] ?? '').find((value) => value !== '');
  const shared = variable ?? textOf((await readProjectFile(join(cwd, projectFile)))['mrtApiKey']);
  const {api_key: ownKey, username} = await readObject(own);
  const apiKey = shared ?? textOf(ownKey);
  if (apiKey === undefined) return undefined;
  output.addSecrets([apiKey]);
  return {apiKey, apiUser: shared === undefined ? textOf(username) : undefined};
}

/** A file can have several configurations, of which one is active. */
async function readProjectFile(path: string): Promise<Readonly<Record<string, unknown>>> {
  const content = await readObject(path);
  const {configs} = content;
  const active: unknown = Array.isArray(configs)
    ? configs.find((config: unknown) => isRecord(config) && config['active'] === true)
    : undefined;
  return isRecord(active) && content['active'] !== true ? {...content, ...active} : content;
}

/** An empty object if there is no such file, or it is not JSON: it is not ours to complain about. */
async function readObject(path: string): Promise<Readonly<Record<string, unknown>>> {
  const value = await readTextFile(path)
    .then(parseJson)
    .catch(() => undefined);
  return isRecord(value) ? value : {};
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() ?? false;
}

const listed = (names: readonly string[]) => new Intl.ListFormat('en', {type: 'disjunction'}).format(names);
