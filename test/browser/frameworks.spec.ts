import {execFile, spawn, type ChildProcess} from 'node:child_process';
import {once} from 'node:events';
import {mkdir, mkdtemp, readFile, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {createInterface} from 'node:readline';
import {promisify} from 'node:util';
import {chromium, type Browser} from 'playwright-core';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {frameworks} from '../../src/frameworks/frameworks.js';
import {frameworkProjects, type FrameworkProject} from '../frameworks/projects.js';

// Builds real projects, pushes them to both backends of a local runtime and opens them in Chromium. `npm run
// test:browser` takes those two. FRAMEWORKS=all, or a list of IDs, takes others and records what was seen.
const wanted = process.env['FRAMEWORKS'] ?? 'vite,sveltekit-node';
const projects = frameworkProjects.filter(({id}) => wanted === 'all' || wanted.split(',').includes(id));
const seenFile = new URL('../frameworks/seen.json', import.meta.url);

const run = promisify(execFile);
const binary = join(import.meta.dirname, '../../bin/run.js');

let root: string;
/** The newest frameworks need a newer Node than mycli does. */
let node: string;
let runtime: ChildProcess;
let settings: Record<string, string>;
let browser: Browser;

beforeAll(async () => {
  root = process.env['FRAMEWORKS_DIRECTORY'] ?? (await mkdtemp(join(tmpdir(), 'mycli-frameworks-')));
  // npm finds the commands of a project's packages, and those of the folders above it.
  await run('npm', ['install', '--prefix', root, '--no-audit', '--no-fund', 'node@24']);
  node = join(root, 'node_modules/.bin/node');
  const args = ['runtime:start', '--json', '--ssr', '--port', '0', '--apps-port', '0', '--deployment-seconds', '0'];
  // Storefront Next does not start without them.
  const variables = ['shortCode', 'organizationId', 'clientId'].flatMap((name) => [
    '--ssr-env',
    `PUBLIC__app__commerce__api__${name}=local`,
  ]);
  runtime = spawn(node, [binary, ...args, ...variables], {stdio: ['ignore', 'pipe', 'inherit']});
  if (runtime.stdout === null) throw new Error('The runtime has no stdout.');
  const [line] = (await once(createInterface({input: runtime.stdout}), 'line')) as [string];
  const {origin, credentials} = JSON.parse(line) as {origin: string; credentials: Record<string, string>};
  settings = {
    MYCLI_RUNTIME_ORIGIN: origin,
    MYCLI_API_KEY: credentials['apiKey'] ?? '',
    MYCLI_API_ORIGIN: origin,
    MYCLI_ORGANIZATION: credentials['organizationId'] ?? '',
    MYCLI_TOKEN_URL: credentials['tokenUrl'] ?? '',
    MYCLI_CLIENT_ID: credentials['clientId'] ?? '',
    MYCLI_CLIENT_SECRET: credentials['clientSecret'] ?? '',
    XDG_DATA_HOME: join(root, 'data'),
    XDG_CONFIG_HOME: join(root, 'config'),
  };
  browser = await chromium.launch({executablePath: '/usr/bin/chromium', args: ['--no-sandbox']});
});

afterAll(async () => {
  await browser.close();
  runtime.kill();
  await once(runtime, 'exit');
  if (process.env['FRAMEWORKS_DIRECTORY'] === undefined) await rm(root, {recursive: true, force: true});
});

/** Writes the project and builds it, with its packages from the registry. */
async function build({id, commonjs, files, build: script, ...project}: FrameworkProject) {
  const {dependencies, devDependencies, overrides} = project;
  const cwd = join(root, id);
  const type = commonjs === true ? {} : {type: 'module'};
  const manifest = {
    name: id,
    private: true,
    ...type,
    scripts: {build: script},
    dependencies,
    devDependencies,
    overrides,
  };
  for (const [path, text] of Object.entries({...files, 'package.json': JSON.stringify(manifest)})) {
    await mkdir(dirname(join(cwd, path)), {recursive: true});
    await writeFile(join(cwd, path), text);
  }
  const PATH = `${dirname(node)}:${process.env['PATH'] ?? ''}`;
  const env = {
    ...process.env,
    PATH,
    // That of the test runner, for which some frameworks build something else.
    NODE_ENV: undefined,
    CI: '1',
    NG_CLI_ANALYTICS: 'false',
    NEXT_TELEMETRY_DISABLED: '1',
    GATSBY_TELEMETRY_DISABLED: '1',
  };
  await run('npm', ['install', '--no-audit', '--no-fund'], {cwd, env});
  await run('npm', ['run', 'build'], {cwd, env, maxBuffer: 1e8});
  return cwd;
}

async function mycli(cwd: string, ...args: readonly string[]): Promise<Record<string, unknown>> {
  const env = {PATH: process.env['PATH'], HOME: root, ...settings};
  const {stdout} = await run(process.execPath, [binary, ...args, '--json'], {cwd, env, maxBuffer: 1e8});
  return JSON.parse(stdout) as Record<string, unknown>;
}

/** Opens a page, and collects the requests of its origin that were not answered as they should be. */
async function look(url: string, text: string): Promise<readonly string[]> {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    const failed: string[] = [];
    page.on('response', (response) => {
      if (response.status() >= 400 && response.url().startsWith(url)) {
        failed.push(`${String(response.status())} ${response.url()}`);
      }
    });
    page.on('pageerror', (error) => failed.push(error.message));
    await page.goto(url, {waitUntil: 'load'});
    await page.getByText(text).first().waitFor({state: 'visible'});
    await page.waitForLoadState('networkidle');
    return failed;
  } finally {
    await context.close();
  }
}

