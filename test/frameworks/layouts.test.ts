import {execSync} from 'node:child_process';
import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import fc from 'fast-check';
import picomatch from 'picomatch';
import {describe, expect, test} from 'vitest';
import {markFiles} from '../../src/bundle/files/patterns.js';
import {frameworks} from '../../src/frameworks/frameworks.js';
import {listsOf, serverCodeIn} from '../../src/frameworks/server-files.js';
import {publicFiles, useLayouts, type Planned} from './layout-project.js';

// Builds as generators, package managers and workspaces lay them out. What belongs to a server says so.
const own = '// secret of the server';

interface Layout {
  /** Packages of package.json. */
  readonly packages: readonly string[];
  /** Contents by path. */
  readonly files: Readonly<Record<string, string>>;
  /** What visitors may fetch, in the bundle. */
  readonly public: readonly string[];
}

const nextServer = {
  '.next/standalone/server.js': own,
  '.next/standalone/package.json': '{}',
  '.next/standalone/.next/BUILD_ID': 'x',
  '.next/standalone/.next/static/a.js': '',
};

const layouts: Readonly<Record<string, Layout>> = {
  'Next.js with pnpm': {
    packages: ['next'],
    files: {
      ...nextServer,
      '.next/standalone/.next/server/app.js': own,
      '.next/standalone/node_modules/.pnpm/next@16/node_modules/next/package.json': '{"secret": 1}',
      '.next/standalone/node_modules/.pnpm/node_modules/.bin/next': own,
    },
    public: ['.next/static/a.js'],
  },
  'Next.js with traced files': {
    packages: ['next'],
    files: {
      ...nextServer,
      '.next/standalone/.env.production': 'KEY=secret',
      '.next/standalone/data/db.sqlite': own,
      '.next/standalone/data/.cache/.hidden/db.sqlite': own,
      '.next/standalone/prisma/schema.prisma': own,
      '.next/standalone/src/generated/client.js': own,
      '.next/standalone/public/robots.txt': '',
      '.next/standalone/public/.well-known/security.txt': '',
      '.next/standalone/public/.env': 'KEY=secret',
    },
    public: ['.next/static/a.js', 'public/.well-known/security.txt', 'public/robots.txt'],
  },
  'AdonisJS with assets of Vite': {
    packages: ['@adonisjs/core', 'vite'],
    files: {
      'build/ace.js': own,
      'build/bin/server.js': own,
      'build/config/database.js': own,
      'build/package.json': '{"secret": 1}',
      'build/resources/views/home.edge': own,
      'build/public/assets/.vite/manifest.json': '{"secret": 1}',
      'build/public/assets/app-a1.js': '',
    },
    public: ['public/assets/app-a1.js'],
  },
  'Nuxt with packages of Nitro': {
    packages: ['nuxt'],
    files: {
      '.output/nitro.json': '{}',
      '.output/public/a.js': '',
      '.output/server/index.mjs': own,
      '.output/server/node_modules/.nitro/seroval@1/index.js': own,
    },
    public: ['public/a.js'],
  },
  'SvelteKit with source maps': {
    packages: ['@sveltejs/kit', '@sveltejs/adapter-node'],
    files: {
      'build/index.js': own,
      'build/index.js.map': '{"secret": 1}',
      'build/handler.js': own,
      'build/server/index.js': own,
      'build/client/a.js': '',
    },
    public: ['client/a.js'],
  },
  'React Router with a manifest': {
    packages: ['@react-router/dev', 'vite'],
    files: {
      'build/server/index.js': own,
      'build/server/.vite/manifest.json': '{"secret": 1}',
      'build/client/a.js': '',
    },
    public: ['client/a.js'],
  },
  'Vite with a server beside its client': {
    packages: ['vite'],
    files: {'dist/server/entry.mjs': own, 'dist/server/package.json': '{}', 'dist/client/assets/a.js': ''},
    public: ['client/assets/a.js'],
  },
  'Vite into another folder': {
    packages: ['vite'],
    files: {'build/index.html': '<h1>hello</h1>', 'vite.config.ts': "export default {build: {outDir: 'build'}};"},
    public: ['index.html'],
  },
  'Next.js in a workspace': {
    packages: ['next'],
    files: {
      '.next/standalone/apps/web/server.js': own,
      '.next/standalone/apps/web/package.json': '{}',
      '.next/standalone/apps/web/.next/BUILD_ID': 'x',
      '.next/standalone/apps/web/.next/static/a.js': '',
      '.next/standalone/apps/web/public/a.svg': '<svg/>',
      '.next/standalone/node_modules/.pnpm/next@16/node_modules/next/package.json': '{"secret": 1}',
      '.next/standalone/packages/lib/index.js': own,
    },
    public: ['apps/web/.next/static/a.js', 'apps/web/public/a.svg'],
  },
  'Nitro with other folders': {
    packages: ['nitropack'],
    files: {
      '.output/nitro.json': '{"serverEntry": "server/main.mjs", "publicDir": "site"}',
      '.output/server/main.mjs': own,
      '.output/server/index.mjs': own,
      '.output/site/a.js': '',
      '.output/public/b.js': own,
    },
    public: ['site/a.js'],
  },
};

