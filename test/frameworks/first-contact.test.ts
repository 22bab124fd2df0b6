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
  'Expo with functions': {
    manifest: {dependencies: {expo: '54'}},
    files: {
      'dist/client/index.html': page,
      'dist/client/_expo/static/js/web/entry.js': '',
      'dist/server/_expo/functions/hello+api.js': secret,
      'dist/server/index.html': page,
    },
    folder: 'dist',
    push: ['client/_expo/static/js/web/entry.js', 'client/index.html'],
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

const {directory, write, mycli} = useLayouts();

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
  await mycli(...build, '--allow-sensitive-files');
  const push = ['push', '--archive', 'a.tar.gz', '-p', 'shop', '--dry-run', '--runtime-backend', 'api'];
  expect((await mycli(...push)).error).toBeUndefined();
  await rm(join(directory(), 'a.tar.gz.json'));
  verify(await mycli(...push), /has api\.js \(imports elysia\), db\.js \(imported by api\.js\)\./);
  expect((await mycli(...push, '--allow-sensitive-files')).error).toBeUndefined();
});
