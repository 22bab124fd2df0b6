// Makes few files of our modules and of the packages behind them, and writes the licences of these: node would spend
// more time on finding hundreds of files than on running them. Each module is there once, and what is imported when it
// is needed is loaded then. They are CommonJS, which Node loads faster, and whose compiled code can be kept on Node 20,
// too; importers get an ES module in front of it. Nothing is minified: names in stack traces are those of the sources.
import {readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {builtinModules} from 'node:module';
import {basename, join, relative, resolve} from 'node:path';
import {rolldown, watch} from 'rolldown';
import {parseAst} from 'rolldown/parseAst';
import {licenceOf} from './licence-of.js';

const {exports, oclif} = JSON.parse(readFileSync('package.json', 'utf8'));

/** The name of a module in dist, and its source. */
const entryOf = (file) => {
  const name = file.replace(/^\.\/dist\/(.*)\.c?js$/, '$1');
  return [name, `src/${name}.ts`];
};
const library = entryOf(exports['.'].default);
/** What loads little, and nothing of what follows. */
const small = [exports['./backend'].default, exports['./rate-limit'].default, './dist/cli/process/start.cjs'].map(
  entryOf,
);
/** What is loaded by its name: by importers of the package, by bin, by oclif. */
const published = [
  library,
  ...small,
  ...[exports['./testing'].default, oclif.helpClass.target].map(entryOf),
  ...Object.values(oclif.hooks).map(({target}) => entryOf(target)),
];
/** Parts that scripts, bench and commands of tests are made with. */
const parts = [
  'cli/command/base-command',
  'cli/command/flags',
  'cli/process/oclif-commands',
  'settings/definitions',
  'settings/row',
  'errors/index',
  'http/index',
  'frameworks/frameworks',
  'local-runtime/openapi/document',
].map((part) => [part, `src/${part}.ts`]);
const commands = readdirSync('src/commands', {recursive: true})
  .filter((file) => file.endsWith('.ts'))
  .map((file) => [`commands/${file.slice(0, -'.ts'.length)}`, `src/commands/${file}`]);

/** Left where npm puts them: what loads files of its own, and what oclif needs for TypeScript only. */
const external = ['jiti', 'typescript', 'mycli/package.json'];

/**
 * What importers get instead of a module. `code` is given the path of the module, and loads it where it is needed:
 * with `require`, that is when it runs.
 */
const substitutes = [
  // oclif's commands for plugins look for npm with `which`, whose error says little. Ours says what to do.
  {
    module: 'which',
    importer: '/@oclif/plugin-plugins/',
    code: () => `export {findProgram as default} from ${JSON.stringify(resolve('src/cli/process/find-program.ts'))};`,
  },
  // It takes 30 ms to load, and only text beyond ASCII needs it.
  {
    module: 'string-width',
    importer: resolve('src'),
    code: (path) => `export default function stringWidth(text, options) {
      return /^[ -~]*$/.test(text) ? text.length : require(${path}).default(text, options);
    }`,
  },
  // oclif looks for its plugins by pattern. Ours are names.
  {
    module: 'minimatch',
    importer: '/@oclif/core/',
    code: (path) => `exports.minimatch = (name, pattern) =>
      /^[@/\\w-]+$/.test(pattern) ? name === pattern : require(${path}).minimatch(name, pattern);`,
  },
  // oclif asks for these at its start and hardly ever uses them.
  {
    module: 'tinyglobby',
    importer: '/@oclif/core/',
    code: (path) => `exports.glob = (...args) => require(${path}).glob(...args);`,
  },
  {
    module: 'ejs',
    importer: '/@oclif/core/',
    code: (path) => `exports.render = (...args) => require(${path}).render(...args);`,
  },
  // got loads it for an option that we do not use. It makes a TLS context with all certificates: 20 ms.
  {
    module: 'http2-wrapper',
    importer: '/got/',
    code: (path) => `export default {
      auto: (...args) => require(${path}).auto(...args),
      get globalAgent() { return require(${path}).globalAgent; },
    };`,
  },
];
const prefix = '\0substitute:';
const substitution = {
  name: 'substitution',
  async resolveId(source, importer = '', {kind}) {
    const index = substitutes.findIndex(({module, importer: by}) => source === module && importer.includes(by));
    if (index === -1 || importer.startsWith(prefix)) return null;
    const {id} = await this.resolve(source, importer, {kind, skipSelf: true});
    return `${prefix}${index}:${id}`;
  },
  load(id) {
    if (!id.startsWith(prefix)) return null;
    const [, index, path] = /^(\d+):(.*)$/.exec(id.slice(prefix.length));
    return {code: substitutes[index].code(JSON.stringify(path)), moduleType: 'js'};
  },
};

/** Code that loads ICU's data at start-up: 18 ms in got, 7 ms in oclif. */
const rewrites = [
  // oclif sorts commands by the rules of a language. Command names are ASCII.
  {module: '/@oclif/core/lib/config/plugin.js', from: 'a.id.localeCompare(b.id)', to: '(a.id < b.id ? -1 : 1)'},
  // got only joins the types of wrong arguments.
  ...['conjunction', 'disjunction'].map((type) => {
    const from = `new Intl.ListFormat('en', { style: 'long', type: '${type}' })`;
    return {module: '/@sindresorhus/is/distribution/index.js', from, to: `{format: (list) => ${from}.format(list)}`};
  }),
];

const unused = new Set(rewrites);
const rewriting = {
  name: 'rewriting',
  transform(code, id) {
    let rewritten = code;
    for (const rewrite of rewrites) {
      const {module, from, to} = rewrite;
      if (!id.endsWith(module) || !code.includes(from)) continue;
      rewritten = rewritten.replace(from, to);
      unused.delete(rewrite);
    }
    return rewritten === code ? null : {code: rewritten};
  },
  buildEnd(error) {
    if (error || unused.size === 0) return;
    const missing = [...unused].map(({module, from}) => `${from} in ${module}`).join('; ');
    throw new Error(`What scripts/bundle.js rewrites is not there any more: ${missing}.`);
  },
};

/**
 * Modules that import packages or files that are not in dist. On Node 20, `import()` fails in code that comes from a
 * cache (see src/cli/process/code-cache.ts), so they call a function in a file of its own, which is never cached.
 */
const importingModules =
  /\/@oclif\/core\/lib\/(?:module-loader|config\/ts-path)\.js$|\/lilconfig\/|\/src\/modules\/load-module\.ts$/;
const importModule = resolve('src/modules/import-module.ts');

const importsApart = {
  name: 'imports-apart',
  transform(code, id) {
    if (!importingModules.test(id)) return null;
    return {code: code.replaceAll('await import(', `await require(${JSON.stringify(importModule)}).importModule(`)};
  },
  generateBundle(_options, files) {
    for (const {fileName, moduleIds, code} of Object.values(files)) {
      if (code === undefined || moduleIds.includes(importModule) || !code.includes('import(')) continue;
      if (hasImport(parseAst(code, {sourceType: 'script'}))) throw new Error(`${fileName} has an import().`);
    }
  },
};

function hasImport(node) {
  if (typeof node !== 'object' || node === null) return false;
  return node.type === 'ImportExpression' || Object.values(node).some(hasImport);
}

const builtin = new RegExp(`(?<![.\\w])require\\(("(?:node:)?(?:${builtinModules.join('|')})")\\)`, 'g');

/**
 * Lets bundlers of applications make ES modules of the library: esbuild refuses a `require` of Node's own modules
 * there, and CommonJS has no place where it finds our package.json.
 */
const bundledAgain = {
  name: 'bundled-again',
  transform(code, id) {
    if (id !== resolve('src/version.ts')) return null;
    const required = code.replace(/createRequire\(import\.meta\.url\)(?=\()/, 'require');
    if (required === code)
      throw new Error(`${id} no longer loads package.json the way that scripts/bundle.js replaces.`);
    return {code: required};
  },
  renderChunk: (code) => ({code: code.replaceAll(builtin, 'globalThis.process.getBuiltinModule($1)')}),
};

/** Writes an ES module with the exports of each entry, for importers. Commands need none: oclif requires them. */
const facades = {
  name: 'facades',
  writeBundle({dir}, files) {
    for (const {isEntry, fileName, facadeModuleId} of Object.values(files)) {
      if (!isEntry || fileName.startsWith('commands/')) continue;
      // The file may also export what only our other files import.
      const exports = this.getModuleInfo(facadeModuleId).exports.toSorted();
      const names = exports.filter((name) => name !== 'default');
      const lines = [
        `import entry from './${basename(fileName)}';`,
        ...(exports.includes('default') ? ['export default entry.default;'] : []),
        ...(names.length > 0 ? [`export const {${names.join(', ')}} = entry;`] : []),
      ];
      writeFileSync(join(dir, fileName.replace(/\.cjs$/, '.js')), `${lines.join('\n')}\n`);
    }
  },
};

/** `paths` and each module they import, directly or not. */
function closure(paths, graph) {
  const found = new Set();
  const follow = (id) => {
    if (found.has(id)) return;
    found.add(id);
    graph.getModuleInfo(id)?.importedIds.forEach(follow);
  };
  for (const path of paths) follow(resolve(path));
  return found;
}

/**
 * Chooses the file for a module: one for the start of the command line, one for a push, one for the library. rolldown
 * puts the rest into the file of its only importer, or into small files.
 */
function fileOf() {
  let sets;
  return (id, graph) => {
    const closureOf = (paths) => closure(paths, graph);
    sets ??= {
      small: closureOf(small.map(([, source]) => source)),
      library: closureOf([library[1]]),
      start: closureOf([entryOf(oclif.helpClass.target)[1]]),
      push: closureOf(['src/commands/bundle/push.ts', 'src/cli/render/push.ts', 'src/pipelines/progress-text.ts']),
    };
    if (id === importModule) return 'import-module';
    if (sets.small.has(id)) return null;
    if (sets.library.has(id)) return sets.start.has(id) ? 'shared' : 'library';
    return ['start', 'push'].find((name) => sets[name].has(id)) ?? null;
  };
}

const input = {
  input: Object.fromEntries([...published, ...parts, ...commands]),
  platform: 'node',
  external,
  preserveEntrySignatures: 'allow-extension',
  plugins: [substitution, rewriting, importsApart, bundledAgain, facades],
  transform: {target: 'node20.19'},
  checks: {ineffectiveDynamicImport: false},
  experimental: {attachDebugInfo: 'simple'},
};
const output = () => ({
  dir: 'dist',
  format: 'cjs',
  // The sources are ES modules, which are always strict.
  strict: true,
  // Node loads ASCII in a third of the time.
  charset: 'ascii',
  comments: false,
  entryFileNames: '[name].cjs',
  chunkFileNames: 'chunks/[name].cjs',
  codeSplitting: {groups: [{name: fileOf(), debugName: 'shared files', includeDependenciesRecursively: false}]},
});

/**
 * The name, the version and the licence of the package in `folder`. One without a file of its licence has its author
 * named.
 */
function noticeOf(folder) {
  const manifest = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
  const {name, version, author} = manifest;
  const licence = licenceOf(manifest);
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  const holder = author?.name ?? author;
  if (!licence || (file === undefined && !holder))
    throw new Error(`${folder} does not say whose it is, or its licence.`);
  const text = file === undefined ? `Copyright (c) ${holder}` : readFileSync(`${folder}/${file}`, 'utf8').trim();
  return `${name} ${version} (${licence})\n\n${text}\n`;
}

function writeLicences(chunks) {
  const paths = chunks.flatMap(({moduleIds = []}) => moduleIds).map((id) => relative('.', id));
  const folders = new Set(paths.join('\n').match(/^node_modules\/.*(?<=node_modules\/(?:@[^/]+\/)?[^/\n]+)(?=\/)/gm));
  // A package may lie in several folders.
  const notices = new Set([...folders].map(noticeOf).sort());
  writeFileSync('dist/bundled-licenses.txt', [...notices].join(`\n${'-'.repeat(80)}\n\n`));
}

if (process.argv.includes('--watch')) {
  watch({...input, output: output()}).on('event', ({code, duration, error}) => {
    if (code === 'BUNDLE_END') console.log(`Bundled in ${duration} ms.`);
    if (code === 'ERROR') console.error(error.message);
  });
} else {
  const bundle = await rolldown(input);
  writeLicences((await bundle.write(output())).output);
  await bundle.close();
}
