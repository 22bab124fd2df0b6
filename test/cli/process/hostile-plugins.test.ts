import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises';
import type {ServerResponse} from 'node:http';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {startLocalRuntime} from '../../../src/testing.js';
import {startServer} from '../../http/with-server.js';
import {runtimeEnvironment} from '../runtime-environment.js';
import {binary, runCli, type Ended} from '../spawn-cli.js';

/** A plugin: its hooks by their name, each the body of a function, and what else its package.json says to oclif. */
interface Plugin {
  readonly hooks: Readonly<Record<string, string>>;
}

const name = 'mycli-plugin-hostile';

/** The files of a plugin in the folder `place`. */
function filesOf(plugin: Plugin, name: string, place: string): Readonly<Record<string, string>> {
  const hooks = Object.keys(plugin.hooks);
  const pjson = {
    name,
    version: '1.0.0',
    type: 'module',
    oclif: {
      hooks: Object.fromEntries(hooks.map((hook) => [hook, `./${hook.replace(':', '-')}.js`])),
    },
  };
  const bodies = hooks.map((hook) => [
    `${place}/${hook.replace(':', '-')}.js`,
    `import fs from 'node:fs';\nimport child from 'node:child_process';\nimport {writeSync} from 'node:fs';\n` +
      `export default async function () {\n${plugin.hooks[hook] ?? ''}\n}\nvoid [fs, child, writeSync];\n`,
  ]);
  return {
    [`${place}/package.json`]: JSON.stringify(pjson),
    ...(Object.fromEntries(bodies) as Record<string, string>),
  };
}

/** Runs the binary with a plugin that is written for the occasion. */
function withPlugin(
  plugin: Plugin,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  return withPlugins({[name]: plugin}, args, env);
}

/** The same with several, by their names. */
async function withPlugins(
  plugins: Readonly<Record<string, Plugin>>,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const root = await mkdtemp(join(tmpdir(), 'mycli-hostile-'));
  try {
    const linked = Object.keys(plugins).map((name) => ({name, root: join(root, name), type: 'link'}));
    const files: Readonly<Record<string, string>> = {
      'project/build/ssr.js': 'export default () => "hello";\n',
      'data/mycli/package.json': JSON.stringify({oclif: {schema: 1, plugins: linked}}),
      ...Object.assign({}, ...Object.entries(plugins).map(([name, plugin]) => filesOf(plugin, name, name))),
    };
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(root, path)), {recursive: true});
      await writeFile(join(root, path), content);
    }
    const environment = {HOME: root, XDG_DATA_HOME: join(root, 'data'), MYCLI_PROJECT: 'shop', ...env};
    return await runCli(binary, args, {cwd: join(root, 'project'), env: environment});
  } finally {
    await rm(root, {recursive: true, force: true});
  }
}

interface Document {
  readonly error?: {readonly code: string; readonly message: string; readonly exitCode: number};
  readonly warnings?: readonly string[];
}

/** The one document on stdout. */
function documentOf({stdout}: Ended): Document {
  return JSON.parse(stdout) as Document;
}

const build = ['bundle:build', '--json'];
const push = ['bundle:push', '--runtime-backend', 'legacy', '--json'];

