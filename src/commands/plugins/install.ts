import {commands} from '@oclif/plugin-plugins';
import type {HostConfig} from '../../cli/command/host-config.js';
import {findPluginProblems, requireNpm, userPlugins} from '../../cli/command/plugins.js';
import {confirmSources, installOrRestore, locatePlugin} from '../../cli/setup/plugin-source.js';

export default class PluginsInstall extends commands['plugins:install'] {
  declare config: HostConfig;

  /** Without npm, oclif would report that the registry has no such package. It takes any `a/b` for a repository. */
  override async run(): Promise<void> {
    const session = this.config.options.session();
    await requireNpm(session.env);
    const {argv} = await this.parse(commands['plugins:install']);
    const named = new Map(argv.map((name) => [String(name), locatePlugin(String(name), session.cwd)]));
    await confirmSources([...named.values()], session);
    this.argv = this.argv.map((word) => named.get(word)?.spec ?? word);
    await installOrRestore(this.config.dataDir, session.signal, () => super.run());
    for (const {folder} of userPlugins(this.config.dataDir)) {
      const problems = await findPluginProblems(folder, this.config.version);
      for (const {message, suggestion} of problems) this.warn(`${message} ${suggestion}`);
    }
  }
}
