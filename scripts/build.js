// `npm run build`: the types and the modules of dist, and the manifest of the commands. `npm run docs:generate` writes docs from
// them.
import {execFileSync} from 'node:child_process';
import {rmSync} from 'node:fs';

const steps = [
  ['npx', 'tsc', '-p', 'tsconfig.build.json'],
  ['node', 'scripts/bundle.js'],
  ['npx', 'oclif', 'manifest'],
  ['node', 'scripts/sort-manifest.js'],
];

rmSync('dist', {recursive: true, force: true});
for (const [command, ...args] of steps) {
  // npx is a script on Windows, which only a shell starts.
  execFileSync(command, args, {stdio: 'inherit', shell: process.platform === 'win32'});
}
