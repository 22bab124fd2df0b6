import {readFileSync} from 'node:fs';
import {basename, dirname, join} from 'node:path';
import type {Environment} from '../http/types.js';

/** From where oclif takes plugins, beside its own. */
interface PluginSources {
  /** Whether those that `plugins:install` and `plugins:link` keep are loaded. */
  readonly userPlugins: boolean;
  /** Plugins among the dependencies of the package in `path`. */
  readonly pluginAdditions?: {readonly core: string[]; readonly path: string};
}

const pluginNames = ['mycli-plugin-*', '@*/mycli-plugin-*'];

/**
 * The plugins of a run: those of the user, and those that a package has among its dependencies together with mycli, so that
 * `npm install mycli mycli-plugin-acme` in a project is enough. None with `MYCLI_SKIP_PLUGINS=1`.
 * @param entry a file of ours, in `bin`.
 */
export function pluginSources(entry: string, env: Environment): PluginSources {
  if (skipsPlugins(env)) return {userPlugins: false};
  const path = dependentPackage(dirname(dirname(entry)));
  return {userPlugins: true, ...(path === undefined ? {} : {pluginAdditions: {core: pluginNames, path}})};
}

/** Whether `MYCLI_SKIP_PLUGINS` turns plugins off. */
export function skipsPlugins(env: Environment): boolean {
  return !['', '0', 'false'].includes(env['MYCLI_SKIP_PLUGINS'] ?? '');
}

/** The folder of the package that has installed ours into its `node_modules`. */
function dependentPackage(root: string): string | undefined {
  const modules = dirname(root);
  if (basename(modules) !== 'node_modules') return undefined;
  const path = dirname(modules);
  try {
    // What oclif cannot read would end every command.
    JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
    return path;
  } catch {
    return undefined;
  }
}
