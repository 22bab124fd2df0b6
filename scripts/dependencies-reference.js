// Writes the tables of docs/reference/dependencies.md from the lock file, what is installed, what is in dist and
// dependency-reasons.js. Fails when a package that we want for users has no reason, and when a reason has no package.
import {existsSync, readdirSync, readFileSync, statSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {reasons} from './dependency-reasons.js';
import {fillPage} from './fill-page.js';
import {licenceOf} from './licence-of.js';
import {bundledPackages, nameAt, packages} from './shipped.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const direct = Object.keys(packages[''].dependencies);
const bundled = new Set(bundledPackages());
/** Those of our tools that are none: dist contains them. */
const inside = Object.keys(packages[''].devDependencies).filter((name) =>
  bundled.has(`${name}@${packages[`node_modules/${name}`].version}`),
);
const wanted = [...direct, ...inside];

const undescribed = wanted.filter((name) => !Object.hasOwn(reasons, name));
const gone = Object.keys(reasons).filter((name) => !wanted.includes(name));
if (undescribed.length + gone.length > 0) {
  for (const name of undescribed) console.error(`Without a reason: ${name}.`);
  for (const name of gone) console.error(`A reason without a package: ${name}.`);
  console.error('Say in scripts/dependency-reasons.js why a package is worth what it brings.');
  process.exit(1);
}

/**
 * Where the lock file has the package `name` that the one at `from` gets: beside it or further up, as Node resolves.
 */
function resolve(name, from) {
  for (let place = from; ; place = place.slice(0, Math.max(0, place.lastIndexOf('/node_modules/')))) {
    const path = place === '' ? `node_modules/${name}` : `${place}/node_modules/${name}`;
    if (Object.hasOwn(packages, path)) return path;
    if (place === '') return undefined;
  }
}

/** The package at `path` and all that it brings, as paths of the lock file, added to `seen`. */
function closure(path, seen = new Set()) {
  if (seen.has(path)) return seen;
  seen.add(path);
  const {dependencies, optionalDependencies, peerDependencies} = packages[path];
  for (const name of Object.keys({...dependencies, ...optionalDependencies, ...peerDependencies})) {
    const found = resolve(name, path);
    // Optional peers are there for development only.
    if (found !== undefined && packages[found].dev !== true && packages[found].devOptional !== true)
      closure(found, seen);
  }
  return seen;
}

/** Of several copies of one version one: npm nests them beside our tools, and hoists one where mycli is installed. */
function withoutCopies(paths) {
  return [...new Map([...paths].map((path) => [`${nameAt(path)}@${packages[path].version}`, path])).values()];
}

const all = withoutCopies(direct.flatMap((name) => [...closure(`node_modules/${name}`)]));
const platformBound = all.filter((path) => 'os' in packages[path] || 'cpu' in packages[path]);
if (platformBound.length > 0) throw new Error(`Sizes would depend on the platform: ${platformBound.join(', ')}.`);
const missing = all.filter((path) => !existsSync(join(root, path)));
if (missing.length > 0) throw new Error(`Not installed, run npm ci: ${missing.join(', ')}.`);

/** Bytes of a package's own files. */
function bytesOf(folder) {
  let bytes = 0;
  for (const entry of readdirSync(folder, {withFileTypes: true})) {
    if (entry.name === 'node_modules') continue;
    const path = join(folder, entry.name);
    bytes += entry.isDirectory() ? bytesOf(path) : statSync(path).size;
  }
  return bytes;
}

/** Two digits: what npm does to the first line of a script, on some platforms, is far below them. */
function megabytes(paths) {
  const bytes = paths.reduce((sum, path) => sum + bytesOf(join(root, path)), 0);
  return (bytes / 1e6).toFixed(2);
}

function declaredLicence(path) {
  return licenceOf(JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8'))) ?? 'not declared';
}

/** Texts and how often each is there, the most frequent first. */
function tally(texts) {
  const counts = new Map();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
}

const rows = direct.map((name) => {
  const path = `node_modules/${name}`;
  const brought = withoutCopies(closure(path));
  const sizes = `${megabytes([path])} | ${brought.length - 1} | ${megabytes(brought)}`;
  return `| \`${name}\` | ${packages[path].version} | ${reasons[name]} | ${sizes} | ${declaredLicence(path)} |`;
});
const licences = tally(all.map(declaredLicence)).map(([licence, count]) => `${licence} (${count})`);

const insideRows = inside.map((name) => {
  const path = `node_modules/${name}`;
  return `| \`${name}\` | ${packages[path].version} | ${reasons[name]} | ${declaredLicence(path)} |`;
});
const withScript = all.filter((path) => packages[path].hasInstallScript === true);

fillPage('dependencies.md', {
  installed: `
| package | version | why | MB | brings packages | MB with them | licence |
| --- | --- | --- | --- | --- | --- | --- |
${rows.join('\n')}

${direct.length} dependencies, ${all.length} packages, ${megabytes(all)} MB. Licenses: ${licences.join(', ')}.`,
  inside: `
| package | version | why | licence |
| --- | --- | --- | --- |
${insideRows.join('\n')}

dist contains code of ${bundled.size} packages.`,
  scripts: `Packages with an install script: ${withScript.map((path) => `\`${path.slice(13)}\``).join(', ') || 'none'}.`,
});
