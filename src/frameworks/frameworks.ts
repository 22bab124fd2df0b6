import {everythingIn} from './everything-in.js';

/**
 * The frameworks mycli knows: one row for each way of building with one. Detection, the defaults of a push, `init`, the
 * warnings about a build, `runtime:start --ssr` and the table in docs/guides/frameworks.md come from these rows. How to
 * add one: CONTRIBUTING.md.
 */
export interface Framework {
  /** Also the name of its project in test/frameworks/projects.ts. */
  readonly id: string;
  /** What people call it. Rows of one framework share their name. */
  readonly name: string;
  /** Which way of building it this row is, for the guide: `adapter-node`. */
  readonly variant?: string;
  /** Any of these in package.json identifies the framework. A name that begins with `/` has any scope or none. */
  readonly packages: readonly string[];
  /** A package, or a text in a configuration file of the project, that tells this row before there is a build. */
  readonly setting?: {readonly packages: readonly string[]} | {readonly files: RegExp; readonly text: RegExp};
  /** The command that builds it, unless package.json has a `build` script. */
  readonly buildCommand: string;
  /** Relative to the project. `*` stands for one folder, whose name the project chooses. */
  readonly buildDirectory: string;
  /** Paths in the build, any of which tells the row from others of the framework. */
  readonly marks: readonly string[];
  /** Whether the build has no server code. */
  readonly static: boolean;
  /** Folders of the build that browsers may fetch. All else in a build with a server is the server's. */
  readonly public?: readonly string[];
  /** Instead of `public`, the lists of the framework's own client, which a project's own lists extend. */
  readonly lists?: {readonly ssrOnly: readonly string[]; readonly ssrShared: readonly string[]};
  /** Folders of the project that the build needs and does not contain by itself, and where they go in the build. */
  readonly copies?: readonly {readonly from: string; readonly to: string}[];
  /** Where the framework's own settings for the Runtime are. */
  readonly ownSettings?: 'pwa-kit' | 'config.server';
  /** Modules that start or export the server, the first that exists. */
  readonly entries?: readonly string[];
  /** Variables that its server needs to answer on this machine. */
  readonly environment?: Readonly<Record<string, string>>;
  /** A name below the working directory where its server looks for the build, as the Runtime has it. */
  readonly linkToBuild?: string;
  /** What the paths of its files begin with, besides those in the build. */
  readonly assetPrefix?: RegExp;
  /** The folder of the build that is the root of the site's files. */
  readonly publicFolder?: string;
  /** What the project has to set, for the guide. */
  readonly needs?: string;
}

const staticSite = {static: true, marks: ['index.html']} as const;
const ssr = {static: false, public: ['client'], publicFolder: 'client'} as const;
const withoutExternals = 'dependencies bundled into the server (`ssr.noExternal: true`)';

