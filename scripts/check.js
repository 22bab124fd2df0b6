// `npm test`: every check of the project, two at a time. What each says is printed in the order of this list, the end
// of what failed once more before the summary. After the first that fails, nothing more is started. `--ci`: also what
// needs other Nodes, published clients, a browser, an S3 or a WebDAV server, three at a time.
import {spawn} from 'node:child_process';

/** `after`: what has to have passed before, because it writes what this one reads. */
const checks = [
  {name: 'build', command: 'npm run build'},
  {name: 'docs', command: 'npm run docs:generate', after: ['build']},
  {name: 'dependencies', command: 'npm run docs:dependencies', after: ['build']},
  // The longest part, so it begins first.
  {name: 'tests', command: 'npm run test:coverage', after: ['build', 'docs', 'dependencies']},
  // With the declarations that were built: the examples see the package as their authors do.
  {name: 'lint', command: 'npm run lint', after: ['build']},
  {name: 'format', command: 'npm run format:check'},
  {name: 'knip', command: 'npm run knip'},
  {name: 'layers', command: 'npm run layers'},
  {name: 'types', command: 'npm run types', after: ['build']},
  {name: 'examples', command: 'npx tsc -p examples', after: ['build']},
  {name: 'templates', command: 'npx tsc -p templates', after: ['build']},
  {name: 'reference', command: 'npm run docs:check'},
  {name: 'published package', command: 'npm run test:published', after: ['build']},
  {name: 'drift', command: 'node scripts/drift.js', after: 'all above'},
];

/** What can tell one Node from another: archives, HTTP, loading what users wrote, start and end of a process. */
const differing = {
  22: ['test/modules', 'test/cli/process/binary.test.ts', 'test/cli/process/startup.test.ts'],
  24: [
    'test/modules',
    ...['abort', 'auth', 'bodies', 'failures', 'probe', 'proxy', 'uploads'].map((name) => `test/http/${name}.test.ts`),
    ...['gzip', 'write-tar'].map((name) => `test/bundle/archive/${name}.test.ts`),
    ...['binary', 'signals', 'startup'].map((name) => `test/cli/process/${name}.test.ts`),
  ],
};
// Beside the tests, for the first two mostly wait. Not before lint and knip are over: the S3 server's adds packages to
// its example.
const after = checks.filter(({name}) => name !== 'tests' && name !== 'drift').map(({name}) => name);
const ciChecks = [
  {name: 'S3 server', command: 'npm run test:s3', after},
  {name: 'WebDAV server', command: 'npm run test:webdav', after},
  {name: 'browser', command: 'npm run test:browser', after},
  {name: 'published clients', command: 'npm run test:clients', after},
  ...Object.entries(differing).map(([version, tests]) => ({
    name: `Node ${version}`,
    command: `npm run test:nodes -- --node ${version} ${tests.join(' ')}`,
    after,
  })),
];

const steps = [...checks, ...(process.argv.includes('--ci') ? ciChecks : [])].map((step) => ({
  ...step,
  state: 'waiting',
  output: [],
  lastLines: '',
  seconds: 0,
}));
// A third lane with what mostly waits, for servers and for npm.
const lanes = process.argv.includes('--ci') ? 3 : 2;

// Packing runs `prepare`, which would build once more.
const env = {...process.env, npm_config_ignore_scripts: 'true'};
if (process.stdout.isTTY) env.FORCE_COLOR ??= '1';

const inState = (...states) => steps.filter(({state}) => states.includes(state));

function isReady({after = []}, index) {
  const needed = after === 'all above' ? steps.slice(0, index) : steps.filter(({name}) => after.includes(name));
  return needed.every(({state}) => state === 'passed');
}

function startNext() {
  const ready = inState('failed').length > 0 ? [] : steps.filter((step, index) => isReady(step, index));
  const free = lanes - inState('running').length;
  for (const step of ready.filter(({state}) => state === 'waiting').slice(0, free)) start(step);
  print();
  if (inState('running').length === 0) summarise();
}

function start(step) {
  const started = Date.now();
  step.state = 'running';
  // npm is a script on Windows, which only a shell starts.
  const child = spawn(step.command, {stdio: ['ignore', 'pipe', 'pipe'], env, shell: true});
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      step.output.push(chunk);
      step.lastLines = (step.lastLines + String(chunk)).split('\n').slice(-80).join('\n');
      print();
    });
  }
  child.once('close', (code) => {
    step.state = code === 0 ? 'passed' : 'failed';
    step.seconds = (Date.now() - started) / 1000;
    startNext();
  });
}

/** Prints what was said, as far as the order allows: of the first step that has not ended, as it comes. */
function print() {
  const isOver = inState('running').length === 0;
  for (const step of steps) {
    if (step.state === 'waiting' && !isOver) return;
    if (step.state === 'waiting') continue;
    if (!step.isTitled) console.log(`\n── ${step.name}`);
    step.isTitled = true;
    for (const chunk of step.output.splice(0)) process.stdout.write(chunk);
    if (step.state === 'running') return;
  }
}

function summarise() {
  const ended = inState('passed', 'failed');
  const lines = ended.map(
    ({name, state, seconds}) => `${state === 'passed' ? '✓' : '✗'} ${name} (${seconds.toFixed(1)} s)`,
  );
  for (const {name, lastLines} of inState('failed')) console.log(`\n── ${name} failed\n${lastLines}`);
  const left = steps.length - ended.length;
  console.log(`\n${lines.join('\n')}${left > 0 ? `\n  ${left} not run` : ''}`);
  process.exitCode = ended.length === inState('passed').length ? 0 : 1;
}

startNext();
