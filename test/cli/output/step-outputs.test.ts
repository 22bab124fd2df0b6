import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdir, readFile, stat, writeFile, rename} from 'node:fs/promises';
import {dirname, join, resolve} from 'node:path';
import {text} from 'node:stream/consumers';
import {beforeEach, describe, expect, test} from 'vitest';
import {annotation, withoutCommands, withoutCommandsInJson} from '../../../src/cli/output/terminal.js';
import type {LocalRuntime, LocalRuntimeOptions} from '../../../src/testing.js';
import {startRecordingServer, type Handler} from '../../recording-server.js';
import type {Ended} from '../spawn-cli.js';
import {runWarm} from '../warm-cli.js';
import {makeFolder} from '../../folder.js';
import {startRuntime as startTestRuntime} from '../../local-runtime/with-runtime.js';

const canaries = {apiKey: 'canary-api-key-9a1b', clientSecret: 'canary-client-secret-4c3d'};
const escape = '\u001B';
/**
 * What a server would say to run commands, make outputs, break out of a table, paint the terminal and tell a secret.
 */
const evil =
  `x\n::error::owned\n  ::add-path::/tmp\r\n::stop-commands::t\r##[add-mask]e\nbundle-id=666\nEOF\n` +
  `${escape}[31m${escape}]0;owned\u0007</td></table>\n\n# owned <img src=x> | a | $(owned) 100% ${canaries.clientSecret}`;

let root: string;
let project: string;
let runtime: LocalRuntime | undefined;

beforeEach(async () => {
  root = await makeFolder();
  project = join(root, 'project');
  for (const [path, content] of Object.entries({'build/ssr.js': 'export {}', 'build/static/a.txt': 'a'})) {
    await mkdir(dirname(join(project, path)), {recursive: true});
    await writeFile(join(project, path), content);
  }
  await writeFile(join(root, 'output'), '');
});

interface Step extends Ended {
  readonly outputs: Readonly<Record<string, string>>;
  readonly rawOutputs: string;
  readonly summary: string;
}

