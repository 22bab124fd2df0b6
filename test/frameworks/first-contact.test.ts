import {rm} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import type {Tree} from '../folder.js';
import {publicFiles, useLayouts, type Planned} from './layout-project.js';

// Projects that no row of src/frameworks is about, in their smallest form.
const secret = "export const url = 'postgres://shop:secret@db/shop';";
const page = '<h1>hello</h1>';

/** What a push comes to: the files that visitors may fetch, or what a refusal says. Or these, and what it warns of. */
type End = readonly string[] | RegExp | {readonly public: readonly string[]; readonly warning: RegExp};

interface Contact {
  readonly manifest?: object;
  readonly files: Tree;
  /** What it builds into. */
  readonly folder: string;
  /** Of `push`, also after `init`. */
  readonly push: End;
  /** Of `push DIR`, if it is another. */
  readonly dir?: End;
  /** Of `push DIR --static`. */
  readonly static: End;
}

const refusedServer = /A static site has no server code, but the build has /;
const contacts: Readonly<Record<string, Contact>> = {
  'Vite with Express in front': {
    manifest: {dependencies: {express: '^5'}, devDependencies: {vite: '^8'}},
    files: {
      'dist/index.html': page,
      'dist/assets/x.js': '',
      'dist/server.js': `import express from 'express';\n${secret}`,
    },
    folder: 'dist',
    push: {public: [], warning: /server\.js imports packages that are not in the bundle: express/},
    static: /but the build has server\.js \(imports express\)\..*Without static/s,
  },
  'a backend in a folder of any name': {
    manifest: {dependencies: {express: '^5'}, devDependencies: {vite: '^8'}},
    files: {
      'dist/index.html': page,
      'dist/assets/x.js': '',
      'dist/backend/app.js': "import express from 'express';\nimport {url} from './db.js';",
      'dist/backend/db.js': secret,
    },
    folder: 'dist',
    push: /not server-only: backend\/app\.js \(imports express\), backend\/db\.js \(imported by backend\/app\.js\)/,
    static: refusedServer,
  },
  Elysia: {
    manifest: {dependencies: {elysia: '1'}, devDependencies: {vite: '8'}},
    files: {'dist/index.html': page, 'dist/api.js': `import {Elysia} from 'elysia';\n${secret}`},
    folder: 'dist',
    push: /api\.js \(imports elysia\).* pass --ssr-only api\.js/s,
    static: /api\.js \(imports elysia\).* pass --ssr-only api\.js/s,
  },
  'hapi in CommonJS': {
    manifest: {dependencies: {'@hapi/hapi': '21'}},
    files: {'dist/index.html': page, 'dist/web.js': 'const Hapi = require("@hapi/hapi");\nexports.secret = 1;'},
    folder: 'dist',
    push: /web\.js \(imports @hapi\/hapi\)/,
    static: refusedServer,
  },
  'a server whose modules are beside its folder': {
    manifest: {dependencies: {express: '^5'}},
    files: {
      'dist/index.html': page,
      'dist/server/index.js': "import '../db.js';\nimport '../shared/schema.js';",
      'dist/db.js': secret,
      'dist/shared/schema.js': "import {pgTable} from 'drizzle-orm/pg-core';",
    },
    folder: 'dist',
    push: /shared\/schema\.js \(imports drizzle-orm\/pg-core\), db\.js \(imported by server\/index\.js\)/,
    static: refusedServer,
  },
  'an entry that package.json starts': {
    manifest: {scripts: {start: 'node dist/run.js'}},
    files: {'dist/index.html': page, 'dist/run.js': `${secret}\nDeno.serve(() => new Response());`},
    folder: 'dist',
    push: /run\.js \(started by package\.json\)/,
    static: /run\.js \(started by package\.json\)/,
  },
  ...Object.fromEntries(
    (
      [
        ['a server of Bun', 'Bun.serve({fetch: () => new Response(url)});', 'imports bun'],
        ['a server of Deno that imports', "import 'jsr:@std/fmt';", 'imports jsr:@std/fmt'],
        ['a package that is waited for', "const {Pool} = await import('pg');", 'imports pg'],
        ['a module of Node without an import', "const fs = process.getBuiltinModule('fs');", 'imports fs'],
      ] as const
    ).map(([name, code, reason]): [string, Contact] => [
      name,
      {
        files: {'dist/index.html': page, 'dist/main.js': `${secret.replace('export ', '')}\n${code}`},
        folder: 'dist',
        push: new RegExp(`main\\.js \\(${reason}\\)`),
        static: refusedServer,
      },
    ]),
  ),
  'a site that may serve and load elsewhere': {
    files: {
      'dist/index.html': page,
      'dist/a.js':
        'if (globalThis.Bun) Bun.serve({}); const later = () => import("pg"); globalThis.process && process.getBuiltinModule("fs");',
      'dist/docs.js': 'export const page = `const {Pool} = await import("pg"); Deno.serve(app)`;',
    },
    folder: 'dist',
    push: ['a.js', 'docs.js', 'index.html'],
    static: ['a.js', 'docs.js', 'index.html'],
  },
  'Marko Run': {
    manifest: {devDependencies: {'@marko/run': '0.11', vite: '8'}},
    files: {'dist/index.mjs': "import {createServer} from 'http';\nimport compression from 'compression';"},
    folder: 'dist',
    push: /has no page.*pass dist --ssr-only GLOB/s,
    dir: /index\.mjs \(imports http\)/,
    static: refusedServer,
  },
  Greenwood: {
    manifest: {scripts: {build: 'greenwood build'}, devDependencies: {'@greenwood/cli': '0.34'}},
    files: {
      'public/index.html': page,
      'public/dyn.route.js': `import 'fs';\n${'//'.repeat(40_000)}\nnew URL('dyn.chunk.js', import.meta.url);`,
      'public/dyn.chunk.js': secret,
      'public/api/hi.js': secret,
    },
    folder: 'public',
    push: /public looks like a site that was built\. To use it, run mycli bundle:push public(?: --dry-run)?(?: --project shop|$)/m,
    dir: /dyn\.route\.js \(imports fs\), dyn\.chunk\.js \(imported by dyn\.route\.js\), api\/hi\.js\..*--ssr-only 'api/s,
    static: refusedServer,
  },
  'Expo with functions': {
    manifest: {dependencies: {expo: '54'}},
    files: {
      'dist/client/index.html': page,
      'dist/client/_expo/static/js/web/entry.js': '',
      'dist/server/_expo/functions/hello+api.js': secret,
      'dist/server/index.html': page,
    },
    folder: 'dist',
    push: {
      public: ['client/_expo/static/js/web/entry.js', 'client/index.html'],
      warning: /Nothing in the build is a server that Runtime can start/,
    },
    static: /but the build has server\/_expo\/functions\/hello\+api\.js/,
  },
  'a site with the libraries of its pages': {
    manifest: {main: 'index.js', dependencies: {express: '5'}},
    files: {
      'dist/index.html': '<script src="index.js"></script>',
      'dist/index.js': '',
      'dist/lib/sql-wasm.js': 'var m=function(){if(ENVIRONMENT_IS_NODE){var fs=require("fs")}}();',
      'dist/lib/umd.js': "(function(f){typeof exports==='object'?f(require('fs')):f()})(function(){});",
    },
    folder: 'dist',
    push: ['index.html', 'index.js', 'lib/sql-wasm.js', 'lib/umd.js'],
    static: ['index.html', 'index.js', 'lib/sql-wasm.js', 'lib/umd.js'],
  },
  'a site with modules of a package for bundlers': {
    files: {'dist/index.html': page, 'dist/three/controls.js': "import {Vector3} from 'three';"},
    folder: 'dist',
    push: {public: ['index.html', 'three/controls.js'], warning: /No browser can load .* three\/controls\.js/},
    static: {public: ['index.html', 'three/controls.js'], warning: /name the packages in an import map/},
  },
  'a plain folder of HTML': {
    files: {'index.html': page, '.vscode/sftp.json': '{"password": "secret"}', 'backup.sql': secret, 'app.py': secret},
    folder: '.',
    push: /The folder \. looks like a static site/,
    dir: /\.vscode\/sftp\.json \(passwords of servers\)/,
    static: /\.vscode\/sftp\.json \(passwords of servers\)/,
  },
  'a plain folder of HTML with what a warning tells': {
    files: {'index.html': page, 'app.py': secret, Dockerfile: ''},
    folder: '.',
    push: /The folder \. looks like a static site/,
    dir: {public: ['Dockerfile', 'app.py', 'index.html'], warning: /app\.py \(a source\)/},
    static: {public: ['Dockerfile', 'app.py', 'index.html'], warning: /Dockerfile \(configuration of containers\)/},
  },
  'Nitro for another host': {
    manifest: {devDependencies: {nitropack: '2'}},
    files: {
      '.output/nitro.json': '{"preset": "aws-lambda"}',
      '.output/server/index.mjs': secret,
      '.output/public/a.js': '',
    },
    folder: '.output',
    push: /built with the preset aws-lambda of Nitro.*NITRO_PRESET=node-server/s,
    static: refusedServer,
  },
  'Nuxt as a module of a Worker': {
    manifest: {dependencies: {nuxt: '4'}},
    files: {
      '.output/nitro.json': '{"preset": "cloudflare-module"}',
      '.output/server/index.mjs': secret,
      '.output/public/a.js': '',
    },
    folder: '.output',
    push: /^Nuxt was built with the preset cloudflare-module/,
    static: refusedServer,
  },
  'a site with a Worker in front': {
    files: {'dist/index.html': page, 'dist/_worker.js': secret},
    folder: 'dist',
    push: /was built for Cloudflare/,
    static: /but the build has _worker\.js/,
  },
  'what Vercel deploys': {
    manifest: {scripts: {build: 'vercel build'}},
    files: {
      '.vercel/output/config.json': '{}',
      '.vercel/output/functions/a.func/index.js': secret,
      'web/index.html': page,
    },
    folder: 'web',
    push: /^The project was built for Vercel/,
    dir: ['index.html'],
    static: ['index.html'],
  },
  'a site with functions of Netlify': {
    files: {'dist/index.html': page, 'netlify/functions/hello.mjs': secret, 'wrangler.toml': ''},
    folder: 'dist',
    push: {
      public: ['index.html'],
      warning: /leaves out .* netlify\/functions \(Netlify\), wrangler\.toml \(Cloudflare\)/,
    },
    static: {public: ['index.html'], warning: /netlify\/functions \(Netlify\)/},
  },
  'Gatsby with functions': {
    manifest: {dependencies: {gatsby: '5'}},
    files: {'public/index.html': page, 'src/api/hello.js': secret},
    folder: 'public',
    push: {public: ['index.html'], warning: /src\/api \(Gatsby\)/},
    static: {public: ['index.html'], warning: /src\/api \(Gatsby\)/},
  },
  'the functions of Redwood beside its site': {
    files: {'dist/index.html': page, 'redwood.toml': '', 'api/src/functions/graphql.js': secret},
    folder: 'dist',
    push: {public: ['index.html'], warning: /api \(Redwood\)/},
    static: {public: ['index.html'], warning: /api \(Redwood\)/},
  },
  'a plugin of Fastify, as fastify-cli starts it': {
    manifest: {dependencies: {fastify: '5', 'fastify-cli': '7'}},
    files: {
      'dist/app.js':
        "const AutoLoad = require('@fastify/autoload');\nmodule.exports = async function (fastify, opts) {};",
    },
    folder: 'dist',
    push: /exports a plugin of Fastify.* server\.register\(app\).* serves the app or the handler/s,
    static: refusedServer,
  },
  'Express with its views beside the build': {
    manifest: {dependencies: {express: '5'}},
    files: {
      'dist/ssr.js': "require('./app')",
      'dist/app.js': "app.set('views', path.join(__dirname, '../views')); app.use(express.static('public'));",
      'views/home.ejs': '',
      'public/a.css': '',
    },
    folder: 'dist',
    push: {public: [], warning: /ssr\.js names views, .* cp -r views dist\/\n.*ssr\.js names public/},
    static: refusedServer,
  },
  ...Object.fromEntries(
    (
      [
        ['Hexo', 'public', {hexo: '7'}],
        ['VuePress', 'docs/.vuepress/dist', {vuepress: '2'}],
        ['electron-vite', 'out/renderer', {vite: '7'}],
        ['Vite with a folder from a variable', 'site-out', {vite: '8'}],
      ] as const
    ).map(([name, folder, packages]): [string, Contact] => [
      name,
      {
        manifest: {scripts: {build: 'make'}, devDependencies: packages},
        files: {[`${folder}/index.html`]: page, 'src/a.js': '', 'index.html': '<script src="/src/a.js"></script>'},
        folder,
        push: new RegExp(
          `${folder} looks like a site that was built\\. To use it, run mycli bundle:push ${folder}(?: --dry-run)?(?: --project shop|$)`,
          'm',
        ),
        dir: ['index.html'],
        static: ['index.html'],
      },
    ]),
  ),
  Fresh: {
    files: {'deno.json': '{}', '_fresh/server.js': "import 'node:fs';", '_fresh/client/a.js': ''},
    folder: '_fresh',
    push: /was built for Deno.*runs Node\.js only/s,
    dir: /server\.js \(imports node:fs\)/,
    static: refusedServer,
  },
  'SvelteKit with adapter-auto, and the right adapter installed': {
    manifest: {devDependencies: {'@sveltejs/kit': '2', '@sveltejs/adapter-auto': '6', '@sveltejs/adapter-node': '5'}},
    files: {
      'svelte.config.js': "import adapter from '@sveltejs/adapter-auto';",
      '.svelte-kit/output/server/index.js': secret,
      '.svelte-kit/output/client/a.js': '',
    },
    folder: '.svelte-kit/output',
    push: /adapter-auto, which found none.*import it/s,
    dir: ['client/a.js'],
    static: refusedServer,
  },
  'Angular in several languages': {
    manifest: {dependencies: {'@angular/core': '22'}},
    files: {'dist/shop/browser/de/index.html': page, 'dist/shop/browser/en/index.html': page},
    folder: 'dist/shop/browser',
    push: {public: ['de/index.html', 'en/index.html'], warning: /no index\.html at the top.* \/de\/, \/en\//},
    static: {public: ['de/index.html', 'en/index.html'], warning: /no home page/},
  },
  'a server beside its pages': {
    files: {'dist/server.mjs': '', 'dist/public/index.html': page},
    folder: 'dist',
    push: /The build has server\.mjs\. If that is its server, pass --ssr-only server\.mjs\.\n.*in public\. To push them without a server/,
    static: refusedServer,
  },
  'a folder of images': {
    files: {'out/a.png': ''},
    folder: 'out',
    push: /has no server-only file/,
    static: {public: ['a.png'], warning: /no home page/},
  },
  PHP: {
    files: {'dist/index.php': '<?php', 'dist/a.css': ''},
    folder: 'dist',
    push: /^(?=[^]*Runtime does not run PHP)(?![^]*allowSensitiveFiles)/,
    static: /^(?=[^]*Runtime does not run PHP)(?![^]*allowSensitiveFiles)/,
  },
  'a library': {
    manifest: {main: 'dist/index.js', devDependencies: {tsup: '8'}},
    files: {'dist/index.js': '', 'dist/index.d.ts': ''},
    folder: 'dist',
    push: /looks like the build of a library/,
    static: {public: ['index.d.ts', 'index.js'], warning: /no home page/},
  },
};

function verify(planned: Planned, end: End): void {
  const {error, warnings = []} = planned;
  const refusal = error && [error.message, ...error.suggestions].join('\n');
  if (end instanceof RegExp) expect(refusal).toMatch(end);
  else {
    expect(refusal).toBeUndefined();
    expect(publicFiles(planned)).toEqual('public' in end ? end.public : end);
    expect(warnings.join('\n')).toMatch('warning' in end ? end.warning : /^$/);
  }
}

const {directory, write, mycli, run} = useLayouts();
const allowed = {MYCLI_ALLOW_SENSITIVE_FILES: '1'};

describe.each(Object.entries(contacts))('%s', (name, {manifest, files, folder, push, dir = push, static: site}) => {
  test(`push: ${name} ends well before and after init, with its folder and with --static`, async () => {
    await write({...(manifest && {'package.json': JSON.stringify(manifest)}), ...files});
    verify(await mycli('push', '--dry-run', '-p', 'shop'), push);
    verify(await mycli('push', folder, '--dry-run', '-p', 'shop'), dir);
    verify(await mycli('push', folder, '--dry-run', '-p', 'shop', '--static'), site);
    await mycli('init', '--yes', '-p', 'shop', '-t', 'live');
    verify(await mycli('push', '--dry-run'), push);
  });
});

test('push: an archive without a manifest is looked at as a build is, one with a manifest when it is built', async () => {
  const files = {'dist/index.html': page, 'dist/api.js': "import './db.js';\nimport 'elysia';", 'dist/db.js': secret};
  await write({...files, 'dist/lib.js': 'if (x) require("fs");'});
  const build = ['bundle:build', 'dist', '--static', '-p', 'shop', '--format', 'v2', '-o', 'a.tar.gz'];
  verify(await mycli(...build), refusedServer);
  await run(build, allowed);
  const push = ['push', '--archive', 'a.tar.gz', '-p', 'shop', '--dry-run', '--runtime-backend', 'api'];
  expect((await mycli(...push)).error).toBeUndefined();
  await rm(join(directory(), 'a.tar.gz.json'));
  verify(await mycli(...push), /has api\.js \(imports elysia\), db\.js \(imported by api\.js\)\./);
  expect((await run(push, allowed)).error).toBeUndefined();
});