describe('a plugin that ends the process', () => {
  const exits = ['process.exit(0);', 'process.exitCode = 0; process.exit();', 'process.reallyExit(0);'];
  const cases = ['init', 'prerun'].flatMap((hook) => exits.map((code) => [hook, code] as const));

  test.each(cases)('before the command, in %s with %s, never makes it a success', async (hook, code) => {
    const ended = await withPlugin({hooks: {[hook]: code}}, build);
    expect(ended.code).toBe(3);
    expect(documentOf(ended)).toMatchObject({
      error: {code: 'ERR_ENDED_EARLY', message: expect.stringContaining(`plugin ${name} ended the process`) as string},
    });
    expect(ended.stderr).toContain('MYCLI_SKIP_PLUGINS=1');
  });

  test.each([
    ['mycli:before-write', 3, 'ERR_ENDED_EARLY'],
    ['mycli:after', 6, 'ERR_NETWORK'],
  ])('around a change, in %s, leaves no doubt about it', async (hook, code, error) => {
    const unreachable = {MYCLI_RUNTIME_ORIGIN: 'http://127.0.0.1:9', MYCLI_API_KEY: 'key', MYCLI_MAX_RETRIES: '0'};
    const ended = await withPlugin({hooks: {[hook]: 'process.exit(0);'}}, push, unreachable);
    expect(ended.code).toBe(code);
    expect(documentOf(ended)).toMatchObject({error: {code: error}});
  });

  test('before help is shown makes no success of it either', async () => {
    expect(await withPlugin({hooks: {init: 'process.exit(0);'}}, ['--help'])).toMatchObject({code: 3, stdout: ''});
  });

  test.each(['postrun', 'finally'])('after a command that has succeeded, in %s, leaves it so', async (hook) => {
    const ended = await withPlugin({hooks: {[hook]: 'process.exit(7);'}}, build);
    expect(ended.code).toBe(0);
    expect(documentOf(ended)).toMatchObject({archive: {files: 1}});
  });

  test('after a command that has failed leaves its error and its exit code', async () => {
    const ended = await withPlugin({hooks: {finally: 'process.exit(0);'}}, push);
    expect(ended.code).toBe(3);
    expect(documentOf(ended)).toMatchObject({error: {code: 'ERR_CREDENTIALS_MISSING'}});
  });

  test.each([
    'process.exitCode = 0; setInterval(() => { process.exitCode = 0; }, 1).unref();',
    'process.on("exit", () => { process.exitCode = 0; });',
    'process.on("exit", () => process.exit(0));',
    'process.prependListener("exit", () => process.exit(0));',
    'process.on("exit", () => { throw new Error("late"); });',
    'process.exit = () => undefined;',
    'process.removeAllListeners("exit"); process.removeAllListeners("beforeExit"); process.on("exit", () => process.exit(0));',
  ])('with %s does not change how a command ends', async (code) => {
    const failed = await withPlugin({hooks: {init: code}}, push);
    expect(failed.code).toBe(3);
    expect(documentOf(failed)).toMatchObject({error: {code: 'ERR_CREDENTIALS_MISSING'}});
    const succeeded = await withPlugin(
      {hooks: {init: code.replaceAll('= 0', '= 5').replaceAll('exit(0)', 'exit(5)')}},
      build,
    );
    expect(succeeded.code).toBe(0);
    expect(documentOf(succeeded)).toMatchObject({archive: {files: 1}});
  });
});

describe('a hook that fails', () => {
  test.each(['init', 'prerun', 'postrun', 'finally'])('in %s is a warning that names the plugin', async (hook) => {
    const ended = await withPlugin({hooks: {[hook]: 'throw new Error("broken\\nthing");'}}, build);
    expect(ended.code).toBe(0);
    expect(documentOf(ended)).toMatchObject({
      archive: {files: 1},
      warnings: [`Plugin ${name}: its ${hook} hook failed: broken thing.`],
    });
  });

  test.each(['postrun', 'finally'])('in %s with an exit code fails no command that has succeeded', async (hook) => {
    const ended = await withPlugin({hooks: {[hook]: 'this.error("no", {exit: 9});'}}, build);
    expect(ended.code).toBe(0);
    expect(documentOf(ended).warnings).toEqual([`Plugin ${name}: its ${hook} hook failed: no.`]);
  });

  test.each(['init', 'prerun'])('in %s may refuse a command, by name', async (hook) => {
    const ended = await withPlugin({hooks: {[hook]: 'this.error("not on Fridays", {exit: 9});'}}, build);
    expect(ended.code).toBe(9);
    expect(documentOf(ended).error?.message).toBe(`Plugin ${name} ended the command: not on Fridays.`);
  });

  test('and exits with a code of its own is told in the document too', async () => {
    const ended = await withPlugin({hooks: {init: 'this.exit(9);'}}, build);
    expect(ended.code).toBe(3);
    expect(documentOf(ended).error?.code).toBe('ERR_ENDED_EARLY');
  });

  test('does not take an unknown command for its own', async () => {
    const ended = await withPlugin({hooks: {command_not_found: 'return "all is well";'}}, ['bundel:push', '--json']);
    expect(ended.code).toBe(2);
    expect(documentOf(ended).error?.code).toBe('ERR_COMMAND_NOT_FOUND');
  });
});

