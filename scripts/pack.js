// `npm run pack [FOLDER]`: packs what is built into the tarball that users install, in FOLDER (default: here). npm warns about
// `prepare` of a tarball, so its package.json has no scripts. That of plain `npm pack` has it, and the file that it runs.
import {execFileSync} from 'node:child_process';
import {cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');
const destination = path.resolve(process.env.INIT_CWD, process.argv[2] ?? '.');

function npmPack(cwd, ...options) {
  const args = [process.env.npm_execpath, 'pack', '--ignore-scripts', '--json', ...options];
  return JSON.parse(execFileSync(process.execPath, args, {cwd, encoding: 'utf8'}))[0];
}

if (!['dist', 'oclif.manifest.json'].every((name) => existsSync(path.join(root, name)))) {
  console.error('There is no build: nothing was packed. Run: npm run build');
  process.exit(1);
}

const staged = mkdtempSync(path.join(tmpdir(), 'mycli-pack-'));
try {
  mkdirSync(destination, {recursive: true});
  const files = npmPack(root, '--dry-run').files.map((file) => file.path);
  for (const file of files.filter((name) => !name.startsWith('scripts/')))
    cpSync(path.join(root, file), path.join(staged, file));
  const {scripts, devDependencies, ...manifest} = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  writeFileSync(path.join(staged, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
  console.log(path.join(destination, npmPack(staged, '--pack-destination', destination).filename));
} finally {
  rmSync(staged, {recursive: true, force: true});
}
