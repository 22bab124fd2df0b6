// Makes few files of our modules and of the packages behind them, and writes the licences of these: node would spend
// more time on finding hundreds of files than on running them. What several entries share is in chunks, so that each
// module is there once, and what is imported when it is needed is loaded then. Nothing is minified: names in stack
// traces are those of the sources.
import {readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {build, context} from 'esbuild';
import {licenceOf} from './licence-of.js';

const {exports, oclif} = JSON.parse(readFileSync('package.json', 'utf8'));

/** What is loaded by its name: by importers of the package, by bin, by oclif. */
const published = [
  ...Object.values(exports).flatMap((entry) => entry.default ?? []),
  './dist/cli/process/start.js',
  oclif.helpClass.target,
  ...Object.values(oclif.hooks).map(({target}) => target),
];
/** Parts that scripts, bench and commands of tests are made with. */
const parts = [
  'cli/command/base-command',
  'cli/command/flags',
  'cli/process/oclif-commands',
  'cli/settings/definitions',
  'errors/index',
  'http/index',
];
const commands = readdirSync('src/commands', {recursive: true}).filter((file) => file.endsWith('.ts'));

/** Left where npm puts them: what loads files of its own, and what oclif needs for TypeScript only. */
const external = ['jiti', 'typescript'];

/** oclif's commands for plugins look for npm with `which`, whose error says little. Ours says what to do. */
const programs = {
  name: 'programs',
  setup({onResolve, onLoad}) {
    const namespace = 'programs';
    onResolve({filter: /^which$/}, ({importer}) =>
      importer.includes('/@oclif/plugin-plugins/') ? {path: 'which', namespace} : undefined,
    );
    onLoad({filter: /./, namespace}, () => ({
      contents: "export {findProgram as default} from './src/cli/process/find-program.js';",
      resolveDir: process.cwd(),
    }));
  },
};

/** What oclif asks for at its start and hardly ever uses: it runs when it is used. */
const seldomUsed = {
  name: 'seldom-used',
  setup({onResolve, onLoad}) {
    const namespace = 'seldom-used';
    onResolve({filter: /^(tinyglobby|ejs)$/}, ({path, importer, resolveDir}) =>
      importer.includes('/@oclif/core/') ? {path, namespace, pluginData: resolveDir} : undefined,
    );
    onLoad({filter: /./, namespace}, ({path, pluginData: resolveDir}) => {
      const names = Object.keys(createRequire(`${resolveDir}/`)(path));
      const getters = names.map((name) => `get ${name}() { return require('${path}').${name}; }`);
      return {contents: `module.exports = {${getters.join(', ')}};`, resolveDir};
    });
  },
};

const options = {
  entryPoints: [
    ...[...new Set(published)].map((file) => file.replace(/^\.\/dist\/(.*)\.js$/, 'src/$1.ts')),
    ...parts.map((part) => `src/${part}.ts`),
    ...commands.map((file) => `src/commands/${file}`),
  ],
  outbase: 'src',
  outdir: 'dist',
  chunkNames: 'chunks/[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  metafile: true,
  logLevel: 'warning',
  external,
  plugins: [seldomUsed, programs],
  // What packages that are CommonJS expect to find.
  define: {__dirname: 'import.meta.dirname'},
  banner: {
    js: `import {createRequire as createRequireOfFile} from 'node:module';
const require = createRequireOfFile(import.meta.url);`,
  },
};

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

function writeLicences({inputs}) {
  const paths = Object.keys(inputs).join('\n');
  const folders = new Set(paths.match(/^.*node_modules\/(?:@[^/]+\/)?[^/\n]+/gm));
  // A package may lie in several folders.
  const notices = new Set([...folders].map(noticeOf).sort());
  writeFileSync('dist/bundled-licenses.txt', [...notices].join(`\n${'-'.repeat(80)}\n\n`));
}

if (process.argv.includes('--watch')) {
  const watching = await context({...options, logLevel: 'info'});
  await watching.watch();
} else {
  const {metafile} = await build(options);
  writeLicences(metafile);
}
