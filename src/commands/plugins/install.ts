import {statSync} from 'node:fs';
import {join} from 'node:path';
import {commands} from '@oclif/plugin-plugins';
import {isUsageError} from '../../cli/command/error-report.js';
import type {HostConfig} from '../../cli/command/host-config.js';
import {findPluginProblems, readPluginManifest, requireNpm, userPlugins} from '../../cli/command/plugins.js';
import {confirmSources, installOrRestore, locatePlugin, requirePlugin} from '../../cli/setup/plugin-source.js';
import {createError} from '../../errors/index.js';
import {asSentence} from '../../text/sentence.js';

export default class PluginsInstall extends commands['plugins:install'] {
  static readonly changes = 'machine';
  declare config: HostConfig;

  /** Without npm, oclif would report that the registry has no such package. It takes any `a/b` for a repository. */
  override async run(): Promise<void> {
    const session = this.config.options.session();
    await requireNpm(session.env);
    const {argv} = await this.parse(commands['plugins:install']);
    const named = new Map(argv.map((name) => [String(name), locatePlugin(String(name), session.cwd)]));
    const folders = [...named.values()].flatMap(({from = ''}) =>
      statSync(from, {throwIfNoEntry: false})?.isDirectory() === true ? [from] : [],
    );
    for (const folder of folders) requirePlugin(folder);
    await confirmSources([...named.values()], session);
    this.argv = this.argv.map((word) => named.get(word)?.spec ?? word);
    await installOrRestore(this.config.dataDir, session.signal, () => this.#install(folders));
    for (const {folder} of userPlugins(this.config.dataDir)) {
      const problems = await findPluginProblems(folder, this.config.version);
      for (const {message, suggestion} of problems) this.warn(`${message} ${suggestion}`);
    }
  }

  async #install(folders: readonly string[]): Promise<void> {
    const {dataDir, name: ours} = this.config;
    const listed = () => userPlugins(dataDir).map(({name}) => name);
    const before = listed();
    try {
      await super.run();
    } catch (error) {
      if (!isUsageError(error)) throw error;
      throw createError('ERR_USAGE', asSentence(error.message), {
        suggestions: [
          'Nothing was changed. If npm printed lines above, they say why; --verbose shows all of them.',
          'A plugin of mycli is a package with "oclif" in its package.json.',
        ],
        cause: error,
      });
    }
    const after = listed();
    if (after.includes(ours) && !before.includes(ours))
      throw createError('ERR_USAGE', `${ours} is not a plugin of itself. Nothing was changed.`);
    // oclif takes the first package that came from a folder for every other one.
    const lost = folders.find(
      (folder) => !after.includes(String(readPluginManifest(join(folder, 'package.json'))?.['name'])),
    );
    if (lost === undefined) return;
    throw createError('ERR_USAGE', `${lost} was not installed, because another plugin comes from a folder, too.`, {
      suggestions: [['Link it instead: ', {run: ['plugins:link', lost]}]],
    });
  }
}
