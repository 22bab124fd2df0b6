// Bundles our modules into dist, with the packages among the devDependencies that they use, and writes the licences of
// these packages. What package.json lists as a dependency is installed with mycli and stays outside.
import {readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {relative, resolve} from 'node:path';
import {rolldown, watch} from 'rolldown';
import {licenceOf} from './licence-of.js';

const {dependencies, exports, oclif} = JSON.parse(readFileSync('package.json', 'utf8'));

/** Loaded by name: by importers of the package, by bin, by oclif, by scripts and tests. */
const published = Object.values(exports).flatMap((entry) => entry.default ?? []);
const parts = [
  'cli/command/base-command',
  'cli/command/flags',
  'cli/command/command-line',
  'cli/command/compile-cache',
  'cli/setup/other-clients',
  'settings/definitions',
  'settings/row',
  'errors/index',
  'http/index',
  'frameworks/frameworks',
  // A program of its own.
  'local-runtime/sites/app-program',
];
const commands = readdirSync('src/commands', {encoding: 'utf8', recursive: true})
  .filter((file) => file.endsWith('.ts'))
  .map((file) => `commands/${file.slice(0, -'.ts'.length)}`);
const names = [
  ...[...published, oclif.helpClass.target].map((file) => file.replace(/^\.\/dist\/(.*)\.js$/, '$1')),
  ...parts,
];

const input = {
  input: Object.fromEntries([...names, ...commands].map((name) => [name, `src/${name}.ts`])),
  platform: 'node',
  // oclif has TypeScript for commands that are not compiled.
  external: [...Object.keys(dependencies), 'typescript', 'mycli/package.json'],
  transform: {target: 'node20.19'},
  resolve: {alias: {which: resolve('src/cli/command/which.ts')}},
  // What a push needs is one file, also where it is imported only when it is needed.
  checks: {ineffectiveDynamicImport: false},
};

const output = {
  dir: 'dist',
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: 'chunks/[name].js',
  comments: false,
  // Not minified: an uncaught error shows the line that threw it, and debuggers show the code.
  minify: 'dce-only',
  // What a push loads in any case, in few files: Node takes half a millisecond to find each. The library gets the first
  // two. It must not load oclif, which asks for the user's home, and a container's user may have none.
  codeSplitting: {
    groups: [
      {
        name: 'common',
        test: /\/src\/(?:errors|text|files\/ownership|http\/redact)|\/node_modules\/(?:debug|picomatch|fast-string-(?:truncated-)?width)\//,
        priority: 5,
      },
      {
        name: 'client',
        test: /\/src\/(?:http\/(?:client|auth|rate-limit)|backends\/(?:call|names|contract\/hooks|plugins\/(?:option-text|plugin-code))|settings|files\/(?!programs)|frameworks|modules|projects|config\.ts)/,
        priority: 4,
      },
      {name: 'start', test: /\/src\/cli\/command\/run\.ts$/, priority: 3},
      {name: 'pipeline', test: /\/src\/pipelines\/push\.ts$/, priority: 2},
      {
        name: 'command',
        test: /\/src\/(?:commands\/bundle\/push|pipelines\/next-steps|cli\/(?:settings\/(?:reach-backends|load-backends|write-hooks)|setup\/(?:check-credentials|confirm-addresses)|output\/(?:render-deployments|render-lists|table)))\.ts$/,
        priority: 1,
      },
    ],
  },
};

/**
 * The name, the version and the licence of the package in `folder`: its file, or that section of its README. One without
 * either has its author named.
 */
function noticeOf(folder) {
  const manifest = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
  const {name, version, author} = manifest;
  const licence = licenceOf(manifest);
  const read = (pattern) => {
    const file = readdirSync(folder).find((entry) => pattern.test(entry));
    return file && readFileSync(`${folder}/${file}`, 'utf8');
  };
  const section = /^#+ licen[cs]e\b.*\n(?<text>[^#]*copyright[^#]*)/im;
  const holder = author?.name ?? author;
  const text =
    read(/^licen[cs]e/i) ?? section.exec(read(/^readme/i) ?? '')?.groups.text ?? (holder && `Copyright (c) ${holder}`);
  if (!licence || !text) throw new Error(`${folder} does not say whose it is, or its licence.`);
  return `${name} ${version} (${licence})\n\n${text.trim()}\n`;
}

function writeLicences(chunks) {
  const paths = chunks.flatMap(({moduleIds = []}) => moduleIds).map((id) => relative('.', id));
  const folders = new Set(paths.join('\n').match(/^node_modules\/.*(?<=node_modules\/(?:@[^/]+\/)?[^/\n]+)(?=\/)/gm));
  // A package may lie in several folders.
  const notices = new Set([...folders].map(noticeOf).sort());
  writeFileSync('dist/bundled-licenses.txt', [...notices].join(`\n${'-'.repeat(80)}\n\n`));
}

if (process.argv.includes('--watch')) {
  watch({...input, output}).on('event', ({code, duration, error}) => {
    if (code === 'BUNDLE_END') console.log(`Bundled in ${duration} ms.`);
    if (code === 'ERROR') console.error(error.message);
  });
} else {
  const bundle = await rolldown(input);
  writeLicences((await bundle.write(output)).output);
  await bundle.close();
}
