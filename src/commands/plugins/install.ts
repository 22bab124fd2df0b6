import {commands} from '@oclif/plugin-plugins';
import {requireNpm} from '../../cli/command/plugins.js';

export default class PluginsInstall extends commands['plugins:install'] {
  /** Without npm, oclif would report that the registry has no such package. */
  override async run(): Promise<void> {
    await requireNpm();
    await super.run();
  }
}
