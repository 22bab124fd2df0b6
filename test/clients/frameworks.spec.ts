import {execFile} from 'node:child_process';
import {symlink} from 'node:fs/promises';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {expect, test} from 'vitest';
import {makeFolder, type Tree} from '../folder.js';
import {binary, runCli} from '../cli/spawn-cli.js';

/** Where run.sh has installed the frameworks. */
const installed = join(process.env['MYCLI_TEST_CLIENTS'] ?? '', 'frameworks/node_modules');

/** Builds a project with what is installed. */
async function build(files: Tree): Promise<string> {
  const project = await makeFolder({'package.json': '{"type": "module"}', ...files});
  await symlink(installed, join(project, 'node_modules'));
  await promisify(execFile)(process.execPath, [join(installed, 'vite/bin/vite.js'), 'build'], {cwd: project});
  return project;
}

/** Pushes a project as docs/guides/frameworks.md says, deploys it, and fetches paths of what is served. */
async function served(
  project: string,
  flags: readonly string[],
  paths: readonly string[],
  runtimeFlags: readonly string[] = [],
) {
  const script = `
    const {spawnSync} = require('node:child_process');
    const push = ${JSON.stringify([binary, 'bundle:push', '--project', 'shop', '--target', 'staging', '--wait', '--json', ...flags])};
    const {status, stdout} = spawnSync(process.execPath, push, {stdio: ['ignore', 'pipe', 2]});
    if (status !== 0) process.exit(status);
    const site = JSON.parse(stdout).url;
    // Not every resolver knows the names below localhost.
    const lookup = (name, options, done) => require('node:dns').lookup('127.0.0.1', options, done);
    const ask = (url) => new Promise((resolve, reject) => {
      require('node:http').get(url, {lookup}, (answer) => {
        require('node:stream/consumers').text(answer).then((text) => resolve([answer.statusCode, text]), reject);
      }).on('error', reject);
    });
    Promise.all(${JSON.stringify(paths)}.map((path) => ask(site + path))).then((answers) => console.log(JSON.stringify(answers)));`;
  const {code, stdout, stderr} = await runCli(
    binary,
    ['runtime:start', ...runtimeFlags, '--', process.execPath, '-e', script],
    {
      cwd: project,
    },
  );
  expect(code, stderr).toBe(0);
  return {answers: JSON.parse(stdout) as readonly (readonly [number, string])[], stderr};
}

test('a static site of Vite is served, its assets too', async () => {
  const project = await build({
    'index.html': '<!doctype html><title>Shop</title><script type="module" src="/main.js"></script>',
    'main.js': 'document.body.append("a shop");',
  });
  const {answers} = await served(project, ['--static', '--build-directory', 'dist'], ['index.html', 'nowhere']);
  expect(answers).toEqual([
    [200, expect.stringContaining('<title>Shop</title>')],
    [404, expect.any(String)],
  ]);
  const [asset] = /assets\/[\w-]+\.js/.exec(answers[0]?.[1] ?? '') ?? [];
  const again = await served(project, ['--static', '--build-directory', 'dist'], [String(asset)]);
  expect(again.answers).toEqual([[200, expect.stringContaining('a shop')]]);
});

test('a server of SvelteKit stays on the server or runs there, its client is served', async () => {
  const project = await build({
    'vite.config.js': 'import {sveltekit} from "@sveltejs/kit/vite"; export default {plugins: [sveltekit()]};',
    'svelte.config.js': 'import adapter from "@sveltejs/adapter-node"; export default {kit: {adapter: adapter()}};',
    'src/app.html': '<!doctype html><head>%sveltekit.head%</head><body>%sveltekit.body%</body>',
    'src/routes/+page.svelte': '<h1>shop</h1>',
    'static/robots.txt': 'User-agent: *',
  });
  const flags = ['--ssr-only', '*.js,*.js.map,server/**', '--ssr-shared', 'client/**'];
  const {answers, stderr} = await served(project, flags, ['client/robots.txt', 'index.js', 'server/index.js']);
  expect(answers.map(([status]) => status)).toEqual([200, 404, 404]);
  expect(stderr).not.toContain('Warning');
  const running = await served(project, flags, ['client/robots.txt', '', 'nowhere'], ['--ssr']);
  expect(running.answers).toEqual([
    [200, 'User-agent: *'],
    [200, expect.stringContaining('<h1>shop</h1>')],
    [404, expect.any(String)],
  ]);
});
