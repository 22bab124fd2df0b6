import {commands} from '@oclif/plugin-plugins';
import {findPluginProblems, type HostConfig} from '../../cli/command/plugins.js';
import {locatePlugin} from '../../cli/setup/plugin-source.js';

export default class PluginsLink extends commands['plugins:link'] {
  declare config: HostConfig;

  override async run(): Promise<void> {
    const {args} = await this.parse(commands['plugins:link']);
    locatePlugin(`file:${args.path}`, this.config.options.session.cwd);
    await super.run();
    const problems = await findPluginProblems(args.path, this.config.version);
    for (const {message, suggestion} of problems) this.warn(`${message} ${suggestion}`);
  }
}
