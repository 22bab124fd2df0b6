/**
 * The smallest project of each framework, from pinned packages, that shows a text on its first page. `npm run
 * test:browser` builds, pushes and opens them; a row of src/frameworks without one here fails a test.
 */
export interface FrameworkProject {
  /** A row of src/frameworks. */
  readonly id: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  /** Packages of its packages that are replaced, as package.json has them. */
  readonly overrides?: Readonly<Record<string, string>>;
  /** By path. package.json is made from the dependencies. */
  readonly files: Readonly<Record<string, string>>;
  /** Whether its package.json must not say that it has modules. */
  readonly commonjs?: boolean;
  /** Commands of its `build` script. Without one there is nothing to build. */
  readonly build?: string;
  /** What its first page shows. */
  readonly text: string;
}

const viteFiles = {
  'index.html':
    '<!doctype html><title>Vite</title><div id="app"></div><script type="module" src="/src/main.js"></script>\n',
  'src/main.js': "import './style.css';\ndocument.querySelector('#app').textContent = 'Hello from Vite';\n",
  'src/style.css': 'body { color: green; }\n',
};

const astroPage = '---\n---\n<html><head><title>Astro</title></head><body><h1>Hello from Astro</h1></body></html>\n';

const svelteFiles = {
  'src/app.html': '<!doctype html><html><head>%sveltekit.head%</head><body>%sveltekit.body%</body></html>\n',
  'src/routes/+page.svelte': '<script>let count = $state(0);</script>\n<h1>Hello from SvelteKit {count}</h1>\n',
};
const sveltePackages = {
  '@sveltejs/kit': '3.2.0',
  '@sveltejs/vite-plugin-svelte': '7.3.1',
  svelte: '5.57.3',
  vite: '8.3.8',
};

const nextFiles = {
  'app/layout.jsx': 'export default function Layout({children}) {\n  return <html><body>{children}</body></html>;\n}\n',
  'app/page.jsx': 'export default function Page() {\n  return <h1>Hello from Next.js</h1>;\n}\n',
  'public/robots.txt': 'User-agent: *\n',
};

const reactRouterFiles = {
  'app/root.jsx':
    "import {Outlet, Scripts} from 'react-router';\nexport function Layout({children}) {\n  return <html><head><title>React Router</title></head><body>{children}<Scripts /></body></html>;\n}\nexport function HydrateFallback() {\n  return <p>Loading</p>;\n}\nexport default function Root() {\n  return <Outlet />;\n}\n",
  'app/routes.js': "import {index} from '@react-router/dev/routes';\nexport default [index('routes/home.jsx')];\n",
  'app/routes/home.jsx': 'export default function Home() {\n  return <h1>Hello from React Router</h1>;\n}\n',
};

const nextPackages = {next: '16.4.6', react: '19.3.1', 'react-dom': '19.3.1'};

const reactRouterPackages = {
  '@react-router/node': '8.4.0',
  isbot: '5.1.32',
  react: '19.3.1',
  'react-dom': '19.3.1',
  'react-router': '8.4.0',
};
const reactRouterTools = {'@react-router/dev': '8.4.0', vite: '8.3.8'};
const reactRouterVite = "import {reactRouter} from '@react-router/dev/vite';\n";

