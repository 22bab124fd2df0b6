// `npm run test:nodes`: the tests, on the oldest Node that the package allows and on each newer line that has long-term
// support; and what a Node that is too old is told. Built before, as for the tests.
//   npm run test:nodes -- --node 24 test/cli     only on Node 24, only these tests
//   npm run test:nodes -- --node 24 --config FILE     the tests of another configuration
import {spawnSync} from 'node:child_process';
import {existsSync, readFileSync} from 'node:fs';
import {delimiter, dirname} from 'node:path';
import {parseArgs} from 'node:util';
import {fetchNode} from './fetch-node.js';

const {engines} = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const floor = engines.node.replace('>=', '');

/** Where the package runs: `.0`, for the floor itself is promised, not its latest patch. */
const supported = [`${floor}.0`, '22', '24', '26'];
/** Where it cannot run. 12.0 knows no modules without a flag, 10 none at all. */
const tooOld = ['10.24.1', '12.0.0', '14', '16', '18', '20.18.3'];

const {values, positionals: filters} = parseArgs({
  options: {node: {type: 'string', multiple: true}, config: {type: 'string', default: 'vitest.config.ts'}},
  allowPositionals: true,
});
const root = new URL('..', import.meta.url);
// vitest passes over a filter that matches nothing while another one matches.
const moved = filters.filter((filter) => !existsSync(new URL(filter, root)));
if (moved.length > 0) throw new Error(`There are no tests in ${moved.join(', ')}.`);

/** Runs a script with a Node; that is also the `node` in the PATH of what the script starts. */
function runOn(node, script, options = {}) {
  const env = {...process.env, PATH: [dirname(node), process.env.PATH].join(delimiter)};
  return spawnSync(node, script, {cwd: root, env, ...options});
}

const versionOf = (node) => runOn(node, ['--version'], {encoding: 'utf8'}).stdout.trim().replace(/^v/, '');

function passesTests(node, range) {
  // A report of its own beside that of the gate.
  const reports = ['--reporter=default', '--reporter=json', `--outputFile.json=coverage/node-${range}-tests.json`];
  const script = ['node_modules/vitest/vitest.mjs', 'run', '--config', values.config, ...reports, ...filters];
  return runOn(node, script, {stdio: 'inherit'}).status === 0;
}

function isToldSo(node, version) {
  const {status, stdout, stderr} = runOn(node, ['bin/run.js', '--version'], {encoding: 'utf8'});
  const sentence = `mycli needs Node.js ${floor} or newer; this is ${version}.\n`;
  return status === 3 && stdout === '' && stderr === sentence;
}

const ran = [];
function check(title, passes) {
  const started = Date.now();
  const passed = passes();
  if (!passed) process.exitCode = 1;
  ran.push(`${passed ? '✓' : '✗'} ${title} (${((Date.now() - started) / 1000).toFixed(1)} s)`);
}

for (const range of values.node ?? supported) {
  const node = fetchNode(range);
  const version = versionOf(node);
  console.log(`\n── Node ${version}`);
  check(`the tests on Node ${version}`, () => passesTests(node, range));
}
for (const range of values.node === undefined ? tooOld : []) {
  const node = fetchNode(range);
  const version = versionOf(node);
  check(`one sentence on Node ${version}`, () => isToldSo(node, version));
}
console.log(`\n${ran.join('\n')}`);