describe.concurrent('a hook that fails', () => {
  test.each([
    [
      'mycli:backends',
      'const x = ;',
      `Plugin ${name}: its mycli:backends hook failed: Unexpected token ';' (FOLDER/mycli-backends.js:5).`,
    ],
    ['prerun', 'const x = ;', `Plugin ${name}: its prerun hook failed: Unexpected token ';' (FOLDER/prerun.js:5).`],
    ['prerun', "JSON.parse('{');", `Plugin ${name}: its prerun hook failed: Expected property name`],
  ])('in %s with %j tells the place of a syntax error', async (hook, code, message) => {
    const ended = await withPlugin({hooks: {[hook]: code}}, ['backend:list']);
    expect(ended.code).toBe(0);
    expect(ended.stderr.replaceAll(/\/\S+\/mycli-plugin-hostile/g, 'FOLDER').replaceAll(/\s+/g, ' ')).toContain(
      message,
    );
    expect(ended.stderr).not.toContain('debug:');
  });

  test('finds the place in a module that it imports, without running anything', async () => {
    const code = `}\nimport './finally.js';\nprocess.stderr.write('has run');\n{`;
    const ended = await withPlugin({hooks: {prerun: code, finally: 'const x = ;'}}, build);
    expect(ended.stderr).toMatch(/prerun hook failed: Unexpected token ';' \(.*finally\.js:5\)\.\n/);
    expect(ended.stderr).not.toContain('has run');
  });

  test.each(['mycli:backends', 'prerun', 'postrun'])('shows file and stack with --debug: %s', async (hook) => {
    const ended = await withPlugin({hooks: {[hook]: 'throw new Error("no luck");'}}, ['backend:list', '--debug']);
    const file = hook.replace(':', '-');
    expect(ended.stderr).toMatch(new RegExp(`debug: ${name}, ${hook}: Error: no luck\n +at .*${file}\\.js:5:7`));
  });
});

