import {commands} from '@oclif/plugin-plugins';
import type {HostConfig} from '../../cli/command/host-config.js';
import {findPluginProblems, packageProblem} from '../../cli/command/plugins.js';
import {locatePlugin, requireDataFolder} from '../../cli/setup/plugin-source.js';
import {createError} from '../../errors/index.js';

export default class PluginsLink extends commands['plugins:link'] {
  declare config: HostConfig;

  override async run(): Promise<void> {
    const {args} = await this.parse(commands['plugins:link']);
    const {from = ''} = locatePlugin(`file:${args.path}`, this.config.options.session().cwd);
    const problem = packageProblem(from);
    if (problem !== undefined)
      throw createError('ERR_USAGE', `This is not a plugin: ${problem}.`, {
        suggestions: ['Pass the folder of a plugin, which has a package.json with "oclif".'],
      });
    await requireDataFolder(this.config.dataDir);
    await super.run();
    const problems = await findPluginProblems(args.path, this.config.version);
    for (const {message, suggestion} of problems) this.warn(`${message} ${suggestion}`);
  }
}
