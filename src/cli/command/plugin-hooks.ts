import type {Interfaces} from '@oclif/core';
import {error, exit, warn} from '@oclif/core/errors';
import {stdout} from '@oclif/core/ux';
import {withTimeout} from '../../backends/call.js';
import {runningPlugin} from '../../backends/plugin-code.js';
import {asRecord} from '../../text/json.js';

type HookFunction = (this: object, event: object) => unknown;

/**
 * Calls the hooks of plugins for an event, as oclif does. But what they get of oclif besides the event, `config` and
 * `context`, cannot be enumerated: a hook that writes down its event would write down the whole configuration.
 */
export async function callHooks(
  config: Interfaces.Config,
  event: string,
  options: object,
  timeoutMs?: number,
): Promise<Interfaces.Hook.Result<unknown>> {
  const called: Interfaces.Hook.Result<unknown> = {successes: [], failures: []};
  const plugins = [...config.plugins.values()].filter(({hooks}) => hooks[event] !== undefined);
  if (plugins.length === 0) return called;
  const {ModuleLoader} = await import('@oclif/core');
  const context = withHidden({debug: () => undefined, error, exit, log: stdout, warn}, {config});
  const callHook = async (plugin: Interfaces.Plugin, target: string, name: string) => {
    const hook = hookIn(await ModuleLoader.load(plugin, target), name);
    return hook.call(context, withHidden({...options}, {config, context}));
  };
  const callAll = async (plugin: Interfaces.Plugin) => {
    for (const {target, identifier} of plugin.hooks[event] ?? []) {
      const work = runningPlugin.run(plugin.name, () => callHook(plugin, target, identifier));
      try {
        const result = await (timeoutMs === undefined ? work : withTimeout(work, timeoutMs));
        called.successes.push({plugin, result});
      } catch (thrown) {
        called.failures.push({plugin, error: thrown as Error});
      }
    }
  };
  await Promise.all(plugins.map(callAll));
  return called;
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
