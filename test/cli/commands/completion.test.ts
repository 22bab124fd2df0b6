import {spawnSync} from 'node:child_process';
import {existsSync} from 'node:fs';
import {mkdir, mkdtemp, readdir, rm, symlink, utimes, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {delimiter, join} from 'node:path';
import {afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test} from 'vitest';
import {startLocalRuntime, type LocalRuntime} from '../../../src/testing.js';
import {binary, runCli} from '../spawn-cli.js';
import {runWarm} from '../warm-cli.js';
import {createPluginBench} from '../with-plugins.js';

const bashCompletion = '/usr/share/bash-completion/bash_completion';
const hasBash = existsSync(bashCompletion);
// Elsewhere zsh may ask whether its folders are safe.
const hasZsh = process.platform === 'linux' && spawnSync('zsh', ['--version']).status === 0;

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'mycli-completion-'));
  await mkdir(join(home, 'bin'));
  await symlink(binary, join(home, 'bin/mycli'));
  const built = await runWarm(['autocomplete', '--refresh-cache'], {env: {HOME: home}});
  expect(built.code).toBe(0);
});
afterAll(() => rm(home, {recursive: true, force: true}));

/** Runs a script in a shell of a user who has set nothing, and gives the lines that it prints. */
function shell(name: 'bash' | 'fish' | 'zsh', args: readonly string[], cwd = home): readonly string[] {
  const path = [join(home, 'bin'), process.env['PATH']].join(delimiter);
  const env = {HOME: home, PATH: path, TERM: 'dumb'};
  const {stdout, stderr} = spawnSync(name, args, {cwd, env, encoding: 'utf8', timeout: 200_000});
  expect(stderr).toBe('');
  return stdout.trim().split(/\s*\n/);
}

// As bash calls it: a colon breaks words, and what is offered replaces the last of them.
const bashScript = `
. ${bashCompletion}
eval "$(mycli autocomplete:script bash)"
COMP_WORDBREAKS=$' \\t\\n"\\'><=;|&(:'
COMP_LINE="$*" COMP_POINT=\${#COMP_LINE}
COMP_WORDS=(\${COMP_LINE//:/ : }) COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
_mycli_autocomplete
printf '%s\\n' "\${COMPREPLY[@]}"
`;

describe.skipIf(!hasBash)('completion of autocomplete in bash', () => {
  test.each([
    ['mycli bundle:d', ['delete', 'deploy', 'diff', 'download']],
    ['mycli conf', ['config:show']],
    ['mycli bundle:push --arch', ['--archive']],
    [
      'mycli auth:logout --',
      ['--json', '--cwd', '--config', '--debug', '--quiet', '--origin', '--api-origin', '--runtime-backend', '--all'],
    ],
  ])('of "%s" offers %j', (line, offered) => {
    expect(shell('bash', ['--norc', '-c', bashScript, 'bash', ...line.split(' ')])).toEqual(offered);
  });
});

// A shell at a terminal of its own, in which Control-X tells what stands in the line. The markers are written so that
// the echo of the commands does not contain them.
const zshScript = `
zmodload zsh/zpty
zpty inner zsh -f -i
zpty -w inner "PS1=REA''DY; unsetopt prompt_cr; eval \\"\\$(mycli autocomplete:script zsh)\\""
zpty -w inner 'tell() { print -r -- LI""NE"[$BUFFER]" }; zle -N tell; bindkey "^X" tell; print -r -- SET''UP'
zpty -r inner output '*SETUP*READY*'
zpty -n -w inner "$*"$'\\t\\x18'
zpty -r inner output '*LINE\\[*\\]*'
zpty -d inner
print -r -- \${\${output##*LINE\\[}%%\\]*}
`;

describe.skipIf(!hasZsh)('completion of autocomplete in zsh', () => {
  test.each([
    ['mycli bundle:pu', 'mycli bundle:push'],
    ['mycli conf', 'mycli config:show'],
    ['mycli bundle:push --arch', 'mycli bundle:push --archive='],
  ])('of "%s" makes it "%s"', (line, completed) => {
    expect(shell('zsh', ['-f', '-c', zshScript, 'zsh', ...line.split(' ')])).toEqual([completed]);
  });
});

