import {beforeEach, describe, expect, test} from 'vitest';
import {findServerScripts, scriptsOf, startedScripts} from '../../src/projects/server-scripts.js';
import {filesIn} from '../../src/projects/read-project.js';
import {importsOf} from '../../src/projects/module-imports.js';
import {makeFolder, writeTree, type Tree} from '../folder.js';

let build: string;
beforeEach(async () => {
  build = await makeFolder();
});

async function find(tree: Tree) {
  await writeTree(build, tree);
  const {server, unloadable} = await findServerScripts(scriptsOf(build, await filesIn(build)));
  const reasons = (found: typeof server) => Object.fromEntries(found.map(({path, reason}) => [path, reason]));
  return {server: reasons(server), unloadable: reasons(unloadable)};
}

describe('findServerScripts', () => {
  test.each<[what: string, script: string, reason: string]>([
    ['a module that imports a server', "import express from 'express';", 'imports express'],
    ['a minified one', 'import{a as b}from"./x.js";import t from"@hapi/hapi";', 'imports @hapi/hapi'],
    ['one that imports for its effects', 'import "dotenv/config";', 'imports dotenv/config'],
    ['one that exports what Node has', 'export * from "node:fs";', 'imports node:fs'],
    ['a builtin without its prefix', "import {readFile} from 'fs/promises';", 'imports fs/promises'],
    ['a part of a package', "import {pgTable} from 'drizzle-orm/pg-core';", 'imports drizzle-orm/pg-core'],
    ['one that imports far below', `${'/* '.padEnd(20_000, 'x')} */\nimport pg from 'pg';`, 'imports pg'],
    ['a script of CommonJS', "const {Pool} = require('pg');", 'imports pg'],
    ['one that calls it at once', "const app = require('express')();", 'imports express'],
    ['what TypeScript makes', '"use strict";const e = __importDefault(require("express"));', 'imports express'],
    ['what a minifier makes', 'var a=1,b=require(`mysql2`),c=2;', 'imports mysql2'],
    ['what a bundler makes', '(()=>{"use strict";const e=require("http");e.createServer()})();', 'imports http'],
    ['what webpack makes', '(()=>{var e={1:e=>{"use strict";e.exports=require("express")}}})();', 'imports express'],
    ['a program', '#!/usr/bin/env node\nprocess.exit();', 'starts with #!'],
    ['one with a package of a scope', "import {Module} from '@nestjs/common';", 'imports @nestjs/common'],
  ])('findServerScripts: %s is code of a server, wherever it lies', async (_, script, reason) => {
    const path = 'assets/_next/static/index-a1b2c3.js';
    expect((await find({[path]: script, 'index.html': ''})).server).toEqual({[path]: reason});
  });

  // Extracts of packages that sites copy: npm run test:suite clients looks at all of their files.
  test.each<[what: string, script: string]>([
    ['Emscripten', 'var Module=function(){if(ENVIRONMENT_IS_NODE){var fs=require("fs");require("path")}}();'],
    ['Emscripten, as a module', 'if (isNode) { const {createRequire} = await import("module"); }\nexport default 1;'],
    ['UMD', "(function(g,f){typeof exports==='object'?f(exports,require('fs')):f(g)})(this,function(){});"],
    ['UMD with a condition', "if (typeof require === 'function') { try { crypto = require('crypto'); } catch {} }"],
    ['UMD with a shortcut', 'var ws = typeof window === "undefined" && require("ws");'],
    ['browserify', '(function(){})()({1:[function(require,module,exports){module.exports = require("stream");}]});'],
    ['browserify, at once', '(function(require){var stream = require("stream");})(function(){});'],
    ['webpack', '(()=>{var e={1:e=>{"use strict";e.exports=require("buffer")}}})();'],
    [
      'a snippet of an editor',
      "exports.snippetText = \"snippet req\\n\\tvar x = require('fs');\\nimport fs from 'fs'\";",
    ],
    ['a page of documentation', 'const code = `\nimport express from "express";\n`;\nexport {code};'],
    ['a comment', "// import express from 'express'\n/* const fs = require('fs') */\nexport default 1;"],
    ['a function that nobody calls', 'function read(){return require("fs").readFileSync("x")}'],
    ['AMD', 'define(["require","fs"],function(require){const fs=require("fs")});'],
    ['a URL', "import confetti from 'https://cdn.example/fs';"],
    ['a worker', 'importScripts("fs.js");'],
  ])('findServerScripts: %s is none', async (_, script) => {
    expect(await find({'lib.js': script, 'index.html': ''})).toEqual({server: {}, unloadable: {}});
  });

  test('findServerScripts: what code of a server imports by its path is the server’s, and what that imports', async () => {
    const found = await find({
      'backend/app.js': "import express from 'express';\nimport {db} from './db';\nexport * from '../shared/index.js';",
      'backend/db/index.js': "module.exports = require('./config');",
      'backend/db/config.json': '{"password": "secret"}',
      'shared/index.js': "const later = () => import('./later.mjs?x');",
      'shared/later.mjs': '',
      'shared/other.js': '',
    });
    expect(found.server).toEqual({
      'backend/app.js': 'imports express',
      'backend/db/index.js': 'imported by backend/app.js',
      'backend/db/config.json': 'imported by backend/db/index.js',
      'shared/index.js': 'imported by backend/app.js',
      'shared/later.mjs': 'imported by shared/index.js',
    });
  });

  test('findServerScripts: a bare name that no import map has is told, and one that a map has is loaded', async () => {
    const tree = {
      'a.js': "import {Vector3} from 'three';",
      'b.js': "import 'three/addons/x.js';",
      'c.js': "import 'fs';",
    };
    expect(await find(tree)).toEqual({
      server: {'c.js': 'imports fs'},
      unloadable: {'a.js': 'imports three', 'b.js': 'imports three/addons/x.js'},
    });
    const map =
      '<script type="importmap">{"imports": {"three": "/t.js", "three/addons/": "/a/", "fs": "/f.js"}}</script>';
    expect(await find({...tree, 'docs/page.html': map})).toEqual({server: {}, unloadable: {}});
  });

  test('findServerScripts: a package’s script for Node beside that for browsers is no server', async () => {
    const files = {'ort.min.mjs': '', 'ort.node.min.mjs': "import {createRequire} from 'module';"};
    expect(await find(files)).toMatchObject({server: {}});
  });
});

