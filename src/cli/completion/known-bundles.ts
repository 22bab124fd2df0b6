import {spawn} from 'node:child_process';
import {createHash} from 'node:crypto';
import {mkdirSync, readFileSync, statSync, writeFileSync} from 'node:fs';
import {basename, dirname, extname, join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import type {Interfaces} from '@oclif/core';
import * as v from 'valibot';
import {isBuiltIn} from '../../backends/select.js';
import {isRecord} from '../../errors/json.js';
import {makePrivateDirectory, replacePrivateFile} from '../../files/write-files.js';
import type {Environment} from '../../http/types.js';
import type {ListBundlesResult} from '../../operations/list.js';
import {findConfigFile} from '../settings/config-file.js';
import {definitions, secretKeys, variableOf} from '../settings/definitions.js';

/** Time limit of completion, in milliseconds since the process started. */
const patienceMs = 300;
/** How long an answer from the service is fresh. */
const freshMs = 30_000;
/** How long a stale answer is better than none. */
const staleMs = 24 * 60 * 60_000;
/** How long to wait for an answer before asking again. */
const questionMs = 15_000;
/** How many bundles to cache. */
const kept = 30;

const knownBundle = v.object({
  bundleId: v.union([v.number(), v.string()]),
  message: v.optional(v.string()),
  createdAt: v.optional(v.string()),
  inUseBy: v.optional(v.array(v.string())),
});

/** The fields of a bundle that completion uses. */
export type KnownBundle = v.InferOutput<typeof knownBundle>;

const knownSchema = v.object({
  projectSlug: v.string(),
  bundles: v.array(knownBundle),
  /** All targets, if the backend lists them. */
  targets: v.optional(v.array(v.string())),
  /** Digest of the configuration file that the answer was found with. */
  configSha256: v.optional(v.string()),
});

/** The newest bundles of a project and its targets, as cached for completion. */
type Known = v.InferOutput<typeof knownSchema>;

const parseKnown = v.safeParser(knownSchema);

/** Where completion keeps its cache. */
type Folders = Pick<Interfaces.Config, 'cacheDir'>;
/** What determines, besides the command line, which service commands use: the working directory and the environment. */
interface Surroundings {
  readonly cwd: string;
  readonly env: Environment;
}

/**
 * The newest bundles of the project that a command line refers to, as cached by the last `bundle:list` with the same
 * flags. If that was too long ago, starts another one, which sends the same credentials to the same place as usual. It
 * keeps running after the time limit, so that the next completion finds its answer. Never runs a configuration file
 * that is code, and never sends credentials from the environment to a service that a configuration file names. Never
 * calls a plugin's backend that such a file names or configures, unless the user has listed its bundles with that file.
 * @param words the command line after `mycli`; the last word is incomplete
 */
export async function knownBundles(
  words: readonly string[],
  folders: Folders,
  {argv, cwd, env, execPath}: Pick<NodeJS.Process, 'argv' | 'cwd' | 'env' | 'execPath'>,
): Promise<Known | undefined> {
  const flags = connectionFlags(words.slice(0, -1));
  if (flags === undefined) return undefined;
  const path = pathOf(flags, folders, {cwd: cwd(), env});
  if (ageOf(path) > freshMs && !(await isUnusual({cwd: cwd(), env}, read(path)))) {
    const limits = ['--limit', String(kept), '--quiet', '--max-retries', '0', '--request-timeout', '10'];
    ask(path, [execPath, String(argv[1]), 'bundle:list', ...flags, ...limits], {...env, [askingVariable]: '1'});
    while (ageOf(path) > freshMs && performance.now() < patienceMs) await sleep(10);
  }
  return ageOf(path) > staleMs ? undefined : read(path);
}

/** Set when completion has started a command, which then asks for what completion also needs. */
const askingVariable = '_MYCLI_COMPLETION';

/** Whether completion has started this command. */
export function isAskedByCompletion(env: Environment): boolean {
  return Boolean(env[askingVariable]);
}

/**
 * Caches the newest bundles of a project for completion, and its targets if they were listed. Failing to do so is not
 * an error.
 */
export async function rememberBundles(
  {
    projectSlug,
    bundles,
    targets,
    isCut,
  }: Pick<ListBundlesResult, 'projectSlug' | 'bundles'> & {
    readonly targets?: readonly string[] | undefined;
    /** Whether there may be more bundles, so that those known before stay known. */
    readonly isCut: boolean;
  },
  argv: readonly string[],
  folders: Folders,
  {clean, ...surroundings}: Surroundings & {clean(text: string): string},
): Promise<void> {
  const flags = connectionFlags(argv);
  if (flags === undefined) return;
  const path = pathOf(flags, folders, surroundings);
  const before = read(path);
  const older = isCut
    ? (before?.bundles ?? []).filter((known) => !bundles.some(({bundleId}) => bundleId === known.bundleId))
    : [];
  const slugs = targets?.map(clean) ?? before?.targets;
  const config = await jsonConfig(surroundings).catch(() => undefined);
  const known: Known = {
    projectSlug,
    ...(slugs === undefined ? {} : {targets: [...slugs]}),
    ...(config?.sha256 === undefined ? {} : {configSha256: config.sha256}),
    bundles: [...bundles, ...older].slice(0, kept).map(({bundleId, message, createdAt, inUseBy}) => ({
      bundleId,
      ...(message === undefined ? {} : {message: clean(message)}),
      ...(createdAt === undefined ? {} : {createdAt}),
      ...(inUseBy === undefined ? {} : {inUseBy: [...inUseBy]}),
    })),
  };
  try {
    await makePrivateDirectory(dirname(path));
    await replacePrivateFile(path, JSON.stringify(known));
  } catch {
    // The next completion asks again.
  }
}

/**
 * The flags in `argv` that determine where to ask. Undefined if they cannot be repeated: secrets, anything a shell
 * would expand, and flags that select another folder or configuration file.
 */
function connectionFlags(argv: readonly string[]): readonly string[] | undefined {
  // A timeout does not affect where to ask.
  const {requestTimeout: _, ...places} = definitions;
  const shared = Object.values(places).flatMap(({flag, set}) =>
    flag !== undefined && set === 'connection' ? [`--${flag.name}`, ...('char' in flag ? [`-${flag.char}`] : [])] : [],
  );
  const refused = ['--cwd', '-C', '--config', ...secretKeys.map((key) => `--${definitions[key].flag?.name ?? key}`)];
  const flags: string[] = [];
  for (const [index, word] of argv.entries()) {
    const [name = ''] = word.split('=');
    if (refused.includes(name)) return undefined;
    const next = argv[index + 1];
    if (!shared.includes(name)) continue;
    if (word.includes('=')) flags.push(word);
    else if (next !== undefined) flags.push(word, next);
  }
  return flags.some((flag) => /[$`~]/.test(flag)) ? undefined : flags;
}

/**
 * Whether listing bundles would execute a configuration file, or do with it what the user has not done before: send
 * credentials to a service that only the file names, or call the plugin's backend that it names or configures. Stored
 * credentials are bound to their origin; those from the environment would go anywhere.
 * @param known what the user's last list with the same flags and variables left
 */
async function isUnusual(surroundings: Surroundings, known: Known | undefined): Promise<boolean> {
  const {env} = surroundings;
  const file = await jsonConfig(surroundings);
  if (file === undefined) return false;
  const {config, sha256} = file;
  if (!isRecord(config)) return true;
  const {runtimeBackend, origin} = config;
  const api = isRecord(config['api']) ? config['api'] : {};
  if (env['MYCLI_TRUSTED_ORIGINS']) return false;
  if (api['tokenUrl'] !== undefined) return true;
  const namesPlugin = typeof runtimeBackend === 'string' && runtimeBackend !== 'auto' && !isBuiltIn(runtimeBackend);
  if ((namesPlugin || config['backends'] !== undefined) && known?.configSha256 !== sha256) return true;
  const names = [origin, api['origin']].some((value) => value !== undefined);
  return names && secretKeys.some((key) => Boolean(env[String(variableOf(key))]));
}

/** The configuration file and its digest, without a value if it is code. Undefined if there is none. */
async function jsonConfig({
  cwd,
}: Pick<Surroundings, 'cwd'>): Promise<{readonly config?: unknown; readonly sha256?: string} | undefined> {
  const path = await findConfigFile({cwd, uid: undefined, warn: () => undefined});
  if (path === undefined) return undefined;
  if (extname(path) !== '.json') return {};
  const text = readFileSync(path, 'utf8');
  const content: unknown = JSON.parse(text);
  const config = isRecord(content) && basename(path) === 'package.json' ? content['mycli'] : content;
  return {config, sha256: createHash('sha256').update(text).digest('hex')};
}

/**
 * The cache file for a place. Its name is a hash of everything that settings come from, so that none of it is stored.
 */
function pathOf(flags: readonly string[], {cacheDir}: Folders, {cwd, env}: Surroundings): string {
  const variables = Object.entries(env).filter(([name]) => name.startsWith('MYCLI_'));
  const parts = [cwd, flags, variables.sort(([a], [b]) => (a < b ? -1 : 1))];
  const name = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  return join(cacheDir, 'completion', `${name}.json`);
}

/** Starts a command that outlives this process, unless one was just started for the same file. */
function ask(path: string, [program = '', ...args]: readonly string[], env: Environment): void {
  const asked = `${path}.asked`;
  if (ageOf(asked) < questionMs) return;
  mkdirSync(dirname(path), {recursive: true, mode: 0o700});
  writeFileSync(asked, '', {mode: 0o600});
  const child = spawn(program, args, {detached: true, windowsHide: true, env, stdio: 'ignore'});
  child.on('error', () => undefined);
  child.unref();
}

function read(path: string): Known | undefined {
  try {
    const result = parseKnown(JSON.parse(readFileSync(path, 'utf8')));
    return result.success ? result.output : undefined;
  } catch {
    return undefined;
  }
}

function ageOf(path: string): number {
  try {
    return Date.now() - statSync(path).mtimeMs;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