const hasFish = spawnSync('fish', ['--version']).status === 0;
const hasBashItself = spawnSync('bash', ['--version']).status === 0;

/** A project folder with something to complete. */
async function makeProject(): Promise<string> {
  const project = join(home, 'project');
  await mkdir(join(project, 'build'), {recursive: true});
  await writeFile(join(project, 'bundle.tar.gz'), '');
  await writeFile(join(project, 'my bundle.tar'), '');
  return project;
}

/** What the binary offers a shell in place of the last word, without what each is. */
async function offeredBy(words: readonly string[], options: Parameters<typeof runWarm>[1] = {}) {
  const env = {HOME: home, XDG_CACHE_HOME: join(home, 'cache'), ...options.env};
  const ended = await runWarm(['__complete', '--', ...words], {cwd: await makeProject(), ...options, env});
  expect(ended).toMatchObject({code: 0, stderr: ''});
  const [paths, ...lines] = ended.stdout.trimEnd().split('\n');
  return {paths, values: lines.map((line) => line.replace(/\t.*/s, ''))};
}

describe('what is offered', () => {
  test.each([
    [['bundle:d'], ['bundle:delete', 'bundle:deploy', 'bundle:diff', 'bundle:download']],
    [
      ['bundle', 'd'],
      ['delete', 'deploy', 'diff', 'download'],
    ],
    [['pus'], ['push']],
    [['help', 'pus'], ['push']],
    [['bundle', 'push', '--arch'], ['--archive']],
    [['push', '--json', '--js'], []],
    [
      ['push', '--no-wa'],
      ['--no-wait', '--no-wait-for-slot'],
    ],
    [
      ['push', '--match-mode', ''],
      ['strict', 'ignore_missing'],
    ],
    [['push', '--match-mode=s'], ['strict']],
    [
      ['push', '--runtime-backend', 'a'],
      ['auto', 'api'],
    ],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [['push', '-m', ''], []],
    [['nope', ''], []],
  ])('for %j is %j', async (words, values) => {
    expect(await offeredBy(words)).toEqual({paths: 'words', values});
  });

  test.each([
    [['push', '--archive', ''], 'files'],
    [['push', '--archive=b'], 'files'],
    [['deploy', '--config', ''], 'files'],
    [['bundle:inspect', ''], 'files'],
    [['push', '-b', ''], 'folders'],
    [['push', '--cwd', ''], 'folders'],
    [['plugins:link', ''], 'folders'],
    [['push', '--root-dir', ''], 'words'],
  ])('for %j has paths: %s', async (words, paths) => {
    expect((await offeredBy(words)).paths).toBe(paths);
  });
});

