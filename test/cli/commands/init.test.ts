import {spawn, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {readdir, readFile, rm} from 'node:fs/promises';
import {join} from 'node:path';
import {stripVTControlCharacters} from 'node:util';
import {beforeEach, describe, expect, test} from 'vitest';
import type {LocalRuntime} from '../../../src/testing.js';
import {binary} from '../spawn-cli.js';
import {runWarm} from '../warm-cli.js';
import {makeFolder, writeTree} from '../../folder.js';
import {startRuntime} from '../../local-runtime/with-runtime.js';

const canary = 'canary-api-key-77ab';
const hasScript = spawnSync('script', ['--version'], {encoding: 'utf8'}).stdout.includes('util-linux');

let root: string;
let project: string;
let runtime: LocalRuntime;
beforeEach(async () => {
  root = await makeFolder();
  project = join(root, 'project');
  await write({'package.json': '{"devDependencies": {"vite": "7"}}', 'dist/index.html': '<p>Hi</p>'});
  ({runtime} = await startRuntime({credentials: {apiKey: canary, clientSecret: canary}}));
});
async function write(files: Readonly<Record<string, string>>): Promise<void> {
  await writeTree(project, files);
}

async function mycli(args: readonly string[], options: {env?: Record<string, string>; stdin?: string} = {}) {
  const env = {HOME: root, XDG_CONFIG_HOME: join(root, 'config'), ...options.env};
  const ended = await runWarm(args, {cwd: project, ...options, env});
  expect(ended.stdout + ended.stderr).not.toContain(canary);
  return ended;
}

const config = () => readFile(join(project, 'mycli.config.ts'), 'utf8');

describe('init without a terminal', () => {
  test('writes a typed configuration, stores the credentials, and a push needs nothing more', async () => {
    await write({'key.txt': canary});
    const args = ['init', '--yes', '-p', 'shop', '-t', 'staging', '--origin', runtime.origin, '--api-key', '@key.txt'];
    const {code, stdout, stderr} = await mycli(args);
    expect(stderr).toBe(`Detected Vite: a static site in dist.\norigin  ${runtime.origin}  (--origin)\n`);
    expect(code).toBe(0);
    expect(stdout).toMatch(/Wrote mycli\.config\.ts\.\nNext:\n {2}mycli push --wait\n$/);
    expect(await config()).toBe(
      [
        "import {defineConfig} from 'mycli';",
        '',
        'export default defineConfig({',
        "  projectSlug: 'shop',",
        "  targetSlug: 'staging',",
        "  runtimeBackend: 'legacy',",
        `  origin: '${runtime.origin}',`,
        "  buildDirectory: 'dist',",
        '  static: true,',
        '});',
        '',
      ].join('\n'),
    );
    const pushed = await mycli(['bundle:push', '--json']);
    expect(JSON.parse(pushed.stdout)).toMatchObject({bundleId: 1, projectSlug: 'shop', deployed: true});
  });

  test.each([
    ['{"compilerOptions": {"rootDir": "./src", "strict": true}}', 'mycli.config.mjs'],
    ['{"include": ["**/*.ts", "**/*.tsx"], "compilerOptions": {"allowJs": true}}', 'mycli.config.mjs'],
    ['{"compilerOptions": {"allowJs": true, "checkJs": true}}', 'mycli.config.json'],
    ['{"files": [], "references": [{"path": "./tsconfig.app.json"}]}', 'mycli.config.ts'],
    ['{"include": ["src"]}', 'mycli.config.ts'],
    ['{"extends": "./missing.json"}', 'mycli.config.json'],
  ])('init: with the tsconfig %s, what it writes is no part of the program: %s', async (tsconfig, name) => {
    const app = '{"include": ["src"], "compilerOptions": {"composite": true}}';
    await write({'src/a.ts': 'export const a = 1;', 'tsconfig.json': tsconfig, 'tsconfig.app.json': app});
    expect(await mycli(['init', '-y', '-p', 'shop', '--origin', runtime.origin])).toMatchObject({code: 0});
    expect(await readdir(project)).toContain(name);
    const plan = await mycli(['build', '--dry-run', '--json']);
    expect(JSON.parse(plan.stdout)).toMatchObject({files: [{path: 'index.html', category: 'shared'}]});
    if (tsconfig.includes('missing')) return;
    const tsc = join(import.meta.dirname, '../../../node_modules/.bin/tsc');
    const checked = spawnSync(process.execPath, [tsc, '--noEmit', '--types', ''], {cwd: project, encoding: 'utf8'});
    expect([checked.status, checked.stdout]).toEqual([0, '']);
    // Replaced under its own name.
    expect(await mycli(['init', '-y', '--force', '-p', 'other', '--origin', runtime.origin])).toMatchObject({code: 0});
    expect((await readdir(project)).filter((file) => file.startsWith('mycli.config'))).toEqual([name]);
  });

  test('init: before the build, it writes only what is known, and a push finds the build wherever it is', async () => {
    await rm(join(project, 'dist'), {recursive: true});
    const {stderr} = await mycli(['init', '-y', '-p', 'shop', '--origin', runtime.origin]);
    expect(stderr).toContain('Detected Vite, which builds into dist.');
    expect(await config()).not.toMatch(/buildDirectory|static/);
    await write({'www/index.html': ''});
    expect(JSON.parse((await mycli(['build', '--dry-run', '--json'])).stdout)).toMatchObject({
      buildDirectory: join(project, 'www'),
      files: [{category: 'shared'}],
    });
  });

  test.each([
    ['Übung', 'ubung'],
    ['Straße & Łódź', 'strasse-lodz'],
    ['@acme/Ærø Shop', 'aero-shop'],
  ])('init: the project of a package %s is called %s', async (name, slug) => {
    await write({'package.json': JSON.stringify({name})});
    const {stdout} = await mycli(['init', '-y', '--origin', runtime.origin, '--json']);
    expect(JSON.parse(stdout)).toMatchObject({config: {projectSlug: slug}});
  });

  test('sets up Api, with the client in the configuration and its secret elsewhere', async () => {
    const {organizationId, clientId, tokenUrl} = runtime.credentials;
    const client = ['--organization', organizationId, '--client-id', clientId, '--token-url', tokenUrl];
    const args = ['init', '-p', 'shop', '--api-origin', runtime.origin, ...client, '--client-secret', '-'];
    expect(await mycli(args, {stdin: canary})).toMatchObject({code: 0});
    expect(await config()).toContain(`  api: {\n    origin: '${runtime.origin}',\n    organizationId: `);
    expect(JSON.parse((await mycli(['bundle:push', '--json'])).stdout)).toMatchObject({backend: 'api'});
  });

  test.each([
    ['api', 3, 'requires a target slug of at most 19 lowercase letters, digits and inner hyphens, not "Prod".'],
    ['legacy', 0, ''],
  ])('init: refuses a slug that the backend %s does not take, and writes nothing', async (backend, exit, message) => {
    const {origin, credentials} = runtime;
    const client = ['--organization', credentials.organizationId, '--client-id', 'c', '--token-url', `${origin}/t`];
    const service = backend === 'api' ? ['--api-origin', origin, ...client] : ['--origin', origin];
    const args = ['init', '-y', '-p', 'shop', '-t', 'Prod', '--runtime-backend', backend, ...service];
    const {code, stderr} = await mycli(args);
    expect([code, (await readdir(project)).includes('mycli.config.ts')]).toEqual([exit, exit === 0]);
    expect(stderr).toContain(message);
  });

  test('leaves its own file and archives out of a site that is the folder itself', async () => {
    await rm(project, {recursive: true});
    await write({'index.html': '<p>Hi</p>', 'package.json': '{"name": "site"}', 'node_modules/a/index.js': ''});
    const {stderr} = await mycli(['init', '-y', '-p', 'shop', '--origin', runtime.origin]);
    expect(stderr).toContain('Found a build: a static site in this folder.\n');
    expect(await config()).toMatch(/ignore: \[\s+'package\.json',\s+'node_modules',\s+'bundle\.tar\*'\s+\],\n/);
    for (const format of ['v1', 'v2']) expect(await mycli(['build', '--format', format])).toMatchObject({code: 0});
    await rm(join(project, 'bundle.tar.json'));
    const {stdout} = await mycli(['build', '--dry-run', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({files: [{path: 'index.html'}]});
  });

  test('names the push of a folder that has a page, but also files that are not for visitors', async () => {
    await rm(project, {recursive: true});
    await write({'public/index.html': '<p>Hi</p>', 'public/.env': 'A=b'});
    const {stdout} = await mycli(['init', '-y', '-p', 'shop', '-t', 'staging', '--origin', runtime.origin]);
    expect(stdout).toMatch(/\nNext:\n {2}mycli login\n {2}mycli push public --static --wait\n$/);
    await write({'.bundleignore': '.env'});
    expect((await mycli(['build', 'public', '--static', '--dry-run'])).code).toBe(0);
  });

  test('takes a folder for a site once .bundleignore has what is not for visitors, beside what mycli wrote', async () => {
    await rm(project, {recursive: true});
    await write({'index.html': '<p>Hi</p>', '.env': 'A=b', 'runtime.env': 'MYCLI_API_KEY=x\n'});
    const args = ['init', '-y', '-p', 'shop', '-t', 'staging', '--origin', runtime.origin];
    const first = await mycli(args);
    expect(first.stderr).toContain('also files that no visitor needs: .env. If it is your site');
    expect(first.stdout).toMatch(/\n {2}mycli push \. --static --wait\n$/);
    await write({'.bundleignore': '.env'});
    const {stdout, stderr} = await mycli([...args, '--force']);
    expect(stderr).toBe('Found a build: a static site in this folder.\n');
    expect(stdout).toMatch(/\n {2}mycli push --wait\n$/);
    const pushed = await mycli(['push', '--wait', '--json'], {env: {MYCLI_API_KEY: runtime.credentials.apiKey}});
    expect(JSON.parse(pushed.stdout)).toMatchObject({warnings: ['Left out what mycli wrote: runtime.env.']});
  });

  test('says which folder it uses instead of the one that it detected, and that there is none yet', async () => {
    await write({'public/index.html': '<p>Hi</p>'});
    const init = async (folder: string) =>
      (await mycli(['init', '-y', '--force', '-p', 'shop', '--origin', runtime.origin, '-b', folder])).stderr;
    expect(await init('public')).toContain('Detected Vite: a static site in dist.\nUsing public, not dist.\n');
    expect(await init('later')).toContain('Warning: The folder later does not exist yet.\n');
    expect(await init('dist')).not.toMatch(/Using|yet/);
  });

  test.each(['file', 'flag'])('keeps a build folder that a %s names, before it exists', async (source) => {
    await write({'mycli.config.json': JSON.stringify({buildDirectory: source === 'file' ? 'later' : 'dist'})});
    const flags = source === 'flag' ? ['-b', 'later'] : [];
    const init = ['init', '-y', '--force', '-p', 'shop', '--origin', runtime.origin, ...flags];
    expect((await mycli(init)).stderr).toContain('Warning: The folder later does not exist yet.\n');
    expect(await readFile(join(project, 'mycli.config.json'), 'utf8')).toContain('"buildDirectory": "later"');
  });

  test('tells of a server beside the folder that it takes for a site', async () => {
    await rm(project, {recursive: true});
    const args = ['init', '-y', '-p', 'shop', '--origin', runtime.origin];
    await write({'public/index.html': '<p>Hi</p>', 'index.mjs': 'export const x = 1;', 'package.json': '{}'});
    expect((await mycli(args)).stderr).not.toContain('server');
    await rm(join(project, 'mycli.config.ts'));
    await write({'server.mjs': "import {createServer} from 'node:http';\ncreateServer().listen(80);\n"});
    expect((await mycli(args)).stderr).toContain(
      'public would be pushed as a static site, without the server beside it: server.mjs (imports node:http).',
    );
  });

  test('says in one error all that is missing, and writes nothing', async () => {
    const {code, stdout} = await mycli(['init', '--json', '--runtime-backend', 'api']);
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({
      error: {
        code: 'ERR_SETUP_INCOMPLETE',
        message: expect.stringMatching(/^Missing .*organization, token URL, and client id\.$/i) as string,
      },
    });
    expect(await readdir(project)).not.toContain('mycli.config.ts');
  });

  test('each advice about what is missing leads on, and none to a configuration that init refuses', async () => {
    const {code, stderr} = await mycli(['init', '--yes']);
    expect([code, stderr]).toEqual([
      3,
      expect.stringMatching(/\n {2}Pass --origin URL, or set MYCLI_RUNTIME_ORIGIN\.\n/),
    ]);
    const known: Readonly<Record<string, string>> = {
      ORGANIZATION: runtime.credentials.organizationId,
      URL: runtime.credentials.tokenUrl,
      ID: runtime.credentials.clientId,
    };
    const api = ['init', '--yes', '--api-origin', runtime.origin];
    const missing = await mycli(api);
    expect(missing.stderr).not.toContain('mycli.config');
    const advised = [...missing.stderr.matchAll(/Pass (--[\w-]+) (\w+)/g)].flatMap(([, flag = '', value = '']) => [
      flag,
      known[flag === '--organization' ? 'ORGANIZATION' : value] ?? value,
    ]);
    expect(advised).toHaveLength(6);
    expect(await mycli([...api, ...advised])).toMatchObject({code: 0});
  });

  test('init: takes the site that is in a folder of any name, as doctor and a push name it', async () => {
    await rm(project, {recursive: true});
    await write({'my build/index.html': '<p>Hi</p>', 'notes.txt': ''});
    const named = 'The folder my build looks like a static site.';
    expect((await mycli(['doctor'])).stdout).toContain(named);
    expect((await mycli(['push', '-p', 'shop'])).stderr).toContain(`${named} To use it, run mycli push 'my build'`);
    const {stderr} = await mycli(['init', '-y', '-p', 'shop', '--origin', runtime.origin]);
    expect(stderr).toContain('Found a build: a static site in my build.\n');
    expect(await config()).toContain("  buildDirectory: 'my build',\n  static: true,\n");
  });

  test('init: tells a server that nothing builds to have a build script', async () => {
    await rm(project, {recursive: true});
    await write({'package.json': '{"dependencies": {"express": "5"}}', 'server.js': ''});
    const {stdout, stderr} = await mycli(['init', '-y', '-p', 'shop', '--origin', runtime.origin]);
    expect(stderr).toMatch(/^Detected Express\. package\.json has no build script\. Write one .* into dist: /);
    expect(stdout).toContain('\nOnce the application is built, run:\n');
  });

  test('says of a build without a server what a push would miss, and the site in it can be pushed', async () => {
    await rm(project, {recursive: true});
    await write({'build/static/index.html': '<p>Hi</p>'});
    const args = ['init', '-y', '-p', 'shop', '-t', 'staging', '--origin', runtime.origin];
    const {code, stdout, stderr} = await mycli(args);
    expect(code).toBe(0);
    expect(stderr).toContain('Warning: build has no server script (ssr.js, ssr.mjs or a folder server).');
    expect(stdout).toMatch(/\nOnce the application is built, run:\n/);
    const env = {MYCLI_API_KEY: canary};
    const refused = await mycli(['push', '--wait', '--json'], {env});
    expect(JSON.parse(refused.stdout)).toMatchObject({error: {code: 'ERR_SSR_ENTRY_MISSING'}});
    const [, advised = ''] = /run mycli (push .*)\n/.exec(stderr) ?? [];
    expect(advised).toBe('push build/static --static');
    expect(await mycli(advised.split(' '), {env})).toMatchObject({code: 0});
    await write({'build/ssr.mjs': 'export default () => undefined;'});
    expect((await mycli([...args, '--force'])).stdout).toMatch(/\nNext:\n {2}mycli login\n {2}mycli push --wait\n$/);
  });

  test('names the login among the commands to type next, when a push would have no credentials', async () => {
    await rm(join(project, 'dist'), {recursive: true});
    const {stdout} = await mycli(['init', '-p', 'shop', '--origin', runtime.origin]);
    expect(stdout).toMatch(
      /\nNext:\n {2}npx vite build\n {2}mycli login\n {2}mycli push\nThis uploads without deploying\./,
    );
    const named = await mycli(['init', '--force', '-p', 'shop', '--origin', runtime.origin, '-C', '../project']);
    expect(named.stdout).toMatch(
      /\nNext:\n {2}cd \.\.\/project\n {2}npx vite build\n {2}mycli login\n {2}mycli push\n/,
    );
  });

  test('stores no credentials for an address that only a configuration file sets', async () => {
    await write({'mycli.config.json': JSON.stringify({origin: runtime.origin})});
    const {code, stdout} = await mycli(['init', '--force', '-p', 'shop', '--api-key', '-', '--json'], {stdin: canary});
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({error: {code: 'ERR_ORIGIN_UNTRUSTED'}});
    expect(runtime.requests).toEqual([]);
    expect(await readdir(root)).not.toContain('config');
  });

  test('remembers the address that the user gave, for logins from its file and no other address', async () => {
    expect(await mycli(['init', '-y', '-p', 'shop', '--origin', runtime.origin])).toMatchObject({code: 0});
    expect(await mycli(['login'], {stdin: canary})).toMatchObject({code: 0});
    await write({'mycli.config.ts': `export default {origin: '${runtime.origin}/other'};`});
    const other = await mycli(['login', '--json'], {stdin: canary});
    expect(JSON.parse(other.stdout)).toMatchObject({error: {code: 'ERR_ORIGIN_UNTRUSTED'}});
    expect(await mycli(['logout', '--origin', runtime.origin])).toMatchObject({code: 0});
    await write({'mycli.config.ts': `export default {origin: '${runtime.origin}'};`});
    expect(await mycli(['login'], {stdin: canary})).toMatchObject({code: 3});
  });

  test('stores and writes nothing when the service refuses the credentials', async () => {
    const args = ['init', '-p', 'shop', '--origin', runtime.origin, '--api-key', '-', '--json'];
    const {code, stdout} = await mycli(args, {stdin: 'wrong'});
    expect(code).toBe(4);
    expect(JSON.parse(stdout)).toMatchObject({error: {code: 'ERR_UNAUTHORIZED'}});
    expect(await readdir(project)).not.toContain('mycli.config.ts');
    expect(await readdir(root)).not.toContain('config');
  });

  test.each([
    ['mycli.config.json', '{}'],
    ['mycli.config.ts', 'export default {};'],
    ['package.json', '{"mycli": {}}'],
  ])('never touches a configuration that is there: %s', async (name, text) => {
    await write({[name]: text});
    const {code, stderr} = await mycli(['init', '-p', 'shop', '--origin', runtime.origin]);
    expect(code).toBe(3);
    expect(stderr).toContain(`Error: ${join(project, name)} already contains a configuration.`);
    expect(await readFile(join(project, name), 'utf8')).toBe(text);
    const forced = await mycli(['init', '--force', '-p', 'shop', '--origin', runtime.origin]);
    const written = name === 'mycli.config.json' ? name : 'mycli.config.ts';
    expect([forced.code, await readFile(join(project, written), 'utf8')]).toEqual([
      0,
      expect.stringMatching(/projectSlug"?: ['"]shop/),
    ]);
  });
});

describe.skipIf(!hasScript)('init on a terminal', () => {
  function onTerminal(name: string) {
    const env = {HOME: root, PATH: process.env['PATH'] ?? '', TERM: 'xterm', LANG: 'C.UTF-8'};
    const command = `stty cols 80 rows 24; exec "${process.execPath}" "${binary}" ${name}`;
    const child = spawn('script', ['-qefc', command, '/dev/null'], {cwd: project, env});
    const ended = once(child, 'close').then(([code]) => code as number);
    let sent = '';
    child.stdout.on('data', (chunk: Buffer) => (sent += stripVTControlCharacters(chunk.toString())));
    const answer = async (question: string, text: string) => {
      while (!sent.includes(question) && child.exitCode === null) {
        await Promise.race([once(child.stdout, 'data'), ended]);
      }
      expect(sent).toContain(question);
      sent = '';
      child.stdin.write(text === '\u0003' ? text : `${text}\n`);
    };
    return {answer, ended, sent: () => sent};
  }

  test('init: Ctrl-C at a question exits with 130 and leaves nothing behind', async () => {
    const {answer, ended} = onTerminal('init');
    await answer('Which service do you deploy to?', '');
    await answer('URL of the service:', runtime.origin);
    await answer('Project slug: (project)', '\u0003');
    expect(await ended).toBe(130);
    expect(await readdir(project)).toEqual(['dist', 'package.json']);
    expect(await readdir(root)).not.toContain('.config');
  });

  test('push: refuses the sources of a project before it asks anything', async () => {
    const {ended, sent} = onTerminal('push .');
    expect(await ended).toBe(3);
    expect(sent()).toContain('run mycli push dist\r\n');
    expect(sent()).not.toContain('Set it up now?');
  });

  test('init: offers the site in a build without a server, and a push needs nothing more', async () => {
    await rm(project, {recursive: true});
    await write({'build/static/index.html': '<p>Hi</p>'});
    const {answer, ended} = onTerminal(`init -p shop -t staging --origin ${runtime.origin}`);
    await answer('as a static site? (y/N)', 'y');
    await answer('Build folder: (build/static)', '');
    await answer('(hidden, empty to skip):', canary);
    expect(await ended).toBe(0);
    expect(await config()).toContain("  buildDirectory: 'build/static',\n  static: true,\n");
    const {stdout} = await mycli(['push', '--wait', '--json'], {env: {MYCLI_API_KEY: canary}});
    expect(JSON.parse(stdout)).toMatchObject({deployed: true});
  });

  test('init: an answer that was wrong can be corrected once the service was asked', async () => {
    const {organizationId, clientId, tokenUrl} = runtime.credentials;
    const wrong = `${runtime.origin}/no-such-path`;
    const {answer, ended} = onTerminal(
      `init --runtime-backend api -p shop -t staging --organization ${organizationId}`,
    );
    await answer('URL of the service:', runtime.origin);
    await answer('Token URL:', wrong);
    await answer('Client ID:', clientId);
    await answer('Build folder: (dist)', '');
    await answer('(hidden, empty to skip):', canary);
    await answer(`URL of the service: (${runtime.origin})`, '');
    await answer('Token URL:', tokenUrl);
    await answer(`Client ID: (${clientId})`, '');
    await answer('(hidden, empty to skip):', canary);
    expect(await ended).toBe(0);
    const written = await config();
    expect(written).toContain(`tokenUrl: '${tokenUrl}'`);
    expect(written).not.toContain(wrong);
  });

  test.each(['init', 'push'])('%s: asks for what it needs, and again for what will not do', async (name) => {
    const {answer, ended, sent} = onTerminal(name);
    if (name === 'push') await answer('Set it up now? (Y/n)', '');
    await answer('Which service do you deploy to?', '');
    await answer('URL of the service:', runtime.origin);
    await answer('Project slug: (project)', 'a/b');
    await answer('/ or \\: "a/b".', '\u0015shop');
    await answer('("-" for none)', '-');
    await answer('Build folder: (dist)', '');
    await answer('(hidden, empty to skip):', canary);
    expect(await ended).toBe(0);
    expect(sent()).not.toContain(canary);
    expect(sent()).toContain(name === 'init' ? 'Next:\r\n  mycli push\r\n' : 'Pushed bundle 1');
    if (name === 'init') expect(sent()).toContain('mycli push --target production --wait');
    const written = await config();
    expect(written).toContain("projectSlug: 'shop',\n  runtimeBackend: 'legacy',");
    expect(written).not.toContain('targetSlug');
    const stored = join(root, '.config/mycli/credentials.json');
    expect(JSON.parse(await readFile(stored, 'utf8'))).toMatchObject({
      origins: {[runtime.origin]: {apiKey: {key: canary}}},
    });
  });

  test('init: asks for what the backend of a plugin requires, logs in, and suggests no target that it lacks', async () => {
    const plugin = {name: 'mycli-plugin-zed', version: '1.0.0', type: 'module'};
    const service = `{
      apiVersion: 1, name: 'zed', summary: 'Zed', formats: ['v2'], required: ['url', 'token'], secrets: ['token'],
      verify: async ({options}) => ({account: new URL(options.url).host}),
      upload: async (bundle, {options}) => {
        if (options.token !== '${canary}') throw new Error('refused');
        return {bundleId: 'b-1', raw: {}};
      },
    }`;
    await writeTree(root, {
      'zed/package.json': JSON.stringify({...plugin, oclif: {hooks: {'mycli:backends': './hook.js'}}}),
      'zed/hook.js': `export default async () => ({backends: [${service}]});`,
      '.local/share/mycli/package.json': JSON.stringify({
        oclif: {schema: 1, plugins: [{name: plugin.name, root: join(root, 'zed'), type: 'link'}]},
      }),
    });
    const {answer, ended, sent} = onTerminal('init --runtime-backend zed -p shop');
    await answer('Option "url" of the zed backend:', 'http://zed.example');
    await answer('Build folder: (dist)', '');
    await answer('Log in to the zed backend now? (Y/n)', '');
    await answer('token of the zed backend:', canary);
    expect(await ended).toBe(0);
    expect(sent()).toContain('accepted the credentials of zed.example.');
    expect(sent()).toMatch(/Next:\s+mycli push\s*$/);
    expect(await config()).toContain("  backends: {\n    zed: {\n      url: 'http://zed.example'\n    }\n  },");
    const pushed = onTerminal('push');
    expect(await pushed.ended).toBe(0);
    expect(pushed.sent()).toContain('Pushed bundle b-1');
    expect(pushed.sent()).not.toContain('Deploy it');
  });
});
