import {commands} from '@oclif/plugin-plugins';
import {describeUnbuiltPlugin} from '../../cli/command/linked-plugin.js';

export default class PluginsLink extends commands['plugins:link'] {
  override async run(): Promise<void> {
    await super.run();
    const {args} = await this.parse(commands['plugins:link']);
    const problem = await describeUnbuiltPlugin(args.path);
    if (problem !== undefined) this.warn(problem);
  }
}
