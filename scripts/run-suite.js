// `npm run test:suite NAME...`: suites that need more than Node and this clone; those that need Debian packages install them.
// After the last name come arguments of that suite: `npm run test:suite zoo vite-pnpm`.
import {spawnSync} from 'node:child_process';

const suites = {
  browser: 'bash test/browser/run.sh',
  clients: 'bash test/clients/run.sh',
  examples: 'tsc -p examples',
  mcp: 'bash test/mcp/run.sh',
  'node-22': newerNode(22),
  'node-24': 'jiti scripts/test-nodes.js --node 24 --config test/built/vitest.config.ts',
  'node-26': newerNode(26),
  oci: 'bash test/oci/run.sh',
  'other-runtimes': 'bash test/other-runtimes.sh',
  package: "npm exec --ignore-scripts --call 'publint --strict --pack npm && attw --pack . --profile esm-only'",
  s3: 'bash test/s3/run.sh',
  templates: 'tsc -p templates',
  webdav: 'bash test/webdav/run.sh',
  zoo: 'bash test/frameworks/zoo/run.sh',
  // Not in CI: they look at the tests themselves.
  'broken-backends': 'VITEST_WHOLE_SUITE=1 vitest run test/conformance/backend-conformance.test.ts',
  'suite-mutants': 'stryker run test/mutation/conformance/stryker.config.json',
};

/** What depends most on Node: how it loads modules, and how the binary starts. */
function newerNode(version) {
  const tests = ['test/modules', 'test/cli/command/binary.test.ts', 'test/cli/command/startup.test.ts'];
  return ['jiti scripts/test-nodes.js --node', version, ...tests].join(' ');
}

const args = process.argv.slice(2);
const firstArgument = args.findIndex((arg) => !Object.hasOwn(suites, arg));
const names = firstArgument === -1 ? args : args.slice(0, firstArgument);
if (names.length === 0) {
  console.error(`Name a suite: ${Object.keys(suites).join(', ')}.`);
  process.exitCode = 2;
}
for (const [index, name] of names.entries()) {
  const more = index === names.length - 1 ? args.slice(names.length) : [];
  // A failure does not keep the next one from running.
  const {status} = spawnSync('sh', ['-c', `${suites[name]} "$@"`, name, ...more], {stdio: 'inherit'});
  if (status !== 0) process.exitCode = 1;
}
