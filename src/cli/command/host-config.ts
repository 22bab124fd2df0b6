import {existsSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {setImmediate as nextTurn} from 'node:timers/promises';
import {inspect} from 'node:util';
import type {Command, Interfaces} from '@oclif/core';
import {Config, Plugin} from '@oclif/core/config';
import {error, exit, warn} from '@oclif/core/errors';
import {stdout} from '@oclif/core/ux';
import {withTimeout} from '../../backends/call.js';
import {runningPlugin} from '../../backends/plugins/plugin-code.js';
import type {BackendFailure} from '../../backends/registry.js';
import {createError, isRuntimeCliError} from '../../errors/index.js';
import {messageOf} from '../../errors/system-failure.js';
import {asRecord} from '../../text/json.js';
import {asClause, asSentence, oneLine} from '../../text/sentence.js';
import {shellLine} from '../../text/suggest.js';
import {endedByPlugin, endsCommand, isOclifError, requestedExitCode} from './error-report.js';
import {
  commandSources,
  goesOn,
  packageProblem,
  pluginListProblem,
  projectPlugins,
  reinstall,
  targetOf,
  typescriptOf,
  userPlugins,
} from './plugins.js';
import type {Session} from './session.js';

/** oclif's options, which it passes on to every configuration that it makes of ours. */
export interface HostOptions extends Interfaces.Options {
  /** A function: plugins get the configuration, and a dump of it must not contain the environment. */
  readonly session: () => Session;
}

/** oclif's configuration. A hook that fails is a warning that names its plugin, unless it exits on purpose. */
export class HostConfig extends Config {
  declare options: HostOptions & {readonly config: () => HostConfig};

  constructor(options: HostOptions) {
    super({...options, config: () => this} as HostOptions);
  }

  override async loadPluginsAndCommands(given?: {readonly force: boolean}): Promise<void> {
    const {output} = this.options.session();
    const problem = this.options.userPlugins === true ? pluginListProblem(this.dataDir) : undefined;
    if (problem !== undefined) {
      output.warn(`Ignored the plugins listed in ${this.dataDir}, because ${problem}.`);
      this.options = {...this.options, userPlugins: false};
    }
    // oclif's own warnings about plugins that it leaves out don't name them.
    this.warned = true;
    await super.loadPluginsAndCommands(given);
    const listed = this.options.userPlugins === true ? userPlugins(this.dataDir) : [];
    for (const {name, folder} of listed.filter((plugin) => !this.plugins.has(plugin.name))) {
      const problem = packageProblem(folder) ?? 'it cannot be loaded';
      output.warn(
        `Plugin ${name} is left out: ${problem}. To remove it, run: ${shellLine(...output.program, 'plugins:uninstall', name)}`,
      );
    }
    for (const plugin of this.plugins.values()) await this.#reportCommands(plugin);
  }

  /** Names the commands of a plugin that oclif has left out. */
  async #reportCommands(plugin: Interfaces.Plugin): Promise<void> {
    const {output} = this.options.session();
    const loaded = new Set(plugin.commands.map(({id}) => id));
    for (const id of plugin.commandIDs.filter((declared) => !loaded.has(declared))) {
      try {
        await plugin.findCommand(id, {must: true});
      } catch (thrown) {
        output.debug(`${plugin.name}, command ${id}: ${inspect(thrown)}`);
        output.warn(`${brokenCommand(plugin, id, thrown)} ${goesOn}`);
      }
    }
  }

  /** Requires that a command of a plugin can be loaded: what its code throws then is not meant for users. */
  async requireCommand(command: Command.Loadable): Promise<void> {
    const plugin = this.plugins.get(command.pluginName ?? '');
    try {
      await command.load();
    } catch (thrown) {
      if (plugin === undefined) throw thrown;
      throw createError('ERR_UNEXPECTED', brokenCommand(plugin, command.id, thrown), {cause: thrown});
    }
  }

  override async runHook<T extends keyof Interfaces.Hooks>(
    event: T,
    options: Interfaces.Hooks[T]['options'],
    timeout?: number,
    captureErrors?: boolean,
  ): Promise<Interfaces.Hook.Result<Interfaces.Hooks[T]['return']>> {
    const {output, foreign} = this.options.session();
    const hook = String(event);
    const isOver = hook === 'postrun' || hook === 'finally';
    // oclif leaves this one to its own package, too.
    if (hook === 'preparse') return super.runHook(event, options, timeout, captureErrors);
    const outcome = await callHooks(this, hook, options, timeout);
    for (const {error: failure, plugin} of outcome.failures) {
      output.debug(`${plugin.name}, ${hook}: ${inspect(failure)}`);
      if (captureErrors === true) continue;
      if (!isOver && endsCommand(failure)) throw foreign ? failure : endedByPlugin(plugin.name, failure);
      if (!isOver && requestedExitCode(failure) !== undefined) continue;
      const what = asSentence(`Plugin ${plugin.name}: its ${hook} hook failed: ${messageOf(failure)}`);
      output.warn(isOver ? what : `${what} ${goesOn}`);
    }
    return outcome;
  }
}

function brokenCommand(plugin: Interfaces.Plugin, id: string, thrown: unknown): string {
  const {message} = inFile(thrown, resolve(plugin.root, ...targetOf(plugin.pjson.oclif.commands)));
  return asSentence(`Plugin ${plugin.name}: its command ${id} cannot be loaded: ${message}`);
}

type HookFunction = (this: object, event: object) => unknown;

/**
 * Calls the hooks of plugins for an event, as oclif does. But `config` and `context` cannot be enumerated: a hook that
 * dumps its event must not dump the whole configuration.
 */
