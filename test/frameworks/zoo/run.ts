// Makes real projects, pushes them to a local runtime and looks at what it serves: the rows are in projects.ts. What
// was seen is kept in seen.json, of which the table in docs/guides/frameworks.md is made.
//
//   npm run test:suite zoo ROW... these, or `all`
//   --as-seen                of all, those seen before, with the packages of that time; keeps nothing
//   ZOO_DIRECTORY=DIR        keeps the projects there, with their packages
//
// Packages are those published until three days before: mirrors of the registry are late, and `--as-seen` would find
// newer ones.
import {deepEqual, rejects} from 'node:assert/strict';
import {execFile, spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdir, mkdtemp, readFile, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {delimiter, dirname, join} from 'node:path';
import {createInterface} from 'node:readline';
import {promisify} from 'node:util';
import {chromium, type Browser} from 'playwright-core';
import {frameworks} from '../../../src/frameworks/frameworks.js';
import {fetchNode} from '../../../scripts/fetch-node.js';
import {zooProjects, type Manifest, type ZooProject} from './projects.js';
import {crawl, look} from './site.js';

const run = promisify(execFile);
const binary = join(import.meta.dirname, '../../../bin/run.js');
const seenFile = join(import.meta.dirname, 'seen.json');
const mirrorsLagMs = 3 * 86_400_000;
/** In the `.env` of each project: no build may publish it. */
const secret = 'zoo-secret-4f1d';

const asSeen = process.argv.includes('--as-seen');
const wanted = process.argv.slice(2).filter((argument) => argument !== '--as-seen');
const seenBefore = await readSeen();
const projects = zooProjects.filter(
  ({id}) => wanted.includes(id) || (wanted.includes('all') && (!asSeen || id in seenBefore)),
);
const unknown = wanted.filter((id) => id !== 'all' && projects.every((project) => project.id !== id));
if (projects.length === 0 || unknown.length > 0) {
  throw new Error(`Pass rows: all, ${zooProjects.map(({id}) => id).join(', ')}`);
}

const kept = process.env['ZOO_DIRECTORY'];
const root = kept ?? (await mkdtemp(join(tmpdir(), 'mycli-zoo-')));
const tools = join(root, '.tools');
const environment = {
  ...process.env,
  // The newest frameworks need a newer Node than mycli does.
  PATH: [dirname(fetchNode('24')), `${tools}/node_modules/.bin`, process.env['PATH']].join(delimiter),
  // Nobody answers a question, and nobody is told what is built here.
  CI: '1',
  npm_config_yes: 'true',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
  DO_NOT_TRACK: '1',
  ASTRO_TELEMETRY_DISABLED: '1',
  GATSBY_TELEMETRY_DISABLED: '1',
  NEXT_TELEMETRY_DISABLED: '1',
  NG_CLI_ANALYTICS: 'false',
  NUXT_TELEMETRY_DISABLED: '1',
  STORYBOOK_DISABLE_TELEMETRY: '1',
};

await run('npm', ['install', '--prefix', tools, 'pnpm@10'], {env: environment});
const runtime = await startRuntime();
const browser = await chromium.launch({executablePath: '/usr/bin/chromium', args: ['--no-sandbox']});
const results: {readonly fullName: string; readonly status: 'passed' | 'failed'; readonly failureMessages: string[]}[] =
  [];
for (const project of projects) {
  const fullName = project.id;
  const started = Date.now();
  const seconds = () => `${String(Math.round((Date.now() - started) / 1000))} s`;
  try {
    await tryProject(project, browser);
    results.push({fullName, status: 'passed', failureMessages: []});
    console.log(`✓ ${fullName} (${seconds()})`);
  } catch (error) {
    results.push({fullName, status: 'failed', failureMessages: [String(error)]});
    const {stdout = '', stderr = ''} = error as {readonly stdout?: string; readonly stderr?: string};
    const ends = [stdout, stderr, runtime.takeLog()].map((text) => text.slice(-3000));
    console.log([`✗ ${fullName} (${seconds()}): ${String(error)}`, ...ends].join('\n'));
  }
  runtime.takeLog();
}
await browser.close();
await runtime.close();
if (kept === undefined) await rm(root, {recursive: true, force: true});

// For scripts/test-totals.js, as vitest reports.
const numFailedTests = results.filter(({status}) => status === 'failed').length;
const numPassedTests = results.length - numFailedTests;
const testResults = [{name: 'zoo', message: '', assertionResults: results}];
const report = {numPassedTests, numFailedTests, numPendingTests: 0, numTodoTests: 0, testResults};
await mkdir('coverage', {recursive: true});
await writeFile('coverage/zoo-tests.json', JSON.stringify(report));
process.exitCode = numFailedTests === 0 ? 0 : 1;

async function startRuntime() {
  const args = ['runtime:start', '--json', '--ssr', '--port', '0', '--apps-port', '0', '--deployment-seconds', '0'];
  // Storefront Next does not start without them.
  const variables = ['shortCode', 'organizationId', 'clientId'].flatMap((name) => [
    '--ssr-env',
    `PUBLIC__app__commerce__api__${name}=local`,
  ]);
  const child = spawn('node', [binary, ...args, ...variables], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: environment,
  });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text));
  const [line] = (await once(createInterface({input: child.stdout}), 'line')) as [string];
  const {origin, credentials} = JSON.parse(line) as {origin: string; credentials: Readonly<Record<string, string>>};
  const settings = {
    MYCLI_RUNTIME_ORIGIN: origin,
    MYCLI_API_KEY: credentials['apiKey'],
    MYCLI_API_ORIGIN: origin,
    MYCLI_ORGANIZATION: credentials['organizationId'],
    MYCLI_TOKEN_URL: credentials['tokenUrl'],
    MYCLI_CLIENT_ID: credentials['clientId'],
    MYCLI_CLIENT_SECRET: credentials['clientSecret'],
    PATH: environment.PATH,
    HOME: root,
  };
  const close = async () => {
    child.kill();
    await once(child, 'exit');
  };
  /** What it said since the last call. */
  const takeLog = () => {
    const said = log;
    log = '';
    return said;
  };
  return {settings, takeLog, close};
}