describe.concurrent('what nobody catches', () => {
  test.each([
    'Promise.reject(new Error("stray"));\nawait new Promise((resolve) => setTimeout(resolve, 10_000));',
    'setImmediate(() => { throw new Error("stray"); });\nawait new Promise((resolve) => setTimeout(resolve, 10_000));',
  ])('names the plugin: %s', async (code) => {
    const ended = await withPlugin({hooks: {prerun: code}}, build);
    expect(ended.code).toBe(1);
    expect(documentOf(ended).error).toMatchObject({
      code: 'ERR_UNEXPECTED',
      message: `Plugin ${name} failed unexpectedly: stray.`,
    });
    expect(ended.stderr).not.toContain('This is a bug');
  });

  test.each([
    ['an error', 'setImmediate(() => { throw new Error("stray"); });'],
    ['a rejection', 'Promise.reject(new Error("stray"));'],
    ['the end of the process', 'process.exit(0);'],
  ])('%s during an upload says that it may have been carried out', async (_, code) => {
    // The server lets the plugin know that the upload has arrived, and answers nothing.
    const server = await startServer((request, response) => {
      if (request.url === '/arrived') waiting.push(response);
      else request.resume().on('end', () => waiting.forEach((waiter) => void waiter.end()));
    });
    const waiting: ServerResponse[] = [];
    const hook = `fetch('${server.origin}/arrived').then(() => { ${code} });`;
    const ended = await withPlugin({hooks: {prerun: hook}}, push, {
      MYCLI_RUNTIME_ORIGIN: server.origin,
      MYCLI_API_KEY: 'some-key',
    });
    expect(ended.code, ended.stderr).toBe(10);
    expect(documentOf(ended).error).toMatchObject({
      code: 'ERR_OUTCOME_UNKNOWN',
      message: expect.stringContaining('may have been carried out') as string,
    });
    expect(ended.stderr).toContain('mycli list');
  });

  test('after the command is done is a warning', async () => {
    const ended = await withPlugin(
      {
        hooks: {
          postrun: 'Promise.reject(new Error("stray"));\nawait new Promise((resolve) => setTimeout(resolve, 10_000));',
        },
      },
      build,
    );
    expect(ended.code).toBe(0);
    expect(documentOf(ended)).toMatchObject({
      archive: {files: 1},
      warnings: [expect.stringContaining(`Plugin ${name} failed unexpectedly: stray.`)],
    });
  });

  test('and a promise that mycli:after leaves to fail is one, too', async () => {
    const runtime = await startLocalRuntime();
    onTestFinished(() => runtime.close());
    const hooks = {'mycli:after': 'void Promise.reject(new Error("stray"));'};
    const ended = await withPlugin({hooks}, push, runtimeEnvironment(runtime));
    expect(ended.code).toBe(0);
    expect(documentOf(ended)).toMatchObject({
      warnings: [expect.stringContaining(`Plugin ${name} failed unexpectedly: stray.`)],
    });
  });

  test('a hook that waits for ever before the command is named', async () => {
    const code = `await new Promise((resolve) => {
      const alive = setInterval(() => undefined, 1000);
      const {write} = process.stderr;
      process.stderr.write = (text, ...rest) => {
        if (String(text).includes('Still waiting')) resolve(clearInterval(alive));
        return write.call(process.stderr, text, ...rest);
      };
    });`;
    // At the same time: each takes ten seconds.
    const hooks = ['init', 'prerun'];
    const ended = await Promise.all(hooks.map((hook) => withPlugin({hooks: {[hook]: code}}, build)));
    expect(ended.map((one) => documentOf(one).warnings)).toEqual(
      hooks.map((hook) => [`Still waiting for the ${hook} hook of ${name}. Press Ctrl-C to stop.`]),
    );
  });

  test.each(['init', 'prerun'])('a hook that waits for nothing before the command, in %s, is named', async (hook) => {
    const hooks = {[hook]: 'await new Promise(() => undefined);'};
    const ended = await withPlugins({[name]: {hooks}, 'mycli-plugin-innocent': {hooks: {postrun: ''}}}, build);
    expect(ended.code).toBe(3);
    expect(documentOf(ended)).toMatchObject({
      error: {
        code: 'ERR_ENDED_EARLY',
        message: `The command ended before it was done: the ${hook} hook of ${name} did not finish.`,
      },
    });
    expect(ended.stderr).toContain(`mycli plugins:uninstall ${name}, or set MYCLI_SKIP_PLUGINS=1`);
  });

  test('of several hooks that may wait for nothing all are named', async () => {
    const waiting = {hooks: {prerun: 'await new Promise(() => undefined);'}};
    const ended = await withPlugins({[name]: waiting, 'mycli-plugin-innocent': {hooks: {prerun: ''}}}, build);
    expect(documentOf(ended).error?.message).toContain(
      `the prerun hook of ${name} or mycli-plugin-innocent did not finish`,
    );
    expect(ended.stderr).not.toContain('plugins:uninstall');
  });

  test('a hook that waits for nothing after the command does not keep it', async () => {
    const ended = await withPlugin({hooks: {finally: 'await new Promise(() => undefined);'}}, build);
    expect(ended.code).toBe(0);
    expect(documentOf(ended)).toMatchObject({archive: {files: 1}});
  });
});

