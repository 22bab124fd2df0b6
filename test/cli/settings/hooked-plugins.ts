import type {Interfaces} from '@oclif/core';
import type {PluginConfig} from '../../../src/cli/settings/write-hooks.js';
import {surroundings} from '../surroundings.js';

/** What a plugin's hook does. */
export type HookFunction = (options: Readonly<Record<string, unknown>>) => unknown;

const pluginRoot = surroundings().cwd;

/** oclif's configuration with plugins whose hook has one module each: a function, or something that is none. */
export function configOf(hook: string, hooks: Readonly<Record<string, HookFunction | string>>): PluginConfig {
  const plugins = Object.keys(hooks).map(
    (name) => [name, {name, root: pluginRoot, hooks: {[hook]: [{target: './hook.js'}]}}] as const,
  );
  return {
    plugins: new Map(plugins),
    async runHook(this: Pick<Interfaces.Config, 'plugins'>, _hook: string, options: Readonly<Record<string, unknown>>) {
      const successes: unknown[] = [];
      const failures: unknown[] = [];
      for (const plugin of this.plugins.values()) {
        const run = hooks[plugin.name];
        try {
          if (typeof run !== 'function') throw new Error('it exports no function');
          successes.push({plugin, result: await run(options)});
        } catch (error) {
          failures.push({plugin, error});
        }
      }
      return {successes, failures};
    },
  } as unknown as PluginConfig;
}
