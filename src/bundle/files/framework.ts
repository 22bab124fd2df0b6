import {readdir, stat} from 'node:fs/promises';
import {join} from 'node:path';
import {isRecord} from '../../errors/json.js';
import {readTextFile} from '../../files/read-file.js';
import {findBuildOutputs, isStaticBuild} from './build-output.js';

/** The build of an application, as detected from its files. */
export interface DetectedBuild {
  /** Name of the framework, if it is known. */
  readonly framework?: string | undefined;
  /** Relative to the project, with slashes. */
  readonly buildDirectory: string;
  /** Whether the folder exists, so the application was built. */
  readonly exists: boolean;
  /** Whether it has no server code. */
  readonly static: boolean;
  /** Patterns of its server-only files, if the defaults do not match them. */
  readonly ssrOnly?: readonly string[] | undefined;
  /** Patterns of the files that browsers may fetch, if the defaults do not match them. */
  readonly ssrShared?: readonly string[] | undefined;
  /** What to run after each build. */
  readonly afterBuild?: string | undefined;
}

type Build = Omit<DetectedBuild, 'framework' | 'exists'>;

/** What detecting a framework needs. */
interface Project {
  readonly directory: string;
  /** Names of its dependencies. */
  readonly packages: readonly string[];
  /** Whether a file or folder exists. */
  has(path: string): Promise<boolean>;
}

interface Framework {
  readonly name: string;
  /** Matches a dependency that is specific to the framework. */
  readonly dependency: RegExp;
  readonly build: (project: Project) => Build | Promise<Build>;
}

const site = (buildDirectory: string): Build => ({buildDirectory, static: true});
const app = (buildDirectory: string): Build => ({buildDirectory, static: false});

/** The layouts of servers, as in docs/guides/frameworks.md. */
const servers = {
  angular: {ssrOnly: ['server/**', '*.json', '*.txt'], ssrShared: ['browser/**']},
  next: {
    ssrOnly: ['server.js', 'package.json', 'node_modules/**', '.next/**', '!.next/static/**'],
    ssrShared: ['.next/static/**'],
    afterBuild: 'cp -r .next/static .next/standalone/.next/',
  },
  nuxt: {ssrOnly: ['server/**', 'nitro.json'], ssrShared: ['public/**']},
  // With source maps or without: in strict mode, each pattern must match a file.
  pwaKit: {ssrOnly: ['ssr.js*'], ssrShared: ['static/**', '**/*.js', '**/*.json']},
  svelteKit: {ssrOnly: ['*.js', 'server/**'], ssrShared: ['client/**']},
} as const;

/** Known frameworks. Those that others build on come last. */
const frameworks: readonly Framework[] = [
  {
    name: 'PWA Kit',
    dependency: /(?:^|\/)(?:pwa-kit-(?:dev|react-sdk)|retail-react-app)$/,
    build: () => ({...app('build'), ...servers.pwaKit}),
  },
  {name: 'Next.js', dependency: /^next$/, build: nextBuild},
  {name: 'Nuxt', dependency: /^nuxt$/, build: nuxtBuild},
  {
    name: 'SvelteKit',
    dependency: /^@sveltejs\/kit$/,
    build: ({packages}) =>
      packages.includes('@sveltejs/adapter-static') ? site('build') : {...app('build'), ...servers.svelteKit},
  },
  {
    name: 'Astro',
    dependency: /^astro$/,
    build: async ({packages, has}) => ({
      buildDirectory: 'dist',
      static:
        !packages.some((name) => /^@astrojs\/(?:node|vercel|netlify|cloudflare)$/.test(name)) &&
        !(await has('dist/server')),
    }),
  },
  {name: 'Angular', dependency: /^@angular\/core$/, build: angularBuild},
  {name: 'Docusaurus', dependency: /^@docusaurus\/core$/, build: () => site('build')},
  {name: 'React Router', dependency: /^@react-router\/dev$/, build: () => app('build')},
  {name: 'Gatsby', dependency: /^gatsby$/, build: () => site('public')},
  {name: 'Eleventy', dependency: /^@11ty\/eleventy$/, build: () => site('_site')},
  {name: 'Create React App', dependency: /^react-scripts$/, build: () => site('build')},
  {
    name: 'Vite',
    dependency: /^vite$/,
    build: async ({has}) => ({buildDirectory: 'dist', static: !(await has('dist/server'))}),
  },
];

