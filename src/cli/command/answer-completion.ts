import {createHash} from 'node:crypto';
import {stat} from 'node:fs/promises';
import {join, resolve} from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import {Worker} from 'node:worker_threads';
import type {Guard} from '../../modules/load-module.js';
import * as v from 'valibot';
import {settingKeys} from '../../settings/definitions.js';
import {findConfigFile, loadConfigFile, type ConfigSearch} from '../settings/config-file.js';
import type {ConfigFile} from '../settings/settings.js';
import {pathFrom} from '../settings/text.js';
import {givenValue} from './command-line.js';
import {complete, completionLines} from './complete.js';
import {HostConfig, type HostOptions} from './host-config.js';
import {declaredCommands} from './plugins.js';
import {recordFiles} from './records.js';

/** How long a configuration that is code may run for a completion, in milliseconds. */
const limitMs = 300;

/**
 * Prints what completes a command line. What is known without the configuration comes first: its code may never end.
 * Runs no plugin and sends nothing.
 * @param typed What follows `mycli`, up to the cursor.
 */
export async function answerCompletion(typed: readonly string[], options: HostOptions): Promise<void> {
  const session = options.session();
  // What a configuration prints is no completion.
  session.output.claimStdout();
  const config = new HostConfig({...options, userPlugins: false});
  await config.load();
  // Shells complete words as they were typed, but run the command with the home folder in place of `~`.
  const words = typed.map((word, at) => (at < typed.length - 1 && word.startsWith('~/') ? pathFrom('', word) : word));
  const cwd = resolve(session.cwd, givenValue(words, '--cwd', '-C') ?? '');
  const knownValues = async (name: string) => {
    if (name === 'setting') return settingKeys;
    return name === 'runtime-backend' ? ['auto', 'api', 'legacy'] : [];
  };
  const configuredValues = async (flag: string) => {
    if (!['project', 'target', 'runtime-backend'].includes(flag)) return [];
    const search = {cwd, guardCode: withinLimit(session.guardCode), warn: () => undefined};
    // A command will report what is wrong with it.
    const names = await namesInConfig(search, config.cacheDir, givenValue(words, '--config')).catch(() => undefined);
    return names?.[flag] ?? [];
  };
  const declared = declaredCommands(options.root, config.dataDir, words, session);
  const known = {
    commands: [...config.commands, ...declared],
    topics: config.topics,
    findCommand: (id: string) => config.findCommand(id) ?? declared.find((command) => command.id === id),
  };
  const printed = new Set<string>();
  for (const valuesOf of [knownValues, configuredValues]) {
    for (const line of completionLines(await complete(words, known, valuesOf))) {
      if (!printed.has(line)) session.output.data(`${line}\n`);
      printed.add(line);
    }
  }
}

const keptSchema = v.object({mtimeMs: v.number(), size: v.number(), names: v.record(v.string(), v.array(v.string()))});
type Kept = v.InferOutput<typeof keptSchema>;

async function namesInConfig(
  search: ConfigSearch,
  cache: string,
  explicit: string | undefined,
): Promise<Kept['names'] | undefined> {
  const path = await findConfigFile(search, explicit);
  return path === undefined ? undefined : namesOfConfig(path, cache, () => loadConfigFile(search, path));
}

/**
 * The names in a configuration, by the flags that take them. Those of code are kept until its file changes.
 * @param source What was read from the file now, or else runs the code if nothing is kept.
 */
export async function namesOfConfig(
  path: string,
  cache: string,
  source: ConfigFile | (() => Promise<ConfigFile | undefined>),
): Promise<Kept['names']> {
  const {mtimeMs, size} = await stat(path);
  const files = recordFiles(join(cache, 'completion'), keptSchema, 'what completes');
  const fileName = `${createHash('sha256').update(path).digest('hex')}.json`;
  const isCode = typeof source === 'function';
  const kept = isCode ? await files.read(fileName).catch(() => undefined) : undefined;
  if (kept?.mtimeMs === mtimeMs && kept.size === size) return kept.names;
  const file = isCode ? await source() : source;
  const all = [file?.settings ?? {}, ...(file?.targets.values() ?? [])];
  const names = {
    project: all.flatMap(({projectSlug}) => projectSlug ?? []),
    target: [...all.flatMap(({targetSlug}) => targetSlug ?? []), ...(file?.targets.keys() ?? [])],
    'runtime-backend': Object.keys(file?.settings.backendOptions ?? {}),
  };
  // Without a folder to write to, the code runs each time.
  if (!path.endsWith('.json')) await files.write(fileName, {mtimeMs, size, names}).catch(() => undefined);
  return names;
}

/** Kills a process whose main thread is busy or blocked for too long. A busy machine gets more time. */
const watchdog = `
const [cpu, began] = [process.cpuUsage(), performance.now()];
setInterval(() => {
  const {user, system} = process.cpuUsage(cpu);
  if (user + system > ${1000 * limitMs} || performance.now() - began > ${4 * limitMs}) process.kill(process.pid, 'SIGTERM');
}, 20);`;

/** Gives up code after its time: by a timer, and from another thread if it loops. */
function withinLimit(guard: Guard): Guard {
  return async (load) => {
    const watch = new Worker(watchdog, {eval: true});
    // Code that is late may still begin to loop, so it stays watched.
    const loaded = guard(load).finally(() => void watch.terminate());
    const late = delay(limitMs, undefined, {ref: false}).then(() => Promise.reject(new Error('It takes too long.')));
    return Promise.race([loaded, late]);
  };
}
