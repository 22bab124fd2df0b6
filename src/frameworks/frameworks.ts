import type {Framework} from './framework.js';
import {ownClients} from './own-clients.js';
import {programs} from './server-programs.js';

const staticSite = {static: true, marks: ['index.html']} as const;
const withClient = {static: false, public: ['client'], publicFolder: 'client'} as const;
const withoutExternals = 'dependencies bundled into the server (`ssr.noExternal: true`)';
/** `outDir: 'www'`, `outDir: resolve(import.meta.dirname, 'www')` or `--outDir www`. */
const outDir = /(?:\boutDir\b['"]?\s*:\s*(?:[\w.]+\([^'"`]*)?['"`]|--outDir[= ]['"]?)([^'"`\s]+)/;
const outputPath = /"outputPath"\s*:\s*(?:\{\s*"base"\s*:\s*)?"([^"]+)"/;

const next = {
  name: 'Next.js',
  packages: ['next'],
  configFile: /^next\.config\.[cm]?[jt]s$/,
  buildCommand: 'next build',
} as const;

/** The server of Vite-based frameworks beside its client. */
const viteServer = {
  ...withClient,
  buildDirectory: 'dist',
  output: {folder: 'dist', setting: outDir},
  marks: [['server', 'client']],
  entries: ['ssr', 'server/server', 'server/index', 'server/entry', 'server/entry-server', 'server/main'].flatMap(
    (name) => [`${name}.mjs`, `${name}.js`],
  ),
} as const;

const nitro = {
  static: false,
  buildDirectory: '.output',
  marks: ['server/index.mjs'],
  signature: ['nitro.json', 'server/index.mjs'],
  manifest: 'nitro.json',
  public: ['public'],
  entries: ['server/index.mjs'],
  publicFolder: 'public',
} as const;

/** A framework that builds sites without a server. */
function site(
  id: string,
  name: string,
  packages: readonly string[],
  buildCommand: string,
  buildDirectory: string,
  more: Partial<Framework> = {},
): Framework {
  return {id, name, packages, buildCommand, buildDirectory, ...staticSite, ...more};
}

/**
 * The frameworks mycli knows: one row for each way of building with one. Detection, the defaults of a push, `init`, the
 * warnings about a build, `runtime:start --ssr` and the table in docs/guides/frameworks.md come from these rows. How to
 * add one: CONTRIBUTING.md.
 *
 * The first row of a framework whose marks are in the build is that build's. Those that others build on come last.
 */
