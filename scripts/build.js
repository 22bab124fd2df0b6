// `npm run build`: the types, the modules and the schemas of dist, and the manifest of the commands.
// `npm run docs:generate` writes docs from them.
import {execFileSync} from 'node:child_process';
import {readdirSync, readFileSync, rmSync} from 'node:fs';
import {dirname, join} from 'node:path';

const {exports} = JSON.parse(readFileSync('package.json', 'utf8'));

rmSync('dist', {recursive: true, force: true});
// `npm run types` checks them.
run('npx', 'tsc', '-p', 'tsconfig.build.json', '--noCheck');
removeUnreachableTypes();
run('node', 'scripts/bundle.js');
run('npx', 'oclif', 'manifest');
run('node', 'scripts/sort-manifest.js');
run('npx', 'jiti', 'scripts/openapi.ts');
run('node', 'scripts/schemas.js');

function run(command, ...args) {
  // npx is a script on Windows, which only a shell starts.
  execFileSync(command, args, {stdio: 'inherit', shell: process.platform === 'win32'});
}

/**
 * Keeps the declarations that an entry of the package leads to, and the types of `--json`, of which schemas are made.
 */
function removeUnreachableTypes() {
  const reached = new Set();
  const follow = (file) => {
    if (reached.has(file)) return;
    reached.add(file);
    const imports = readFileSync(file, 'utf8').matchAll(/(?:from|import\(?) ?['"](\.[^'"]+)\.js['"]/g);
    for (const [, path] of imports) follow(join(dirname(file), `${path}.d.ts`));
  };
  const published = Object.values(exports).flatMap(({types}) => types ?? []);
  for (const types of [...published, 'dist/cli/output/documents.d.ts']) follow(join(types));
  for (const name of readdirSync('dist', {recursive: true})) {
    const file = join('dist', name);
    if (file.endsWith('.d.ts') && !reached.has(file)) rmSync(file);
  }
}
