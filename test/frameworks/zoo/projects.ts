/**
 * A project as its generator makes it, at its defaults but for what the row adds. Where a generator needs more than the
 * npm registry, the row is the smallest equal of what it makes. `npm run test:suite zoo` builds, pushes and opens it.
 */
export interface ZooProject {
  readonly id: string;
  /** The row of src/frameworks that it tries. Without one, it is of no row: a site, or refused. */
  readonly framework?: string;
  /** Without a row, what the guide calls it, and the packages of which the version is kept. */
  readonly name?: string;
  readonly packages?: readonly string[];
  /** The folder to push, where nothing says it. */
  readonly pushes?: string;
  /** Without a row, what a push does with it, for the guide. */
  readonly does?: string;
  /** What a push says, instead of pushing it. */
  readonly refusal?: RegExp;
  /** What is unusual about it, for the guide. */
  readonly variant?: string;
  /** Commands that make it in the folder `app`. Without any, `files` and `manifest` are all of it. */
  readonly create?: string;
  readonly manager?: 'npm' | 'pnpm';
  /** Where the application is, if `app` is a workspace. */
  readonly folder?: string;
  /** What is added to its package.json. */
  readonly manifest?: Manifest;
  /** By path. */
  readonly files?: Readonly<Record<string, string>>;
  /** A text in a file, and what replaces it. */
  readonly edits?: Readonly<Record<string, readonly [from: string, to: string]>>;
  /** Its own checks besides the build, which have to stay green after `init`. */
  readonly checks?: readonly string[];
  /** What a push warns about. */
  readonly warnings?: readonly string[];
  /** The folders of the bundle that visitors may fetch, but for dot files below them. Without any, all is for them. */
  readonly serves?: readonly string[];
  /** What the row adds to what the generator makes, for the guide. */
  readonly added?: string;
  /** What its first page shows. */
  readonly text: string;
  /** Whether that page loads scripts, styles or images. */
  readonly hasAssets?: boolean;
  /** Another page, what it shows when it is opened by its URL, and the status: 200 without any. */
  readonly deep?: {readonly path: string; readonly text: string; readonly status?: number};
  /** The status of a page that is not there: 404, or 200 of a site that has no page for that. */
  readonly missing?: number;
  /** A page with a form, and what it shows after "zebra" was sent. */
  readonly form?: {readonly path: string; readonly text: string};
}

export interface Manifest {
  readonly type?: 'module';
  readonly workspaces?: readonly string[];
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  /** Of packages of its packages. */
  readonly overrides?: Readonly<Record<string, string>>;
}

const createVite = 'npm create vite@latest app -- --template react-ts --no-interactive';
const vite = {
  framework: 'vite',
  create: createVite,
  checks: ['npx tsc -b', 'npm run lint'],
  text: 'Get started',
  missing: 200,
} as const;

const createNext = 'npm create next-app@latest app -- --yes --skip-install --disable-git';
const nextFiles = {
  // The template's loads its fonts from Google.
  'app/layout.tsx':
    "import './globals.css';\nexport default function RootLayout({children}: LayoutProps<'/'>) {\n  return <html lang=\"en\"><body>{children}</body></html>;\n}\n",
  'app/about/page.tsx': 'export default function About() {\n  return <h1>About Next</h1>;\n}\n',
  'data/prices.json': '{"zebra": 1}\n',
};
const nextForm = {
  'app/echo/page.tsx':
    "async function echo(data: FormData) {\n  'use server';\n  const {redirect} = await import('next/navigation');\n  redirect(`/echo/${String(data.get('name'))}`);\n}\nexport default function Echo() {\n  return <form action={echo}><input name=\"name\" /><button>Send</button></form>;\n}\n",
  'app/echo/[name]/page.tsx':
    "import {Suspense} from 'react';\ntype Props = {params: Promise<{name: string}>};\nasync function Name({params}: Props) {\n  return <p>Hello {(await params).name}</p>;\n}\nexport default function Page(props: Props) {\n  return <Suspense><Name {...props} /></Suspense>;\n}\n",
};
/** Next.js copies the file for its server. */
const nextSecrets = (path: string) =>
  `The bundle contains files that may hold secrets: ${path}. Exclude them in .bundleignore.`;
const next = {
  framework: 'next-standalone',
  create: createNext,
  files: {...nextFiles, ...nextForm},
  edits: {'next.config.ts': ['/* config options here */', "output: 'standalone',"]},
  manifest: {
    scripts: {
      build: 'next build && cp -r public .next/standalone/ && cp -r .next/static .next/standalone/.next/',
    },
  },
  checks: ['npx tsc --noEmit', 'npm run lint'],
  warnings: [nextSecrets('.env')],
  serves: ['.next/static/', 'public/'],
  text: 'Deploy Now',
  deep: {path: 'about', text: 'About Next'},
  form: {path: 'echo', text: 'Hello zebra'},
} as const;

const svelte = {
  create: 'npx sv@latest create app --template minimal --types ts --no-install --add sveltekit-adapter="adapter:node"',
  files: {'src/routes/about/+page.svelte': '<h1>About Svelte</h1>\n'},
  checks: ['npm run check'],
  text: 'Welcome to SvelteKit',
  deep: {path: 'about', text: 'About Svelte'},
};

const nuxt = {
  manifest: {
    type: 'module',
    scripts: {build: 'nuxt build'},
    dependencies: {nuxt: 'latest', vue: 'latest', 'vue-router': 'latest'},
    // Nuxt 4.5 doesn't build with Vite 8.4.
    devDependencies: {typescript: '6', vite: '~8.3', 'vue-tsc': 'latest'},
  },
  files: {
    'nuxt.config.ts': "export default defineNuxtConfig({compatibilityDate: '2025-07-15'});\n",
    'tsconfig.json':
      '{"files": [], "references": [{"path": "./.nuxt/tsconfig.app.json"}, {"path": "./.nuxt/tsconfig.server.json"}, {"path": "./.nuxt/tsconfig.shared.json"}, {"path": "./.nuxt/tsconfig.node.json"}]}\n',
    'app/app.vue': '<template><NuxtPage /></template>\n',
    'app/pages/index.vue': '<template><h1>Hello from Nuxt</h1></template>\n',
    'app/pages/about.vue': '<template><h1>About Nuxt</h1></template>\n',
    'public/robots.txt': 'User-agent: *\n',
  },
  checks: ['npx nuxt typecheck'],
  text: 'Hello from Nuxt',
  deep: {path: 'about', text: 'About Nuxt'},
} as const;