/** Compares the files of a bundle, as GNU tar unpacks it, with those of the build. */
async function compareDownload(cwd: string, project: string, bundleId: string, buildDirectory: string) {
  const folder = await mkdtemp(join(root, 'download-'));
  const archive = join(folder, 'bundle.tar');
  await mycli(cwd, 'bundle:download', bundleId, '-p', project, '--runtime-backend', 'legacy', '-o', archive);
  await mkdir(join(folder, 'files'));
  await run('tar', ['-xf', archive, '-C', join(folder, 'files')]);
  const unpacked = join(folder, 'files', project, 'bld');
  const {stdout} = await run('diff', ['-r', '-q', buildDirectory, unpacked]);
  return stdout;
}

describe.each(projects)('$id', (project) => {
  const {id, text} = project;
  const row = frameworks.find((framework) => framework.id === id);
  let cwd: string;
  beforeAll(async () => {
    cwd = await build(project);
  });

  test(`${id}: a push to either backend is seen in a browser, with all that it asks for`, async () => {
    for (const backend of ['legacy', 'api']) {
      const pushed = await mycli(cwd, 'push', '-p', id, '-t', backend, '--runtime-backend', backend, '--wait');
      expect(await look(String(pushed['url']), text)).toEqual([]);
      if (backend === 'legacy') {
        const plan = await mycli(cwd, 'build', '--dry-run');
        expect(await compareDownload(cwd, id, String(pushed['bundleId']), String(plan['buildDirectory']))).toBe('');
      }
    }
    if (process.env['FRAMEWORKS'] !== undefined) await record(project, row?.static === true ? 'static' : 'rendered');
  });
});

/** Keeps what was seen, for docs/guides/frameworks.md. */
async function record({id, dependencies, devDependencies}: FrameworkProject, seen: 'static' | 'rendered') {
  const row = frameworks.find((framework) => framework.id === id);
  const packages: Readonly<Record<string, string>> = {...devDependencies, ...dependencies};
  // As the row has it: some packages are known by the end of their name.
  const isOwn = (name: string) =>
    row?.packages.some((own) => (own.startsWith('/') ? name.endsWith(own) : name === own));
  const version = Object.entries(packages).find(([name]) => isOwn(name))?.[1];
  const all = JSON.parse(await readFile(seenFile, 'utf8')) as Record<string, object>;
  all[id] = {version, seen, date: new Date().toISOString().slice(0, 10)};
  const sorted = Object.fromEntries(Object.entries(all).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  await writeFile(seenFile, `${JSON.stringify(sorted, undefined, 2)}\n`);
}
