// `npm run build`: the types and the modules of dist, then what is generated from it and committed.
import {execFileSync} from 'node:child_process';
import {rmSync} from 'node:fs';

const steps = [
  ['npx', 'tsc', '-p', 'tsconfig.build.json'],
  ['node', 'scripts/bundle.js'],
  ['node', 'scripts/errors-reference.js'],
  ['node', 'scripts/configuration-reference.js'],
  ['npx', 'oclif', 'manifest'],
  ['node', 'scripts/sort-manifest.js'],
  ['node', 'scripts/json-reference.js'],
  ['node', 'scripts/commands-reference.js'],
];

rmSync('dist', {recursive: true, force: true});
for (const [command, ...args] of steps) {
  // npx is a script on Windows, which only a shell starts.
  execFileSync(command, args, {stdio: 'inherit', shell: process.platform === 'win32'});
}