const astro = {
  manifest: {
    type: 'module',
    scripts: {build: 'astro build'},
    dependencies: {astro: 'latest'},
    devDependencies: {'@astrojs/check': 'latest', typescript: '5'},
  },
  files: {
    'tsconfig.json':
      '{"extends": "astro/tsconfigs/strict", "include": [".astro/types.d.ts", "**/*"], "exclude": ["dist"]}\n',
    'astro.config.mjs': "import {defineConfig} from 'astro/config';\nexport default defineConfig({});\n",
    'src/pages/index.astro':
      '---\n---\n<html lang="en"><head><title>Astro</title><link rel="icon" href="/favicon.svg" /></head><body><h1>Astro</h1><img src="/favicon.svg" alt="" /></body></html>\n',
    'src/pages/about.astro': '<html lang="en"><body><h1>About Astro</h1></body></html>\n',
    'public/favicon.svg': '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M0 0h9v9H0z" /></svg>\n',
  },
  checks: ['npx astro check'],
  text: 'Astro',
  deep: {path: 'about', text: 'About Astro'},
} as const;

/** Its packages need each other in one version, which a registry may not have of all of them when it is new. */
const reactRouterVersion = '8.4.0';
const reactRouter = {
  manifest: {
    type: 'module',
    scripts: {build: 'react-router build', typecheck: 'react-router typegen && tsc'},
    dependencies: {
      '@react-router/node': reactRouterVersion,
      isbot: '5',
      react: 'latest',
      'react-dom': 'latest',
      'react-router': reactRouterVersion,
    },
    devDependencies: {
      '@react-router/dev': reactRouterVersion,
      '@types/node': '24',
      '@types/react': 'latest',
      '@types/react-dom': 'latest',
      typescript: '6',
      vite: 'latest',
    },
  },
  files: {
    'tsconfig.json': JSON.stringify({
      include: ['**/*', '.react-router/types/**/*'],
      compilerOptions: {
        lib: ['DOM', 'DOM.Iterable', 'ES2022'],
        types: ['node', 'vite/client'],
        target: 'ES2022',
        module: 'ES2022',
        moduleResolution: 'bundler',
        jsx: 'react-jsx',
        rootDirs: ['.', './.react-router/types'],
        esModuleInterop: true,
        verbatimModuleSyntax: true,
        noEmit: true,
        resolveJsonModule: true,
        skipLibCheck: true,
        strict: true,
      },
    }),
    'vite.config.ts':
      "import {reactRouter} from '@react-router/dev/vite';\nimport {defineConfig} from 'vite';\nexport default defineConfig({plugins: [reactRouter()]});\n",
    'app/root.tsx':
      "import type {ReactNode} from 'react';\nimport {Links, Meta, Outlet, Scripts} from 'react-router';\nexport function Layout({children}: {children: ReactNode}) {\n  return <html lang=\"en\"><head><Meta /><Links /></head><body>{children}<Scripts /></body></html>;\n}\nexport function HydrateFallback() {\n  return <p>Loading</p>;\n}\nexport default function App() {\n  return <Outlet />;\n}\n",
    'app/routes.ts':
      "import {index, route} from '@react-router/dev/routes';\nexport default [index('routes/home.tsx'), route('about', 'routes/about.tsx'), route('echo', 'routes/echo.tsx')];\n",
    'app/routes/home.tsx': 'export default function Home() {\n  return <h1>Hello from React Router</h1>;\n}\n',
    'app/routes/about.tsx': 'export default function About() {\n  return <h1>About React Router</h1>;\n}\n',
    'app/routes/echo.tsx':
      'import {Form, useActionData} from \'react-router\';\nexport async function clientAction({request}: {request: Request}) {\n  return {name: String((await request.formData()).get(\'name\'))};\n}\nexport default function Echo() {\n  const data = useActionData<typeof clientAction>();\n  return <Form method="post"><input name="name" /><button>Send</button><p>Hello {data?.name}</p></Form>;\n}\n',
  },
  checks: ['npm run typecheck'],
  text: 'Hello from React Router',
  deep: {path: 'about', text: 'About React Router'},
  form: {path: 'echo', text: 'Hello zebra'},
} as const;
const expressServer = (framework: string, module: string) =>
  `import {createRequestHandler} from '${framework}';\nimport express from 'express';\nimport * as build from '${module}';\n\nconst app = express();\napp.use(express.static('client'));\napp.use(createRequestHandler({build}));\nexport default app;\n`;

/** A command that makes one file of a server and its packages. Those in CommonJS need what modules don't have. */
const bundled = (from: string, to: string) =>
  `esbuild ${from} --bundle --platform=node --format=esm --outfile=${to} --banner:js="import {createRequire} from 'node:module';const require = createRequire(import.meta.url);"`;

const solidStart = {
  manifest: {
    type: 'module',
    scripts: {build: 'vite build'},
    dependencies: {
      '@solidjs/router': '0.16',
      '@solidjs/start': 'latest',
      'solid-js': '1',
      vite: '8',
    },
  },
  files: {
    'vite.config.ts':
      "import {solidStart} from '@solidjs/start/config';\nimport {defineConfig} from 'vite';\nexport default defineConfig({plugins: [solidStart()], ssr: {noExternal: true}});\n",
    'tsconfig.json':
      '{"compilerOptions": {"target": "ESNext", "module": "ESNext", "moduleResolution": "bundler", "jsx": "preserve", "jsxImportSource": "solid-js", "strict": true, "noEmit": true, "types": ["vite/client"], "skipLibCheck": true}}\n',
    'src/entry-client.tsx':
      "import {mount, StartClient} from '@solidjs/start/client';\nmount(() => <StartClient />, document.getElementById('app')!);\n",
    'src/entry-server.tsx':
      'import {createHandler, StartServer} from \'@solidjs/start/server\';\nexport default createHandler(() => (\n  <StartServer document={({assets, children, scripts}) => (\n    <html lang="en"><head>{assets}</head><body><div id="app">{children}</div>{scripts}</body></html>\n  )} />\n));\n',
    'src/app.tsx':
      "import {Router} from '@solidjs/router';\nimport {FileRoutes} from '@solidjs/start/router';\nimport {Suspense} from 'solid-js';\nexport default function App() {\n  return <Router root={(props) => <Suspense>{props.children}</Suspense>}><FileRoutes /></Router>;\n}\n",
    'src/routes/index.tsx': 'export default function Home() {\n  return <h1>Hello from SolidStart</h1>;\n}\n',
    'src/routes/about.tsx': 'export default function About() {\n  return <h1>About SolidStart</h1>;\n}\n',
    'src/routes/[...404].tsx':
      "import {HttpStatusCode} from '@solidjs/start';\nexport default function NotFound() {\n  return <main><HttpStatusCode code={404} /><h1>Nothing here</h1></main>;\n}\n",
  },
  text: 'Hello from SolidStart',
  deep: {path: 'about', text: 'About SolidStart'},
} as const;