const angularFiles = (server: boolean) => ({
  'angular.json': JSON.stringify({
    version: 1,
    projects: {
      shop: {
        projectType: 'application',
        root: '',
        sourceRoot: 'src',
        architect: {
          build: {
            builder: '@angular/build:application',
            options: {
              browser: 'src/main.ts',
              index: 'src/index.html',
              tsConfig: 'tsconfig.json',
              ...(server && {server: 'src/main.server.ts', outputMode: 'server', ssr: {entry: 'src/server.ts'}}),
            },
          },
        },
      },
    },
  }),
  'tsconfig.json': JSON.stringify({
    compilerOptions: {
      target: 'ES2022',
      module: 'preserve',
      moduleResolution: 'bundler',
      experimentalDecorators: true,
      skipLibCheck: true,
      types: ['node'],
    },
    files: server ? ['src/main.ts', 'src/main.server.ts', 'src/server.ts'] : ['src/main.ts'],
  }),
  'src/index.html':
    '<!doctype html><html><head><title>Angular</title><base href="/"></head><body><app-root></app-root></body></html>\n',
  'src/app.ts':
    "import {Component} from '@angular/core';\n@Component({selector: 'app-root', template: '<h1>Hello from Angular</h1>'})\nexport class App {}\n",
  'src/main.ts':
    "import {bootstrapApplication} from '@angular/platform-browser';\nimport {App} from './app';\nbootstrapApplication(App);\n",
  ...(server && {
    'src/main.server.ts':
      "import {bootstrapApplication, type BootstrapContext} from '@angular/platform-browser';\nimport {provideServerRendering, RenderMode, withRoutes} from '@angular/ssr';\nimport {App} from './app';\nexport default (context: BootstrapContext) =>\n  bootstrapApplication(App, {providers: [provideServerRendering(withRoutes([{path: '**', renderMode: RenderMode.Server}]))]}, context);\n",
    'src/server.ts':
      "import {AngularNodeAppEngine, createNodeRequestHandler, isMainModule, writeResponseToNodeResponse} from '@angular/ssr/node';\nimport express from 'express';\nimport {join} from 'node:path';\nconst app = express();\nconst engine = new AngularNodeAppEngine();\napp.use(express.static(join(import.meta.dirname, '../browser'), {maxAge: '1y', index: false}));\napp.use((req, res, next) => {\n  engine.handle(req).then((response) => (response ? writeResponseToNodeResponse(response, res) : next())).catch(next);\n});\nif (isMainModule(import.meta.url)) app.listen(Number(process.env['PORT'] ?? 4000));\nexport const reqHandler = createNodeRequestHandler(app);\n",
  }),
});
const angularPackages = {
  '@angular/common': '22.2.0',
  '@angular/compiler': '22.2.0',
  '@angular/core': '22.2.0',
  '@angular/platform-browser': '22.2.0',
  '@angular/router': '22.2.0',
  rxjs: '7.8.2',
  tslib: '2.8.1',
};
const angularTools = {
  '@angular/build': '22.2.0',
  '@angular/cli': '22.2.0',
  '@angular/compiler-cli': '22.2.0',
  '@types/node': '24.10.1',
};