/** The first row of a framework whose marks are in the build is that build's. Those that others build on come last. */
export const frameworks: readonly Framework[] = [
  {
    id: 'storefront-next',
    name: 'Storefront Next',
    packages: ['/storefront-next-dev', '/storefront-next-runtime'],
    buildCommand: 'sfnext build',
    buildDirectory: 'build',
    marks: ['server'],
    static: false,
    lists: {
      ssrOnly: [
        ...everythingIn('server/', 3),
        'package.json',
        'loader.js',
        '{streamingHandler,ssr}.{js,mjs,cjs}',
        '{streamingHandler,ssr}.{js,mjs,cjs}.map',
        '!static/**/*',
        'sfnext-server-*.mjs',
        'sfnext-server-*.mjs.map',
      ],
      ssrShared: [
        'client/**/*',
        'static/**/*',
        ...['css', 'png', 'jpg', 'jpeg', 'gif', 'svg', 'ico', 'woff', 'woff2', 'ttf', 'eot'].map(
          (type) => `**/*.${type}`,
        ),
      ],
    },
    ownSettings: 'config.server',
    entries: ['streamingHandler.mjs', 'streamingHandler.js', 'ssr.mjs', 'ssr.js'],
    publicFolder: 'client',
    needs: '`PUBLIC__app__commerce__api__shortCode`, `...__organizationId` and `...__clientId` in its environment',
  },
  {
    id: 'pwa-kit',
    name: 'PWA Kit',
    packages: ['/pwa-kit-dev', '/pwa-kit-react-sdk', '/retail-react-app'],
    buildCommand: 'pwa-kit-dev build',
    buildDirectory: 'build',
    marks: ['ssr.js'],
    static: false,
    lists: {
      ssrOnly: ['ssr.js', 'ssr.js.map', 'config/**', ...everythingIn('node_modules/', 3)],
      ssrShared: ['static/**/*', '**/*.js', '**/*.js.map', '**/*.json'],
    },
    ownSettings: 'pwa-kit',
    entries: ['ssr.js'],
    linkToBuild: 'build',
    assetPrefix: /^mobify\/bundle\/[^/]+\//,
    // Without them, it starts a development server.
    environment: {
      AWS_LAMBDA_FUNCTION_NAME: 'local',
      MOBIFY_PROPERTY_ID: 'local',
      DEPLOY_TARGET: 'local',
      BUNDLE_ID: 'local',
      EXTERNAL_DOMAIN_NAME: 'localhost',
    },
  },
  {
    id: 'next-standalone',
    name: 'Next.js',
    variant: "output: 'standalone'",
    packages: ['next'],
    buildCommand: 'next build',
    buildDirectory: '.next/standalone',
    marks: ['server.js'],
    static: false,
    public: ['.next/static', 'public'],
    copies: [
      {from: '.next/static', to: '.next/static'},
      {from: 'public', to: 'public'},
    ],
    entries: ['server.js'],
    publicFolder: 'public',
  },
  {
    id: 'next-export',
    name: 'Next.js',
    variant: "output: 'export'",
    packages: ['next'],
    setting: {files: /^next\.config\.[cm]?[jt]s$/, text: /\boutput\s*:\s*['"`]export['"`]/},
    buildCommand: 'next build',
    buildDirectory: 'out',
    ...staticSite,
  },
  {
    id: 'nuxt',
    name: 'Nuxt',
    variant: 'nuxt build',
    packages: ['nuxt'],
    buildCommand: 'nuxt build',
    buildDirectory: '.output',
    marks: ['server'],
    static: false,
    public: ['public'],
    entries: ['server/index.mjs'],
    publicFolder: 'public',
  },
  {
    id: 'nuxt-generate',
    name: 'Nuxt',
    variant: 'nuxt generate',
    packages: ['nuxt'],
    buildCommand: 'nuxt generate',
    buildDirectory: '.output/public',
    ...staticSite,
  },
  {
    id: 'sveltekit-node',
    name: 'SvelteKit',
    variant: 'adapter-node',
    packages: ['@sveltejs/kit'],
    setting: {packages: ['@sveltejs/adapter-node']},
    buildCommand: 'vite build',
    buildDirectory: 'build',
    marks: ['handler.js', 'server'],
    ...ssr,
    public: ['client', 'prerendered'],
    entries: ['index.js'],
  },
  {
    id: 'sveltekit-static',
    name: 'SvelteKit',
    variant: 'adapter-static',
    packages: ['@sveltejs/kit'],
    setting: {packages: ['@sveltejs/adapter-static']},
    buildCommand: 'vite build',
    buildDirectory: 'build',
    ...staticSite,
  },
  {
    id: 'astro-node',
    name: 'Astro',
    variant: '@astrojs/node',
    packages: ['astro'],
    setting: {packages: ['@astrojs/node']},
    buildCommand: 'astro build',
    buildDirectory: 'dist',
    marks: ['server'],
    ...ssr,
    entries: ['server/entry.mjs'],
    needs: 'standalone mode, ' + withoutExternals.replace('ssr', 'vite.ssr'),
  },
  {
    id: 'astro-static',
    name: 'Astro',
    variant: 'static',
    packages: ['astro'],
    buildCommand: 'astro build',
    buildDirectory: 'dist',
    ...staticSite,
  },
  {
    id: 'angular-ssr',
    name: 'Angular',
    variant: 'SSR',
    packages: ['@angular/core'],
    setting: {packages: ['@angular/ssr']},
    buildCommand: 'ng build',
    buildDirectory: 'dist/*',
    marks: ['server'],
    static: false,
    public: ['browser'],
    entries: ['server/server.mjs'],
    // It only answers for hosts it is configured for.
    environment: {NG_ALLOWED_HOSTS: '*'},
    publicFolder: 'browser',
  },
  {
    id: 'angular-static',
    name: 'Angular',
    variant: 'without SSR',
    packages: ['@angular/core'],
    buildCommand: 'ng build',
    buildDirectory: 'dist/*/browser',
    static: true,
    marks: ['index.html', 'index.csr.html'],
  },
  {
    id: 'react-router',
    name: 'React Router',
    packages: ['@react-router/dev'],
    buildCommand: 'react-router build',
    buildDirectory: 'build',
    marks: ['server'],
    ...ssr,
    entries: ['server/index.js'],
    needs: `a server entry that exports its app or handler, ${withoutExternals}`,
  },
  {
    id: 'react-router-spa',
    name: 'React Router',
    variant: 'ssr: false',
    packages: ['@react-router/dev'],
    setting: {files: /^react-router\.config\.[cm]?[jt]s$/, text: /\bssr\s*:\s*false\b/},
    buildCommand: 'react-router build',
    buildDirectory: 'build/client',
    ...staticSite,
  },
  {
    id: 'docusaurus',
    name: 'Docusaurus',
    packages: ['@docusaurus/core'],
    buildCommand: 'docusaurus build',
    buildDirectory: 'build',
    ...staticSite,
  },
  {
    id: 'gatsby',
    name: 'Gatsby',
    packages: ['gatsby'],
    buildCommand: 'gatsby build',
    buildDirectory: 'public',
    ...staticSite,
  },
  {
    id: 'eleventy',
    name: 'Eleventy',
    packages: ['@11ty/eleventy'],
    buildCommand: 'eleventy',
    buildDirectory: '_site',
    ...staticSite,
  },
  {
    id: 'create-react-app',
    name: 'Create React App',
    packages: ['react-scripts'],
    buildCommand: 'react-scripts build',
    buildDirectory: 'build',
    ...staticSite,
  },
  {
    id: 'vite',
    name: 'Vite',
    packages: ['vite'],
    buildCommand: 'vite build',
    buildDirectory: 'dist',
    ...staticSite,
  },
];