describe('bundles and targets', () => {
  let runtime: LocalRuntime;
  beforeEach(async () => {
    runtime = await startLocalRuntime({deploymentSeconds: 0});
  });
  afterEach(() => runtime.close());

  const environment = () => ({
    XDG_CACHE_HOME: join(home, `cache-${new URL(runtime.origin).port}`),
    MYCLI_RUNTIME_ORIGIN: runtime.origin,
    MYCLI_API_KEY: runtime.credentials.apiKey,
    MYCLI_PROJECT: 'shop',
  });

  async function push(target: string) {
    const cwd = await makeProject();
    await writeFile(join(cwd, 'build/ssr.js'), '');
    const ended = await runWarm(['push', '-t', target, '--wait', '-m', 'first'], {cwd, env: environment()});
    expect(ended).toMatchObject({code: 0});
  }

  test('are those of the service, asked once and shown when the answer is there', async () => {
    await push('staging');
    const env = environment();
    const before = runtime.requests.length;
    // The first question may be over before the answer has come.
    await expect.poll(() => offeredBy(['deploy', ''], {env})).toEqual({paths: 'words', values: ['latest', '1']});
    const asked = runtime.requests.length;
    expect(asked).toBeGreaterThan(before);
    expect(await offeredBy(['push', '--target', ''], {env})).toEqual({paths: 'words', values: ['staging']});
    expect(await offeredBy(['push', '--project', 's'], {env})).toEqual({paths: 'words', values: ['shop']});
    expect(await offeredBy(['bundle', 'delete', '1', ''], {env})).toEqual({paths: 'words', values: ['1']});
    expect(runtime.requests.length).toBe(asked);
  });

  test('are not asked for where only a file says that the service is, nor by running one', async () => {
    const {MYCLI_RUNTIME_ORIGIN: origin, ...env} = environment();
    const files = {
      'mycli.config.json': JSON.stringify({origin}),
      'mycli.config.mjs': `import {writeFileSync} from 'node:fs'; writeFileSync('ran', ''); export default {origin: '${origin}'};`,
    };
    for (const [name, content] of Object.entries(files)) {
      const cwd = await mkdtemp(join(home, 'untrusted-'));
      await writeFile(join(cwd, name), content);
      expect(await offeredBy(['deploy', ''], {cwd, env})).toEqual({paths: 'words', values: ['latest']});
      expect(existsSync(join(cwd, 'ran'))).toBe(false);
      expect(existsSync(join(env.XDG_CACHE_HOME, 'mycli/completion'))).toBe(false);
    }
    expect(runtime.requests).toEqual([]);
  });

  test('are those of the last list where nothing is asked', async () => {
    await push('staging');
    const {MYCLI_RUNTIME_ORIGIN: origin, ...env} = environment();
    const cwd = await mkdtemp(join(home, 'trusted-'));
    const code = `import {writeFileSync} from 'node:fs'; writeFileSync('ran', ''); export default {origin: '${origin}'};`;
    await writeFile(join(cwd, 'mycli.config.mjs'), code);
    expect(await runCli(binary, ['list', '--limit', '5'], {cwd, env})).toMatchObject({code: 0});
    await rm(join(cwd, 'ran'));
    expect(await offeredBy(['deploy', ''], {cwd, env})).toEqual({paths: 'words', values: ['latest', '1']});
    // A shorter list forgets none of them.
    await push('staging');
    expect(await runCli(binary, ['list', '--limit', '1'], {cwd, env})).toMatchObject({code: 0});
    await rm(join(cwd, 'ran'));
    expect(await offeredBy(['deploy', ''], {cwd, env})).toEqual({paths: 'words', values: ['latest', '2', '1']});
    // What another project has is none of this one's.
    expect(await offeredBy(['deploy', '--project', 'other', ''], {cwd, env})).toEqual({
      paths: 'words',
      values: ['latest'],
    });
    expect(existsSync(join(cwd, 'ran'))).toBe(false);
  });

  test('are not offered when the service does not answer, and nobody waits for it', async () => {
    const env = {...environment(), MYCLI_RUNTIME_ORIGIN: 'http://127.0.0.1:9'};
    expect(await offeredBy(['deploy', ''], {env})).toEqual({paths: 'words', values: ['latest']});
  });
});

describe("bundles and targets of a plugin's backend", () => {
  /** A project, and a user with the plugin. */
  async function bench() {
    const made = await createPluginBench('targets');
    onTestFinished(() => made[Symbol.asyncDispose]());
    const {project, root, env} = made;
    const calls = join(root, 'calls');
    const own = {...env, XDG_CACHE_HOME: join(root, 'cache')};
    const offered = (args: readonly string[], variables = {}) =>
      offeredBy(args, {cwd: project, env: {...own, ...variables}}).then(({values}) => values);
    const list = () => runWarm(['list'], {cwd: project, env: own});
    return {...made, calls, offered, list, called: () => existsSync(calls)};
  }

  test('are asked for where the user names it', async () => {
    const {calls, offered} = await bench();
    const env = {MYCLI_RUNTIME_BACKEND: 'targets', MYCLI_BACKEND_OPTION: `calls=${calls}`};
    await expect.poll(() => offered(['push', '--target', ''], env)).toEqual(['production', 'staging']);
    expect(await offered(['deploy', ''], env)).toEqual(['latest', 'b-7']);
  });

  test('are not asked for where only a file does, until the user has listed them with that file', async () => {
    const {calls, offered, list, called, project, root} = await bench();
    const path = join(project, 'mycli.config.json');
    const config = {projectSlug: 'shop', runtimeBackend: 'targets', backends: {targets: {calls}}};
    await writeFile(path, JSON.stringify(config));
    expect(await offered(['push', '--target', ''])).toEqual([]);
    expect(called()).toBe(false);

    expect(await list()).toMatchObject({code: 0});
    expect(await offered(['push', '--target', ''])).toEqual(['staging']);
    await makeStale(root);
    await expect.poll(() => offered(['push', '--target', ''])).toEqual(['production', 'staging']);

    await writeFile(path, JSON.stringify({...config, wait: true}));
    await makeStale(root);
    await rm(calls);
    expect(await offered(['deploy', ''])).toEqual(['latest', 'b-7']);
    expect(called()).toBe(false);
  });
});