/** Its packages need each other in one version, too. */
const angularVersion = '22.2.0';
const createAngular = (...flags: readonly string[]) =>
  `npx @angular/cli@${angularVersion} new app --defaults --skip-install --skip-git ${flags.join(' ')} && sed -i '/@angular/s/\\^//' app/package.json`;

const angularSite = {
  create: createAngular(),
  checks: ['npx tsc --noEmit -p tsconfig.app.json'],
  text: 'Hello, app',
  missing: 200,
} as const;

const vike = {
  manifest: {
    type: 'module',
    scripts: {build: 'vike build'},
    dependencies: {react: 'latest', 'react-dom': 'latest', vike: 'latest', 'vike-react': 'latest'},
    devDependencies: {'@vitejs/plugin-react': 'latest', vite: 'latest'},
  },
  files: {
    'vite.config.js':
      "import react from '@vitejs/plugin-react';\nimport vike from 'vike/plugin';\nexport default {plugins: [vike(), react()], ssr: {noExternal: true}};\n",
    'pages/+config.js':
      "import vikeReact from 'vike-react/config';\nexport default {extends: [vikeReact], server: true};\n",
    'pages/index/+Page.jsx': 'export default () => <h1>Hello from the zoo</h1>;\n',
    'pages/about/+Page.jsx': 'export default () => <h1>About Vike</h1>;\n',
    'pages/_error/+Page.jsx': 'export default () => <h1>Nothing here</h1>;\n',
  },
  deep: {path: 'about', text: 'About Vike'},
} as const;

const nest = 'npx @nestjs/cli@latest new app --skip-install --skip-git --package-manager npm';

/** A program without a framework, which a bundler has made one file of. */
const program = (framework: string, app: string, packages: Readonly<Record<string, string>>): ZooProject => ({
  id: framework,
  framework,
  manifest: {
    type: 'module',
    scripts: {
      build: `${bundled('src/ssr.ts', 'dist/ssr.mjs')} && cp -r public dist/`,
    },
    dependencies: packages,
    devDependencies: {
      '@types/express': '5',
      '@types/koa': 'latest',
      '@types/node': '24',
      esbuild: 'latest',
      typescript: '6',
    },
  },
  files: {
    'tsconfig.json':
      '{"compilerOptions": {"target": "ES2023", "module": "nodenext", "types": ["node"], "strict": true, "noEmit": true, "skipLibCheck": true, "rootDir": "src"}, "include": ["src"]}\n',
    'public/logo.svg': '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M0 0h9v9H0z" /></svg>\n',
    'src/page.ts':
      'export const page = (text: string) =>\n  `<!doctype html><title>Zoo</title><img src="/logo.svg"><h1>${text}</h1><form method="post" action="/echo"><input name="name"><button>Send</button></form>`;\n',
    'src/ssr.ts': app,
  },
  checks: ['npx tsc'],
  serves: ['public/'],
  text: 'Hello from a program',
  deep: {path: 'about', text: 'About it'},
  form: {path: 'about', text: 'Hello zebra'},
});

/** A site whose generator can't be had from the npm registry, or has more in it than it takes. */
const site = (
  framework: string,
  manifest: Manifest,
  files: Readonly<Record<string, string>>,
  more: Partial<ZooProject> = {},
): ZooProject => ({
  id: framework,
  framework,
  manifest,
  files,
  text: 'Hello from the zoo',
  ...more,
});