const {directory, write: writeFiles, mycli, run, statusOf} = useLayouts();
const allowed = {MYCLI_ALLOW_SENSITIVE_FILES: '1'};

function write({packages, files}: Pick<Layout, 'packages' | 'files'>): Promise<void> {
  const manifest = {
    private: true,
    scripts: {build: 'x'},
    dependencies: Object.fromEntries(packages.map((p) => [p, '1'])),
  };
  return writeFiles({'package.json': JSON.stringify(manifest), ...files});
}

describe.each(Object.entries(layouts))('%s', (name, layout) => {
  test(`${name}: only what is for visitors is public, before and after init, on a strict server`, async () => {
    await write(layout);
    const planned = await mycli('push', '--dry-run', '-p', 'shop');
    expect(publicFiles(planned)).toEqual(layout.public);
    await mycli('init', '--yes', '-p', 'shop', '-t', 'live');
    expect(publicFiles(await mycli('push', '--dry-run'))).toEqual(layout.public);
    await run(['push', '--wait'], {MYCLI_MATCH_MODE: 'strict'});
    for (const {path} of planned.files) {
      expect([path, await statusOf('live', path)]).toEqual([path, layout.public.includes(path) ? 200 : 404]);
    }
  });
});

test('push: the commands that complete a build of Next.js in a workspace leave nothing to say, and publish no more', async () => {
  const {packages, files} = layouts['Next.js in a workspace'] ?? {packages: [], files: {}};
  const isCopied = (path: string) => /\/web\/(?:public|\.next\/static)\//.test(path);
  const built = Object.entries(files).filter(([path]) => !isCopied(path));
  await write({packages, files: {...Object.fromEntries(built), '.next/static/a.js': '', 'public/a.svg': ''}});
  const warnings = ({warnings: all = []}: Planned) => all.filter((text) => text.includes('Before the push, run: '));
  const first = await mycli('push', '--dry-run', '-p', 'shop');
  const commands = warnings(first).map((text) => text.split('Before the push, run: ')[1] ?? '');
  expect([commands.length, publicFiles(first)]).toEqual([2, []]);
  for (const command of commands) execSync(command, {cwd: directory()});
  const completed = await mycli('push', '--dry-run', '-p', 'shop');
  expect(warnings(completed)).toEqual([]);
  expect(publicFiles(completed)).toEqual(['apps/web/.next/static/a.js', 'apps/web/public/a.svg']);
});

const standalone = {buildDirectory: '.next/standalone'};
const unbuilt: readonly (readonly [string, Layout['packages'], Layout['files'], object, RegExp])[] = [
  [
    'Next.js without an output',
    ['next'],
    {'.next/build/a.js': '', '.next/server/page.js': own},
    standalone,
    /standalone/,
  ],
  [
    'SvelteKit with an adapter for Netlify, which uses the usual folder',
    ['@sveltejs/kit', '@sveltejs/adapter-netlify'],
    {'build/_app/a.js': '', 'build/_redirects': '', '.svelte-kit/output/server/index.js': own},
    {},
    /Install @sveltejs\/adapter-node/,
  ],
  [
    'sources of Vite',
    ['vite'],
    {'index.html': '<script src="/src/main.tsx"></script>', 'src/main.tsx': own},
    {},
    /npm run build/,
  ],
];
test.each(unbuilt)('push: %s is refused, before and after init', async (_, packages, files, settings, advice) => {
  await write({packages, files});
  await writeFile(join(directory(), 'mycli.config.json'), JSON.stringify(settings));
  const refused = {exitCode: 3, suggestions: [expect.stringMatching(advice) as string]};
  expect((await mycli('push', '--dry-run', '-p', 'shop')).error).toMatchObject(refused);
  await mycli('init', '--force', '--yes', '-p', 'shop', '-t', 'live');
  expect((await mycli('push', '--dry-run')).error).toMatchObject(refused);
});