/** Makes the cached answers a minute old, and questions too. */
async function makeStale(root: string): Promise<void> {
  const folder = join(root, 'cache/mycli/completion');
  const then = new Date(Date.now() - 60_000);
  for (const name of await readdir(folder)) await utimes(join(folder, name), then, then);
}

// As bash calls it, without the package bash-completion.
const ownBashScript = `
eval "$(mycli completion bash)"
COMP_WORDBREAKS=$' \\t\\n"\\'><=;|&(:'
COMP_LINE="$1" COMP_POINT=\${#COMP_LINE}
_mycli_completion
printf '%s\\n' "\${COMPREPLY[@]}"
`;

describe.skipIf(!hasBashItself)('the script for bash', () => {
  test.each([
    ['mycli bundle:d', ['delete', 'deploy', 'diff', 'download']],
    ['mycli bundle d', ['delete', 'deploy', 'diff', 'download']],
    ['mycli pus', ['push']],
    ['mycli push --archive ', ['build', 'bundle.tar.gz', 'my bundle.tar']],
    ['mycli push --archive=bun', ['bundle.tar.gz']],
    ['mycli push -C b', ['build']],
    ['mycli bundle:build --format=v', ['v1', 'v2']],
  ])('of "%s" offers %j', async (line, offered) => {
    const cwd = await makeProject();
    expect([...shell('bash', ['--norc', '-c', ownBashScript, 'bash', line], cwd)].sort()).toEqual(offered);
  });
});

const ownZshScript = zshScript.replace('autocomplete:script zsh', 'completion zsh');

describe.skipIf(!hasZsh)('the script for zsh', () => {
  test.each([
    ['mycli bundle:pu', 'mycli bundle:push'],
    ['mycli bundle pu', 'mycli bundle push'],
    ['mycli push --arch', 'mycli push --archive'],
    ['mycli push --archive bun', 'mycli push --archive bundle.tar.gz'],
    ['mycli push --archive=bun', 'mycli push --archive=bundle.tar.gz'],
    ['mycli push --match-mode=s', 'mycli push --match-mode=strict'],
    ['mycli push -C bu', 'mycli push -C build/'],
  ])('of "%s" makes it "%s"', async (line, completed) => {
    const cwd = await makeProject();
    expect(shell('zsh', ['-f', '-c', ownZshScript, 'zsh', ...line.split(' ')], cwd)).toEqual([completed]);
  });
});

describe.skipIf(!hasFish)('the script for fish', () => {
  test.each([
    ['mycli bundle:d', ['bundle:delete', 'bundle:deploy', 'bundle:diff', 'bundle:download']],
    ['mycli bundle d', ['delete', 'deploy', 'diff', 'download']],
    ['mycli push --archive bun', ['bundle.tar.gz']],
    ['mycli push --archive=bun', ['--archive=bundle.tar.gz']],
    ['mycli push -C bu', ['build/']],
    ['mycli bundle:build --format=', ['--format=v1', '--format=v2']],
  ])('of "%s" offers %j', async (line, offered) => {
    const script = 'mycli completion fish | source; complete -C $argv[1]';
    const lines = shell('fish', ['--no-config', '-c', script, line], await makeProject());
    expect(lines.map((candidate) => candidate.replace(/\t.*/s, ''))).toEqual(offered);
  });
});