/** Projects that no row is about. */
const unknownProjects: readonly ZooProject[] = [
  {
    id: 'rsbuild',
    does: 'pushes `dist` as a site',
    name: 'Rsbuild',
    packages: ['@rsbuild/core'],
    // Its generator needs a package in a version that a mirror of the registry may not have yet.
    manifest: {type: 'module', scripts: {build: 'rsbuild build'}, devDependencies: {'@rsbuild/core': 'latest'}},
    files: {
      'src/index.js': "document.querySelector('#root').innerHTML = '<h1>Hello from the zoo</h1>';\n",
    },
    text: 'Hello from the zoo',
    missing: 200,
  },
  {
    id: 'parcel',
    does: 'pushes `dist` as a site',
    name: 'Parcel',
    packages: ['parcel'],
    manifest: {scripts: {build: 'parcel build src/index.html --no-source-maps'}, devDependencies: {parcel: 'latest'}},
    files: {
      'src/index.html':
        '<!doctype html><title>Zoo</title><h1>Hello from the zoo</h1><script type="module" src="main.js"></script>\n',
      'src/main.js': "document.title = 'Zoo';\n",
    },
    text: 'Hello from the zoo',
    missing: 200,
  },
  {
    id: 'hexo',
    does: 'suggests `mycli push public`',
    name: 'Hexo',
    packages: ['hexo'],
    pushes: 'public',
    // Its generator clones a repository of GitHub.
    manifest: {
      scripts: {build: 'hexo generate'},
      dependencies: {
        hexo: 'latest',
        'hexo-generator-archive': 'latest',
        'hexo-generator-index': 'latest',
        'hexo-renderer-ejs': 'latest',
        'hexo-renderer-marked': 'latest',
        'hexo-renderer-stylus': 'latest',
        'hexo-theme-landscape': 'latest',
      },
    },
    files: {
      'package.json': '{"hexo": {"version": ""}}\n',
      '_config.yml': 'title: Zoo\nurl: http://example.com\ntheme: landscape\n',
      // Which the theme's pages name.
      'source/favicon.png': 'x',
      'source/_posts/hello.md': '---\ntitle: Hello from the zoo\n---\nHello.\n',
    },
    text: 'Hello from the zoo',
    missing: 200,
  },
  {
    id: 'ember',
    does: 'pushes `dist` as a site',
    name: 'Ember',
    packages: ['ember-source'],
    create: 'npx ember-cli@latest new zoo-ember --directory app --lang en --skip-npm --skip-git',
    text: 'Congratulations, you made it!',
    missing: 200,
  },
  {
    ...nuxt,
    id: 'nuxt-preset',
    does: 'refuses it, and names the preset to choose',
    name: 'Nuxt, for another host',
    packages: ['nuxt'],
    files: {
      ...nuxt.files,
      'nuxt.config.ts':
        "export default defineNuxtConfig({compatibilityDate: '2025-07-15', nitro: {preset: 'aws-lambda'}});\n",
    },
    refusal: /built with the preset aws-lambda of Nitro/,
  },
  {
    id: 'expo-web',
    does: 'pushes `dist` as a site',
    added: 'a `404.html`',
    name: 'Expo, for the web',
    packages: ['expo'],
    create: 'npx create-expo-app@latest app --template expo-template-default@57.0.28 --no-install',
    manifest: {scripts: {build: 'expo export --platform web && cp dist/+not-found.html dist/404.html'}},
    text: 'Welcome to',
    deep: {path: 'explore', text: 'Explore'},
  },
  {
    id: 'fastify-cli',
    does: 'refuses it, and says how to make a server of the plugin',
    name: 'fastify-cli',
    packages: ['fastify-cli'],
    create: 'npx fastify-cli@latest generate app --lang=ts',
    manifest: {scripts: {build: 'tsc -p tsconfig.json --rootDir src'}},
    refusal: /exports a plugin of Fastify/,
    text: '',
  },
  {
    id: 'vite-express',
    framework: 'express',
    variant: 'in front of Vite',
    manifest: {
      type: 'module',
      scripts: {build: `vite build --outDir dist/client && ${bundled('server.js', 'dist/ssr.mjs')}`},
      dependencies: {express: '5'},
      devDependencies: {esbuild: 'latest', vite: 'latest'},
    },
    files: {
      'index.html':
        '<!doctype html><title>Zoo</title><h1>Hello from the zoo</h1><script type="module" src="/src/main.js"></script>\n',
      'src/main.js': "document.title = 'Zoo';\n",
      'server.js':
        "import express from 'express';\nconst app = express();\napp.use(express.static('client'));\napp.get('/about', (_, response) => void response.send('About it'));\nexport default app;\n",
    },
    serves: ['client/'],
    text: 'Hello from the zoo',
    deep: {path: 'about', text: 'About it'},
  },
];