test('what a plugin lets Node warn of is a warning in the document', async () => {
  const ended = await withPlugin({hooks: {init: 'process.emitWarning("careful\\nnow");'}}, build);
  expect(documentOf(ended)).toMatchObject({warnings: ['careful, now.']});
  expect(ended.stderr).toContain('Warning: careful, now.');
});

test.each([
  ['{}', '{}.'],
  ['undefined', 'undefined.'],
  ['null', 'null.'],
  ['Object.assign(new Error(), {message: 7, stack: 7})', '7.'],
  ['{message: 7}', '{ message: 7 }.'],
  ['Object.create(null)', '[Object: null prototype] {}.'],
  ['"careful"', 'careful.'],
  ['{get message() { throw new Error("no"); }}', '{ message: [Getter] }.'],
])('a warning that is %s is told as well as it can be', async (value, message) => {
  const ended = await withPlugin({hooks: {init: `process.emit("warning", ${value});`}}, build);
  expect(documentOf(ended)).toMatchObject({archive: {files: 1}, warnings: [message]});
});

describe('what a plugin writes to descriptor 1', () => {
  const ways = [
    'console.log("chatter");',
    'process.stdout.write("chatter");',
    'process.stdout.end("chatter");',
    'fs.writeSync(1, "chatter");',
    'writeSync(1, "chatter");',
    'fs.writeFileSync(1, "chatter");',
    'fs.writeFileSync("/dev/stdout", "chatter");',
    'await new Promise((resolve) => fs.write(1, "chatter", resolve));',
    'child.execFileSync("echo", ["chatter"], {stdio: "inherit"});',
    'child.spawnSync("echo", ["chatter"], {stdio: [0, 1, 2]});',
    'await new Promise((resolve) => child.spawn("echo", ["chatter"], {stdio: "inherit"}).on("close", resolve));',
  ];

  test('goes to stderr, with the name of the plugin, however it is written', async () => {
    const plugins = ways.map((code, index) => {
      const hook = code.replace('chatter', `chatter of ${String(index)}.`);
      return [`mycli-plugin-writes-${String(index)}`, {hooks: {prerun: hook}}] as const;
    });
    const ended = await withPlugins(Object.fromEntries(plugins), build);
    expect(ended.code).toBe(0);
    expect(documentOf(ended)).toMatchObject({archive: {files: 1}});
    expect(documentOf(ended).warnings?.toSorted()).toEqual(
      plugins
        .map(
          ([plugin]) =>
            `Plugin ${plugin} writes to stdout, which is reserved for the result. Its output goes to stderr.`,
        )
        .toSorted(),
    );
    for (const index of ways.keys()) expect(ended.stderr).toContain(`chatter of ${String(index)}.`);
  });

  test('stays there while no result is printed to it, and what a child process writes to a pipe is no concern', async () => {
    const code = 'fs.writeSync(1, "chatter");';
    const plain = await withPlugin({hooks: {prerun: code}}, ['config:show']);
    expect(plain.stdout).toContain('chatter');
    const piped = 'child.execFileSync("echo", ["chatter"], {stdio: "pipe"});';
    const ended = await withPlugin({hooks: {prerun: piped}}, build);
    expect(documentOf(ended).warnings ?? []).toEqual([]);
  });

  test('by a stream of its own goes to stderr', async () => {
    const code =
      'await new Promise((resolve) => fs.createWriteStream("", {fd: 1, autoClose: false}).write("chatter", resolve));';
    const ended = await withPlugin({hooks: {prerun: code}}, build);
    expect(documentOf(ended)).toMatchObject({archive: {files: 1}});
    expect(ended.stderr).toContain('chatter');
  });
});
