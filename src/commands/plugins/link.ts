import {commands} from '@oclif/plugin-plugins';
import {findPluginProblems} from '../../cli/command/plugins.js';

export default class PluginsLink extends commands['plugins:link'] {
  override async run(): Promise<void> {
    await super.run();
    const {args} = await this.parse(commands['plugins:link']);
    const problems = await findPluginProblems(args.path, this.config.version);
    for (const {message, suggestion} of problems) this.warn(`${message} ${suggestion}`);
  }
}