export const zooProjects: readonly ZooProject[] = [
  ...unknownProjects,
  {...vite, id: 'vite'},
  {...vite, id: 'vite-pnpm', variant: 'pnpm', manager: 'pnpm', checks: ['pnpm exec tsc -b', 'pnpm run lint']},
  {
    ...vite,
    id: 'vite-outdir',
    variant: '`outDir`',
    edits: {'vite.config.ts': ['plugins:', "build: {outDir: '../public_html'},\n  plugins:"]},
  },
  {...next, id: 'next'},
  {...next, id: 'next-pnpm', variant: 'pnpm', manager: 'pnpm', checks: ['pnpm exec tsc --noEmit', 'pnpm run lint']},
  {
    ...next,
    id: 'next-workspace',
    variant: 'in a workspace',
    manager: 'pnpm',
    folder: 'app/apps/web',
    create:
      "mkdir -p app/apps && cd app/apps && npm create next-app@latest web -- --yes --skip-install --disable-git && cd .. && echo 'packages: [apps/*]' > pnpm-workspace.yaml && echo '{\"private\": true}' > package.json",
    manifest: {
      scripts: {
        build:
          'next build && cp -r public .next/standalone/apps/web/ && cp -r .next/static .next/standalone/apps/web/.next/',
      },
    },
    checks: ['pnpm exec tsc --noEmit', 'pnpm run lint'],
    warnings: [nextSecrets('apps/web/.env')],
    serves: ['apps/web/.next/static/', 'apps/web/public/'],
  },
  {
    id: 'next-export',
    added: `\`output: 'export'\``,
    framework: 'next-export',
    create: createNext,
    files: nextFiles,
    edits: {'next.config.ts': ['cacheComponents: true,\n  partialPrefetching: true,', "output: 'export',"]},
    checks: ['npx tsc --noEmit', 'npm run lint'],
    text: 'Deploy Now',
    deep: {path: 'about', text: 'About Next'},
  },
  {
    ...nuxt,
    id: 'nuxt',
    framework: 'nuxt',
    files: {
      ...nuxt.files,
      'server/api/echo.post.ts':
        'export default defineEventHandler(async (event) => `Hello ${(await readBody<{name: string}>(event)).name}`);\n',
      'app/pages/echo.vue':
        '<template><form method="post" action="/api/echo"><input name="name" /><button>Send</button></form></template>\n',
    },
    serves: ['public/'],
    form: {path: 'echo', text: 'Hello zebra'},
  },
  {
    ...nuxt,
    id: 'nuxt-generate',
    framework: 'nuxt-generate',
    manifest: {...nuxt.manifest, scripts: {build: 'nuxt generate'}},
    files: {
      ...nuxt.files,
      'app/pages/index.vue': '<template><h1>Hello from Nuxt <NuxtLink to="/about">more</NuxtLink></h1></template>\n',
    },
  },
  {
    ...svelte,
    id: 'sveltekit',
    framework: 'sveltekit-node',
    files: {
      ...svelte.files,
      'src/routes/echo/+page.svelte':
        '<script lang="ts">\n  let {form} = $props();\n</script>\n<form method="POST"><input name="name" /><button>Send</button></form>\n<p>Hello {form?.name}</p>\n',
      'src/routes/echo/+page.server.ts':
        "export const actions = {default: async ({request}: {request: Request}) => ({name: String((await request.formData()).get('name'))})};\n",
    },
    serves: ['client/'],
    form: {path: 'echo', text: 'Hello zebra'},
  },
  {
    ...svelte,
    id: 'sveltekit-static',
    added: `\`fallback: '404.html'\``,
    framework: 'sveltekit-static',
    create: svelte.create.replace('adapter:node', 'adapter:static'),
    files: {...svelte.files, 'src/routes/+layout.ts': 'export const prerender = true;\n'},
    // Without it, a runtime answers with the first page, whose scripts are found from there alone.
    edits: {'vite.config.ts': ['adapter()', "adapter({fallback: '404.html'})"]},
  },
  {
    ...astro,
    id: 'astro-node',
    framework: 'astro-node',
    manifest: {...astro.manifest, dependencies: {astro: 'latest', '@astrojs/node': 'latest'}},
    files: {
      ...astro.files,
      'astro.config.mjs':
        "import node from '@astrojs/node';\nimport {defineConfig} from 'astro/config';\nexport default defineConfig({\n  output: 'server',\n  adapter: node({mode: 'standalone'}),\n  vite: {ssr: {noExternal: true}},\n});\n",
      'src/pages/echo.astro':
        '---\nconst name = Astro.request.method === \'POST\' ? (await Astro.request.formData()).get(\'name\') : \'\';\n---\n<html lang="en"><body><form method="post"><input name="name" /><button>Send</button></form><p>Hello {name}</p></body></html>\n',
    },
    serves: ['client/'],
    form: {path: 'echo', text: 'Hello zebra'},
  },
  {...astro, id: 'astro-static', framework: 'astro-static', missing: 200},
  {
    ...reactRouter,
    id: 'react-router',
    framework: 'react-router',
    manifest: {
      ...reactRouter.manifest,
      dependencies: {...reactRouter.manifest.dependencies, '@react-router/express': reactRouterVersion, express: '5'},
    },
    files: {
      ...reactRouter.files,
      'app/routes/echo.tsx': reactRouter.files['app/routes/echo.tsx'].replaceAll('clientAction', 'action'),
      // Its own server is a program that stays outside the build, so the build exports a handler.
      'app/server.js': expressServer('@react-router/express', 'virtual:react-router/server-build'),
      'vite.config.ts': reactRouter.files['vite.config.ts'].replace(
        '[reactRouter()]',
        "[reactRouter()], ssr: {noExternal: true}, environments: {ssr: {build: {rollupOptions: {input: './app/server.js'}}}}",
      ),
    },
    serves: ['client/'],
  },
  {
    ...reactRouter,
    id: 'react-router-spa',
    framework: 'react-router-spa',
    files: {
      ...reactRouter.files,
      'react-router.config.ts':
        "import type {Config} from '@react-router/dev/config';\nexport default {ssr: false} satisfies Config;\n",
    },
    missing: 200,
  },
  {
    id: 'angular-ssr',
    framework: 'angular-ssr',
    create: createAngular('--ssr'),
    edits: {
      'src/app/app.routes.server.ts': ['RenderMode.Prerender', 'RenderMode.Server'],
      'src/app/app.routes.ts': [
        'routes: Routes = [',
        "routes: Routes = [{path: '', pathMatch: 'full', children: []}, {path: 'about', loadComponent: () => import('./about').then((m) => m.About)}",
      ],
    },
    files: {
      'src/app/about.ts':
        "import {Component} from '@angular/core';\n\n@Component({selector: 'app-about', template: '<h1>About Angular</h1>'})\nexport class About {}\n",
    },
    checks: ['npx tsc --noEmit -p tsconfig.app.json'],
    serves: ['browser/'],
    text: 'Hello, app',
    deep: {path: 'about', text: 'About Angular'},
  },
  {...angularSite, id: 'angular-static', framework: 'angular-static'},
  {
    ...angularSite,
    id: 'angular-browser',
    framework: 'angular-browser',
    manifest: {devDependencies: {'@angular-devkit/build-angular': angularVersion}},
    edits: {
      'angular.json': [
        '@angular/build:application",\n          "options": {\n            "browser"',
        '@angular-devkit/build-angular:browser",\n          "options": {\n            "outputPath": "dist/app", "index": "src/index.html", "main"',
      ],
    },
  },
  site(
    'analog',
    {
      type: 'module',
      scripts: {build: 'vite build'},
      dependencies: {
        '@analogjs/content': '2',
        '@analogjs/router': '2',
        '@angular/common': angularVersion,
        '@angular/compiler': angularVersion,
        '@angular/core': angularVersion,
        '@angular/forms': angularVersion,
        '@angular/platform-browser': angularVersion,
        '@angular/platform-server': angularVersion,
        '@angular/router': angularVersion,
        rxjs: '7',
        tslib: '2',
      },
      devDependencies: {
        '@analogjs/platform': '2',
        '@analogjs/vite-plugin-angular': '2',
        '@angular/build': angularVersion,
        '@angular/compiler-cli': angularVersion,
        typescript: '6.0',
        vite: '8',
      },
    },
    {
      'tsconfig.json':
        '{"compilerOptions": {"strict": true, "target": "ES2022", "module": "ES2022", "moduleResolution": "bundler", "isolatedModules": true, "experimentalDecorators": true, "importHelpers": true, "skipLibCheck": true, "types": ["vite/client"]}, "angularCompilerOptions": {"strictTemplates": true}, "files": [], "references": [{"path": "./tsconfig.app.json"}]}\n',
      'tsconfig.app.json':
        '{"extends": "./tsconfig.json", "compilerOptions": {"outDir": "./out-tsc/app", "rootDir": "src", "composite": false}, "files": ["src/main.ts", "src/main.server.ts"], "include": ["src/**/*.d.ts", "src/app/pages/**/*.page.ts"]}\n',
      'vite.config.ts':
        "import analog from '@analogjs/platform';\nimport {defineConfig} from 'vite';\nexport default defineConfig({plugins: [analog()], resolve: {mainFields: ['module']}});\n",
      'index.html':
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Analog</title><base href="/"></head><body><app-root></app-root><script type="module" src="/src/main.ts"></script></body></html>\n',
      'src/main.ts':
        "import {bootstrapApplication} from '@angular/platform-browser';\nimport {App} from './app/app';\nimport {appConfig} from './app/app.config';\nbootstrapApplication(App, appConfig);\n",
      'src/main.server.ts':
        "import '@angular/platform-server/init';\nimport {render} from '@analogjs/router/server';\nimport {provideServerRendering} from '@angular/platform-server';\nimport {mergeApplicationConfig} from '@angular/core';\nimport {App} from './app/app';\nimport {appConfig} from './app/app.config';\nexport default render(App, mergeApplicationConfig(appConfig, {providers: [provideServerRendering()]}));\n",
      'src/app/app.config.ts':
        "import {provideFileRouter} from '@analogjs/router';\nimport type {ApplicationConfig} from '@angular/core';\nexport const appConfig: ApplicationConfig = {providers: [provideFileRouter()]};\n",
      'src/app/app.ts':
        "import {Component} from '@angular/core';\nimport {RouterOutlet} from '@angular/router';\n@Component({selector: 'app-root', imports: [RouterOutlet], template: '<router-outlet />'})\nexport class App {}\n",
      'src/app/pages/index.page.ts':
        "import {Component} from '@angular/core';\n@Component({template: '<h1>Hello from the zoo</h1>'})\nexport default class HomePage {}\n",
      'src/app/pages/about.page.ts':
        "import {Component} from '@angular/core';\n@Component({template: '<h1>About Analog</h1>'})\nexport default class AboutPage {}\n",
      'src/app/pages/[...not-found].page.ts':
        "import {Component} from '@angular/core';\n@Component({template: '<h1>Nothing here</h1>'})\nexport default class NotFoundPage {}\n",
    },
    {
      checks: ['npx tsc --noEmit -p tsconfig.app.json'],
      serves: ['public/'],
      deep: {path: 'about', text: 'About Analog'},
      missing: 200,
    },
  ),
  {
    id: 'tanstack-start-nitro',
    framework: 'tanstack-start-nitro',
    // It installs hints for agents at the end, which needs more than the registry.
    create: 'npm create @tanstack/start@latest app -- --no-install --no-git || test -f app/package.json',
    checks: ['npx tsc --noEmit'],
    serves: ['public/'],
    text: 'TanStack Start Base Template',
    deep: {path: 'about', text: 'About'},
  },
  {
    id: 'tanstack-start',
    added: '`ssr.noExternal`, without Nitro',
    framework: 'tanstack-start',
    create:
      "npm create @tanstack/start@latest app -- --no-install --no-git || test -f app/package.json; cd app && npm pkg delete dependencies.nitro && sed -i '/nitro/d; s/plugins:/ssr: {noExternal: true}, plugins:/' vite.config.ts",
    checks: ['npx tsc --noEmit'],
    serves: ['client/'],
    text: 'TanStack Start Base Template',
    deep: {path: 'about', text: 'About'},
  },
  {
    ...solidStart,
    id: 'solid-start-nitro',
    framework: 'solid-start-nitro',
    manifest: {...solidStart.manifest, dependencies: {...solidStart.manifest.dependencies, nitro: '^3.0.260610-beta'}},
    files: {
      ...solidStart.files,
      'vite.config.ts':
        "import {solidStart} from '@solidjs/start/config';\nimport {nitro} from 'nitro/vite';\nimport {defineConfig} from 'vite';\nexport default defineConfig({plugins: [solidStart(), nitro()]});\n",
    },
    // Nitro's server has the dot files of its public folder, too, of which SolidStart makes one.
    serves: ['public/', 'public/.vite/'],
  },
  {...solidStart, id: 'solid-start', framework: 'solid-start', serves: ['client/']},
  {
    id: 'docusaurus',
    framework: 'docusaurus',
    create: 'npm create docusaurus@latest app classic -- --typescript --skip-install',
    checks: ['npm run typecheck'],
    text: 'Dinosaurs are cool',
    deep: {path: 'docs/intro', text: 'Tutorial Intro'},
  },
  site(
    'vitepress-docs',
    {type: 'module', scripts: {build: 'vitepress build docs'}, devDependencies: {vitepress: 'latest'}},
    {
      'docs/index.md': '# Hello from the zoo\n',
      'docs/server/index.md': '# About servers\n',
      'docs/api/functions.md': '# About functions\n',
    },
    {deep: {path: 'server/', text: 'About servers'}},
  ),
  {
    ...reactRouter,
    id: 'remix',
    framework: 'remix',
    manifest: {
      type: 'module',
      scripts: {build: `remix vite:build && ${bundled('ssr.js', 'build/ssr.mjs')} --external:./server/index.js`},
      dependencies: {
        '@remix-run/express': '2',
        '@remix-run/node': '2',
        '@remix-run/react': '2',
        express: '4',
        isbot: '4',
        react: '18',
        'react-dom': '18',
      },
      devDependencies: {'@remix-run/dev': '2', esbuild: 'latest', '@types/react': '18', typescript: '5', vite: '5'},
    },
    files: {
      'ssr.js': expressServer('@remix-run/express', './server/index.js'),
      'vite.config.ts':
        "import {vitePlugin as remix} from '@remix-run/dev';\nimport {defineConfig} from 'vite';\nexport default defineConfig({plugins: [remix()], ssr: {noExternal: true}, build: {rollupOptions: {}}});\n",
      'app/root.tsx':
        'import {Links, Meta, Outlet, Scripts} from \'@remix-run/react\';\nexport default function App() {\n  return <html lang="en"><head><Meta /><Links /></head><body><Outlet /><Scripts /></body></html>;\n}\n',
      'app/routes/_index.tsx': 'export default function Home() {\n  return <h1>Hello from React Router</h1>;\n}\n',
      'app/routes/about.tsx': 'export default function About() {\n  return <h1>About React Router</h1>;\n}\n',
      'app/routes/echo.tsx':
        'import {Form, useActionData} from \'@remix-run/react\';\nexport async function action({request}: {request: Request}) {\n  return {name: String((await request.formData()).get(\'name\'))};\n}\nexport default function Echo() {\n  const data = useActionData<typeof action>();\n  return <Form method="post"><input name="name" /><button>Send</button><p>Hello {data?.name}</p></Form>;\n}\n',
    },
    checks: [],
    serves: ['client/'],
  },
  {
    id: 'nest',
    framework: 'nest',
    create: nest,
    manifest: {
      scripts: {
        build:
          'nest build && cp package.json dist/ && npm install --omit=dev --prefix dist && echo "import \'./main.js\';" > dist/ssr.mjs',
      },
    },
    files: {},
    checks: ['npx tsc --noEmit -p tsconfig.build.json'],
    serves: [],
    text: 'Hello World!',
    hasAssets: false,
  },
  program(
    'express',
    "import express from 'express';\nimport {page} from './page.js';\nconst app = express();\napp.use(express.urlencoded());\napp.get('/', (_, res) => void res.send(page('Hello from a program')));\napp.get('/about', (_, res) => void res.send(page('About it')));\napp.post('/echo', (req, res) => void res.send(page(`Hello ${req.body.name}`)));\nexport default app;\n",
    {express: '5'},
  ),
  program(
    'fastify',
    "import Fastify from 'fastify';\nimport {page} from './page.js';\nconst app = Fastify();\napp.addContentTypeParser('application/x-www-form-urlencoded', {parseAs: 'string'}, (_, body, done) => done(null, new URLSearchParams(String(body))));\nfor (const [path, text] of [['/', 'Hello from a program'], ['/about', 'About it']] as const) {\n  app.get(path, (_, reply) => reply.type('text/html').send(page(text)));\n}\napp.post<{Body: URLSearchParams}>('/echo', (request, reply) => reply.type('text/html').send(page(`Hello ${request.body.get('name')}`)));\nawait app.listen({port: Number(process.env.PORT ?? 3000)});\n",
    {fastify: '5'},
  ),
  program(
    'hono',
    "import {Hono} from 'hono';\nimport {page} from './page.js';\nconst app = new Hono();\napp.get('/', (c) => c.html(page('Hello from a program')));\napp.get('/about', (c) => c.html(page('About it')));\napp.post('/echo', async (c) => c.html(page(`Hello ${(await c.req.parseBody())['name']}`)));\nexport default app;\n",
    {hono: '4'},
  ),
  program(
    'koa',
    "import Koa from 'koa';\nimport {text} from 'node:stream/consumers';\nimport {page} from './page.js';\nconst app = new Koa();\napp.use(async (context) => {\n  const texts: Record<string, string> = {'/': 'Hello from a program', '/about': 'About it'};\n  if (context.path === '/echo') context.body = page(`Hello ${new URLSearchParams(await text(context.req)).get('name')}`);\n  else if (texts[context.path]) context.body = page(texts[context.path] ?? '');\n});\nexport default app.callback();\n",
    {koa: '3'},
  ),
  {
    id: 'qwik',
    framework: 'qwik',
    create: 'npm create qwik@latest empty app && cd app && npm install && npx qwik add static --skipConfirmation=true',
    files: {
      'src/routes/about/index.tsx':
        "import {component$} from '@builder.io/qwik';\nexport default component$(() => <h1>About Qwik</h1>);\n",
    },
    text: 'Hi',
    deep: {path: 'about/', text: 'About Qwik'},
  },
  {
    id: 'waku',
    framework: 'waku',
    create: 'npm create waku@latest -- --project-name app',
    checks: ['npx tsc --noEmit'],
    serves: ['public/'],
    text: 'Hello world!',
    deep: {path: 'about', text: 'About'},
  },
  {
    ...reactRouter,
    id: 'hydrogen',
    framework: 'hydrogen',
    manifest: {
      type: 'module',
      scripts: reactRouter.manifest.scripts,
      dependencies: {
        '@react-router/express': '7.16.0',
        '@react-router/node': '7.16.0',
        '@shopify/hydrogen': '2026.4.6',
        express: '5',
        isbot: '5',
        react: '18',
        'react-dom': '18',
        'react-router': '7.16.0',
      },
      devDependencies: {
        ...reactRouter.manifest.devDependencies,
        '@react-router/dev': '7.16.0',
        '@types/react': '18',
        '@types/react-dom': '18',
      },
    },
    files: {
      ...reactRouter.files,
      'react-router.config.ts':
        "import {hydrogenPreset} from '@shopify/hydrogen/react-router-preset';\nexport default {presets: [hydrogenPreset()]};\n",
      'vite.config.ts':
        "import {hydrogen} from '@shopify/hydrogen/vite';\nimport {reactRouter} from '@react-router/dev/vite';\nimport {defineConfig} from 'vite';\nexport default defineConfig({plugins: [hydrogen(), reactRouter()], ssr: {noExternal: true}, environments: {ssr: {build: {rollupOptions: {input: './app/server.js'}}}}});\n",
      'app/routes/echo.tsx': reactRouter.files['app/routes/echo.tsx'].replaceAll('clientAction', 'action'),
      'app/routes/about.tsx':
        "import {Money} from '@shopify/hydrogen';\nexport default function About() {\n  return <h1>About Hydrogen: <Money as=\"span\" data={{amount: '9', currencyCode: 'USD'}} /></h1>;\n}\n",
      'app/server.js': expressServer('@react-router/express', 'virtual:react-router/server-build'),
    },
    serves: ['client/'],
    deep: {path: 'about', text: 'About Hydrogen: $9.00'},
  },
  {
    id: 'slidev',
    framework: 'slidev',
    create:
      "npm create slidev@latest app < /dev/null; test -f app/package.json; printf '# Hello from the zoo\\n\\n---\\n\\n# About slides\\n' > app/slides.md",
    text: 'Hello from the zoo',
    // Its 404.html is a copy of its first page, which shows each slide by its URL.
    deep: {path: '2', text: 'About slides', status: 404},
  },
  site(
    'rspress',
    {type: 'module', scripts: {build: 'rspress build'}, devDependencies: {'@rspress/core': 'latest'}},
    {
      'rspress.config.ts':
        "import {defineConfig} from '@rspress/core';\nexport default defineConfig({root: 'docs'});\n",
      'docs/index.md': '# Hello from the zoo\n',
      'docs/server/index.md': '# About servers\n',
    },
    {deep: {path: 'server/', text: 'About servers'}},
  ),
  {
    ...vite,
    id: 'storybook',
    added: 'a `404.html`',
    framework: 'storybook',
    manifest: {
      scripts: {build: 'storybook build'},
      devDependencies: {storybook: 'latest', '@storybook/react-vite': 'latest'},
    },
    files: {
      '.storybook/main.ts':
        "import type {StorybookConfig} from '@storybook/react-vite';\nexport default {stories: ['../src/**/*.stories.tsx'], framework: '@storybook/react-vite'} satisfies StorybookConfig;\n",
      'src/hello.stories.tsx':
        "export default {title: 'Zoo', component: () => <h1>Hello from the zoo</h1>};\nexport const Hello = {};\n",
      // Without it, a runtime answers with the first page, whose scripts are found from there alone.
      'public/404.html': '<h1>Nothing here</h1>\n',
    },
    // As Storybook's generator does.
    edits: {'.gitignore': ['dist-ssr', 'dist-ssr\nstorybook-static']},
    text: 'Zoo',
    deep: {path: 'iframe.html?id=zoo--hello', text: 'Hello from the zoo'},
    missing: 404,
  },
  site(
    'vitepress',
    {type: 'module', scripts: {build: 'vitepress build'}, devDependencies: {vitepress: 'latest'}},
    {'index.md': '# Hello from the zoo\n', 'server/index.md': '# About servers\n'},
    {deep: {path: 'server/', text: 'About servers'}},
  ),
  site(
    'nitro',
    {type: 'module', scripts: {build: 'nitro build'}, devDependencies: {nitropack: '2'}},
    {
      'nitro.config.ts': "export default defineNitroConfig({compatibilityDate: '2025-07-15'});\n",
      'routes/index.ts':
        "export default eventHandler((event) => {\n  setHeader(event, 'content-type', 'text/html');\n  return '<h1>Hello from the zoo</h1><img src=\"/logo.svg\">';\n});\n",
      'routes/about.ts': "export default eventHandler(() => 'About Nitro');\n",
      'public/logo.svg': '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M0 0h9v9H0z" /></svg>\n',
    },
    {serves: ['public/'], deep: {path: 'about', text: 'About Nitro'}},
  ),
  site(
    'vite-ssr',
    {
      type: 'module',
      scripts: {build: 'vite build --outDir dist/client && vite build --ssr src/server.js --outDir dist/server'},
      devDependencies: {vite: 'latest'},
    },
    {
      'index.html':
        '<!doctype html><title>Zoo</title><div id="app"></div><script type="module" src="/src/main.js"></script>\n',
      'src/main.js': "document.title = 'Zoo';\n",
      'src/server.js':
        "import {readFileSync} from 'node:fs';\nconst page = readFileSync(new URL('../client/index.html', import.meta.url), 'utf8');\nconst texts = {'/': 'Hello from the zoo', '/about': 'About Vite'};\nexport default {\n  fetch(request) {\n    const text = texts[new URL(request.url).pathname];\n    const html = page.replace('<div id=\"app\">', `<div id=\"app\">${text ?? 'Nothing'}`);\n    return new Response(html, {status: text ? 200 : 404, headers: {'content-type': 'text/html'}});\n  },\n};\n",
    },
    {serves: ['client/'], deep: {path: 'about', text: 'About Vite'}},
  ),
  site('vike', vike.manifest, vike.files, {serves: ['client/'], deep: vike.deep}),
  site(
    'vike-prerendered',
    vike.manifest,
    {...vike.files, 'pages/+config.js': vike.files['pages/+config.js'].replace('server', 'prerender')},
    {deep: vike.deep},
  ),
  {
    id: 'eleventy',
    framework: 'eleventy',
    manifest: {scripts: {build: 'eleventy'}, devDependencies: {'@11ty/eleventy': 'latest'}},
    files: {'index.md': '# Hello from Eleventy\n', 'about.md': '# About Eleventy\n'},
    text: 'Hello from Eleventy',
    hasAssets: false,
    deep: {path: 'about/', text: 'About Eleventy'},
    missing: 200,
  },
  {
    id: 'gatsby',
    added: 'another version of sharp',
    framework: 'gatsby',
    manifest: {
      scripts: {build: 'gatsby build'},
      dependencies: {gatsby: '5.16.1', react: '18.3.1', 'react-dom': '18.3.1'},
      // Its own version downloads a library from elsewhere while it is installed.
      overrides: {sharp: '0.34.5'},
    },
    files: {
      'src/pages/index.js': "import React from 'react';\nexport default () => <h1>Hello from Gatsby</h1>;\n",
    },
    text: 'Hello from Gatsby',
    missing: 200,
  },
  {
    id: 'create-react-app',
    framework: 'create-react-app',
    manifest: {
      scripts: {build: 'react-scripts build'},
      dependencies: {'react-scripts': '5.0.1', react: '18.3.1', 'react-dom': '18.3.1'},
    },
    files: {
      'public/index.html': '<!doctype html><title>Create React App</title><div id="root"></div>\n',
      'src/index.js':
        "import {createRoot} from 'react-dom/client';\ncreateRoot(document.getElementById('root')).render(<h1>Hello from Create React App</h1>);\n",
    },
    text: 'Hello from Create React App',
    missing: 200,
  },
  {
    id: 'pwa-kit',
    framework: 'pwa-kit',
    manifest: {
      scripts: {build: 'pwa-kit-dev build'},
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
    // Its lists make only the entry the server's.
    serves: ['config/', 'core-', 'load', 'main.', 'package.', 'server-', 'ssr.js.LICENSE', 'vendor.'],
    text: 'Hello from PWA Kit',
  },
  {
    id: 'storefront-next',
    added: 'empty packages for those that the registry lacks',
    framework: 'storefront-next',
    manifest: {
      type: 'module',
      scripts: {build: 'react-router build'},
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
    },
    files: {
      'nothing/package.json': '{"name": "nothing", "version": "1.0.0"}\n',
      'vite.config.js':
        "import {reactRouter} from '@react-router/dev/vite';\nimport storefrontNext from '@salesforce/storefront-next-dev';\nexport default {\n  plugins: [reactRouter(), storefrontNext()],\n  resolve: {alias: [{find: '@', replacement: `${import.meta.dirname}/src`}]},\n};\n",
      'react-router.config.js':
        "import {storefrontNextPreset} from '@salesforce/storefront-next-dev/react-router-preset';\nexport default {presets: [storefrontNextPreset()]};\n",
      'src/extensions/config.json': '{}\n',
      'src/root.jsx': reactRouter.files['app/root.tsx'].replaceAll(
        /: (?:\{children: ReactNode\}|ReactNode)|import type .*\n/g,
        '',
      ),
      'src/routes.js': "import {index} from '@react-router/dev/routes';\nexport default [index('routes/home.jsx')];\n",
      'src/routes/home.jsx': 'export default function Home() {\n  return <h1>Hello from Storefront Next</h1>;\n}\n',
    },
    serves: ['client/'],
    text: 'Hello from Storefront Next',
  },
];