interface Plan {
  readonly buildDirectory: string;
  readonly files: readonly {readonly path: string; readonly category: string}[];
  readonly warnings?: readonly string[];
}

interface Pushed {
  readonly bundleId: string;
  readonly url: string;
}

async function tryProject(project: ZooProject, chrome: Browser): Promise<void> {
  const {id, framework, name = id, manager = 'npm', folder = 'app', warnings = [], refusal} = project;
  const pushed = project.pushes === undefined ? [] : [project.pushes];
  const row = frameworks.find((found) => found.id === framework) ?? {
    name,
    packages: project.packages ?? [],
    static: true,
  };
  const home = join(root, id);
  const cwd = join(home, folder);
  const seen = asSeen ? seenBefore[id] : undefined;
  const date = seen?.date ?? new Date(Date.now() - mirrorsLagMs).toISOString();
  const shell = (command: string, directory = cwd) =>
    run('bash', ['-ec', command], {cwd: directory, env: {...environment, ...packagesOf(date)}, maxBuffer: 1e8});
  const mycli = async <T>(...args: readonly string[]): Promise<T> => {
    const {stdout} = await run('node', [binary, ...args, '--json'], {cwd, env: runtime.settings, maxBuffer: 1e9});
    return JSON.parse(stdout) as T;
  };
  const plan = (...args: readonly string[]) => mycli<Plan>('push', ...pushed, '--dry-run', ...args);
  const told = (planned: Plan) => ({
    folder: planned.buildDirectory,
    isStatic: planned.files.every(({category}) => category !== 'ssrOnly'),
    warnings: planned.warnings ?? [],
  });

  await rm(home, {recursive: true, force: true});
  await mkdir(home, {recursive: true});
  if (project.create !== undefined) await shell(project.create, home);
  await writeProject(project, cwd);
  await shell(`${manager} install`, join(home, 'app'));
  await shell(`${manager} run build`);
  if (refusal !== undefined) {
    await rejects(plan('-p', id), ({stdout}: {readonly stdout: string}) => {
      const {error} = JSON.parse(stdout) as {readonly error: {readonly message: string}};
      return refusal.test(error.message);
    });
    await record(project, await versionOf(row.packages, cwd), date);
    return;
  }
  const before = await plan('-p', id);
  await mycli('init', '--yes', '-p', id, '-t', 'live');
  await shell(`${manager} run build`);
  for (const check of project.checks ?? []) await shell(check);
  const after = await plan();
  deepEqual(told(after), told(before), 'after init, a push does what it did before');
  deepEqual({warnings: after.warnings ?? [], isStatic: told(after).isStatic}, {warnings, isStatic: row.static});

  const {url, bundleId} = await mycli<Pushed>('push', ...pushed, '--wait', '--runtime-backend', 'legacy');
  const files = after.files.map(({path}) => path);
  const site = {url, build: after.buildDirectory, project};
  deepEqual(await crawl(site, files, secret), [], 'what a crawl of every file found');
  deepEqual(await look(chrome, site), [], 'what Chromium found');
  const second = await mycli<Pushed>('push', ...pushed, '--wait', '--runtime-backend', 'api', '-t', 'api');
  deepEqual(await look(chrome, {...site, url: second.url}), [], 'what Chromium found after a push to the API');

  await mycli('bundle:download', bundleId, '--runtime-backend', 'legacy', '-o', join(home, 'bundle.tar'));
  await shell(`mkdir ../unpacked && tar -xf ../bundle.tar -C ../unpacked --strip-components 2`, join(home, 'app'));
  await run('diff', ['-r', '-q', after.buildDirectory, join(home, 'unpacked')]);

  const installed = await versionOf(project.packages ?? row.packages, cwd);
  if (seen !== undefined) deepEqual(installed, seen.version, `the version of ${row.name}`);
  else await record(project, installed, date);
  if (kept === undefined) await rm(home, {recursive: true, force: true});
}

