import {resolve} from 'node:path';
import {matchModeSchema} from '../../settings/schemas.js';
import {loadConfigFile} from '../settings/config-file.js';
import {givenValue} from './command-line.js';
import {complete, completionLines} from './complete.js';
import {declaredCommands, HostConfig, type HostOptions} from './plugins.js';

/**
 * Prints what completes a command line. Runs no plugin and sends nothing: values come from the configuration file, and
 * commands of plugins from their manifests.
 * @param words What follows `mycli`, up to the cursor.
 */
export async function answerCompletion(words: readonly string[], options: HostOptions): Promise<void> {
  const {session} = options;
  const config = new HostConfig({...options, userPlugins: false});
  await config.load();
  const cwd = resolve(session.cwd, givenValue(words, '--cwd', '-C') ?? '');
  const configured = async () => {
    // What is wrong with it, a command will say.
    const file = await loadConfigFile({cwd, warn: () => undefined}, givenValue(words, '--config')).catch(
      () => undefined,
    );
    const all = file === undefined ? [] : [file.settings, ...file.targets.values()];
    const of = (key: 'projectSlug' | 'targetSlug') => all.flatMap((settings) => settings[key] ?? []);
    return {
      project: of('projectSlug'),
      target: [...of('targetSlug'), ...(file?.targets.keys() ?? [])],
      backends: Object.keys(file?.settings.backendOptions ?? {}),
    };
  };
  const valuesOf = async (flag: string) => {
    switch (flag) {
      case 'project':
      case 'target':
      case 'from':
        return [...new Set((await configured())[flag === 'project' ? 'project' : 'target'])];
      case 'runtime-backend':
        return ['auto', 'api', 'legacy', ...(await configured()).backends];
      case 'match-mode':
        return matchModeSchema.options;
      default:
        return [];
    }
  };
  const declared = declaredCommands(options, config.dataDir, words);
  const known = {
    commands: [...config.commands, ...declared],
    topics: config.topics,
    findCommand: (id: string) => config.findCommand(id) ?? declared.find((command) => command.id === id),
  };
  session.output.data(completionLines(await complete(words, known, valuesOf)));
}
