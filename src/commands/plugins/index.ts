import {commands} from '@oclif/plugin-plugins';

export default class PluginsIndex extends commands.plugins {
  /** oclif would print all that it knows about each plugin, such as every flag of its commands. */
  protected override toSuccessJson(): unknown {
    return this.config.getPluginsList().map(({name, version, type, root, commandIDs, hooks}) => {
      return {name, version, type, root, commands: commandIDs, hooks: Object.keys(hooks)};
    });
  }
}
