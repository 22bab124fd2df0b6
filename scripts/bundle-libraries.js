// Makes one file of each of these modules and of every package behind it, and writes the licences of them all. Node would
// spend more time on finding their hundreds of files than on running them. Nothing is minified: names in stack traces are
// those of the packages.
import {readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {build} from 'esbuild';

const modules = ['dist/cli/oclif.js', 'dist/http/got.js', 'dist/bundle/archiver.js', 'dist/bundle/fast-glob.js'];

const {metafile} = await build({
  entryPoints: modules,
  outbase: 'dist',
  outdir: 'dist',
  allowOverwrite: true,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  metafile: true,
  logLevel: 'warning',
  // oclif asks for it when it is to run a plugin's TypeScript, which we have turned off.
  external: ['typescript'],
  // What the packages, which are CommonJS, expect to find.
  banner: {
    js: `import {createRequire} from 'node:module';
const require = createRequire(import.meta.url);
const __dirname = import.meta.dirname;`,
  },
});

/** The name, the version and the licence of the package in `folder`. */
function noticeOf(folder) {
  const {name, version, license} = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  const text = file === undefined ? '' : `\n${readFileSync(`${folder}/${file}`, 'utf8').trim()}\n`;
  return `${name} ${version} (${license})\n${text}`;
}

const inputs = Object.keys(metafile.inputs).join('\n');
const folders = new Set(inputs.match(/^.*node_modules\/(?:@[^/]+\/)?[^/\n]+/gm));
// A package may lie in several folders.
const notices = new Set([...folders].map(noticeOf).sort());
writeFileSync('dist/bundled-licenses.txt', [...notices].join(`\n${'-'.repeat(80)}\n\n`));
