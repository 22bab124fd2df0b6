import {stat} from 'node:fs/promises';
import {homedir} from 'node:os';
import {join} from 'node:path';
import {isRecord, parseJson} from '../../errors/json.js';
import {readTextFile} from '../../files/read-file.js';
import {normalizeOrigin} from '../../http/origin.js';
import type {Environment} from '../../http/types.js';
import type {Setting, ValueSource} from '../settings/settings.js';

/** Where other clients of the same service keep what they need. */
interface Places {
  /** The folder of the project. */
  readonly directory: string;
  readonly env: Environment;
}

/** What a project has set up for another client. */
export interface OtherProject {
  readonly origin?: Setting<string> | undefined;
  readonly projectSlug?: Setting<string> | undefined;
  readonly targetSlug?: Setting<string> | undefined;
}

/** An API key of another client. A user is only given with the key that it belongs to. */
export interface OtherKey {
  readonly apiKey: string;
  readonly apiUser?: string | undefined;
}

/** Variables by what they set, those that win first, and the key in `dw.json`. */
const project = {
  origin: {variables: ['MRT_CLOUD_ORIGIN', 'SFCC_MRT_CLOUD_ORIGIN'], field: 'mrtOrigin'},
  projectSlug: {variables: ['MRT_PROJECT', 'SFCC_MRT_PROJECT'], field: 'mrtProject'},
  targetSlug: {variables: ['MRT_ENVIRONMENT', 'MRT_TARGET', 'SFCC_MRT_ENVIRONMENT'], field: 'mrtEnvironment'},
} as const;
const keyVariables = ['MRT_API_KEY', 'SFCC_MRT_API_KEY'];

const projectFile = 'dw.json';
const standardHost = 'cloud.mobify.com';

/** Names the variables and files with settings of a project that exist. Reads no file. */
export async function findOtherProject({directory, env}: Places): Promise<readonly string[]> {
  const set = Object.values(project).flatMap(({variables}) => variables.filter((name) => (env[name] ?? '') !== ''));
  return (await isFile(join(directory, projectFile))) ? [...set, projectFile] : set;
}

/** Reads the settings of a project: variables, then `dw.json`. */
export async function readOtherProject({directory, env}: Places): Promise<OtherProject> {
  const path = join(directory, projectFile);
  const content = activeConfig(await readObject(path));
  const settingOf = (key: keyof typeof project): Setting<string> | undefined => {
    const {variables, field} = project[key];
    const name = variables.find((variable) => (env[variable] ?? '') !== '');
    if (name !== undefined) return settingFrom({kind: 'environment', name}, env[name]);
    // A file of the project, whose address has to be confirmed before it is given credentials.
    return settingFrom({kind: 'config', name: path}, content[field]);
  };
  return {
    origin: settingOf('origin'),
    projectSlug: settingOf('projectSlug'),
    targetSlug: settingOf('targetSlug'),
  };
}

/** Names the variables and files that may have an API key for a service. Reads no file. */
export async function findOtherKeys(origin: string, {directory, env}: Places): Promise<readonly string[]> {
  const file = credentialFile(origin);
  const files = [
    [projectFile, join(directory, projectFile)],
    [`~/${file}`, join(home(env), file)],
  ] as const;
  const found = await Promise.all(files.map(([, path]) => isFile(path)));
  return [
    ...keyVariables.filter((name) => (env[name] ?? '') !== ''),
    ...files.filter((_, index) => found[index]).map(([name]) => name),
  ];
}

/** Reads the API key for a service: of a variable, of `dw.json`, else of the user's own file for its host. */
export async function readOtherKey(origin: string, {directory, env}: Places): Promise<OtherKey | undefined> {
  const variable = keyVariables.map((name) => env[name] ?? '').find((value) => value !== '');
  const shared = variable ?? textOf(activeConfig(await readObject(join(directory, projectFile)))['mrtApiKey']);
  if (shared !== undefined) return {apiKey: shared};
  const own = await readObject(join(home(env), credentialFile(origin)));
  const apiKey = textOf(own['api_key']);
  return apiKey === undefined ? undefined : {apiKey, apiUser: textOf(own['username'])};
}

function settingFrom(source: ValueSource, value: unknown): Setting<string> | undefined {
  const text = textOf(value);
  return text === undefined ? undefined : {value: text, source};
}

/** `.mobify`, or `.mobify--HOST` for a host that is not the usual one. */
function credentialFile(origin: string): string {
  const {host} = new URL(normalizeOrigin('the address', origin));
  return host === standardHost ? '.mobify' : `.mobify--${host}`;
}

/** A file can have several configurations, of which one is active. */
function activeConfig(content: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const {configs} = content;
  const active: unknown = Array.isArray(configs)
    ? configs.find((config: unknown) => isRecord(config) && config['active'] === true)
    : undefined;
  return isRecord(active) && content['active'] !== true ? {...content, ...active} : content;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function home(env: Environment): string {
  return env['HOME'] ?? homedir();
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() ?? false;
}

/** An empty object if there is no such file, or it is not JSON: it is not ours to complain about. */
async function readObject(path: string): Promise<Readonly<Record<string, unknown>>> {
  const value = await readTextFile(path)
    .then(parseJson)
    .catch(() => undefined);
  return isRecord(value) ? value : {};
}