/** Detects the framework of a project and its build folder, or else a folder that looks like a build. Runs nothing. */
export async function detectBuild(directory: string): Promise<DetectedBuild | undefined> {
  const packages = await readPackages(directory);
  const has = (path: string) => exists(join(directory, path));
  const known = frameworks.find(({dependency}) => packages.some((name) => dependency.test(name)));
  if (known !== undefined) {
    const build = await known.build({directory, packages, has});
    return {framework: known.name, ...build, exists: await has(build.buildDirectory)};
  }
  const [found] = await findBuildOutputs(directory);
  if (found === undefined) {
    // The folder itself is a site. With a package.json, index.html may be the source of a build.
    const isSite = !(await has('package.json')) && (await isStaticBuild(directory));
    return isSite ? {...site('.'), exists: true} : undefined;
  }
  return {buildDirectory: found, exists: true, static: await isStaticBuild(join(directory, found))};
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

async function readPackages(directory: string): Promise<readonly string[]> {
  try {
    const manifest: unknown = JSON.parse(await readTextFile(join(directory, 'package.json')));
    if (!isRecord(manifest)) return [];
    const lists = [manifest['dependencies'], manifest['devDependencies']];
    return lists.flatMap((list) => (isRecord(list) ? Object.keys(list) : []));
  } catch {
    // There is none, or it is invalid, which the package manager will report.
    return [];
  }
}

/** `output: 'export'` creates a site in `out`; anything else needs `output: 'standalone'`. */
async function nextBuild({directory, has}: Project): Promise<Build> {
  const standalone = {...app('.next/standalone'), ...servers.next};
  if (await has('.next/standalone')) return standalone;
  const names = ['next.config.ts', 'next.config.mjs', 'next.config.js', 'next.config.cjs'];
  const configs = await Promise.all(names.map((name) => readTextFile(join(directory, name)).catch(() => '')));
  const exports = configs.some((config) => /\boutput\s*:\s*['"`]export['"`]/.test(config));
  return exports || (await has('out')) ? site('out') : standalone;
}

/** `nuxt generate` only creates the public part. */
async function nuxtBuild({has}: Project): Promise<Build> {
  const isGenerated = (await has('.output/public')) && !(await has('.output/server'));
  return isGenerated ? site('.output/public') : {...app('.output'), ...servers.nuxt};
}

/** It builds into `dist/<name>`: `browser`, and `server` next to it if there is one. */
async function angularBuild({directory, packages, has}: Project): Promise<Build> {
  const entries = await readdir(join(directory, 'dist'), {withFileTypes: true}).catch(() => []);
  for (const {name} of entries.filter((entry) => entry.isDirectory())) {
    if (await has(`dist/${name}/server`)) return {...app(`dist/${name}`), ...servers.angular};
    if (await has(`dist/${name}/browser`)) return site(`dist/${name}/browser`);
  }
  const name = await angularProject(directory);
  return packages.includes('@angular/ssr')
    ? {...app(`dist/${name}`), ...servers.angular}
    : site(`dist/${name}/browser`);
}

/** The name of the workspace's first project. */
async function angularProject(directory: string): Promise<string> {
  try {
    const workspace: unknown = JSON.parse(await readTextFile(join(directory, 'angular.json')));
    const projects = isRecord(workspace) ? workspace['projects'] : undefined;
    return (isRecord(projects) ? Object.keys(projects)[0] : undefined) ?? 'app';
  } catch {
    return 'app';
  }
}
