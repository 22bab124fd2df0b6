import {stat} from 'node:fs/promises';
import {homedir} from 'node:os';
import {join} from 'node:path';
import {isRecord, parseJson} from '../../errors/json.js';
import {readTextFile} from '../../files/read-file.js';
import type {Environment} from '../../http/types.js';

/** What a project or a user has set up for another client of the same service. */
export interface OtherClient {
  readonly origin?: string | undefined;
  readonly projectSlug?: string | undefined;
  readonly targetSlug?: string | undefined;
  readonly apiUser?: string | undefined;
  readonly apiKey?: string | undefined;
}

/** Where to look. */
interface Places {
  /** The folder of the project. */
  readonly directory: string;
  readonly env: Environment;
  /** The service whose credentials are wanted. @default that of the file without a host */
  readonly origin?: string | undefined;
}

/** Variables by what they set, those that win first. */
const variables = {
  origin: ['MRT_CLOUD_ORIGIN', 'SFCC_MRT_CLOUD_ORIGIN'],
  projectSlug: ['MRT_PROJECT', 'SFCC_MRT_PROJECT'],
  targetSlug: ['MRT_ENVIRONMENT', 'MRT_TARGET', 'SFCC_MRT_ENVIRONMENT'],
  apiKey: ['MRT_API_KEY', 'SFCC_MRT_API_KEY'],
} as const;

/** Keys of `dw.json`. */
const fields = {
  origin: 'mrtOrigin',
  projectSlug: 'mrtProject',
  targetSlug: 'mrtEnvironment',
  apiKey: 'mrtApiKey',
} as const;

const standardHost = 'cloud.mobify.com';

/** Names the variables and files of other clients that exist. Reads none of them. */
export async function findOtherClients({directory, env, origin}: Places): Promise<readonly string[]> {
  const set = Object.values(variables)
    .flat()
    .filter((name) => (env[name] ?? '') !== '');
  const files = [
    ['dw.json', join(directory, 'dw.json')],
    [`~/${credentialFile(origin)}`, join(home(env), credentialFile(origin))],
  ] as const;
  const found = await Promise.all(files.map(([, path]) => isFile(path)));
  return [...set, ...files.filter((_, index) => found[index]).map(([name]) => name)];
}

/** Reads what other clients have set up: variables, then `dw.json` of the project, then the credentials of the user. */
export async function readOtherClients({directory, env, origin: wanted}: Places): Promise<OtherClient> {
  const project = activeConfig(await readObject(join(directory, 'dw.json')));
  const valueOf = (key: keyof typeof fields): string | undefined =>
    variables[key].map((name) => env[name] ?? '').find((value) => value !== '') ?? textOf(project[fields[key]]);
  const origin = wanted ?? valueOf('origin');
  const user = await readObject(join(home(env), credentialFile(origin)));
  const key = textOf(user['api_key']);
  return {
    origin: origin ?? (key === undefined && valueOf('apiKey') === undefined ? undefined : `https://${standardHost}`),
    projectSlug: valueOf('projectSlug'),
    targetSlug: valueOf('targetSlug'),
    apiUser: textOf(user['username']),
    apiKey: valueOf('apiKey') ?? key,
  };
}

/** `.mobify`, or `.mobify--HOST` for a host that is not the usual one. */
function credentialFile(origin: string | undefined): string {
  const host = origin !== undefined && URL.canParse(origin) ? new URL(origin).host : standardHost;
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
