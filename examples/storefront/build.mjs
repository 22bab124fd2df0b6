// Builds app/ into build/: names the assets after their content, tells the server about them, renders the first page.
import {createHash} from 'node:crypto';
import {cp, readFile, readdir, rename, rm, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {pathToFileURL} from 'node:url';

const app = path.join(import.meta.dirname, 'app');
const build = path.resolve(process.argv[2] ?? path.join(import.meta.dirname, 'build'));
const assetsDirectory = path.join(build, 'static');

await rm(build, {recursive: true, force: true});
await cp(app, build, {recursive: true});

const assets = {};
for (const name of (await readdir(assetsDirectory)).sort()) {
  const digest = createHash('sha256').update(await readFile(path.join(assetsDirectory, name)));
  const {name: stem, ext} = path.parse(name);
  assets[name] = `${stem}-${digest.digest('hex').slice(0, 8)}${ext}`;
  await rename(path.join(assetsDirectory, name), path.join(assetsDirectory, assets[name]));
}
await writeFile(path.join(build, 'server/assets.js'), `export const assets = ${JSON.stringify(assets, null, 2)};\n`);

const {render} = await import(pathToFileURL(path.join(build, 'server/page.js')).href);
await writeFile(path.join(assetsDirectory, 'index.html'), render({path: '/', assetsBase: ''}));
console.log(`Built the storefront into ${build}`);
