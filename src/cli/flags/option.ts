import {Flags} from '../oclif.js';
import {environmentName} from './environment-name.js';

interface OptionProperties {
  readonly char?: 'b' | 'm' | 'n' | 'p' | 't';
  /** What stands for the value in help. */
  readonly helpValue: string;
  readonly summary: string;
}

// Flags carry `env` so that help and the manifest name it. oclif never reads it (base-command.ts): it would hide where a
// value comes from, and would not split lists.

/** A flag with one value. */
export function option(helpGroup: string, name: string, properties: OptionProperties) {
  return Flags.string({...properties, helpGroup, env: environmentName(name)});
}

/** A flag that may be given several times, with one value each time. */
export function listOption(helpGroup: string, name: string, properties: OptionProperties) {
  return Flags.string({
    ...properties,
    helpGroup,
    env: environmentName(name),
    multiple: true,
    multipleNonGreedy: true,
  });
}

/** A switch; `--no-...` turns off what the environment or the configuration file turned on. */
export function switchOption(
  helpGroup: string,
  name: string,
  properties: {readonly char?: 'w'; readonly summary: string},
) {
  return Flags.boolean({...properties, helpGroup, env: environmentName(name), allowNo: true});
}