/** Runs the binary as a step of GitHub Actions. */
async function step(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Step> {
  const ended = await runWarm(args, {
    cwd: project,
    env: {
      GITHUB_ACTIONS: 'true',
      GITHUB_OUTPUT: join(root, 'output'),
      GITHUB_STEP_SUMMARY: join(root, 'summary'),
      MYCLI_PROJECT: 'shop',
      MYCLI_POLL_INTERVAL: '0.05',
      ...env,
    },
  });
  const rawOutputs = await readFile(join(root, 'output'), 'utf8');
  const summary = await readFile(join(root, 'summary'), 'utf8').catch(() => '');
  for (const said of [ended.stdout, ended.stderr, rawOutputs, summary]) {
    for (const canary of Object.values(canaries)) expect(said).not.toContain(canary);
  }
  return {...ended, rawOutputs, summary, outputs: parseOutputs(rawOutputs)};
}

/** Reads a file of outputs as the runner does. */
function parseOutputs(content: string): Record<string, string> {
  const outputs: Record<string, string> = {};
  for (const line of content.split('\n').slice(0, -1)) {
    const [, name = '', value = ''] = /^([\w-]+)=(.*)$/.exec(line) ?? [];
    if (name === '') throw new Error(`not an output: ${line}`);
    outputs[name] = value;
  }
  return outputs;
}

/** The commands that the runner would see in a log. */
function commandsIn(log: string): readonly string[] {
  return log.split(/\r\n|\r|\n/).filter((line) => line.trimStart().startsWith('::') || line.includes('##['));
}

async function startRuntime(options: LocalRuntimeOptions = {}): Promise<Record<string, string>> {
  ({runtime} = await startTestRuntime({credentials: canaries, ...options}));
  const {origin, credentials} = runtime;
  return {
    MYCLI_API_ORIGIN: origin,
    MYCLI_ORGANIZATION: credentials.organizationId,
    MYCLI_TOKEN_URL: credentials.tokenUrl,
    MYCLI_CLIENT_ID: credentials.clientId,
    MYCLI_CLIENT_SECRET: credentials.clientSecret,
  };
}

describe('workflow commands', () => {
  test('an annotation is one command, whatever its message contains', () => {
    expect(annotation('error', 'a 100%\n::x::\r##[y]')).toBe('::error title=mycli::a 100%25%0A::x::%0D## [y]');
    expect(commandsIn(annotation('warning', evil))).toHaveLength(1);
  });

  test('no other text is a command, and JSON does not change', () => {
    expect(withoutCommands('::a::\n\t ::b::\n\u00A0::c::\nd ::e::\n::::f')).toBe(
      ': :a::\n\t : :b::\n\u00A0: :c::\nd ::e::\n: :::f',
    );
    expect(withoutCommands('a ##[b]c')).toBe('a ## [b]c');
    const json = JSON.stringify({text: 'a ##[b]c'});
    expect(withoutCommandsInJson(json)).not.toContain('##[');
    expect(JSON.parse(withoutCommandsInJson(json))).toEqual({text: 'a ##[b]c'});
  });
});

describe('a push in GitHub Actions', () => {
  test('writes its outputs and a summary', async () => {
    const env = await startRuntime();
    const {code, stdout, outputs, summary} = await step(['bundle:push', '-t', 'staging', '--wait', '--json'], env);
    expect(code).toBe(0);
    const {deploymentId, archive} = JSON.parse(stdout) as {deploymentId: string; archive: {sha256: string}};
    expect(outputs).toEqual({
      'target-slug': 'staging',
      'bundle-id': '1',
      'deployment-id': deploymentId,
      status: 'finished',
      backend: 'api',
      url: runtime?.siteUrl('shop', 'staging'),
      sha256: archive.sha256,
    });
    expect(summary).toContain('### mycli bundle:push');
    for (const cell of ['finished', 'shop', 'staging', '1', 'api', archive.sha256]) {
      expect(summary).toContain(`<td>${cell}</td>`);
    }
  });

  test('writes the bundle ID if the deployment after it failed, and the error as an annotation', async () => {
    const env = await startRuntime({faults: ['500x9:route=deploy']});
    const {code, stdout, stderr, outputs, summary} = await step(['bundle:push', '-t', 'staging', '--json'], env);
    expect(code).not.toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({error: {details: {bundleId: 1}}});
    const sha256 = expect.stringMatching(/^\w{64}$/) as string;
    expect(outputs).toEqual({'bundle-id': '1', backend: 'api', sha256});
    expect(summary).toContain('failed: Bundle 1 was uploaded');
    expect(commandsIn(stderr)).toEqual([expect.stringMatching(/^::error title=mycli::Bundle 1 was uploaded/)]);
    expect(stderr).not.toMatch(/^Error:/m);
  });

  test('the summary of a failure says where it was, what was checked and what came of the rollback', async () => {
    const env = {...(await startRuntime({faults: ['503:route=site']})), MYCLI_CHECK_RETRIES: '0'};
    const check = ['--check', '/', '--rollback-on-failure'];
    const {code, outputs, summary} = await step(['bundle:push', '-t', 'staging', ...check], env);
    expect(code).toBe(14);
    const url = runtime?.siteUrl('shop', 'staging');
    expect(outputs).toMatchObject({'bundle-id': '1', backend: 'api', url});
    for (const [name, cell] of Object.entries({
      ...{project: 'shop', target: 'staging', check: `${url}: failed`, url},
      rollback: 'not rolled back: nothing ran on staging before',
    })) {
      expect(summary).toContain(`<tr><th align="left">${name}</th><td>${cell}</td></tr>`);
    }
  });

  test('an ID that is refused as an input is no output', async () => {
    const env = await startRuntime();
    const args = ['bundle:deploy', 'abc', '-t', 'staging', '--runtime-backend', 'legacy'];
    await writeFile(join(root, 'output'), '');
    const ended = await step(args, {...env, MYCLI_API_KEY: 'key', MYCLI_RUNTIME_ORIGIN: 'http://127.0.0.1:1'});
    expect(ended).toMatchObject({code: 3, rawOutputs: ''});
    expect(ended.stderr).toContain('"abc" is not a bundle ID');
  });

  test('files that cannot be written are warned about, and what was done stays done', async () => {
    const env = await startRuntime();
    const {code, stderr} = await step(['bundle:push'], {...env, GITHUB_STEP_SUMMARY: join(root, 'absent', 'summary')});
    expect(code).toBe(0);
    expect(stderr).toContain(
      '::warning title=mycli::The outputs of this step cannot be written: no such file or directory.',
    );
  });

  test('outside of it there are no commands', async () => {
    const {stderr} = await runWarm(['bundle:push'], {cwd: project});
    expect(stderr).toContain('Error: ');
    expect(commandsIn(stderr)).toEqual([]);
  });
});

describe('what a server says', () => {
  async function pushTo(handler: Handler, args: readonly string[] = []): Promise<Step> {
    await using server = await startRecordingServer(handler);
    return await step(['bundle:push', '--debug', ...args], {
      MYCLI_API_ORIGIN: server.origin,
      MYCLI_ORGANIZATION: 'org',
      MYCLI_API_TOKEN: canaries.clientSecret,
    });
  }

  test.each([[[]], [['--json']]])('cannot inject anything when it warns (%j)', async (args) => {
    const {code, stdout, stderr, outputs, summary} = await pushTo(
      ({path}) =>
        path.includes('/deployments/v1/organizations/org/storefronts/shop/bundles')
          ? {status: 201, body: {bundleId: 7, warnings: [evil, '##[warning]w']}}
          : {status: 201, body: {deploymentId: 'dep-1', status: 'queued'}},
      ['-t', 'staging', ...args],
    );
    expect(code).toBe(0);
    expect(outputs).toEqual({
      'target-slug': 'staging',
      'bundle-id': '7',
      'deployment-id': 'dep-1',
      status: 'queued',
      backend: 'api',
      sha256: expect.stringMatching(/^\w{64}$/) as string,
    });
    const commands = commandsIn(stdout + stderr);
    expect(commands).not.toEqual([]);
    for (const command of commands) expect(command).toMatch(/^::warning title=mycli::[^\n]*$/);
    expect(stderr + summary).not.toContain(escape);
    expect(summary).not.toContain('<img');
    expect(summary.split('\n\n')).toHaveLength(3);
  });

  test('cannot inject anything when it refuses', async () => {
    const {code, stdout, stderr, outputs, summary} = await pushTo(() => ({status: 422, body: {detail: evil}}));
    expect(code).toBe(7);
    expect(outputs).toEqual({});
    const commands = commandsIn(stdout + stderr);
    expect(commands).toHaveLength(1);
    expect(commands[0]).toMatch(/^::error title=mycli::/);
    expect(stdout + stderr + summary).not.toContain(escape);
    expect(summary).toContain('owned &#60;img src=x&#62;');
    expect(summary.split('\n\n')).toHaveLength(3);
  });
});

describe('--output-env', () => {
  test('writes the same as dotenv, in place of what an earlier run wrote, and other lines stay', async () => {
    const env = await startRuntime();
    await writeFile(join(project, 'push.env'), '# ours\n\nTOKEN=precious\nMYCLI_BUNDLE_ID=old\nMYCLI_URL=old', {
      mode: 0o600,
    });
    const ended = await runWarm(['bundle:push', '-p', 'shop', '--output-env', 'push.env', '--json'], {
      cwd: project,
      env,
    });
    const {archive} = JSON.parse(ended.stdout) as {archive: {sha256: string}};
    expect(await readFile(join(project, 'push.env'), 'utf8')).toBe(
      `# ours\n\nTOKEN=precious\nMYCLI_BUNDLE_ID=1\nMYCLI_BACKEND=api\nMYCLI_SHA256=${archive.sha256}\n`,
    );
    expect((await stat(join(project, 'push.env'))).mode & 0o777).toBe(0o600);
  });

  test.each(['$(touch owned)', 'a b', "it's", '#7', '`owned`'])(
    'leaves out the id %j, which readers would not all take as it is',
    async (deploymentId) => {
      await using server = await startRecordingServer(({path}) =>
        path.endsWith('/bundles')
          ? {status: 201, body: {bundleId: 7}}
          : {status: 201, body: {deploymentId, status: 'queued'}},
      );
      const {code, stderr} = await step(['bundle:push', '-t', 'staging', '--output-env', 'push.env'], {
        MYCLI_API_ORIGIN: server.origin,
        MYCLI_ORGANIZATION: 'org',
        MYCLI_API_TOKEN: canaries.clientSecret,
      });
      expect(code).toBe(0);
      expect(stderr).toContain('left out');
      expect(await readFile(join(project, 'push.env'), 'utf8')).toMatch(
        /^MYCLI_TARGET_SLUG=staging\nMYCLI_BUNDLE_ID=7\nMYCLI_STATUS=queued\nMYCLI_BACKEND=api\nMYCLI_SHA256=\w{64}\n$/,
      );
    },
  );

  test('a dry run leaves the file as it is', async () => {
    await writeFile(join(project, 'push.env'), 'MYCLI_BUNDLE_ID=6\n');
    expect((await step(['bundle:push', '--dry-run', '--output-env', 'push.env'])).code).toBe(0);
    expect(await readFile(join(project, 'push.env'), 'utf8')).toBe('MYCLI_BUNDLE_ID=6\n');
  });

  test.each(['{\n  "name": "app"\n}\n', 'some notes\n'])(
    'a file that is no dotenv file is left alone: %j',
    async (content) => {
      const env = await startRuntime();
      await writeFile(join(project, 'package.json'), content);
      const {code, stderr} = await step(['bundle:push', '--output-env', 'package.json'], env);
      expect([code, stderr]).toEqual([
        3,
        expect.stringContaining('package.json is not a file of --output-env') as string,
      ]);
      expect(await readFile(join(project, 'package.json'), 'utf8')).toBe(content);
      expect(runtime?.requests).toEqual([]);
    },
  );

  test('a file that cannot be written is an error before anything is sent', async () => {
    const env = await startRuntime();
    const {code, stdout} = await step(['bundle:push', '--json', '--output-env', 'absent/push.env'], env);
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({error: {code: 'ERR_OUTPUT'}});
    expect(runtime?.requests).toEqual([]);
  });
});

describe('action.yml', () => {
  const actionPath = resolve(import.meta.dirname, '../../..');

  /** The scripts of its steps. */
  async function scripts(): Promise<readonly string[]> {
    const action = await readFile(join(actionPath, 'action.yml'), 'utf8');
    return [...action.matchAll(/^( +)(?:- )?run: \|\n((?:\1 {2}.*\n|\n)+)/gm)].map(([, indent = '', script = '']) =>
      script.replaceAll(`\n${indent}  `, '\n').trimStart(),
    );
  }

  async function runAction(env: Readonly<Record<string, string>>, at = 1) {
    const script = (await scripts())[at] ?? '';
    const child = spawn('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script], {
      cwd: project,
      env: {
        PATH: process.env['PATH'],
        HOME: root,
        GITHUB_ACTION_PATH: actionPath,
        GITHUB_OUTPUT: join(root, 'output'),
        GITHUB_STEP_SUMMARY: join(root, 'summary'),
        RUNNER_TEMP: root,
        MYCLI_PROJECT: 'shop',
        ...env,
      },
    });
    const [stderr, [code], stdout] = await Promise.all([
      text(child.stderr),
      once(child, 'close') as Promise<[number]>,
      text(child.stdout),
    ]);
    return {code, stderr, stdout, outputs: parseOutputs(await readFile(join(root, 'output'), 'utf8'))};
  }

  /** The comments of a pull request, as the API of GitHub serves them. Its token is `canary-token`. */
  async function startGitHub(
    comments: {id: number; body: string; user: {login: string}}[] = [],
    author = 'github-actions[bot]',
  ) {
    const server = await startRecordingServer(({method, path, headers, body}) => {
      if (headers.authorization !== 'Bearer canary-token') return {status: 403, body: {}};
      if (path === '/graphql') return {status: 200, body: {data: {viewer: {login: author}}}};
      const page = Number(/&page=(\d+)$/.exec(path)?.[1]);
      if (method === 'GET') return {status: 200, body: comments.slice(100 * (page - 1), 100 * page)};
      const {body: text} = JSON.parse(body.toString()) as {body: string};
      if (method === 'POST') comments.push({id: comments.length + 1, body: text, user: {login: author}});
      else Object.assign(comments.find(({id}) => path.endsWith(`/issues/comments/${id}`)) ?? {}, {body: text});
      return {status: 200, body: {}};
    });
    const event = join(root, 'event.json');
    await writeFile(event, JSON.stringify({pull_request: {number: 7, head: {sha: '1a2b3c'}}}));
    const env = {
      ...{
        GITHUB_API_URL: server.origin,
        GITHUB_GRAPHQL_URL: `${server.origin}/graphql`,
        GITHUB_EVENT_PATH: event,
        GITHUB_REPOSITORY: 'acme/shop',
      },
      ...{GITHUB_SERVER_URL: 'https://github.example', GITHUB_RUN_ID: '99'},
    };
    const comment = (more: Readonly<Record<string, string>> = {}) =>
      runAction({...env, INPUT_PREVIEW: 'up', OUTCOME: 'success', URL: '', TOKEN: 'canary-token', ...more}, 2);
    return {server, comments, env, comment, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]()};
  }

  test('has no expression in a script: inputs come through the environment', async () => {
    expect(await scripts()).toHaveLength(4);
    for (const script of await scripts()) expect(script).not.toContain('${{');
  });

  test('declares every output that its commands write', async () => {
    const env = {...(await startRuntime({deploymentSeconds: 0})), MYCLI_POLL_INTERVAL: '0.05'};
    const {code, outputs} = await runAction({...env, MYCLI_TARGET: 'staging', MYCLI_WAIT: 'true'});
    expect(code).toBe(0);
    const action = await readFile(join(actionPath, 'action.yml'), 'utf8');
    const declared = [...action.matchAll(/^    value: \$\{\{ steps\.mycli\.outputs\.([\w-]+) \}\}$/gm)].map(
      ([, name]) => name,
    );
    expect(declared.toSorted()).toEqual([...Object.keys(outputs), 'skipped'].toSorted());
    expect(outputs['target-slug']).toBe('staging');
  });

  test('names no bundle that does not exist', async () => {
    const {code, outputs} = await runAction({...(await startRuntime()), INPUT_BUNDLE: '99', MYCLI_TARGET: 'staging'});
    expect([code, outputs]).toEqual([7, {}]);
  });

  test.each([
    ['true', {code: 0, outputs: {skipped: 'true'}}],
    ['', {code: 3, outputs: {}}],
  ])('does nothing without credentials if skip-without-credentials is "%s"', async (INPUT_SKIP, expected) => {
    const {MYCLI_API_ORIGIN: MYCLI_RUNTIME_ORIGIN = ''} = await startRuntime();
    const ended = await runAction({MYCLI_RUNTIME_ORIGIN, MYCLI_API_KEY: ' ', INPUT_SKIP});
    expect(ended).toMatchObject(expected);
    if (INPUT_SKIP === 'true') expect(ended.stdout).toMatch(/^::notice::There are no credentials, .+\n$/);
    expect(runtime?.requests).toEqual([]);
  });

  test.each(['MYCLI_API_KEY', 'MYCLI_CLIENT_SECRET', 'MYCLI_CLIENT_KEY', 'MYCLI_API_TOKEN'])(
    'skips nothing that has %s, with skip-without-credentials',
    async (variable) => {
      const {code, outputs} = await runAction({[variable]: 'a secret', INPUT_SKIP: 'true'});
      expect(code).not.toBe(0);
      expect(outputs).toEqual({});
    },
  );

  test('sends secrets only where its inputs or trusted-origins say, not where the config file does', async () => {
    const {MYCLI_API_ORIGIN: origin = '', MYCLI_TOKEN_URL: tokenUrl, ...env} = await startRuntime();
    await writeFile(join(project, 'mycli.config.json'), JSON.stringify({api: {origin, tokenUrl}}));
    const warning = '::warning::The config file decides which service gets the secrets. Set trusted-origins.';
    const api = {...env, MYCLI_RUNTIME_BACKEND: 'api'};
    const refused = await runAction({...api, MYCLI_RUNTIME_ORIGIN: 'https://runtime.example'});
    expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining('MYCLI_TRUSTED_ORIGINS does not list')]);
    const listed = {...api, MYCLI_RUNTIME_ORIGIN: '', MYCLI_TRUSTED_ORIGINS: origin};
    expect(await runAction(listed)).toMatchObject({code: 0, stderr: expect.not.stringContaining(warning) as string});
    const blank = await runAction({
      ...listed,
      MYCLI_RUNTIME_ORIGIN: 'https://trusted.example',
      MYCLI_TRUSTED_ORIGINS: ' \n',
    });
    expect([blank.code, blank.stderr]).toEqual([3, expect.stringContaining('MYCLI_TRUSTED_ORIGINS does not list')]);
    const open = {...listed, MYCLI_TRUSTED_ORIGINS: ''};
    expect(await runAction(open)).toMatchObject({code: 0, stderr: expect.stringContaining(warning) as string});
  });

  test('pushes, with inputs that a shell would run and arguments that are one each', async () => {
    const env = await startRuntime();
    const {code, outputs} = await runAction({
      ...env,
      MYCLI_MESSAGE: '$(touch owned) `touch owned`',
      INPUT_ARGUMENTS: '--ignore=$(touch owned); touch owned\n\n--target\nstaging',
      INPUT_WORKING_DIRECTORY: project,
    });
    expect(code).toBe(0);
    expect(outputs).toMatchObject({'bundle-id': '1', backend: 'api'});
    expect(outputs).toHaveProperty('deployment-id');
    await expect(readFile(join(project, 'owned'))).rejects.toThrow('ENOENT');
  });

  test('shows what changes since the bundle that runs, where that can be known', async () => {
    const {MYCLI_API_ORIGIN: MYCLI_RUNTIME_ORIGIN = ''} = await startRuntime({deploymentSeconds: 0});
    const legacy = {MYCLI_RUNTIME_ORIGIN, MYCLI_API_KEY: canaries.apiKey, GITHUB_ACTIONS: 'true'};
    const env = {...legacy, MYCLI_WAIT: 'true', INPUT_DIFF: 'true', INPUT_ARGUMENTS: '--v2'};
    // The workflow names neither the target nor the build.
    await rename(join(project, 'build'), join(project, 'site'));
    await writeFile(join(project, 'mycli.config.json'), '{"targetSlug": "staging", "buildDirectory": "site"}');
    const first = await runAction(env);
    expect(first).toMatchObject({code: 0, outputs: {'bundle-id': '1'}});
    expect(first.stderr).toContain('::warning title=mycli::');
    await writeFile(join(project, 'site/static/b.txt'), 'added');
    expect(await runAction(env)).toMatchObject({code: 0, outputs: {'bundle-id': '2'}});
    const summary = await readFile(join(root, 'summary'), 'utf8');
    expect(summary).toContain('5 B   static/b.txt\n\n### mycli');
    expect(summary.match(/### mycli bundle:push/g)).toHaveLength(2);
  });

  test('takes an input that is empty for one that was not given', async () => {
    const {MYCLI_API_ORIGIN: MYCLI_RUNTIME_ORIGIN = ''} = await startRuntime();
    const legacy = {MYCLI_RUNTIME_ORIGIN, MYCLI_API_KEY: canaries.apiKey};
    const env = {...legacy, MYCLI_CLIENT_SECRET: '', MYCLI_API_ORIGIN: '', MYCLI_TARGET: ''};
    expect(await runAction(env)).toMatchObject({code: 0, outputs: {backend: 'legacy'}});
  });

  test('makes the preview of a pull request and deletes it', async () => {
    const env = {...(await startRuntime({deploymentSeconds: 0})), GITHUB_HEAD_REF: '--feature/$(touch owned)'};
    const up = await runAction({...env, INPUT_PREVIEW: 'up', MYCLI_POLL_INTERVAL: '0.05'});
    expect(up.stderr).not.toContain('Error:');
    expect(up).toMatchObject({code: 0, outputs: {'bundle-id': '1', url: expect.stringMatching(/^http/) as string}});
    for (const done of ['Deleted ', 'Nothing to delete'])
      expect(await runAction({...env, INPUT_PREVIEW: 'down'})).toMatchObject({
        code: 0,
        stdout: expect.stringContaining(done) as string,
      });
    const sent = runtime?.requests.length;
    for (const wrong of [{INPUT_PREVIEW: 'on'}, {INPUT_PREVIEW: 'down', INPUT_BUNDLE: '1'}])
      expect(await runAction({...env, ...wrong})).toMatchObject({code: 2});
    expect(runtime?.requests.length).toBe(sent);
    await expect(readFile(join(project, 'owned'))).rejects.toThrow('ENOENT');
  });

  test('shows the preview in one comment of the pull request, which is renewed', async () => {
    const others = Array.from({length: 120}, (_, at) => ({id: at + 1, body: 'Nice!', user: {login: 'ann'}}));
    await using github = await startGitHub(others);
    await github.comment({INPUT_PREVIEW: 'down'});
    expect(github.comments).toHaveLength(120);
    await github.comment({URL: 'https://shop.example/preview-a/'});
    await github.comment({URL: 'https://shop.example/preview-a/', INPUT_PROJECT: 'admin'});
    expect(github.comments.slice(120).map(({body}) => body)).toEqual([
      '<!-- mycli-preview  -->\n**Preview**: https://shop.example/preview-a/\n\nRuns 1a2b3c. ' +
        '[Log](https://github.example/acme/shop/actions/runs/99)',
      expect.stringMatching(/^<!-- mycli-preview admin -->\n\*\*Preview of admin\*\*: https/),
    ]);
    for (const [more, said] of [
      [{OUTCOME: 'failure'}, '1a2b3c could not be deployed'],
      [{INPUT_PREVIEW: 'down'}, 'deleted'],
    ] as const) {
      expect(await github.comment(more)).toMatchObject({code: 0, stdout: '', stderr: ''});
      expect(github.comments).toHaveLength(122);
      expect(github.comments[120]?.body).toContain(`**Preview**: ${said}. [Log]`);
    }
  });

  test.each(['github-actions[bot]', 'ann', 'previews[bot]'])(
    'leaves the comments of others that begin like its own, and renews that of %s',
    async (author) => {
      const body = '<!-- mycli-preview  -->\nMine';
      const others = ['mallory', 'previews', 'github-actions', 'other[bot]'].map((login, at) => ({
        ...{id: at + 1, body, user: {login}},
      }));
      await using github = await startGitHub(others, author);
      for (const URL of ['https://shop.example/a/', 'https://shop.example/b/']) await github.comment({URL});
      expect(github.comments).toHaveLength(5);
      expect(github.comments.slice(0, 4).map((comment) => comment.body)).toEqual([body, body, body, body]);
      expect(github.comments[4]?.body).toContain('https://shop.example/b/');
    },
  );

  test('only warns of a comment that GitHub refuses, and writes none without a pull request', async () => {
    await using github = await startGitHub();
    const warning = '::warning::The pull request has no comment: GitHub answered 403 to GET ';
    expect(await github.comment({TOKEN: 'wrong'})).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        new RegExp(`^${warning}.*Give the job the permission pull-requests: write\\.\n$`),
      ) as string,
    });
    const asked = github.server.requests.length;
    await writeFile(github.env.GITHUB_EVENT_PATH, '{"ref": "refs/heads/main"}');
    expect(await github.comment()).toMatchObject({code: 0, stdout: ''});
    expect(github.server.requests.length).toBe(asked);
  });

  test('shows a deployment on the page of the repository, and ends that of a deleted preview', async () => {
    await using server = await startRecordingServer(({method, headers}) => {
      if (headers.authorization !== 'Bearer canary-token') return {status: 403, body: {}};
      return {status: 200, body: method === 'GET' ? [{id: 5}, {id: 6}] : {id: 7}};
    });
    const event = join(root, 'event.json');
    await writeFile(event, JSON.stringify({pull_request: {number: 7, head: {sha: '1a2b3c'}}}));
    const url = 'https://shop.example/';
    const shown = async (more: Readonly<Record<string, string>>) => {
      const before = server.requests.length;
      const env = {
        ...{GITHUB_API_URL: server.origin, GITHUB_EVENT_PATH: event, GITHUB_REPOSITORY: 'acme/shop'},
        ...{GITHUB_SERVER_URL: 'https://github.example', GITHUB_RUN_ID: '99', GITHUB_HEAD_REF: 'a/b'},
        ...{TOKEN: 'canary-token', OUTCOME: 'success', URL: url, ...more},
      };
      const {code, stdout} = await runAction(env, 3);
      expect(code).toBe(0);
      const asked = server.requests.slice(before).map(({method, path, body}) => {
        const text = body.toString();
        return {request: `${method} ${path}`, ...(text !== '' && (JSON.parse(text) as object))};
      });
      return {stdout, asked};
    };
    const page = '/repos/acme/shop/deployments';
    expect((await shown({TARGET_SLUG: 'production', STATUS: 'finished'})).asked).toMatchObject([
      {request: `POST ${page}`, ref: '1a2b3c', environment: 'production', transient_environment: false},
      {request: `POST ${page}/7/statuses`, state: 'success', environment_url: url},
    ]);
    expect((await shown({TARGET_SLUG: 'production', STATUS: 'queued'})).asked[1]).toMatchObject({state: 'queued'});
    expect((await shown({INPUT_PREVIEW: 'up', OUTCOME: 'failure'})).asked).toMatchObject([
      {environment: 'preview/a/b', transient_environment: true},
      {state: 'failure', environment_url: ''},
    ]);
    expect((await shown({INPUT_PREVIEW: 'down'})).asked).toMatchObject([
      {request: `GET ${page}?environment=preview%2Fa%2Fb&per_page=100`},
      {request: `POST ${page}/5/statuses`, state: 'inactive'},
      {request: `POST ${page}/6/statuses`, state: 'inactive'},
    ]);
    expect((await shown({})).asked).toEqual([]);
    expect((await shown({TARGET_SLUG: 'production', TOKEN: 'wrong'})).stdout).toMatch(
      /^::warning::The deployment is not shown on GitHub: .*Give the job the permission deployments: write\.\n$/,
    );
  });

  test('deploys a bundle, and what looks like a flag is an id', async () => {
    const env = await startRuntime();
    await runAction(env);
    expect(await runAction({...env, INPUT_BUNDLE: '1', MYCLI_TARGET: 'staging'})).toMatchObject({
      code: 0,
      outputs: {'bundle-id': '1'},
    });
    const {code, stderr} = await runAction({...env, INPUT_BUNDLE: '--help', MYCLI_TARGET: 'staging'});
    expect(code).not.toBe(0);
    expect(stderr).toContain('--help');
  });
});
