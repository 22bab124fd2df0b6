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
