// What `npm test` needs besides Node and the packages, told once and before anything else.
import {spawnSync} from 'node:child_process';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');
/** Programs, and the Debian packages that bring them. `script` is only used on Linux. */
const programs = {
  git: 'git',
  tar: 'tar',
  openssl: 'openssl',
  ...(process.platform === 'linux' && {script: 'bsdutils'}),
};
const missing = Object.keys(programs).filter((name) => spawnSync(name, ['--version']).error?.code === 'ENOENT');

const problems = [
  ...(missing.length > 0
    ? [`The tests need ${missing.join(', ')}: apt-get install ${missing.map((name) => programs[name]).join(' ')}`]
    : []),
  ...(root.includes('#')
    ? [`vite, which runs the tests, takes the # in ${root} for the end of a path: move the clone.`]
    : []),
];
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
