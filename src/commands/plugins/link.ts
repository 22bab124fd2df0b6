import {commands} from '@oclif/plugin-plugins';
import type {HostConfig} from '../../cli/command/host-config.js';
import {findPluginProblems} from '../../cli/command/plugins.js';
import {locatePlugin, requireDataFolder, requirePlugin} from '../../cli/setup/plugin-source.js';

export default class PluginsLink extends commands['plugins:link'] {
  static readonly changes = 'machine';
  declare config: HostConfig;

  override async run(): Promise<void> {
    const {args} = await this.parse(commands['plugins:link']);
    const {from = ''} = locatePlugin(`file:${args.path}`, this.config.options.session().cwd);
    requirePlugin(from);
    await requireDataFolder(this.config.dataDir);
    await super.run();
    const problems = await findPluginProblems(args.path, this.config.version);
    for (const {message, suggestion} of problems) this.warn(`${message} ${suggestion}`);
  }
}
