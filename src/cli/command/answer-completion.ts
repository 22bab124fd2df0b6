import {resolve} from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import {Worker} from 'node:worker_threads';
import type {Guard} from '../../modules/load-module.js';
import {matchModeSchema} from '../../settings/schemas.js';
import {loadConfigFile} from '../settings/config-file.js';
import {givenValue} from './command-line.js';
import {complete, completionLines} from './complete.js';
import {declaredCommands, HostConfig, type HostOptions} from './plugins.js';

/** How long a configuration that is code may run for a completion, in milliseconds. */
const limitMs = 300;

/**
 * Prints what completes a command line: first what is known without the configuration, which may be code that never
 * ends. Runs no plugin and sends nothing: values come from the configuration file that `status` would use, and commands
 * of plugins from their manifests.
 * @param words What follows `mycli`, up to the cursor.
 */
export async function answerCompletion(words: readonly string[], options: HostOptions): Promise<void> {
  const session = options.session();
  // What a configuration prints is no completion.
  session.output.claimStdout();
  const config = new HostConfig({...options, userPlugins: false});
  await config.load();
  const cwd = resolve(session.cwd, givenValue(words, '--cwd', '-C') ?? '');
  const knownValues = async (flag: string) => {
    if (flag === 'runtime-backend') return ['auto', 'api', 'legacy'];
    return flag === 'match-mode' ? matchModeSchema.options : [];
  };
  const configuredValues = async (flag: string) => {
    if (!['project', 'target', 'from', 'runtime-backend'].includes(flag)) return [];
    const search = {cwd, guardCode: withinLimit(session.guardCode), warn: () => undefined};
    // A command will say what is wrong with it.
    const file = await loadConfigFile(search, givenValue(words, '--config')).catch(() => undefined);
    if (file === undefined) return [];
    if (flag === 'runtime-backend') return Object.keys(file.settings.backendOptions ?? {});
    const all = [file.settings, ...file.targets.values()];
    if (flag === 'project') return all.flatMap(({projectSlug}) => projectSlug ?? []);
    return [...all.flatMap(({targetSlug}) => targetSlug ?? []), ...file.targets.keys()];
  };
  const declared = declaredCommands(options, config.dataDir, words);
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

/**
 * Kills a process whose main thread is busy or blocked for too long. A busy machine gets more time, because others use
 * it, too.
 */
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
