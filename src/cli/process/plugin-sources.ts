import {existsSync, readFileSync} from 'node:fs';
import {basename, dirname, join} from 'node:path';
import type {Interfaces} from '@oclif/core';
import type {Environment} from '../../http/types.js';
import {helpFlags, leadingWords} from './command-line.js';

/** Where oclif finds plugins, besides its own. */
interface PluginSources {
  /** Whether to load those of `plugins:install` and `plugins:link`. */
  readonly userPlugins: boolean;
  /** Plugins that are dependencies of the package in `path`. */
  readonly pluginAdditions?: {readonly core: string[]; readonly path: string};
  /** Our package.json as oclif sees it, without its own plugins. */
  readonly pjson?: Interfaces.PJSON;
}

const pluginNames = ['mycli-plugin-*', '@*/mycli-plugin-*'];

/**
 * The plugins of a run: the user's, and those that a package has as dependencies next to mycli, so that `npm install
 * mycli mycli-plugin-acme` in a project is enough. None with `MYCLI_SKIP_PLUGINS=1`. The help of our own commands is in
 * our manifest and needs none, not even oclif's own.
 * @param root The folder of our package.
 * @param args What the user typed after `mycli`.
 */
export function pluginSources(root: string, args: readonly string[], env: Environment): PluginSources {
  if (isHelpOfOurs(root, args)) return {userPlugins: false, pjson: packageWithoutPlugins(root)};
  if (skipsPlugins(env)) return {userPlugins: false};
  const path = dependentPackage(root);
  return {userPlugins: true, ...(path === undefined ? {} : {pluginAdditions: {core: pluginNames, path}})};
}

/** Whether `MYCLI_SKIP_PLUGINS` disables plugins. */
export function skipsPlugins(env: Environment): boolean {
  return !['', '0', 'false'].includes(env['MYCLI_SKIP_PLUGINS'] ?? '');
}

/** The hook that is asked before a change. */
export const beforeHook = 'mycli:before-write';
/** The hook that is told the outcome of a change. */
export const afterHook = 'mycli:after';

/** Whether a plugin follows changes. Loads none of its code. */
export function followsWrites({plugins}: Pick<Interfaces.Config, 'plugins'>): boolean {
  return [...plugins.values()].some(({hooks}) => [beforeHook, afterHook].some((hook) => hooks[hook] !== undefined));
}

/** Whether the arguments are one of our commands, as one word or two, and a request for its help. */
function isHelpOfOurs(root: string, args: readonly string[]): boolean {
  const words = leadingWords(args);
  const [flag = '', ...rest] = args.slice(words.length);
  const id = words.join(':');
  const isId = /^[a-z]+(?::[a-z]+)?$/.test(id) && helpFlags.includes(flag) && rest.length === 0;
  return isId && existsSync(join(root, 'dist/commands', `${id.replace(':', '/')}.js`));
}

function packageWithoutPlugins(root: string): Interfaces.PJSON {
  const pjson = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Interfaces.PJSON;
  return {...pjson, oclif: {...pjson.oclif, plugins: []}};
}

/** The folder of the package in whose `node_modules` we are installed. */
function dependentPackage(root: string): string | undefined {
  const modules = dirname(root);
  if (basename(modules) !== 'node_modules') return undefined;
  const path = dirname(modules);
  try {
    // One that oclif cannot read would make every command fail.
    JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
    return path;
  } catch {
    return undefined;
  }
}
