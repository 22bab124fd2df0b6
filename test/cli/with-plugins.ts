import {cpSync, existsSync, mkdtempSync, symlinkSync} from 'node:fs';
import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {basename, dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import type {Ended} from './spawn-cli.js';
import {surroundings} from './surroundings.js';
import {runWarm} from './warm-cli.js';

/** A project with a build, a user with linked plugins, and the binary between them. */
export interface PluginBench extends AsyncDisposable {
  readonly root: string;
  readonly project: string;
  /** Environment of every run. */
  readonly env: Readonly<Record<string, string>>;
  mycli(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ended>;
}

const repository = fileURLToPath(new URL('../..', import.meta.url));
const copies = new Map<string, string>();

/** The tester's own copy of a folder of the repository: mycli runs no code of other users, whose the clone may be. */
function ownCopy(path: string): string {
  const known = copies.get(path);
  if (known !== undefined) return known;
  const parent = mkdtempSync(join(surroundings().root, 'plugin-'));
  const copy = join(parent, basename(path));
  const source = join(repository, path);
  symlinkSync(join(repository, 'node_modules'), join(parent, 'node_modules'));
  if (existsSync(source)) cpSync(source, copy, {recursive: true, filter: (file) => basename(file) !== 'node_modules'});
  copies.set(path, copy);
  return copy;
}

/** The folder of a plugin of test/fixtures/plugins. */
export function fixturePlugin(name: string): string {
  return ownCopy(`test/fixtures/plugins/mycli-plugin-${name}`);
}

/** A plugin of test/fixtures/plugins, or an example. */
type LinkedPlugin = string | {readonly example: string};

function linkOf(plugin: LinkedPlugin) {
  if (typeof plugin === 'string') return {name: `mycli-plugin-${plugin}`, root: fixturePlugin(plugin), type: 'link'};
  const name = `mycli-plugin-${plugin.example}`;
  return {name, root: ownCopy(`examples/${name}`), type: 'link'};
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
