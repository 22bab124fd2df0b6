import {spawn} from 'node:child_process';
import {createHash} from 'node:crypto';
import {closeSync, mkdirSync, openSync, readFileSync, renameSync, statSync} from 'node:fs';
import {basename, extname, join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import type {Interfaces} from '@oclif/core';
import * as v from 'valibot';
import {isBuiltIn} from '../../backends/select.js';
import {isRecord} from '../../errors/json.js';
import {findConfigFile} from '../settings/config-file.js';
import {definitions, secretKeys, variableOf} from '../settings/definitions.js';

/** How long a shell waits for all of completion, in milliseconds since the process started. */
const patienceMs = 300;
/** For how long what the service said is good. */
const freshMs = 30_000;
/** After this time a question that has no answer is asked again. */
const questionMs = 15_000;

const knownBundle = v.object({
  bundleId: v.union([v.number(), v.string()]),
  message: v.optional(v.string()),
  createdAt: v.optional(v.string()),
  inUseBy: v.optional(v.array(v.string())),
});

/** What is known of a bundle. */
export type KnownBundle = v.InferOutput<typeof knownBundle>;

/** The document of `bundle:list`, as far as it is of use. */
const parseList = v.safeParser(v.object({projectSlug: v.string(), bundles: v.array(knownBundle)}));

interface Known {
  readonly projectSlug: string | undefined;
  readonly bundles: readonly KnownBundle[];
}

/**
 * The newest bundles of the project that a command line is about, from a file if they were asked for lately. Otherwise
 * `mycli bundle:list` is started with the same flags, so that it sends the same credentials to the same place, and goes
 * on when the shell's patience has ended: the next question finds its answer. Configuration that is code is not run for
 * this, and one that names a service gets no credentials of the environment: then nothing is asked.
 */
export async function askService(
  words: readonly string[],
  {cacheDir}: Pick<Interfaces.Config, 'cacheDir'>,
  host: Pick<NodeJS.Process, 'argv' | 'cwd' | 'env' | 'execPath'>,
): Promise<Known> {
  const flags = connectionFlags(words);
  const nothing = {projectSlug: undefined, bundles: []};
  if (flags === undefined || (await isUnusual(flags, host))) return nothing;
  const directory = join(cacheDir, 'completion');
  const path = join(directory, `${placeOf(flags, host)}.json`);
  const coming = `${path}.new`;
  take(coming, path);
  if (ageOf(path) > freshMs && ageOf(coming) > questionMs) ask(flags, coming, directory, host);
  while (ageOf(path) > freshMs && performance.now() < patienceMs) {
    await sleep(10);
    take(coming, path);
  }
  return read(path) ?? nothing;
}

/** Flags that say where to ask, as they were typed; nothing when one of them is a secret, or what a shell would expand. */
function connectionFlags(words: readonly string[]): readonly string[] | undefined {
  const shared = Object.values(definitions).flatMap(({flag, set}) =>
    flag !== undefined && set === 'connection' ? [`--${flag.name}`, ...('char' in flag ? [`-${flag.char}`] : [])] : [],
  );
  const wanted = new Set([...shared, '--cwd', '-C', '--config']);
  const secret = new Set(secretKeys.map((key) => `--${definitions[key].flag?.name ?? key}`));
  const flags: string[] = [];
  // The last word is the one that is being typed.
  for (const [index, word] of words.slice(0, -1).entries()) {
    const [name = ''] = word.split('=');
    if (secret.has(name)) return undefined;
    if (!wanted.has(name)) continue;
    const next = words[index + 1];
    const isLast = index + 2 >= words.length;
    if (word.includes('=')) flags.push(word);
    else if (!isLast && next !== undefined) flags.push(word, next);
  }
  return flags.some((flag) => /[$`~]/.test(flag)) ? undefined : flags;
}

/**
 * Whether to list bundles would run a configuration file, or send credentials where only such a file says. A stored
 * credential goes to the origin that it was stored for; one from the environment would go anywhere.
 */
async function isUnusual(flags: readonly string[], {cwd, env}: Pick<NodeJS.Process, 'cwd' | 'env'>): Promise<boolean> {
  // Which file these lead to is for the command to find out.
  if (flags.some((flag) => /^(?:--cwd|-C|--config)\b/.test(flag))) return true;
  const path = await findConfigFile({cwd: cwd(), uid: undefined, warn: () => undefined});
  if (path === undefined) return false;
  if (extname(path) !== '.json') return true;
  const content: unknown = JSON.parse(readFileSync(path, 'utf8'));
  const config = isRecord(content) && basename(path) === 'package.json' ? content['mycli'] : content;
  if (!isRecord(config)) return true;
  const {runtimeBackend, origin} = config;
  const api = isRecord(config['api']) ? config['api'] : {};
  if (env['MYCLI_TRUSTED_ORIGINS']) return false;
  if (api['tokenUrl'] !== undefined || config['backends'] !== undefined) return true;
  if (typeof runtimeBackend === 'string' && runtimeBackend !== 'auto' && !isBuiltIn(runtimeBackend)) return true;
  const names = [origin, api['origin']].some((value) => value !== undefined);
  return names && secretKeys.some((key) => Boolean(env[String(variableOf(key))]));
}

/** Tells places apart by everything that settings come from, without keeping any of it. */
function placeOf(flags: readonly string[], {cwd, env}: Pick<NodeJS.Process, 'cwd' | 'env'>): string {
  const variables = Object.entries(env).filter(([name]) => name.startsWith('MYCLI_'));
  const parts = [cwd(), flags, variables.sort(([a], [b]) => (a < b ? -1 : 1))];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

function ask(
  flags: readonly string[],
  coming: string,
  directory: string,
  {argv, env, execPath}: Pick<NodeJS.Process, 'argv' | 'env' | 'execPath'>,
): void {
  mkdirSync(directory, {recursive: true, mode: 0o700});
  const file = openSync(coming, 'w', 0o600);
  try {
    const limits = ['--limit', '30', '--json', '--max-retries', '0', '--request-timeout', '10'];
    const args = [String(argv[1]), 'bundle:list', ...flags, ...limits];
    const child = spawn(execPath, args, {
      detached: true,
      windowsHide: true,
      env,
      stdio: ['ignore', file, 'ignore'],
    });
    child.on('error', () => undefined);
    child.unref();
  } finally {
    closeSync(file);
  }
}

/** Takes an answer that is complete in place of the last one. */
function take(coming: string, path: string): void {
  if (read(coming) !== undefined) renameSync(coming, path);
}

function read(path: string): Known | undefined {
  try {
    const result = parseList(JSON.parse(readFileSync(path, 'utf8')));
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
