// npm run demo: builds a copy of the example storefront, starts a local hosting service that refuses the first upload with a
// 429, pushes the storefront over both backends with the real binary, waits, and fetches a page of what was deployed.
import {execFile, execFileSync, spawn} from 'node:child_process';
import {once} from 'node:events';
import {cp, mkdtemp, readFile, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {createInterface} from 'node:readline';
import {promisify} from 'node:util';
import {stateOfDist} from './state-of-dist.js';

const root = path.resolve(import.meta.dirname, '..');
const scratch = await mkdtemp(path.join(tmpdir(), 'mycli-demo-'));
// A copy is the user's own wherever the clone is, and has no configuration above it.
const storefront = path.join(scratch, 'storefront');
const config = path.join(scratch, 'mycli.config.json');
const binary = path.join(root, 'bin/run.js');

const pushes = [
  {title: 'legacy backend, v1 bundle', target: 'classic', flags: ['--runtime-backend', 'legacy']},
  {title: 'legacy backend, v2 bundle', target: 'modern', flags: ['--runtime-backend', 'legacy', '--v2']},
  {title: 'Api backend, v2 bundle', target: 'staging', flags: ['--runtime-backend', 'api']},
];

/** Of the environment, what is not about mycli, or in the way to this machine. */
const own = Object.entries(process.env).filter(([name]) => !/^MYCLI_|^(?:all|https?)_proxy$/i.test(name));
const surroundings = {...Object.fromEntries(own), MYCLI_SKIP_PLUGINS: '1', XDG_DATA_HOME: scratch};

/** Starts the local runtime and waits for the line that says where it is. */
async function startRuntime(dataDirectory) {
  const args = ['runtime:start', '--json', '--port', '0', '--data', dataDirectory, '--config', config];
  const fault = ['--fault', '429x1:route=upload,retry-after=1'];
  const child = spawn(process.execPath, [binary, ...args, ...fault], {
    env: surroundings,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const line = await Promise.race([once(createInterface({input: child.stdout}), 'line'), ended.then(() => undefined)]);
  if (line === undefined) throw new Error('runtime:start ended before it was ready');
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  return {...JSON.parse(line[0]), stop};
}

/** Secrets go by the environment, never by the command line, where others can see them. */
function settings({origin, credentials}) {
  return {
    MYCLI_RUNTIME_ORIGIN: origin,
    MYCLI_API_KEY: credentials.apiKey,
    MYCLI_API_ORIGIN: origin,
    MYCLI_ORGANIZATION: credentials.organizationId,
    MYCLI_TOKEN_URL: credentials.tokenUrl,
    MYCLI_CLIENT_ID: credentials.clientId,
    MYCLI_CLIENT_SECRET: credentials.clientSecret,
  };
}

async function push({target, flags}, env) {
  const args = ['bundle:push', '-C', storefront, '--config', config, '-p', 'shop', '-t', target, '--wait', '--json'];
  const {stdout, stderr} = await promisify(execFile)(process.execPath, [binary, ...args, ...flags], {
    env: {...env, MYCLI_POLL_INTERVAL: '1'},
  });
  return {result: JSON.parse(stdout), stderr};
}

function expectThat(condition, complaint) {
  if (!condition) throw new Error(complaint);
}

let runtime;
try {
  // Where npm runs no scripts, neither does `prepare`.
  const problem = stateOfDist(root);
  if (problem !== undefined) {
    console.log(`${problem}: running npm run build.`);
    execFileSync(process.execPath, ['scripts/build.js'], {cwd: root, stdio: ['ignore', 'ignore', 'inherit']});
  }
  await cp(path.join(root, 'examples/storefront'), storefront, {recursive: true});
  await writeFile(config, '{}\n');
  await promisify(execFile)(process.execPath, [path.join(storefront, 'build.mjs')]);
  const firstPage = await readFile(path.join(storefront, 'build/static/index.html'), 'utf8');
  console.log('Built examples/storefront.');

  runtime = await startRuntime(path.join(scratch, 'runtime'));
  console.log(`Started a local runtime at ${runtime.origin}. It refuses the first upload with 429.`);
  const env = {...surroundings, ...settings(runtime)};

  let refused = 0;
  for (const {title, target, flags} of pushes) {
    const {result, stderr} = await push({target, flags}, env);
    expectThat(result.deployed && result.status === 'finished', `${title}: the deployment ended as ${result.status}`);
    const retries = stderr.match(/429/g)?.length ?? 0;
    refused += retries;

    const page = `${runtime.appsOrigin}/shop/${target}/static/index.html`;
    const answer = await fetch(page);
    expectThat(answer.status === 200, `${page} answered ${answer.status}`);
    expectThat((await answer.text()) === firstPage, `${page} is not the page that was built`);
    const hidden = await fetch(`${runtime.appsOrigin}/shop/${target}/ssr.js`);
    expectThat(hidden.status === 404, `ssr.js is for the server only, and was answered with ${hidden.status}`);

    const {bundleId, archive} = result;
    console.log(`${title}: pushed ${archive.files} files as bundle ${bundleId} (${archive.size} bytes).`);
    if (retries > 0) console.log('  Refused with 429, it waited as long as the server asked for and sent it again.');
    console.log(`  ${target}: ${result.url} serves what was built.`);
  }
  expectThat(refused > 0, 'No push met the 429 that the runtime was told to answer');
  console.log('The runtime is stopped. To keep one up, run: node bin/run.js runtime:start');
} catch (error) {
  console.error(`\nThe demo failed: ${error.message}\n${error.stdout ?? ''}${error.stderr ?? ''}`);
  process.exitCode = 1;
} finally {
  await runtime?.stop();
  await rm(scratch, {recursive: true, force: true});
}