describe('listsOf', () => {
  test('listsOf: picomatch finds each file that is not public, and each pattern matches', async () => {
    const name = fc.constantFrom(
      'a',
      '.b',
      'c.js',
      'public',
      '.next',
      'static',
      '.well-known',
      'node_modules',
      '.pnpm',
    );
    const paths = fc.uniqueArray(
      fc.array(name, {minLength: 1, maxLength: 6}).map((names) => names.join('/')),
      {minLength: 1},
    );
    const rows = frameworks.filter((row) => !row.static && row.lists === undefined);
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...rows), paths, async (row, all) => {
        const {ssrOnly, ssrShared} = listsOf(row, all);
        const isPublic = picomatch(ssrShared.length === 0 ? ['-'] : [...ssrShared]);
        const included = ssrOnly.filter((pattern) => !pattern.startsWith('!'));
        const isIncluded = picomatch(included);
        const files = all.map((path) => ({path, ssrOnly: false, ssrShared: false}));
        await markFiles(files, {ssrOnly, ssrShared});
        for (const {path, ssrOnly: isOwn} of files) {
          expect(isIncluded(path)).toBe(true);
          expect(isOwn).toBe(!isPublic(path));
        }
      }),
    );
  });
});

test.each([
  [['index.html', 'assets/server.js', 'assets/index-a1.js', 'api/index.html', 'api/assets/search.js'], []],
  [['server/index.html', 'server/page.js', 'docs/server/index.html', 'docs/server/a/b.js'], []],
  [['index.html', '_next/static/chunks/app/api/page-1.js', 'static/js/server/a.js', 'index.js', 'server/a.json'], []],
  [['index.html', 'server/chunks/a/b.mjs'], ['server/chunks/a/b.mjs']],
  [['index.html', 'a/functions/x/y.ts', 'api/hello.js', '_worker.js/index.js', 'ssr/b.cjs'], 4],
  [['index.html', '_worker.js', 'ssr.mjs'], 2],
  [['index.html', 'api/a.py', 'functions/b.go', 'server/c.rb', 'downloads/e.py'], 3],
  [['server.mjs', 'entry.js', 'index.cjs', 'index.d.ts', 'public/a.css', 'client/b.css'], 3],
  [['index.html', 'index.js', 'server.js', 'public/logo.png'], []],
  [['index.html', 'index.js', 'server.js', 'public/index.html'], 2],
])('serverCodeIn: of %j, the code of a server is %j', (paths, found) => {
  const code = serverCodeIn(paths);
  if (typeof found === 'number') expect(code).toHaveLength(found);
  else expect(code).toEqual(found);
});

describe('a static site', () => {
  const astro = {'dist/server/entry.mjs': own, 'dist/client/a.js': ''};

  test('push: static is refused for a build with a server, and the advice keeps the server private', async () => {
    await write({packages: ['astro', '@astrojs/node'], files: astro});
    const settings = {projectSlug: 'shop', buildDirectory: 'dist'};
    const config = join(directory(), 'mycli.config.json');
    await writeFile(config, JSON.stringify({...settings, static: true}));
    const {error} = await mycli('push', '--dry-run');
    expect(error).toMatchObject({exitCode: 3, message: expect.stringContaining('server/entry.mjs') as string});
    expect(error?.suggestions[0]).toContain('It is a build of Astro. Without static');
    expect(publicFiles(await run(['push', '--dry-run'], allowed))).toHaveLength(2);
    await writeFile(config, JSON.stringify(settings));
    expect(publicFiles(await mycli('push', '--dry-run'))).toEqual(['client/a.js']);
  });

  test('push: the sources of a server with a page beside it are never a static site', async () => {
    const files = {'index.html': '', 'index.js': own, 'data/users.json': own, 'public/a.css': ''};
    await write({packages: [], files: {...files, 'package.json': '{"dependencies": {"express": "5"}}'}});
    expect(publicFiles(await mycli('push', '.', '--dry-run', '-p', 'shop'))).toEqual(['public/a.css']);
    const {error} = await mycli('push', '.', '--dry-run', '-p', 'shop', '--static');
    expect(error).toMatchObject({exitCode: 3, message: expect.stringContaining('the build has index.js') as string});
    const ignored = ['--ignore', '/index.js', '--ignore', '/data/'];
    expect(publicFiles(await mycli('push', '.', '--dry-run', '-p', 'shop', '--static', ...ignored))).toEqual(
      expect.arrayContaining(['index.html', 'public/a.css']),
    );
  });

  test('push: without a framework, the advice names the patterns of the server', async () => {
    const files = {'dist/index.html': '', 'dist/api/a.js': own, 'dist/api/.data/.b/c': own, 'dist/assets/b.js': ''};
    await write({packages: [], files});
    const {error} = await mycli('push', 'dist', '--dry-run', '-p', 'shop', '--static');
    const flags = /Then pass (.*)$/.exec(error?.suggestions[0] ?? '')?.[1] ?? '';
    expect(flags).toBe("--ssr-only 'api/**/*' --ssr-only 'api/**/.*/**/.*/**'");
    const followed = flags.split(' ').map((part) => part.replaceAll("'", ''));
    expect(publicFiles(await mycli('push', 'dist', '--dry-run', '-p', 'shop', ...followed))).toEqual([
      'assets/b.js',
      'index.html',
    ]);
  });
});
