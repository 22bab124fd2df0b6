// Builds that people have, made once from pinned packages and kept in the user's cache folder. Needs the npm registry.
import {execFile} from 'node:child_process';
import {access, cp, mkdir, rename, rm, writeFile} from 'node:fs/promises';
import {homedir} from 'node:os';
import path from 'node:path';
import {promisify} from 'node:util';

/** A build that a framework makes. */
interface RealTree {
  /** Also the name of its folder, so it has the versions. */
  readonly name: string;
  /** Builds in an empty folder. Resolves to what to copy into the tree, by where to. */
  build(folder: string): Promise<Readonly<Record<string, string>>>;
}

const react = ['react@19.3.1', 'react-dom@19.3.1'] as const;

const realTrees: readonly RealTree[] = [
  {
    name: 'Docusaurus 3.10.2',
    async build(folder) {
      await npm(folder, 'install', 'create-docusaurus@3.10.2');
      const create = path.join(folder, 'node_modules/create-docusaurus/bin/index.js');
      await run(folder, process.execPath, create, 'site', 'classic', '--javascript', '--skip-install');
      const site = path.join(folder, 'site');
      await npm(site, 'install', '@docusaurus/core@3.10.2', '@docusaurus/preset-classic@3.10.2', ...react);
      await npm(site, 'run', 'build');
      return {static: path.join(site, 'build')};
    },
  },
  {
    name: 'Next.js 16.4.6 standalone',
    async build(folder) {
      await npm(folder, 'install', 'next@16.4.6', ...react);
      await mkdir(path.join(folder, 'app'));
      const files = {
        'next.config.mjs': `export default {output: 'standalone', outputFileTracingRoot: ${JSON.stringify(folder)}};\n`,
        'app/layout.js': 'export default ({children}) => <html lang="en"><body>{children}</body></html>;\n',
        'app/page.js': 'export default () => <h1>Hello</h1>;\n',
      };
      for (const [name, content] of Object.entries(files)) await writeFile(path.join(folder, name), content);
      await run(folder, process.execPath, path.join(folder, 'node_modules/next/dist/bin/next'), 'build');
      return {
        '.': path.join(folder, '.next/standalone'),
        '.next/static': path.join(folder, '.next/static'),
      };
    },
  },
  {
    // The package is what `@salesforce/pwa-kit-create-app` makes of its template: a whole project.
    name: 'PWA Kit retail-react-app 10.2.0',
    async build(folder) {
      await npm(folder, 'pack', '@salesforce/retail-react-app@10.2.0');
      const site = path.join(folder, 'site');
      await mkdir(site);
      const archive = path.join(folder, 'salesforce-retail-react-app-10.2.0.tgz');
      await run(folder, 'tar', '-xzf', archive, '--strip-components=1', '-C', site);
      await npm(site, 'install');
      await npm(site, 'run', 'build');
      return {'.': path.join(site, 'build')};
    },
  },
];

/** Runs npm in a folder. */
export function npm(cwd: string, ...args: readonly string[]): Promise<void> {
  // `npm run bench` passes on this repository's engine-strict, and some dependencies of the packages do not meet it.
  const quiet = ['--ignore-scripts', '--engine-strict=false', '--no-audit', '--no-fund', '--save-exact'];
  return run(cwd, 'npm', ...args, ...(args[0] === 'install' ? quiet : []));
}

async function run(cwd: string, command: string, ...args: readonly string[]): Promise<void> {
  const env = {...process.env, NEXT_TELEMETRY_DISABLED: '1', DOCUSAURUS_NO_PERSISTENT_CACHE: 'true', CI: '1'};
  await promisify(execFile)(command, args, {cwd, env, maxBuffer: 64 * 1024 * 1024});
}

/** A real tree that is ready. */
export interface MadeTree {
  readonly name: string;
  readonly folder: string;
}

/** Makes the trees that are not in the cache folder yet. */
export async function makeRealTrees(env: NodeJS.ProcessEnv): Promise<readonly MadeTree[]> {
  const made: MadeTree[] = [];
  for (const tree of realTrees) {
    const folder = await cached(tree.name, env, (folder) => makeTree(tree, folder));
    made.push({name: tree.name, folder});
  }
  return made;
}

/** A folder in the user's cache, made unless it is there. `make` must not leave an incomplete one. */
export async function cached(
  name: string,
  env: NodeJS.ProcessEnv,
  make: (folder: string) => Promise<void>,
): Promise<string> {
  const cache = path.join(env['XDG_CACHE_HOME'] ?? path.join(homedir(), '.cache'), 'mycli-bench');
  const folder = path.join(cache, name.toLowerCase().replaceAll(' ', '-'));
  if (!(await exists(folder))) await make(folder);
  return folder;
}

function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

async function makeTree(tree: RealTree, folder: string): Promise<void> {
  console.error(`${tree.name}: building, once ...`);
  const [work, ready] = [`${folder}.work`, `${folder}.ready`];
  for (const old of [work, ready]) await rm(old, {recursive: true, force: true});
  await mkdir(work, {recursive: true});
  await mkdir(ready, {recursive: true});
  await writeFile(path.join(work, 'package.json'), '{"private": true}\n');
  for (const [to, from] of Object.entries(await tree.build(work)))
    await cp(from, path.join(ready, to), {recursive: true, verbatimSymlinks: true});
  const entry = path.join(ready, 'ssr.js');
  if (!(await exists(entry))) await writeFile(entry, 'export const handler = () => "";\n');
  await rename(ready, folder);
  await rm(work, {recursive: true, force: true});
}