export const frameworks: readonly Framework[] = [
  ...ownClients,
  {
    id: 'next-standalone',
    ...next,
    variant: "output: 'standalone'",
    setting: {text: /\boutput\s*:\s*['"`]standalone['"`]/},
    buildDirectory: '.next/standalone',
    output: {folder: '.next', setting: /\bdistDir\s*:\s*['"`]([^'"`]+)/},
    marks: ['server.js'],
    signature: ['server.js', '.next/BUILD_ID'],
    isNested: true,
    static: false,
    public: ['.next/static', 'public'],
    copies: [
      {from: '.next/static', to: '.next/static'},
      {from: 'public', to: 'public'},
    ],
    unfit: {
      marks: ['.next/BUILD_ID', '.next/server', '.next/build'],
      problem: 'Next.js was built without an output that can be pushed.',
      advice:
        "Set output: 'standalone' in next.config, or output: 'export' for a site without a server, and build again",
    },
    entries: ['server.js'],
    publicFolder: 'public',
  },
  {
    id: 'next-export',
    ...next,
    variant: "output: 'export'",
    setting: {text: /\boutput\s*:\s*['"`]export['"`]/},
    buildDirectory: 'out',
    output: {folder: 'out', setting: /\bdistDir\s*:\s*['"`]([^'"`]+)/},
    ...staticSite,
  },
  {
    id: 'nuxt',
    name: 'Nuxt',
    variant: 'nuxt build',
    packages: ['nuxt'],
    configFile: /^nuxt\.config\.[cm]?[jt]s$/,
    buildCommand: 'nuxt build',
    ...nitro,
  },
  site('nuxt-generate', 'Nuxt', ['nuxt'], 'nuxt generate', '.output/public', {variant: 'nuxt generate'}),
  {
    id: 'sveltekit-node',
    name: 'SvelteKit',
    variant: 'adapter-node',
    packages: ['@sveltejs/kit'],
    configFile: /^svelte\.config\.[cm]?[jt]s$/,
    setting: {packages: ['@sveltejs/adapter-node'], unless: /['"]@sveltejs\/adapter-(?!node)/},
    buildCommand: 'vite build',
    buildDirectory: 'build',
    output: {folder: 'build', setting: /\bout\s*:\s*['"`]([^'"`]+)/},
    marks: ['handler.js', 'server'],
    ...withClient,
    public: ['client', 'prerendered'],
    unfit: {
      marks: ['.svelte-kit/output/server'],
      problem: 'SvelteKit was built with an adapter for another host, or with adapter-auto, which found none.',
      advice:
        'Install @sveltejs/adapter-node, import it in vite.config (before SvelteKit 3, svelte.config.js): import adapter from ' +
        "'@sveltejs/adapter-node', set adapter: adapter(), and build again",
    },
    entries: ['index.js'],
    // It refuses forms of another origin than its own, which it only knows from these.
    environment: {PROTOCOL_HEADER: 'x-forwarded-proto', HOST_HEADER: 'x-forwarded-host'},
  },
  site('sveltekit-static', 'SvelteKit', ['@sveltejs/kit'], 'vite build', 'build', {
    variant: 'adapter-static',
    configFile: /^svelte\.config\.[cm]?[jt]s$/,
    setting: {packages: ['@sveltejs/adapter-static']},
    output: {folder: 'build', setting: /\bpages\s*:\s*['"`]([^'"`]+)/},
  }),
  {
    id: 'astro-node',
    name: 'Astro',
    variant: '@astrojs/node',
    packages: ['astro'],
    configFile: /^astro\.config\.[cm]?[jt]s$/,
    setting: {packages: ['@astrojs/node']},
    buildCommand: 'astro build',
    ...viteServer,
    marks: ['server/entry.mjs'],
    signature: ['server/entry.mjs', 'client'],
    unfitEntry: {
      text: /\bmode"?\s*[:=]\s*"middleware"/,
      problem: 'server/entry.mjs exports a middleware of Astro, not a server.',
      advice:
        "Set adapter: node({mode: 'standalone'}) in astro.config, or add an ssr.mjs to the build that exports a server " +
        'with this middleware, and build again',
    },
    needs: 'standalone mode, ' + withoutExternals.replace('ssr', 'vite.ssr'),
  },
  site('astro-static', 'Astro', ['astro'], 'astro build', 'dist', {
    variant: 'static',
    configFile: /^astro\.config\.[cm]?[jt]s$/,
    output: {folder: 'dist', setting: outDir},
  }),
  {
    id: 'analog',
    name: 'Analog',
    packages: ['@analogjs/platform'],
    buildCommand: 'vite build',
    ...nitro,
    buildDirectory: 'dist/analog',
  },
  {
    id: 'angular-ssr',
    name: 'Angular',
    variant: 'SSR',
    packages: ['@angular/core'],
    configFile: /^(?:angular|project)\.json$/,
    configText: /@angular/,
    setting: {packages: ['@angular/ssr']},
    buildCommand: 'ng build',
    buildDirectory: 'dist/*',
    output: {folder: 'dist/*', setting: outputPath},
    marks: ['server'],
    static: false,
    public: ['browser'],
    entries: ['server/server.mjs'],
    // It only answers for hosts it is configured for.
    environment: {NG_ALLOWED_HOSTS: '*'},
    publicFolder: 'browser',
  },
  ...['dist/*/browser', 'dist/*'].map((buildDirectory, index) =>
    site(index === 0 ? 'angular-static' : 'angular-browser', 'Angular', ['@angular/core'], 'ng build', buildDirectory, {
      variant: index === 0 ? 'without SSR' : 'builder `browser`',
      configFile: /^(?:angular|project)\.json$/,
      configText: /@angular/,
      output: {folder: 'dist/*', setting: outputPath},
      // One folder for each language.
      marks: ['index.html', 'index.csr.html', '*/index.html'],
    }),
  ),
  {
    id: 'hydrogen',
    name: 'Hydrogen',
    packages: ['@shopify/hydrogen'],
    buildCommand: 'shopify hydrogen build',
    ...viteServer,
    unfitEntry: {
      // Workers are handed their variables and their context, which the Runtime's servers have not.
      text: /\bfetch\(\w+, ?\w+, ?\w+\) ?\{/,
      problem: "server/index.js exports a worker for Oxygen, Shopify's host.",
      advice:
        'Write a server that exports an Express app, set build.rollupOptions.input of the ssr environment in vite.config ' +
        'to it (docs/guides/frameworks.md, React Router), and build again',
    },
    needs: `as React Router: a server entry that exports its app or handler, ${withoutExternals}`,
  },
  {
    id: 'react-router',
    name: 'React Router',
    packages: ['@react-router/dev'],
    configFile: /^react-router\.config\.[cm]?[jt]s$/,
    buildCommand: 'react-router build',
    buildDirectory: 'build',
    output: {folder: 'build', setting: /\bbuildDirectory\s*:\s*['"`]([^'"`]+)/},
    marks: ['server'],
    ...withClient,
    entries: ['ssr.mjs', 'ssr.js', 'server/index.js'],
    unfitEntry: {
      // `app` is what the template with a custom server exports, for that server.
      text: /\bexport\s*\{(?![^}]*\b(?:as default|fetch|get|handler|reqHandler)\b)[^}]*\b(?:app|assetsBuildDirectory)\b/,
      problem:
        'server/index.js has no server as its default export: only the routes of React Router, or a named export.',
      advice:
        'Write an app/server.js that exports an Express app as default, set build.rollupOptions.input of the ssr ' +
        'environment in vite.config to it (docs/guides/frameworks.md), and build again',
    },
    needs: `a server entry that exports its app or handler as default, ${withoutExternals}`,
  },
  site('react-router-spa', 'React Router', ['@react-router/dev'], 'react-router build', 'build/client', {
    variant: 'ssr: false',
    configFile: /^react-router\.config\.[cm]?[jt]s$/,
    setting: {text: /\bssr\s*:\s*false\b/},
    output: {folder: 'build', setting: /\bbuildDirectory\s*:\s*['"`]([^'"`]+)/},
  }),
  {
    id: 'remix',
    name: 'Remix',
    packages: ['@remix-run/dev'],
    buildCommand: 'remix vite:build',
    buildDirectory: 'build',
    marks: ['server'],
    ...withClient,
    entries: ['ssr.mjs', 'ssr.js', 'server/index.js'],
    unfitEntry: {
      text: /\bexport\s*\{(?![^}]*\bas default\b)[^}]*\bassetsBuildDirectory\b/,
      problem: 'server/index.js exports the routes of Remix, not a server.',
      advice: 'Add an ssr.mjs to the build that exports a server of these routes, such as one of @remix-run/express',
    },
  },
  ...(
    [
      ['tanstack-start', 'TanStack Start', ['@tanstack/react-start', '@tanstack/solid-start']],
      ['solid-start', 'SolidStart', ['@solidjs/start']],
    ] as const
  ).flatMap(([id, name, packages]) => [
    {
      id: `${id}-nitro`,
      name,
      variant: 'Nitro',
      packages,
      // vinxi has Nitro in it.
      setting: {
        packages: ['nitro', 'nitropack', '@tanstack/nitro-v2-vite-plugin', '@solidjs/vite-plugin-nitro-2', 'vinxi'],
      },
      buildCommand: 'vite build',
      ...nitro,
    },
    {id, name, packages, buildCommand: 'vite build', ...viteServer, needs: withoutExternals},
  ]),
  {
    id: 'vike',
    name: 'Vike',
    variant: 'SSR',
    packages: ['vike'],
    buildCommand: 'vike build',
    ...viteServer,
    unfitEntry: {
      text: /__VIKE__IS_DEV/,
      // What the Runtime calls of a server.
      unless: /\bfetch\b/,
      problem: 'server/entry.mjs exports the pages of Vike, not a server.',
      advice: 'Set server: true in pages/+config, and build again',
    },
    needs: '`server: true` in `pages/+config`, ' + withoutExternals,
  },
  site('vike-prerendered', 'Vike', ['vike'], 'vike build', 'dist/client', {variant: 'prerendered'}),
  {
    id: 'waku',
    name: 'Waku',
    packages: ['waku'],
    buildCommand: 'waku build',
    buildDirectory: 'dist',
    marks: ['server', 'rsc', 'serve-node.js'],
    signature: ['serve-node.js', 'server/index.js'],
    static: false,
    public: ['public'],
    entries: ['serve-node.js', 'server/index.js'],
    publicFolder: 'public',
  },
  site('qwik', 'Qwik', ['@builder.io/qwik', '@qwik.dev/core'], 'vite build', 'dist', {
    variant: 'static',
    unfit: {
      marks: ['dist/q-manifest.json', 'dist/build'],
      problem: 'Qwik was built without its pages, which only an adapter writes.',
      advice: 'Add the adapter for static sites (npm run qwik add static), and build again',
    },
  }),
  {
    id: 'adonis',
    name: 'AdonisJS',
    packages: ['@adonisjs/core'],
    configFile: /^adonisrc\.[cm]?[jt]s$/,
    buildCommand: 'node ace build',
    buildDirectory: 'build',
    marks: [['ace.js', 'bin/server.js']],
    signature: ['ace.js', 'bin/server.js'],
    static: false,
    public: ['public'],
    entries: ['ssr.mjs', 'ssr.js', 'bin/server.js'],
    publicFolder: 'public',
    needs: 'its packages in the build (`npm ci --omit=dev` in it), and `APP_KEY` and others in its environment',
  },
  {
    id: 'nitro',
    name: 'Nitro',
    packages: ['nitropack', 'nitro', 'vinxi'],
    buildCommand: 'nitro build',
    ...nitro,
  },
  site('docusaurus', 'Docusaurus', ['@docusaurus/core'], 'docusaurus build', 'build'),
  site('gatsby', 'Gatsby', ['gatsby'], 'gatsby build', 'public', {sourceMaps: true}),
  site('eleventy', 'Eleventy', ['@11ty/eleventy'], 'eleventy', '_site'),
  site('create-react-app', 'Create React App', ['react-scripts'], 'react-scripts build', 'build', {sourceMaps: true}),
  site('preact-cli', 'Preact CLI', ['preact-cli'], 'preact build', 'build', {
    // The server's bundle, which only its own prerendering runs.
    ignore: ['/ssr-build/'],
    sourceMaps: true,
  }),
  site('slidev', 'Slidev', ['@slidev/cli'], 'slidev build', 'dist'),
  site('rspress', 'Rspress', ['@rspress/core', 'rspress'], 'rspress build', 'doc_build'),
  {
    id: 'vite-ssr',
    name: 'Vite',
    variant: 'SSR',
    packages: ['vite'],
    configFile: /^vite\.config\.[cm]?[jt]s$/,
    isBase: true,
    setting: {text: /\bssr\s*:\s*['"`]/},
    buildCommand: 'vite build',
    ...viteServer,
    unfitEntry: {
      text: /\bexport\s*\{(?![^}]*\b(?:default|fetch|handler)\b)[^}]*\brender\w*\b/,
      problem: 'The build has a function that renders pages, and no server.',
      advice:
        'Make an ssr.mjs part of the build that exports a server as default, such as an Express app that calls the ' +
        'function and has its packages bundled',
    },
    needs: 'an `ssr.mjs` that exports its app, or a server entry that does',
  },
  site('vite', 'Vite', ['vite', 'rolldown-vite'], 'vite build', 'dist', {
    configFile: /^vite\.config\.[cm]?[jt]s$/,
    isBase: true,
    output: {folder: 'dist', setting: outDir},
  }),
  site('vitepress', 'VitePress', ['vitepress'], 'vitepress build', '.vitepress/dist', {isBase: true}),
  site('vitepress-docs', 'VitePress', ['vitepress'], 'vitepress build docs', 'docs/.vitepress/dist', {
    variant: 'in `docs`',
    isBase: true,
  }),
  site('storybook', 'Storybook', ['storybook'], 'storybook build', 'storybook-static', {isBase: true}),
  ...programs,
];
