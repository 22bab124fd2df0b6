/**
 * The parts of oclif that we use. `@oclif/core` itself would also load semver to check Node's version, which bin/run.js
 * has done.
 */
export * as Args from '@oclif/core/args';
export {Command} from '@oclif/core/command';
export {Config, Plugin} from '@oclif/core/config';
export * as Flags from '@oclif/core/flags';
export {CommandHelp, Help} from '@oclif/core/help';
export {setLogger} from '@oclif/core/logger';
export {settings} from '@oclif/core/settings';

/**
 * Whether a command is oclif's although it is part of our package. These are the plugin commands, without the npm and
 * Yarn of oclif's own package, and another name for `autocomplete`. They print what they like, and their `--json` is
 * oclif's.
 */
export function isOclifCommand(id: string): boolean {
  return id === 'plugins' || id.startsWith('plugins:') || id === 'completion';
}