async function callHooks(
  config: HostConfig,
  event: string,
  options: object,
  timeoutMs?: number,
): Promise<Interfaces.Hook.Result<unknown>> {
  const called: Interfaces.Hook.Result<unknown> = {successes: [], failures: []};
  const plugins = [...config.plugins.values()].filter(({hooks}) => hooks[event] !== undefined);
  if (plugins.length === 0) return called;
  const {ModuleLoader} = await import('@oclif/core');
  const context = withHidden({debug: () => undefined, error, exit, log: stdout, warn}, {config});
  // A command has its plugin, which has all that is loaded.
  const {Command: command} = options as {readonly Command?: object};
  if (command !== undefined && Object.hasOwn(command, 'plugin'))
    Object.defineProperty(command, 'plugin', {enumerable: false});
  const loadPart = async (plugin: Interfaces.Plugin, target: string): Promise<unknown> => {
    const source = typescriptOf(plugin.root, target);
    if (source === undefined) return ModuleLoader.load(plugin, target);
    const {loadModule} = await import('../../modules/load-module.js');
    return loadModule(source);
  };
  const callHook = async (plugin: Interfaces.Plugin, target: string, name: string) => {
    try {
      const hook = hookIn(await loadPart(plugin, target), name);
      return await hook.call(context, withHidden({...options}, {config, context}));
    } catch (thrown) {
      throw inFile(thrown, resolve(plugin.root, target));
    }
  };
  const callAll = async (plugin: Interfaces.Plugin) => {
    const {hooking} = config.options.session();
    hooking.add(plugin.name);
    for (const {target, identifier} of plugin.hooks[event] ?? []) {
      const work = runningPlugin.run(plugin.name, () => callHook(plugin, target, identifier));
      try {
        const result = await (timeoutMs === undefined ? work : withTimeout(work, timeoutMs));
        called.successes.push({plugin, result});
      } catch (thrown) {
        called.failures.push({plugin, error: thrown as Error});
      }
    }
    hooking.delete(plugin.name);
  };
  await Promise.all(plugins.map(callAll));
  // Node reports a promise that a hook has left to fail when nothing else is to be done.
  await nextTurn();
  return called;
}

/** An error of a plugin, with the file that was loaded. What it says with `this.error()` is for users, and stays. */
function inFile(thrown: unknown, file: string): Error {
  if (isRuntimeCliError(thrown) || isOclifError(thrown)) return thrown;
  const said = oneLine(messageOf(thrown)) || String(thrown);
  return new Error(`${asClause(said)} (${file})`, {cause: thrown});
}

function withHidden<Shown extends object>(shown: Shown, hidden: Readonly<Record<string, unknown>>): Shown {
  for (const [name, value] of Object.entries(hidden)) Object.defineProperty(shown, name, {value});
  return shown;
}

/** The function of a module that is the hook. Without a name, it is the only or the first one. */
function hookIn(module: unknown, name: string): HookFunction {
  const exported = asRecord(module);
  const unnamed = name === 'default' ? [module, ...Object.values(exported)] : [];
  const hook = [exported[name], ...unnamed].find((one) => typeof one === 'function');
  if (hook === undefined) throw new Error('it exports no function');
  return hook as HookFunction;
}

/** A linked plugin whose commands are not built: they run from their TypeScript, as its hooks do. */
class SourcePlugin extends Plugin {
  override async findCommand(id: string): Promise<Command.Class> {
    const {loadModule} = await import('../../modules/load-module.js');
    const base = join(this.commandsDir ?? this.root, ...id.split(':'));
    const exported = await loadModule(existsSync(`${base}.ts`) ? `${base}.ts` : join(base, 'index.ts'));
    const command = Object.values(exported).find(
      (one): one is Command.Class => typeof one === 'function' && 'run' in one,
    );
    if (command === undefined) throw new Error('it exports no command');
    return Object.assign(command, {id, plugin: this});
  }
}

/** A plugin as a linked one, so that none of its commands takes the place of ours. */
function linkedPlugin({name, root}: {readonly name: string; readonly root: string}): Plugin {
  const commandsDir = commandSources(root);
  const options = {name, root, type: 'link'};
  if (commandsDir === undefined) return new Plugin(options);
  return Object.assign(new SourcePlugin({...options, ignoreManifest: true}), {commandsDir});
}

/** oclif's configuration with the project's plugins. A plugin that the user has installed or linked goes before. */
export async function loadConfig(options: HostOptions, args: readonly string[]): Promise<HostConfig> {
  const config = new HostConfig(options);
  await config.load();
  const {cwd, env, output, pluginProblems} = options.session();
  const report = (problem: BackendFailure) => {
    if (config.plugins.has(problem.plugin)) return;
    pluginProblems.push(problem);
    output.warn([problem.message, problem.suggestion ?? []].flat().join(' '));
  };
  const found = projectPlugins(options.root, args, {cwd, env, report}).filter(({name}) => !config.plugins.has(name));
  const {plugins} = config;
  const unbuilt = [...plugins.values()].filter(({type, root}) => type === 'link' && commandSources(root) !== undefined);
  if (found.length + unbuilt.length === 0) return config;
  for (const one of [...unbuilt, ...found]) {
    const plugin = linkedPlugin(one);
    try {
      await plugin.load();
      plugins.set(plugin.name, plugin);
    } catch (thrown) {
      const message = asSentence(`Plugin ${one.name} of the project is left out: ${messageOf(thrown)}`);
      report({plugin: one.name, message, suggestion: reinstall});
    }
  }
  const extended = new HostConfig({...config.options, plugins});
  await extended.load();
  return extended;
}