async function writeProject({files, edits = {}, manifest = {}}: ZooProject, cwd: string): Promise<void> {
  for (const [path, text] of Object.entries({...files, '.env': `ZOO_SECRET=${secret}\n`})) {
    await mkdir(dirname(join(cwd, path)), {recursive: true});
    await writeFile(join(cwd, path), text);
  }
  for (const [path, [from, to]] of Object.entries(edits)) {
    const text = await readFile(join(cwd, path), 'utf8');
    if (!text.includes(from)) throw new Error(`${path} doesn't contain ${from}`);
    await writeFile(
      join(cwd, path),
      text.replace(from, () => to),
    );
  }
  const made = await manifestOf(cwd);
  const merged = {
    private: true,
    ...made,
    ...manifest,
    scripts: {...made.scripts, ...manifest.scripts},
    dependencies: {...made.dependencies, ...manifest.dependencies},
    devDependencies: {...made.devDependencies, ...manifest.devDependencies},
  };
  await writeFile(join(cwd, 'package.json'), JSON.stringify(merged, undefined, 2));
}

async function manifestOf(cwd: string): Promise<Manifest> {
  const text = await readFile(join(cwd, 'package.json'), 'utf8').catch(() => '{}');
  return JSON.parse(text) as Manifest;
}

/** The installed version of the first of a row's packages that the project has. */
async function versionOf(packages: readonly string[], cwd: string): Promise<string> {
  const {dependencies, devDependencies} = await manifestOf(cwd);
  const names = Object.keys({...dependencies, ...devDependencies});
  // As the row has it: some packages are known by the end of their name.
  const name = names.find((found) => packages.some((own) => own === found || `/${found}`.endsWith(own)));
  for (let folder = cwd; folder !== dirname(folder); folder = dirname(folder)) {
    const path = join(folder, 'node_modules', name ?? '', 'package.json');
    const text = await readFile(path, 'utf8').catch(() => undefined);
    if (text !== undefined) return (JSON.parse(text) as {version: string}).version;
  }
  throw new Error(`None of ${packages.join(', ')} is installed.`);
}

type Seen = Record<
  string,
  {
    framework?: string | undefined;
    name?: string | undefined;
    variant?: string | undefined;
    does?: string | undefined;
    added?: string | undefined;
    version: string;
    date: string;
  }
>;

async function readSeen(): Promise<Seen> {
  return JSON.parse(await readFile(seenFile, 'utf8')) as Seen;
}

async function record(
  {id, framework, name, variant, does, added}: ZooProject,
  version: string,
  date: string,
): Promise<void> {
  const seen = await readSeen();
  seen[id] = {framework, name, variant, does, added, version, date};
  const sorted = Object.fromEntries(Object.entries(seen).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  await writeFile(seenFile, `${JSON.stringify(sorted, undefined, 2)}\n`);
}

/** What makes the package managers install what they would have at that time. */
function packagesOf(date: string): Readonly<Record<string, string>> {
  const minutes = Math.ceil((Date.now() - Date.parse(date)) / 60_000);
  return {npm_config_before: date, npm_config_minimum_release_age: String(minutes)};
}
