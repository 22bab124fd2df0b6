import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import type {Ended} from './spawn-cli.js';
import {runWarm} from './warm-cli.js';

/** A project with a build, a user with linked plugins, and the binary between them. */
export interface PluginBench extends AsyncDisposable {
  readonly root: string;
  readonly project: string;
  /** Environment of every run. */
  readonly env: Readonly<Record<string, string>>;
  mycli(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ended>;
}

/** The folder of a plugin of test/fixtures/plugins. */
export function fixturePlugin(name: string): string {
  return fileURLToPath(new URL(`../fixtures/plugins/mycli-plugin-${name}`, import.meta.url));
}

/** A plugin of test/fixtures/plugins, or an example. */
type LinkedPlugin = string | {readonly example: string};

function linkOf(plugin: LinkedPlugin) {
  if (typeof plugin === 'string') return {name: `mycli-plugin-${plugin}`, root: fixturePlugin(plugin), type: 'link'};
  const name = `mycli-plugin-${plugin.example}`;
  return {name, root: fileURLToPath(new URL(`../../examples/${name}`, import.meta.url)), type: 'link'};
}

/** Makes a bench whose user has linked `plugins`, as `plugins:link` does it. Everything is removed at the end. */
export async function createPluginBench(...plugins: readonly LinkedPlugin[]): Promise<PluginBench> {
  const root = await mkdtemp(join(tmpdir(), 'mycli-plugins-'));
  const [project, data] = [join(root, 'project'), join(root, 'data')];
  const linked = plugins.map(linkOf);
  const files = {
    [join(project, 'build/ssr.js')]: 'export default () => "hello";\n',
    [join(data, 'mycli/package.json')]: JSON.stringify({private: true, oclif: {schema: 1, plugins: linked}}),
  };
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(path), {recursive: true});
    await writeFile(path, content);
  }
  const bench = {HOME: root, XDG_DATA_HOME: data, MYCLI_PROJECT: 'shop'};
  return {
    root,
    project,
    env: bench,
    mycli: (args, env = {}) => runWarm(args, {cwd: project, env: {...bench, ...env}}),
    async [Symbol.asyncDispose]() {
      await rm(root, {recursive: true, force: true});
    },
  };
}
