// `npm test`: every check of the project in order, stopping at the first that fails.
import {spawnSync} from 'node:child_process';

const steps = [
  ['format', 'npm', 'run', 'format:check'],
  ['lint', 'npm', 'run', 'lint'],
  ['types', 'npm', 'run', 'types'],
  ['layers', 'npm', 'run', 'layers'],
  ['knip', 'npm', 'run', 'knip'],
  ['build', 'npm', 'run', 'build'],
  // Against the declarations that were built, as its author sees them.
  ['example plugin', 'npx', 'tsc', '-p', 'examples/mycli-plugin-directory', '--noEmit'],
  ['tests', 'npm', 'run', 'test:coverage'],
  ['published package', 'npm', 'run', 'test:published'],
  ['dependencies', 'npm', 'run', 'docs:dependencies'],
  ['drift', 'node', 'scripts/drift.js'],
  ['reference', 'npm', 'run', 'docs:check'],
];

// Packing runs `prepare`, which would build once more; the step before has just built.
const env = {...process.env, npm_config_ignore_scripts: 'true'};

const ran = [];
let failed = false;
for (const [name, command, ...args] of steps) {
  console.log(`\n── ${name}`);
  const started = Date.now();
  // npm is a script on Windows, which only a shell starts.
  const {status} = spawnSync(command, args, {stdio: 'inherit', env, shell: process.platform === 'win32'});
  failed = status !== 0;
  ran.push(`${failed ? '✗' : '✓'} ${name} (${((Date.now() - started) / 1000).toFixed(1)} s)`);
  if (failed) break;
}

const left = steps.length - ran.length;
console.log(`\n${ran.join('\n')}${left > 0 ? `\n  ${left} not run` : ''}`);
process.exitCode = failed ? 1 : 0;
