import {existsSync} from 'node:fs';
import {cp, mkdtemp, rename, rm} from 'node:fs/promises';
import {join} from 'node:path';
import {commands} from '@oclif/plugin-plugins';
import {requireDataFolder, requireNpm, type HostConfig} from '../../cli/command/plugins.js';
import {confirmSources, locatePlugin} from '../../cli/setup/plugin-source.js';

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
    const {dataDir} = this.config;
    await requireDataFolder(dataDir);
    const before = await mkdtemp(join(dataDir, 'before-install-'));
    const names = ['package.json', 'package-lock.json', 'node_modules'].filter((name) =>
      existsSync(join(dataDir, name)),
    );
    for (const name of names)
      await cp(join(dataDir, name), join(before, name), {recursive: true, verbatimSymlinks: true});
    try {
      await super.run();
    } catch (error) {
      // oclif has removed the version that worked.
      for (const name of names) {
        await rm(join(dataDir, name), {recursive: true, force: true});
        await rename(join(before, name), join(dataDir, name));
      }
      throw error;
    } finally {
      await rm(before, {recursive: true, force: true});
    }
  }
}
