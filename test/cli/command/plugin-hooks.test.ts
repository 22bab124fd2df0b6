import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {startLocalRuntime} from '../../../src/testing.js';
import {runtimeEnvironment} from '../runtime-environment.js';
import {binary, runCli, type Ended} from '../spawn-cli.js';
import {makeFolder, writeTree} from '../../folder.js';

const name = 'mycli-plugin-hooked';

/** Runs the binary with a plugin whose hooks have these bodies, by their names. `before`: how their files begin. */
async function withHooks(
  hooks: Readonly<Record<string, string>>,
  args: readonly string[] = ['bundle:build', '--json'],
  before = '',
  more: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const root = await mkdtemp(join(tmpdir(), 'mycli-hooks-'));
  const fileOf = (hook: string) => `./${hook.replace(':', '-')}.js`;
  const declared = Object.fromEntries(Object.keys(hooks).map((hook) => [hook, fileOf(hook)]));
  const files: Readonly<Record<string, string>> = {
    'project/build/ssr.js': 'export default () => "hello";\n',
    'data/mycli/package.json': JSON.stringify({
      oclif: {schema: 1, plugins: [{name, root: join(root, name), type: 'link'}]},
    }),
    [`${name}/package.json`]: JSON.stringify({name, version: '1.0.0', type: 'module', oclif: {hooks: declared}}),
    ...Object.fromEntries(
      Object.entries(hooks).map(([hook, body]) => [
        join(name, fileOf(hook)),
        `${before}export default async function () {\n${body}\n}\n`,
      ]),
    ),
  };
  try {
    await writeTree(root, files);
    const env = {HOME: root, XDG_DATA_HOME: join(root, 'data'), MYCLI_PROJECT: 'shop', ...more};
    return await runCli(binary, args, {cwd: join(root, 'project'), env});
  } finally {
    await rm(root, {recursive: true, force: true});
  }
}

const documentOf = ({stdout}: Ended): unknown => JSON.parse(stdout);
const runsNode = ['runtime:start', '--port', '0', '--apps-port', '0', '--', process.execPath, '-e', 'process.exit(5)'];
const failing = ['bundle:push', '--runtime-backend', 'legacy', '--json'];

describe('a hook that ends the process', () => {
  test.each([
    ['init', 'process.exit(0);'],
    ['prerun', 'process.exit(0);'],
    ['init', 'await new Promise(() => undefined);'],
    ['prerun', 'await new Promise(() => undefined);'],
  ])('before the command, in %s, is named and never makes it a success: %s', async (hook, code) => {
    const ended = await withHooks({[hook]: code});
    expect(ended.code).toBe(1);
    const what = 'ended the process, or waits for something that never happens';
    expect(documentOf(ended)).toMatchObject({
      error: {
        ...{code: 'ERR_ENDED_EARLY', exitCode: 1},
        message: `The command exited before it finished: plugin ${name} ${what}.`,
      },
    });
  });

  test.each([
    ['postrun', 'process.exit(7);'],
    ['finally', 'await new Promise(() => undefined);'],
  ])('after a command that has succeeded, in %s, leaves it so', async (hook, code) => {
    const ended = await withHooks({[hook]: code});
    expect(ended.code).toBe(0);
    expect(documentOf(ended)).toMatchObject({archive: {files: 1}});
  });

  test.each([
    ['process.exit(7);', ['bundle:diff', 'build', '.', '--ssr-only', '**/*.js', '--exit-code'], 13],
    ['setTimeout(() => { throw new Error("late"); });\nawait new Promise(() => undefined);', runsNode, 5],
  ])('after a command with an exit code of its own leaves that: %s', async (postrun, args, exitCode) => {
    expect((await withHooks({postrun}, args)).code).toBe(exitCode);
  });

  test('after a command that has failed leaves its error and its exit code', async () => {
    const ended = await withHooks({finally: 'process.exit(0);'}, failing);
    expect(ended.code).toBe(3);
    expect(documentOf(ended)).toMatchObject({error: {code: 'ERR_CREDENTIALS_MISSING'}});
  });
});

/** Opens what it never closes: a timer, a server and a connection to it. */
const leaking = `import {once} from 'node:events';
import {connect, createServer} from 'node:net';
async function leak() {
  setInterval(() => undefined, 1e9);
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  await once(connect(server.address().port, '127.0.0.1'), 'connect');
}
`;
const leaky = `const upload = async () => { await leak(); return {bundleId: '1'}; };
const listBundles = async () => { await leak(); return {items: []}; };
async function* tailLogs(request, context) { await leak(); throw context.error('ERR_REJECTED', 'No logs.'); }
return {backends: [{apiVersion: 1, name: 'leaky', summary: 'Leaks', formats: ['v2'], upload, listBundles, tailLogs}]};`;