export const frameworkProjects: readonly FrameworkProject[] = [
  {id: 'vite', devDependencies: {vite: '8.3.8'}, files: viteFiles, build: 'vite build', text: 'Hello from Vite'},
  {
    id: 'astro-static',
    dependencies: {astro: '7.3.5'},
    files: {'src/pages/index.astro': astroPage},
    build: 'astro build',
    text: 'Hello from Astro',
  },
  {
    id: 'astro-node',
    dependencies: {astro: '7.3.5', '@astrojs/node': '11.1.6'},
    files: {
      'src/pages/index.astro': `---\nexport const prerender = false;\n---\n${astroPage.slice(8)}`,
      // What the server imports has to be in the bundle.
      'astro.config.mjs':
        "import node from '@astrojs/node';\nexport default {\n  output: 'server',\n  adapter: node({mode: 'standalone'}),\n  vite: {ssr: {noExternal: true}},\n};\n",
    },
    build: 'astro build',
    text: 'Hello from Astro',
  },
  {
    id: 'sveltekit-static',
    devDependencies: {...sveltePackages, '@sveltejs/adapter-static': '4.0.1'},
    files: {
      ...svelteFiles,
      'vite.config.js':
        "import {sveltekit} from '@sveltejs/kit/vite';\nimport adapter from '@sveltejs/adapter-static';\nexport default {plugins: [sveltekit({adapter: adapter()})]};\n",
      'src/routes/+layout.js': 'export const prerender = true;\n',
    },
    build: 'vite build',
    text: 'Hello from SvelteKit 0',
  },
  {
    id: 'sveltekit-node',
    devDependencies: {...sveltePackages, '@sveltejs/adapter-node': '6.0.1'},
    files: {
      ...svelteFiles,
      'vite.config.js':
        "import {sveltekit} from '@sveltejs/kit/vite';\nimport adapter from '@sveltejs/adapter-node';\nexport default {plugins: [sveltekit({adapter: adapter()})]};\n",
    },
    build: 'vite build',
    text: 'Hello from SvelteKit 0',
  },
  {
    id: 'next-export',
    dependencies: nextPackages,
    files: {...nextFiles, 'next.config.mjs': "export default {output: 'export'};\n"},
    build: 'next build',
    text: 'Hello from Next.js',
  },
  {
    id: 'next-standalone',
    dependencies: nextPackages,
    files: {
      ...nextFiles,
      // Without it, Next.js repeats the folders above the project in its output if one of them has a lock file.
      'next.config.mjs': "export default {output: 'standalone', outputFileTracingRoot: import.meta.dirname};\n",
    },
    build: 'next build && cp -r public .next/standalone/ && cp -r .next/static .next/standalone/.next/',
    text: 'Hello from Next.js',
  },
  {
    id: 'nuxt',
    dependencies: {nuxt: '4.5.2', vue: '3.5.45'},
    files: {'app/app.vue': '<template><h1>Hello from Nuxt</h1></template>\n'},
    build: 'nuxt build',
    text: 'Hello from Nuxt',
  },
  {
    id: 'nuxt-generate',
    dependencies: {nuxt: '4.5.2', vue: '3.5.45'},
    files: {'app/app.vue': '<template><h1>Hello from Nuxt</h1></template>\n'},
    build: 'nuxt generate',
    text: 'Hello from Nuxt',
  },
  {
    id: 'angular-static',
    dependencies: angularPackages,
    devDependencies: {...angularTools, typescript: '6.0.3'},
    files: angularFiles(false),
    build: 'ng build',
    text: 'Hello from Angular',
  },
  {
    id: 'angular-ssr',
    dependencies: {
      ...angularPackages,
      '@angular/platform-server': '22.2.0',
      '@angular/ssr': '22.2.0',
      express: '5.2.1',
    },
    devDependencies: {...angularTools, '@types/express': '5.0.6', typescript: '6.0.3'},
    files: angularFiles(true),
    build: 'ng build',
    text: 'Hello from Angular',
  },
  {
    id: 'react-router-spa',
    dependencies: reactRouterPackages,
    devDependencies: reactRouterTools,
    files: {
      ...reactRouterFiles,
      'react-router.config.js': 'export default {ssr: false};\n',
      'vite.config.js': `${reactRouterVite}export default {plugins: [reactRouter()]};\n`,
    },
    build: 'react-router build',
    text: 'Hello from React Router',
  },
  {
    id: 'react-router',
    dependencies: {...reactRouterPackages, '@react-router/express': '8.4.0', express: '5.2.1'},
    devDependencies: reactRouterTools,
    files: {
      ...reactRouterFiles,
      // Its own server is a program that stays outside the build, so the build exports a handler.
      'app/server.js':
        "import {createRequestHandler} from '@react-router/express';\nimport express from 'express';\nimport * as build from 'virtual:react-router/server-build';\nconst app = express();\napp.use(express.static('client'));\napp.use(createRequestHandler({build}));\nexport default app;\n",
      'vite.config.js': `${reactRouterVite}export default {\n  plugins: [reactRouter()],\n  ssr: {noExternal: true},\n  environments: {ssr: {build: {rollupOptions: {input: './app/server.js'}}}},\n};\n`,
    },
    build: 'react-router build',
    text: 'Hello from React Router',
  },
  {
    id: 'docusaurus',
    commonjs: true,
    dependencies: {
      '@docusaurus/core': '3.10.2',
      '@docusaurus/preset-classic': '3.10.2',
      react: '19.3.1',
      'react-dom': '19.3.1',
    },
    files: {
      'docusaurus.config.js':
        "export default {title: 'Docs', url: 'https://docs.example', baseUrl: '/', presets: [['classic', {docs: {routeBasePath: '/', sidebarPath: undefined}, blog: false}]]};\n",
      'docs/index.md': '---\nslug: /\n---\n\n# Hello from Docusaurus\n',
    },
    build: 'docusaurus build',
    text: 'Hello from Docusaurus',
  },
  {
    id: 'eleventy',
    devDependencies: {'@11ty/eleventy': '3.1.8'},
    files: {'index.md': '# Hello from Eleventy\n'},
    build: 'eleventy',
    text: 'Hello from Eleventy',
  },
  {
    id: 'gatsby',
    commonjs: true,
    dependencies: {gatsby: '5.16.1', react: '18.3.1', 'react-dom': '18.3.1'},
    // Its own version downloads a library from elsewhere while it is installed.
    overrides: {sharp: '0.34.5'},
    files: {
      'src/pages/index.js': "import React from 'react';\nexport default () => <h1>Hello from Gatsby</h1>;\n",
    },
    build: 'gatsby build',
    text: 'Hello from Gatsby',
  },
  {
    id: 'create-react-app',
    commonjs: true,
    dependencies: {'react-scripts': '5.0.1', react: '18.3.1', 'react-dom': '18.3.1'},
    files: {
      'public/index.html': '<!doctype html><title>Create React App</title><div id="root"></div>\n',
      'src/index.js':
        "import {createRoot} from 'react-dom/client';\ncreateRoot(document.getElementById('root')).render(<h1>Hello from Create React App</h1>);\n",
    },
    build: 'react-scripts build',
    text: 'Hello from Create React App',
  },
  {
    id: 'pwa-kit',
    commonjs: true,
    devDependencies: {
      '@loadable/component': '5.16.7',
      '@salesforce/pwa-kit-dev': '3.20.0',
      '@salesforce/pwa-kit-react-sdk': '3.20.0',
      '@salesforce/pwa-kit-runtime': '3.20.0',
      '@tanstack/react-query': '4.28.0',
      react: '18.3.1',
      'react-dom': '18.3.1',
      'react-helmet': '6.1.0',
      'react-router-dom': '5.3.4',
    },
    files: {
      'babel.config.js': "module.exports = require('@salesforce/pwa-kit-dev/configs/babel/babel-config');\n",
      'config/default.js':
        "module.exports = {ssrEnabled: true, ssrOnly: ['ssr.js', 'node_modules/**/*.*'], ssrShared: ['static/**', '**/*.js', '**/*.json'], ssrParameters: {ssrFunctionNodeVersion: '24.x'}};\n",
      'app/main.jsx': "import {start} from '@salesforce/pwa-kit-react-sdk/ssr/browser/main';\nstart();\n",
      'app/routes.jsx':
        "import React from 'react';\nexport default [{path: '/', exact: true, component: () => <h1>Hello from PWA Kit</h1>}];\n",
      'app/ssr.js':
        "import path from 'path';\nimport {getRuntime} from '@salesforce/pwa-kit-runtime/ssr/server/express';\nimport {getConfig} from '@salesforce/pwa-kit-runtime/utils/ssr-config';\nconst runtime = getRuntime();\nconst options = {buildDir: path.resolve(process.cwd(), 'build'), mobify: getConfig(), protocol: 'http', port: 3000};\nconst {handler} = runtime.createHandler(options, (app) => app.get('*', runtime.render));\nexport const get = handler;\n",
    },
    build: 'pwa-kit-dev build',
    text: 'Hello from PWA Kit',
  },
  {
    id: 'storefront-next',
    dependencies: {
      '@react-router/node': '7.18.0',
      '@salesforce/storefront-next-runtime': '1.3.1',
      isbot: '5.1.32',
      react: '19.3.1',
      'react-dom': '19.3.1',
      'react-router': '7.18.0',
    },
    devDependencies: {'@react-router/dev': '7.18.0', '@salesforce/storefront-next-dev': '1.3.1', vite: '7.3.8'},
    // Versions that the registry does not have, of packages that a build does not use.
    overrides: {'@salesforce/b2c-tooling-sdk': 'file:./nothing', '@salesforce/mrt-utilities': 'file:./nothing'},
    files: {
      'nothing/package.json': '{"name": "nothing", "version": "1.0.0"}\n',
      'vite.config.js':
        "import {reactRouter} from '@react-router/dev/vite';\nimport storefrontNext from '@salesforce/storefront-next-dev';\nexport default {\n  plugins: [reactRouter(), storefrontNext()],\n  resolve: {alias: [{find: '@', replacement: `${import.meta.dirname}/src`}]},\n};\n",
      'react-router.config.js':
        "import {storefrontNextPreset} from '@salesforce/storefront-next-dev/react-router-preset';\nexport default {presets: [storefrontNextPreset()]};\n",
      'src/extensions/config.json': '{}\n',
      'src/root.jsx': reactRouterFiles['app/root.jsx'],
      'src/routes.js': reactRouterFiles['app/routes.js'],
      'src/routes/home.jsx': 'export default function Home() {\n  return <h1>Hello from Storefront Next</h1>;\n}\n',
    },
    build: 'react-router build',
    text: 'Hello from Storefront Next',
  },
];