describe('startedScripts', () => {
  const started = async (manifest: object, tree: Tree = {}) => {
    await writeTree(build, {
      'package.json': JSON.stringify(manifest),
      'dist/server.js': '',
      'dist/a/index.js': '',
      ...tree,
    });
    const source = scriptsOf(`${build}/dist`, await filesIn(`${build}/dist`));
    return (await startedScripts(build, `${build}/dist`, source)).map(({path}) => path);
  };

  test.each([
    [{scripts: {start: 'node dist/server.js'}}, ['server.js']],
    [{scripts: {start: 'NODE_ENV=production node --import ./x.js ./dist/server'}}, ['server.js']],
    [{scripts: {'start:prod': 'cross-env A=1 node dist/a'}}, ['a/index.js']],
    [{scripts: {start: 'pm2 start dist/server.js'}}, ['server.js']],
    [{scripts: {start: 'serve dist', build: 'node dist/server.js'}}, []],
    [{main: 'dist/server.js'}, ['server.js']],
    [{main: 'dist/server.js', types: 'dist/server.d.ts'}, []],
    [{main: 'server.js'}, []],
  ])('startedScripts: of %j, %j', async (manifest, paths) => {
    expect(await started(manifest)).toEqual(paths);
  });

  test('startedScripts: main is none that a page loads, as `npm init` names one', async () => {
    const page = {'dist/index.html': '<script src="server.js"></script>'};
    expect(await started({main: 'dist/server.js'}, page)).toEqual([]);
    expect(await started({scripts: {start: 'node dist/server.js'}}, page)).toEqual(['server.js']);
  });
});

test('importsOf: names what runs as the script is loaded, and whether it has a default', async () => {
  expect(await importsOf("import a from 'x';\nimport('y');\nexport const b = 1;")).toEqual({
    isModule: true,
    imports: ['x'],
    hasDefault: false,
  });
  expect(await importsOf('const {a} = tslib_1.__importStar(require("x")); const f = () => require("y");')).toEqual({
    isModule: false,
    imports: ['x'],
    hasDefault: true,
  });
  expect(await importsOf('<div>{require("x")}</div>')).toMatchObject({imports: []});
});