test.each([
  ['bundle:push', 0],
  ['bundle:list', 0],
  ['logs', 7],
])('what a backend leaves open does not keep %s from ending', async (command, code) => {
  const args = [command, '--runtime-backend', 'leaky', ...(command === 'logs' ? ['--target', 'staging'] : [])];
  const ended = await withHooks({'mycli:backends': leaky}, args, leaking);
  expect(ended, ended.stderr).toMatchObject({code, signal: null});
});

const warningOf = (hook: string, reason: string) =>
  new RegExp(`^Plugin ${name}: its ${hook} hook failed: ${reason}\\.(?: The command continues without it\\.)?$`);

describe('a hook that fails', () => {
  test.each([
    ['lacks a package', "import 'mycli-nothing';", ".*Cannot find package 'mycli-nothing' imported from .+"],
    ['throws when it is loaded', 'throw new Error("no license");', String.raw`no license \(.+/init\.js\)`],
    ['says nothing', 'throw new Error();', String.raw`Error \(.+/init\.js\)`],
    ['is no JavaScript', 'const a b;', String.raw`.*const.* \(.+/init\.js\)`],
  ])('because its file %s says which file and why, and the command goes on', async (_, before, reason) => {
    const ended = await withHooks({init: ''}, ['bundle:build', '--json'], before);
    expect(ended.code).toBe(0);
    expect(documentOf(ended)).toMatchObject({warnings: [expect.stringMatching(warningOf('init', reason)) as string]});
  });

  test.each(['init', 'prerun', 'postrun', 'finally'])('in %s is a warning that names the plugin', async (hook) => {
    const ended = await withHooks({[hook]: 'throw new Error("broken\\nthing");'});
    expect(ended.code).toBe(0);
    expect(documentOf(ended)).toMatchObject({
      archive: {files: 1},
      warnings: [expect.stringMatching(warningOf(hook, String.raw`broken thing \(.+/${hook}\.js\)`)) as string],
    });
  });

  test.each([
    ['null', 'null'],
    ['undefined', 'undefined'],
    ['0', '0'],
    ["{code: 'E_FROZEN'}", "{ code: 'E_FROZEN' }"],
    ['Object.create(null)', '[Object: null prototype] {}'],
  ])('by throwing %s is named, too', async (thrown, shown) => {
    const ended = await withHooks({init: `throw ${thrown};`});
    expect(documentOf(ended)).toMatchObject({
      warnings: [expect.stringContaining(`: its init hook failed: ${shown} (`) as string],
    });
  });

  test.each(['postrun', 'finally'])('in %s with an exit code fails no command that has succeeded', async (hook) => {
    const ended = await withHooks({[hook]: 'this.error("no", {exit: 9});'});
    expect(ended.code).toBe(0);
    expect(documentOf(ended)).toMatchObject({warnings: [`Plugin ${name}: its ${hook} hook failed: no.`]});
  });

  test.each(['init', 'prerun'])('in %s may refuse a command, by name', async (hook) => {
    const ended = await withHooks({[hook]: 'this.error("not on Fridays", {exit: 9});'});
    expect(ended.code).toBe(9);
    expect(documentOf(ended)).toMatchObject({
      error: {message: `Plugin ${name} ended the command: not on Fridays.`, exitCode: 9},
    });
  });

  test('and asks to exit is named in the document', async () => {
    const ended = await withHooks({init: 'this.exit(9);'});
    expect(ended.code).toBe(1);
    expect(documentOf(ended)).toMatchObject({
      error: {code: 'ERR_ENDED_EARLY', message: expect.stringContaining(`plugin ${name} ended the process`) as string},
    });
  });

  test.each(['prerun', 'postrun'])('shows its stack with --debug: %s', async (hook) => {
    const ended = await withHooks({[hook]: 'throw new Error("no luck");'}, ['backend:list', '--debug']);
    expect(ended.stderr).toMatch(
      new RegExp(`debug: ${name}, ${hook}: Error: no luck [^]+\\[cause\\]: Error: no luck\n +at `),
    );
  });
});

test('a promise that a hook leaves to fail does not end the command, and names the plugin', async () => {
  const init = 'setTimeout(() => void Promise.reject({text: "stray"}), 1);\nvoid Promise.reject(new Error("lost"));';
  const ended = await withHooks({init});
  expect(ended.code).toBe(0);
  expect(documentOf(ended)).toMatchObject({
    archive: {files: 1},
    warnings: ['lost', "{ text: 'stray' }"].map(
      (text) => `Plugin ${name} rejected a promise that nothing waits for: ${text}.`,
    ),
  });
});

test.each(['postrun', 'finally'])('a promise that %s leaves to fail at once is told, too', async (hook) => {
  const ended = await withHooks({[hook]: 'void Promise.reject(new Error("lost"));'});
  expect(documentOf(ended)).toMatchObject({warnings: [expect.stringContaining('lost')]});
});

test('what a hook throws where nothing catches it ends the command, and names the plugin', async () => {
  const init =
    'setTimeout(() => { throw new Error("stray"); });\nawait new Promise((resolve) => setTimeout(resolve, 10_000));';
  const ended = await withHooks({init});
  expect(ended.code).toBe(1);
  expect(documentOf(ended)).toMatchObject({
    error: {code: 'ERR_ENDED_EARLY', message: `Plugin ${name} threw an error that nothing catches: stray.`},
  });
});

test.each([
  ['ends the process', 'process.exit(0)', 'exited before it finished'],
  ['throws', 'throw new Error("stray")', 'nothing catches: stray'],
])('a hook that %s after an upload leaves what was accepted in the error', async (_, act, reason) => {
  const runtime = await startLocalRuntime({deploymentSeconds: 3600});
  onTestFinished(() => runtime.close());
  const stop = join(await makeFolder({}), 'stop');
  const hooks = {
    'mycli:before-write': `setInterval(() => { if (existsSync(${JSON.stringify(stop)})) ${act}; }, 20);`,
  };
  const args = ['bundle:push', '--target', 'staging', '--wait', '--json'];
  const running = withHooks(hooks, args, "import {existsSync} from 'node:fs';\n", runtimeEnvironment(runtime));
  await expect.poll(() => runtime.requests.some(({route}) => route === 'deployment'), {timeout: 20_000}).toBe(true);
  await writeFile(stop, '');
  expect(documentOf(await running)).toMatchObject({
    error: {
      code: 'ERR_ENDED_EARLY',
      message: expect.stringMatching(`^Bundle 1 was uploaded\\. .*${reason}`) as string,
      suggestions: expect.arrayContaining([expect.stringContaining('bundle:history') as string]) as string[],
      details: {bundleId: 1, targetSlug: 'staging', deployment: {deploymentId: expect.any(String) as string}},
    },
  });
});

test('a rejection that nobody catches, after the command, is a warning', async () => {
  const ended = await withHooks({
    postrun: 'Promise.reject(new Error("stray"));\nawait new Promise((resolve) => setTimeout(resolve, 10_000));',
  });
  expect(ended.code).toBe(0);
  expect(documentOf(ended)).toMatchObject({archive: {files: 1}, warnings: [expect.stringContaining('stray')]});
});

test('what a plugin prints while stdout carries the document goes to stderr', async () => {
  const ended = await withHooks({prerun: 'console.log("chatter"); process.stdout.write("more");'});
  expect(documentOf(ended)).toMatchObject({archive: {files: 1}});
  expect(ended.stderr).toContain('chatter');
  expect(ended.stderr).toContain('more');
});

test.each([
  ['the archive', ['bundle:build', '--output', '-'], '\u001F'],
  ['events', ['bundle:build', '--events', '-'], '{'],
  ['a comparison', ['bundle:diff', 'build', 'build', '--markdown'], '### '],
])('what hooks print before a command whose stdout is %s goes to stderr', async (_, args, first) => {
  const prints = 'console.log("chatter");';
  const {stdout, stderr} = await withHooks({init: prints, prerun: prints}, args);
  expect(stdout.startsWith(first)).toBe(true);
  expect(stderr).toContain('chatter\n');
});

test('what a plugin lets Node warn of is a warning in the document', async () => {
  const ended = await withHooks({init: 'process.emitWarning("careful\\nnow");'});
  expect(documentOf(ended)).toMatchObject({warnings: ['careful now.']});
  expect(ended.stderr).toContain('Warning: careful');
});

test("a warning of oclif about a plugin's file says which plugin and why", async () => {
  const detail = ['task: readManifest', 'plugin: mycli-plugin-acme', 'message: invalid JSON'];
  const ended = await withHooks({
    init: `process.emitWarning("Error", {detail: ${JSON.stringify(detail.join('\n'))}});`,
  });
  const expected = 'Plugin mycli-plugin-acme: readManifest failed: invalid JSON.';
  expect(documentOf(ended)).toMatchObject({warnings: [expected]});
});
