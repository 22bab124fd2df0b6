import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import process from 'node:process';
import {text} from 'node:stream/consumers';
import {fileURLToPath} from 'node:url';
import glob from 'fast-glob';
import {beforeEach, describe, expect, test} from 'vitest';
import type {LocalRuntime, LocalRuntimeOptions} from '../../../src/testing.js';
import {createError} from '../../../src/errors/index.js';
import {flagsOfCommands} from '../../../src/errors/suggestion.js';
import {BearerTokenStrategy, deployBundle} from '../../../src/index.js';
import {binary, type Ended} from '../spawn-cli.js';
import {runWarm} from '../warm-cli.js';
import {makeFolder} from '../../folder.js';
import {startRuntime} from '../../local-runtime/with-runtime.js';
import {shellLine} from '../../../src/text/suggest.js';
import {acme} from '../../operations/acme.js';

// What commands say when something is missing, and what they say to type next: true, complete, and once.

const ownRoot = fileURLToPath(new URL('../../..', import.meta.url));

let root: string;
let project: string;
let runtime: LocalRuntime;

beforeEach(async () => {
  root = await makeFolder({'project/build/ssr.js': 'export default 1;\n'});
  project = join(root, 'project');
  await serve();
});

async function serve(options: LocalRuntimeOptions = {}): Promise<void> {
  ({runtime} = await startRuntime(options));
}

function environment(): Readonly<Record<string, string>> {
  return {
    ...{HOME: root, XDG_DATA_HOME: join(root, 'data'), MYCLI_PROJECT: 'shop', MYCLI_TARGET: 'staging'},
    ...{MYCLI_RUNTIME_ORIGIN: runtime.origin, MYCLI_API_KEY: runtime.credentials.apiKey, MYCLI_POLL_INTERVAL: '0.05'},
  };
}

function mycli(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  return runWarm(args, {cwd: project, env: {...environment(), ...env}});
}

describe('a command to paste', () => {
  test.each([
    ["--project 'shop; touch pwned #'", 'shop; touch pwned #'],
    ['--project=--force', '--force'],
  ])('keeps what a configuration file says one argument: %s', async (quoted, projectSlug) => {
    await writeFile(join(project, 'mycli.config.json'), JSON.stringify({projectSlug}));
    for (const args of [['bundle:deploy', 'latest'], ['bundle:rollback'], ['open'], ['bundle:inspect', '9']]) {
      const {code, stdout} = await mycli([...args, '--json'], {MYCLI_PROJECT: ''});
      const {error} = JSON.parse(stdout) as {readonly error: {readonly suggestions: readonly string[]}};
      const hints = error.suggestions.filter((line) => line.includes('mycli bundle:'));
      expect({args, code, hints}).toEqual({args, code: 7, hints: [expect.stringContaining(quoted)]});
    }
  });
});

describe('a suggested command, pasted into a fresh shell of the same folder', () => {
  // What the shell has by itself: a login, and the configuration of the folder.
  const home = () => ({HOME: root, XDG_CONFIG_HOME: join(root, 'config'), XDG_DATA_HOME: join(root, 'data')});
  const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}, cwd = project) =>
    runWarm(args, {cwd, env: {...home(), ...env}});

  async function paste(line: string, cwd = project): Promise<Ended> {
    await writeFile(join(root, 'bin/mycli'), `#!/bin/sh\nexec '${process.execPath}' '${binary}' "$@"\n`, {mode: 0o755});
    const child = spawn('sh', ['-c', line], {cwd, env: {...home(), PATH: `${join(root, 'bin')}:/usr/bin:/bin`}});
    const outputs = Promise.all([text(child.stdout), text(child.stderr)]);
    const [code] = (await once(child, 'close')) as [number];
    const [stdout, stderr] = await outputs;
    return {code, signal: null, stdout, stderr};
  }

  /** The command that follows `label`, as printed. */
  function commandIn({stdout, stderr}: Ended, label: string): string {
    const [, line] = new RegExp(`${label}\\s*(mycli .*)`).exec(stdout + stderr) ?? [];
    return line ?? `there is no "${label}" in ${stdout}${stderr}`;
  }

  async function running(project: string, target: string): Promise<unknown> {
    const {stdout} = await run(['bundle:history', '--project', project, '--target', target, '--limit', '1', '--json']);
    return (JSON.parse(stdout) as {deployments?: readonly {bundleId: unknown}[]}).deployments?.[0]?.bundleId;
  }

  const push = ['bundle:push', '--wait'];

  beforeEach(async () => {
    await mkdir(join(root, 'bin'));
    await serve({deploymentSeconds: 0});
    await writeFile(
      join(project, 'mycli.config.json'),
      JSON.stringify({projectSlug: 'my-shop', targetSlug: 'staging', origin: runtime.origin}),
    );
    const key = join(root, 'key.txt');
    await writeFile(key, runtime.credentials.apiKey);
    const login = ['auth:login', '--origin', runtime.origin, '--no-verify'];
    await runWarm(login, {cwd: project, env: home(), stdin: runtime.credentials.apiKey});
  });

  test('rolls back the target and the project of variables, and the undo deploys there', async () => {
    const variables = {MYCLI_TARGET: 'production', MYCLI_PROJECT: 'other-shop'};
    await run(push);
    await run(push);
    await run(push, variables);
    const rollback = commandIn(await run(push, variables), 'Roll back:');
    expect(rollback).toBe('mycli rollback --project other-shop --target production');
    const rolledBack = await paste(rollback);
    expect(rolledBack).toMatchObject({code: 0});
    expect(await running('other-shop', 'production')).toBe(3);
    await run(push, variables);
    const undo = commandIn(await run(['bundle:rollback', '--wait'], variables), 'Undo:');
    expect(await paste(undo)).toMatchObject({code: 0});
    expect([await running('my-shop', 'staging'), await running('other-shop', 'production')]).toEqual([2, 5]);
  });

  test('goes back to the target whose check has failed', async () => {
    const production = {MYCLI_TARGET: 'production', MYCLI_CHECK_RETRIES: '0'};
    await run(push);
    await run(push, production);
    const failed = await run([...push, '--check', '/nowhere', '--json'], production);
    const {error} = JSON.parse(failed.stdout) as {error: {suggestions: readonly string[]}};
    const advice = error.suggestions.find((line) => line.includes('bundle:rollback')) ?? '';
    expect(failed.code).toBe(11);
    const pasted = await paste(/mycli .*/.exec(advice)?.[0] ?? advice);
    expect(pasted).toMatchObject({code: 0});
    expect([await running('my-shop', 'staging'), await running('my-shop', 'production')]).toEqual([1, 2]);
  });

  test('deploys in the project of a variable, and without the target that was turned off', async () => {
    const pushed = await run(['bundle:push', '--no-target'], {MYCLI_PROJECT: 'other-shop'});
    const deploy = commandIn(pushed, 'Deploy it:').replace('SLUG', 'staging');
    expect((await paste(deploy)).code).toBe(0);
    expect([await running('my-shop', 'staging'), await running('other-shop', 'staging')]).toEqual([undefined, 1]);
  });

  test('goes to the service of a variable, with the file of its key', async () => {
    const {runtime: other} = await startRuntime();
    await writeFile(join(project, 'other.key'), other.credentials.apiKey);
    const there = [...push, '--api-key', '@other.key'];
    await run(there, {MYCLI_RUNTIME_ORIGIN: other.origin});
    const command = commandIn(await run(there, {MYCLI_RUNTIME_ORIGIN: other.origin}), 'Roll back:');
    expect(command).toBe(`mycli rollback --origin ${other.origin} --api-key @other.key`);
    expect((await paste(command)).code).toBe(0);
    expect(await running('my-shop', 'staging')).toBe(undefined);
  });

  test('stays in the folder and with the configuration of flags', async () => {
    await writeFile(join(project, 'own.json'), JSON.stringify({targetSlug: 'own', projectSlug: 'my-shop'}));
    const flags = ['-C', 'project', '--config', 'own.json'];
    const env = {MYCLI_RUNTIME_ORIGIN: runtime.origin};
    await run([...push, ...flags], env, root);
    const command = commandIn(await run([...push, ...flags], env, root), 'Roll back:');
    expect(command).toBe(shellLine('mycli', 'rollback', '-C', project, '--config', 'own.json'));
    expect((await paste(command, '/')).code).toBe(0);
    expect(await running('my-shop', 'own')).toBe(1);
  });

  test.each([
    [
      'of an error',
      ['bundle:deploy', '99'],
      {MYCLI_PROJECT: 'other-shop', MYCLI_TARGET: 'production'},
      'Run:',
      {project: 'other-shop', target: undefined},
    ],
    [
      'of a new target',
      ['target:create', 'qa'],
      {MYCLI_PROJECT: 'other-shop'},
      'Deploy to it:',
      {project: 'other-shop', target: 'qa'},
    ],
    [
      'of doctor',
      ['doctor'],
      {MYCLI_PROJECT: 'other-shop', MYCLI_TARGET: 'production'},
      'Set them:',
      {project: 'other-shop', target: 'production'},
    ],
    [
      'after variables were set',
      ['env:set', 'A=b'],
      {MYCLI_PROJECT: 'other-shop', MYCLI_TARGET: 'production'},
      'Check on it:',
      {project: 'other-shop', target: undefined},
    ],
  ])('names what variables set: that %s', async (_, args, variables, label, place) => {
    await run(push, {MYCLI_PROJECT: 'other-shop', MYCLI_TARGET: 'production'});
    await writeFile(join(project, '.env.example'), 'ZZ=\n');
    const ended = await run([...args], variables);
    const words = commandIn({...ended, stdout: ended.stdout.replaceAll(/\n\s+/g, ' ')}, label)
      .replace(/\.$/m, '')
      .split(' ');
    const valueOf = (flag: string) => (words.includes(flag) ? words[words.indexOf(flag) + 1] : undefined);
    expect(words[0]).toBe('mycli');
    expect([valueOf('--project'), valueOf('--target') ?? (place.target === 'staging' ? 'staging' : undefined)]).toEqual(
      [place.project, place.target],
    );
  });

  test('names the options of a call of the library', async () => {
    const options = {preference: 'auto', origin: runtime.origin, projectSlug: 'my-shop', targetSlug: 'qa'} as const;
    const legacyAuth = new BearerTokenStrategy(runtime.credentials.apiKey);
    const failure: unknown = await deployBundle({...options, legacyAuth, bundleId: 99}).catch(
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({
      suggestions: [`Run: mycli bundle:list --project my-shop --runtime-backend legacy --origin ${runtime.origin}`],
    });
  });

  test('names the options that a call of the library has for a plugin, without their values', async () => {
    const backendOptions = {url: 'acme://a.example', pin: 'canary'};
    const deploy = () => Promise.reject(createError('ERR_BUNDLE_UNKNOWN', 'There is no such bundle.'));
    const listBundles = () => Promise.resolve({bundles: [], total: 0});
    const call = deployBundle({...acme({deploy, listBundles}), backendOptions, bundleId: '99'});
    const command = '--runtime-backend acme --backend-option url=… --backend-option pin=…';
    await expect(call).rejects.toMatchObject({
      suggestions: expect.arrayContaining([expect.stringContaining(command)]) as string[],
    });
  });

  test('has a row for each command that is suggested, with flags that it has', async () => {
    const manifest = JSON.parse(await readFile(join(ownRoot, 'oclif.manifest.json'), 'utf8')) as Manifest;
    for (const [id, flags] of Object.entries(flagsOfCommands)) {
      const known = Object.keys(manifest.commands[id]?.flags ?? {});
      expect({id, flags: flags.filter((flag) => !known.includes(flag.slice(2)))}).toEqual({id, flags: []});
    }
    const suggested = new Set<string>();
    for (const file of await glob('src/**/*.ts', {cwd: ownRoot})) {
      const source = await readFile(join(ownRoot, file), 'utf8');
      for (const [, id = ''] of source.matchAll(/run: \['([\w:]+)'/g)) suggested.add(id);
    }
    const withSettings = [...suggested].filter((id) => manifest.commands[id]?.flags['origin'] !== undefined);
    expect(withSettings.filter((id) => flagsOfCommands[id] === undefined)).toEqual([]);
  });
});

interface Manifest {
  readonly commands: Readonly<Record<string, {readonly flags: Readonly<Record<string, unknown>>}>>;
}

describe('an argument', () => {
  test('that is too many is named, and may be the project', async () => {
    const {code, stderr} = await mycli(['list', 'my-shop']);
    expect(code).toBe(2);
    expect(stderr).toContain('Error: Unexpected argument: my-shop\n');
    expect(stderr).toContain('  If it is the target or the project, pass --target my-shop or --project my-shop.\n');
  });

  test.each([
    ['rollback 3', 'Pass --to 3.'],
    [
      'promote 5 -t qa -p other -C . --runtime-backend acme --backend-option url=acme://u:canary@a.example',
      'run mycli deploy 5 --target qa --project other --runtime-backend acme --backend-option url=… -C ',
    ],
    ['list --backend-option url=…', 'If an environment variable sets it, leave the flag out.\n'],
    ['deploy --origin http://a.example --api-key canary', 'mycli push --origin http://a.example --api-key …\n'],
    ['push staging', 'If it is the target, pass --target staging.'],
    ['target:create qa staging', 'If it is the target to copy or the project, pass --copy-from staging or --project'],
    ['target:delete qa qb', 'It takes one target. Run it again for another.'],
    ['config show orign', 'Did you mean origin?'],
    ['--target staging push', 'Put the command before its flags: mycli push --target staging\n'],
    ['--target staging --wait -p=shop push', 'before its flags: mycli push --target staging --wait -p shop\n'],
    ['--target x -C site -m=wip status', 'before its flags: mycli status --target x -C site -m …\n'],
    ['--target x --origin https://u:canary@a.example/ push', 'mycli push --target x --origin https://***@a.example/'],
    ['--backend-option url=canary -m x push', 'before its flags: mycli push --backend-option url=… -m x\n'],
    ['--api-key abc push', 'Put the command before its flags: mycli push --api-key …\n'],
    ['--api-key=abc -kab1 push', 'Put the command before its flags: mycli push --api-key … -k …\n'],
    ['--target staging --api-key abc deploy 42', 'flags: mycli deploy --target staging --api-key … 42\n'],
    ['--target staging env set A=abc --wait', 'flags: mycli env:set --target staging … --wait\n'],
    ['-kab1 push', 'Error: There is no command before -k.\n'],
    ['-kab1', 'Error: Unknown flag: -k\n'],
    ['push -kab1', 'Error: Unknown flag: -k\n'],
    ['-o json list', 'Put the command before its flags: mycli list --json\n'],
    ['deploy 1 -w 10', '--wait takes no value. To wait 10 seconds at most, pass --timeout 10.\n'],
    [
      'push --targt x --prjct y',
      'Instead of --targt, did you mean --target?\n  Instead of --prjct, did you mean --project?',
    ],
    ['logs -f', 'Leave out -f: logs follows until Ctrl-C.'],
    ['push -y', 'mycli asks only about a new target or project that may be a typo. --create allows it.'],
    ['open -y', 'Leave out -y: this command asks for no confirmation.'],
    ['deploy 1 --dry-run', 'To see what would change, run mycli diff running:TARGET ID'],
    ['promote --dry-run', 'To see what would change, run mycli diff running:TARGET running:FROM'],
    ['status -w', 'Leave out -w: status shows the present state once'],
    ['--verison', 'Did you mean --version?'],
    ['-x', 'Unknown flag: -x\n  Run mycli help'],
    ['env:set --file .env', 'Did you mean --from?'],
    ['log', 'Did you mean mycli logs?'],
    ['target info qa', 'Did you mean mycli status --target qa?'],
    ['target show', 'Did you mean mycli status?'],
    ['project create shop', "Create and delete projects on the service's website."],
    ['env export', 'Did you mean mycli env:list?'],
    ['autocomplete', 'Did you mean mycli completion?'],
    ['env:get A', 'Did you mean mycli env:list A?'],
    ['preview rm my-branch', 'Did you mean mycli preview:down my-branch?'],
    ['target rm qa', 'Did you mean mycli target:delete qa?'],
    ['bundles', 'Did you mean mycli list?'],
    ['targets', 'Did you mean mycli target:list?'],
    ['envs', 'Did you mean mycli target:list or mycli env:list?'],
    ['env create qa', 'Did you mean mycli target:create qa?'],
    ['env delete', 'Did you mean mycli env:unset or mycli target:delete?'],
    ['env push', 'Did you mean mycli env:set --from .env?'],
    ['projects', 'Did you mean mycli project:list?'],
    ['rm 3 4 --yes', 'Did you mean mycli delete 3 4 --yes?'],
    ['rm qa', 'Did you mean mycli target:delete qa?'],
    ['remove', 'Did you mean mycli delete or mycli target:delete?'],
    ['destroy qa', 'Did you mean mycli target:delete qa?'],
    ['env:set staging A=1', 'If it is the target, pass --target staging.'],
    ['previews', 'Did you mean mycli preview:list?'],
    ['ps', 'Did you mean mycli status?'],
    ['pull', 'Did you mean mycli download running:?'],
    ['pull staging', 'Did you mean mycli download running:staging?'],
    ['pull 3', 'Did you mean mycli download 3?'],
    ['pul staging', 'Did you mean mycli download running:staging?'],
    ['bundels -t qa', 'Did you mean mycli list -t qa?'],
    ['relase --wiat --target qa x', 'Did you mean mycli push --wait --target qa x?'],
    ['whoiam', 'Did you mean mycli auth:status?'],
    ['tagets', 'Did you mean mycli target:list?'],
    ['enviroment', 'Did you mean mycli target:list?'],
    ['stauts', 'Did you mean mycli status?'],
    ['deplyo 3 --target qa', 'Did you mean mycli deploy 3 --target qa?'],
    ['env pul', 'Did you mean mycli env:list?'],
    ['config gte origin', 'Did you mean mycli config:show origin?'],
    ['env ls', 'Did you mean mycli env:list?'],
    ['env:st A=abc', 'Did you mean mycli env:set …?'],
    ['env:unst A --target qa', 'Did you mean mycli env:unset A --target qa?'],
    ['invaldate /a', 'Did you mean mycli target:invalidate /a?'],
    ['rollbak 3', 'Did you mean mycli rollback --to 3?'],
    ['stauts qa', 'Did you mean mycli status --target qa?'],
    ['stauts 3', 'Did you mean mycli status 3?'],
    ['list 3', 'To see a bundle, run mycli inspect 3\n'],
    ['patch', 'Error: Unknown command: patch\n  Run mycli help to list all commands.\n'],
    ['--wait -v deploy 3', 'Put the command before its flags: mycli deploy --wait --debug 3\n'],
    ['deploy staging 2', 'Pass the bundle first: mycli deploy 2 --target SLUG'],
    ['push -m fix the bug --wait', "Pass --message 'fix the bug'."],
    ['history --columns createdAt bundleId', 'Pass --columns createdAt,bundleId.'],
    ['logs --level wran', 'Did you mean warn?'],
    ['completion bsh', 'Did you mean bash?'],
    ['env:set A=1 staging', 'If it is the target, pass --target staging.'],
    ['push -m fix bug', 'If it is a part of the message, quote the whole message.'],
    ['rollback ', 'Error: An argument is empty.'],
    ['deploy ', 'Error: An argument is empty.'],
    ['bundel', 'Did you mean mycli bundle?'],
    ['target new qa', 'Did you mean mycli target:create qa?'],
    ['create bundel', 'Did you mean mycli build?'],
    ['delete traget qa', 'mycli target:delete qa'],
    ['--traget staging push', 'Put the command before its flags: mycli push --target staging\n'],
    ['-t qa env push', 'Put the command before its flags: mycli env:set --from .env -t qa\n'],
    ['-t qa target push', 'There is no command before -t.\n  Run mycli help'],
    ['--prod push', 'Put the command before its flags: mycli push --target production\n'],
    ['--target dev psuh', 'Put the command before its flags: mycli push --target dev\n'],
    ['--target staging bundles', 'Put the command before its flags: mycli list --target staging\n'],
    ['--target staging', 'Error: There is no command before --target.\n'],
    ['env pull', 'Did you mean mycli env:list?'],
    ['config get', 'Did you mean mycli config:show?'],
    ['release', 'Did you mean mycli push?'],
    ['upgrade', 'Upgrade mycli with the package manager that installed it.'],
    ['update', 'Upgrade mycli with the package manager that installed it.'],
    ['whoami', 'Did you mean mycli auth:status?'],
    ['link', 'Did you mean mycli init?'],
    ['dev', 'Did you mean mycli runtime:start?'],
    ['redeploy', 'Did you mean mycli deploy latest?'],
    ['redeploy 3', 'Did you mean mycli deploy 3?'],
    ['releases', 'Did you mean mycli history?'],
    ['undo', 'Did you mean mycli rollback?'],
    ['builds', 'Did you mean mycli list?'],
    ['secrets', 'Did you mean mycli env:list?'],
    ['secrets set A=b', 'Did you mean mycli env:set …?'],
    ['variables set A=b', 'Did you mean mycli env:set …?'],
    ['env remove A', 'Did you mean mycli env:unset A?'],
    ['config:set A=b', 'To set variables of a target, run mycli env:set\n'],
    ['preview create my-branch', 'Did you mean mycli preview:up my-branch?'],
    ['bundle upload', 'Did you mean mycli push?'],
    ['create my-app', 'Did you mean mycli target:create my-app or mycli init?'],
    ['cache purge', 'Did you mean mycli target:invalidate?'],
    ['domains add x', 'targets.SLUG.settings of mycli.config, then run mycli target:apply SLUG\n'],
    ['run build', 'mycli runs no scripts of package.json: run npm run build, then mycli push\n'],
    ['functions:list', 'The app of a target is one server. To see what each target runs, run mycli status\n'],
    ['teams', "Find members, certificates, notifications and metrics on the service's website."],
    ['scale 2', 'The service runs the app: no command reaches it.'],
    ['unlink', 'mycli.config names the project: edit or delete it.'],
    ['init .', 'If it is the folder of the project, pass --cwd .\n'],
    ['deploy', 'To push a build, run mycli push'],
    ['undeploy', 'To deploy what ran before, run mycli rollback\n'],
    ['signin', 'Did you mean mycli login?'],
    ['lint', 'Did you mean mycli doctor?'],
    ['deploy --bundle 3', 'Pass the bundle as an argument.'],
    ['preview:up --branch x', 'Pass the branch as an argument.'],
    ['bundle rm 3', 'Did you mean mycli delete 3?'],
    ['bundle show 3', 'Did you mean mycli inspect 3?'],
    ['target info', 'Did you mean mycli status?'],
    ['runtime:stop', 'runtime:start ends with Ctrl-C.'],
    ['list -o json', 'Did you mean --json?'],
    ['push -f json', 'Did you mean --json?'],
    ['logs -f=json', 'Did you mean --json?'],
    ['env:set -f json', 'Did you mean --json?'],
    ['env:set -f .env', 'Did you mean --from?'],
    ['list --format json', 'Did you mean --json?'],
    ['status --output json', 'Did you mean --json?'],
    ['delete 1 --dry-run', 'Without --yes, it shows what it would delete, and asks.'],
    ['preview:up --wait', 'Leave out --wait: preview:up always waits.'],
    ['preview:up --if-changed', 'Leave out --if-changed: preview:up never uploads an unchanged bundle again.'],
    [
      'promote live',
      'To deploy to live, pass --from SLUG --target live. If it runs the bundle, pass --from live --tar',
    ],
    ['promote qa live', 'Pass --from qa --target live.'],
    ['env:diff --from .env', 'Pass the file as an argument.'],
    ['env set FOO bar', 'Pass FOO=VALUE as one argument.'],
    ['redirect:add', 'targets.SLUG of mycli.config, then run mycli target:apply SLUG\n'],
    ['access', 'Set redirects and access in targets.SLUG'],
    ['describe', 'Did you mean mycli status?'],
    ['get targets', 'Did you mean mycli target:list?'],
    ['use staging', 'Pass --target SLUG, or set targetSlug in mycli.config.'],
    ['abort', 'To deploy what ran before, run mycli rollback\n'],
    ['stop', 'Neither a deployment nor an app can be stopped'],
    ['watch', 'mycli watches no files'],
    ['shell', 'The service runs the app: no command reaches it.'],
    ['auth:whoami', 'Did you mean mycli auth:status?'],
    ['auth whoami', 'Did you mean mycli auth:status?'],
    ['bundle redeploy 3', 'Did you mean mycli deploy 3?'],
    ['self-update', 'Upgrade mycli with the package manager that installed it.'],
    ['docs', 'or run mycli COMMAND --help\n'],
    ['logs -n 50', 'Leave out -n: logs follows until Ctrl-C; --since AGE'],
    ['logs --limit 5', 'Leave out --limit: logs follows'],
    ['logs --no-follow', 'Leave out --no-follow: logs follows until Ctrl-C.'],
    ['history -n 2', 'Did you mean --limit?'],
    ['rollback --steps 2', 'Did you mean --to BUNDLE?'],
    ['promote 3', 'To deploy a bundle, run mycli deploy 3'],
    ['release 3 -t qa', 'Did you mean mycli deploy 3 -t qa?'],
    ['release latest', 'Did you mean mycli deploy latest?'],
    ['publish production', 'Did you mean mycli push --target production?'],
    ['push:production', 'Did you mean mycli push --target production?'],
    ['upload build', 'Did you mean mycli push build?'],
    ['login http://a.example', 'If it is the service, pass --origin http://a.example.\n'],
    ['login abc', 'Error: Unexpected argument.\n'],
    ['config show origin target', 'If it is the target or the project, pass --target target or --project target.\n'],
    ['env:set ../vars/ok.env', 'If it is a dotenv file, pass --from FILE.\n'],
    ['preview:up x -t qa', 'Leave out -t: the branch names the target.\n'],
    ['delegate', 'Error: Unknown command: delegate\n  Run mycli help to list all commands.\n'],
    ['b2c mrt bundle deploy 3 -e qa', 'Did you mean mycli deploy 3 --target qa?'],
    ['release --tag v1', 'Did you mean mycli push --tag …?'],
    ['link shop', 'Did you mean mycli init --project shop?'],
    ['describe bundle 3', 'Did you mean mycli inspect 3?'],
    ['set target qa', 'Pass --target SLUG, or set targetSlug in mycli.config.'],
    ['undo 2 3', 'Did you mean mycli rollback --to 2 3?'],
    ['release create', 'Did you mean mycli push create?'],
    ['upload ./dist', 'Did you mean mycli push ./dist?'],
    ['revert 2', 'Did you mean mycli rollback --to 2?'],
    ['undo 2 qa qb', 'Did you mean mycli rollback --to 2 --target qa qb?'],
    ['env push ../vars/ok.env', 'Did you mean mycli env:set --from ../vars/ok.env?'],
    ['log qa', 'Did you mean mycli logs --target qa?'],
    ['purge qa', 'Did you mean mycli target:invalidate --target qa?'],
    ['pull -t qa', 'Did you mean mycli download running: -t qa?'],
    ['-t qa envs', 'flags: mycli target:list -t … or mycli env:list -t qa\n'],
    ['rm --json', 'Did you mean mycli delete --json or mycli target:delete --json?'],
    ['rm qa production', 'Did you mean mycli target:delete qa production?'],
    ['-y psuh', 'Put the command before its flags: mycli push\n'],
    ['signin abc', 'Did you mean mycli login …?'],
    ['signin http://a.example', 'Did you mean mycli login --origin http://a.example?'],
    ['delete target qa', 'Did you mean mycli target:delete qa?'],
    ['delete bundle 3', 'Did you mean mycli delete 3?'],
    ['remove target qa', 'Did you mean mycli target:delete qa?'],
    ['create target demo', 'Did you mean mycli target:create demo?'],
    ['create environment demo', 'Did you mean mycli target:create demo?'],
    ['create bundle', 'Did you mean mycli build?'],
    ['create preview x', 'Did you mean mycli preview:up x?'],
    ['add target x', 'Did you mean mycli target:create x?'],
    ['list targets', 'Did you mean mycli target:list?'],
    ['ls envs --json', 'Did you mean mycli env:list --json?'],
    ['show target qa', 'Did you mean mycli status --target qa?'],
    ['set env A=1', 'Did you mean mycli env:set …?'],
    ['get bundles', 'Did you mean mycli list?'],
    ['bundles list', 'Did you mean mycli list?'],
    ['builds list', 'Did you mean mycli list?'],
    ['delete variable A', 'Did you mean mycli env:unset A?'],
    ['config view', 'Did you mean mycli config:show?'],
    ['env show', 'Did you mean mycli env:list?'],
    ['remote add origin x', 'Error: Unknown command: remote\n  Run mycli help to list all commands.\n'],
    ['reset --hard', 'Error: Unknown command: reset\n  Run mycli help to list all commands.\n'],
    ['add qa', 'Error: Unknown command: add\n  Run mycli help to list all commands.\n'],
    ['list -a', 'Error: Unknown flag: -a\n  Run mycli list --help for usage.\n'],
  ])('that people type, %j, is answered with %j', async (line, advice) => {
    const {code, stderr} = await mycli(line.split(' '));
    expect(code).toBe(2);
    expect(stderr).toContain(advice);
  });

  test.each([
    ['diff latest running', 'For what the configured target runs, pass running: with the colon.\n'],
    ['download running', 'For what the configured target runs, pass running: with the colon.\n'],
    ['inspect staging', 'If it is a target, pass running:staging.\n'],
    ['target:invalidate staging', 'If it is the target, pass --target staging.\n'],
  ])('that is of another kind, %j, is answered with %j', async (line, advice) => {
    const {code, stderr} = await mycli(line.split(' '));
    expect(code).toBe(3);
    expect(stderr).toContain(advice);
  });

  test.each(['ssh', 'docs', 'wait', 'token x', 'preview build', 'run-job'])(
    'that resembles a command only a little, %j, is not taken for it',
    async (line) => {
      expect((await mycli(line.split(' '))).stderr).not.toMatch(/Did you mean mycli (?:push|logs|init|open|preview)/);
    },
  );

  test.each([['push'], ['bundle:list'], ['bundle'], ['runtime:start'], []])(
    'that looks like a secret is not repeated: %s',
    async (...command) => {
      const secret = 'c4n4ry0123456789abcdef0123456789abcdef01';
      const {code, stdout, stderr} = await mycli([...command, secret, '--json']);
      expect([code, stdout + stderr]).toEqual([
        2,
        expect.stringMatching(/"message": ?"(?:Unexpected argument|Unknown command|There is no such folder)/),
      ]);
      expect(stdout + stderr).not.toContain(secret);
    },
  );
});

describe('a bundle that is not there', () => {
  test.each([
    ['bundle:deploy', ['bundle:deploy', '99']],
    ['bundle:download', ['bundle:download', '99']],
    ['bundle:inspect', ['bundle:inspect', '99']],
    ['bundle:rollback', ['bundle:rollback', '--to', '99']],
  ])('is named once by %s, with the command that lists those that are', async (_, args) => {
    const {code, stderr} = await mycli([...args, '--quiet']);
    expect(code).toBe(7);
    expect(stderr.split('\n').slice(0, 2)).toEqual([
      'Error: The project "shop" has no bundle 99.',
      `  Run: mycli list --project shop --origin ${runtime.origin}`,
    ]);
    expect(stderr).not.toMatch(/\b404\b/);
  });

  test('is no reason given for a project that the server does not show', async () => {
    await serve({faults: ['404:route=list', '404:route=deploy']});
    const {stderr} = await mycli(['bundle:deploy', '1', '--quiet']);
    expect(stderr).toContain('/target/staging/deploy/: not found (404)');
    expect(stderr).not.toContain('404 Not Found');
  });
});

describe('a target that is busy', () => {
  const orWait =
    'Another deployment may be running. Try again once it has ended, or pass --wait-for-slot to wait for that.';

  test.each([
    ['deploy 1', orWait],
    ['push --force --v2', orWait],
    ['promote --from staging --target live', orWait],
    ['rollback --to 1', 'Try again once it has ended: until then, what to roll back to may change.'],
  ])('is waited for as %j can', async (line, advice) => {
    const dataDirectory = join(root, 'runtime');
    await serve({dataDirectory});
    for (const target of ['live', 'staging']) await mycli(['push', '--wait', '--target', target]);
    await runtime.close();
    await serve({dataDirectory, faults: ['409x2:route=deploy']});
    const {code, stderr} = await mycli(line.split(' '));
    expect(code).toBe(7);
    expect(stderr).toContain(advice);
    const waiting = await mycli([...line.split(' '), '--wait-for-slot']);
    expect(waiting).toMatchObject(advice === orWait ? {code: 0} : {code: 2});
    if (advice !== orWait) expect(waiting.stderr).toContain('Leave out --wait-for-slot: ');
  });
});

describe('latest', () => {
  test('is understood wherever a bundle is named', async () => {
    await mycli(['bundle:push', '--v2', '--wait']);
    await mycli(['bundle:push', '--wait']);
    expect((await mycli(['bundle:download', 'latest'])).stdout).toContain(`${join(project, 'bundle-2.tar')}\n`);
    expect(JSON.parse((await mycli(['bundle:inspect', 'latest', '--json'])).stdout)).toMatchObject({bundleId: 2});
    expect(JSON.parse((await mycli(['bundle:rollback', '--json'])).stdout)).toMatchObject({bundleId: 1});
    expect(JSON.parse((await mycli(['bundle:rollback', '--to', 'latest', '--json'])).stdout)).toMatchObject({
      bundleId: 2,
    });
    await mycli(['bundle:push', '--target', 'other']);
    await mycli(['bundle:rollback', '--to', '1', '--target', 'other']);
    const deleted = await mycli(['bundle:delete', 'latest', '--yes', '--json']);
    expect(JSON.parse(deleted.stdout)).toMatchObject({deleted: [3]});
  });
});

describe('what to type next', () => {
  test('is a rollback only where there is something to roll back to', async () => {
    const first = await mycli(['bundle:push', '--wait']);
    expect(first.stdout).not.toContain('Roll back');
    const second = await mycli(['bundle:push', '--wait']);
    expect(second.stdout).toContain(
      `Roll back: mycli rollback --project shop --target staging --origin ${runtime.origin}\n`,
    );
  });

  test('is a push where a rollback finds nothing, and another bundle only if there is one', async () => {
    await mycli(['bundle:push', '--wait']);
    const push = `  To deploy something else, push it: mycli push --project shop --target staging --origin ${runtime.origin}\n`;
    const first = await mycli(['rollback']);
    expect([first.code, first.stderr]).toEqual([7, expect.stringContaining(push)]);
    expect(first.stderr).not.toContain('--to');
    await mycli(['bundle:push', '--target', 'other', '--wait']);
    expect((await mycli(['rollback'])).stderr).toMatch(
      /\n {2}Pass --to ID\. Run mycli list .*\n {2}To deploy something else, /,
    );
  });

  test('repeats the flags that lead to the backend, and no secret', async () => {
    const {MYCLI_RUNTIME_ORIGIN: origin = '', MYCLI_API_KEY: key = '', ...env} = environment();
    await writeFile(join(project, 'empty.json'), '{}');
    const flags = ['--origin', origin, '--config', 'empty.json', '--runtime-backend', 'legacy'];
    const push = ['bundle:push', '--api-key', key, '--target', 'my target'];
    const {stdout} = await runWarm([...push, ...flags, '--json'], {cwd: project, env});
    expect(JSON.parse(stdout)).toMatchObject({deployed: true, status: 'queued'});
    const quiet = await runWarm([...push, ...flags, '--quiet'], {cwd: project, env});
    expect(quiet.stdout.split('\n')).toEqual([
      expect.stringMatching(/^Pushed bundle 2 to shop in /),
      expect.stringMatching(/^The deployment to my target is queued, not live yet\.$/),
      `${runtime.appsOrigin}/shop/my%20target/`,
      '',
    ]);
    const told = await runWarm([...push, ...flags], {cwd: project, env});
    expect(told.stdout).toContain(
      `mycli status --project shop --target 'my target' --origin ${origin} --config empty.json\n`,
    );
    expect(told.stdout).not.toContain(key);
  });

  test('after a build is the whole command, which needs no --v2', async () => {
    const {stdout} = await mycli(['bundle:build', '--project', 'other-shop']);
    const path = join(project, 'bundle.tar.gz');
    expect(stdout).toContain(
      `Push it: mycli push --archive ${shellLine(path)} --project other-shop --target staging --origin ${runtime.origin}\n`,
    );
    const pushed = await mycli(['bundle:push', '--archive', path, '--project', 'other-shop', '--json']);
    expect(JSON.parse(pushed.stdout)).toMatchObject({archive: {format: 'v2'}, backend: 'legacy'});
  });

  test('after a failed deployment of an unchanged bundle does not claim an upload', async () => {
    await mycli(['bundle:push']);
    await serve({faults: ['500:route=deploy'], dataDirectory: join(root, 'runtime')});
    const again = {...environment(), MYCLI_IF_CHANGED: '1'};
    await runWarm(['bundle:push', '--quiet'], {cwd: project, env: {...again, MYCLI_TARGET: ''}});
    const typed = ['--create', '--wait', '--check', '/', '--message', 'x'];
    const {code, stderr} = await mycli(['bundle:push', '--quiet', ...typed], {MYCLI_IF_CHANGED: '1'});
    expect(code).toBe(7);
    expect(stderr).toContain('Bundle 1 is unchanged, and its deployment to staging may have started:');
    expect(stderr).toContain(
      '  To deploy it without another upload, run:\n' +
        '  mycli deploy 1 --project shop --target staging --create --wait --check / ',
    );
  });
});

describe('wrong input', () => {
  test('an option for no backend is refused, and so is a backend that is not there', async () => {
    const unused = await mycli(['bundle:list', '--backend-option', 'region=eu', '--quiet']);
    expect(unused.code).toBe(2);
    expect(unused.stderr).toContain(
      "Error: --backend-option only applies to a plugin's backend, and none is chosen.\n",
    );
    const unknown = await mycli(['backend:list', '--runtime-backend', 'nope', '--quiet']);
    expect(unknown.code).toBe(3);
    expect(unknown.stderr).toContain('Error: Unknown backend: "nope".');
    expect(unknown.stderr).toContain('If a plugin adds it, install the plugin: mycli plugins:install PLUGIN\n');
  });

  test.each([
    [['bundle:deploy', '3', '--target', 'SLUG'], 'SLUG in --target SLUG with a value.\n  Target slug.'],
    [['bundle:push', '-p', 'SLUG'], 'SLUG in --project SLUG with a value.'],
    [['runtime:start', '--data', 'DIR'], 'DIR in --data DIR with a value.'],
    [['bundle:build', '--ssr-only', 'ssr.js', '--ssr-only', 'GLOB'], 'GLOB in --ssr-only GLOB with a value.'],
    [['target:create', 'SLUG'], 'SLUG with a value.'],
    [['preview:up', 'BRANCH'], 'BRANCH with a value.'],
  ])('what stands for a value in a suggested command is not taken for one: %j', async (args, message) => {
    const {code, stderr} = await mycli(args);
    expect(stderr).toContain(`Error: Replace ${message}`);
    expect(code).toBe(2);
  });

  test.each([
    ['throws in what it imports', 'mycli.config.ts', 'import "./other.ts";\nexport default {};\n', '(other.ts:2)'],
    [
      'cannot be parsed',
      'mycli.config.ts',
      'export default {\n  target: ,\n};\n',
      'Unexpected token (mycli.config.ts:2:10)',
    ],
  ])('a configuration file that %s is shown with the place', async (_, name, text, place) => {
    await writeFile(join(project, 'other.ts'), '\nthrow new Error("other");\n');
    await writeFile(join(project, name), text);
    const {code, stderr} = await mycli(['bundle:list', '--quiet']);
    expect(code).toBe(3);
    expect(stderr.split('\n')[0]).toContain(place);
  });

  test.each([
    [
      'is not built',
      {oclif: {hooks: {'mycli:backends': './dist/hook.js'}}},
      'mycli-plugin-odd is linked but not built: ./dist/hook.js does not exist. Build it in ',
    ],
    [
      'has commands but no manifest',
      {oclif: {commands: './commands'}},
      'has commands but no oclif.manifest.json, so mycli loads all of them at every start. Run npx oclif manifest in ',
    ],
    [
      'is for another version of mycli',
      {oclif: {}, peerDependencies: {mycli: '>=99'}},
      /requires mycli >=99, but this is mycli \d\S*\. Update mycli, or install a version of the plugin that is made for it\./,
    ],
  ])('a plugin that %s is told apart when it is linked, and by doctor', async (_, more, problem) => {
    const plugin = join(root, 'mycli-plugin-odd');
    await mkdir(join(plugin, 'commands'), {recursive: true});
    await writeFile(join(plugin, 'commands/hook.js'), 'export default async () => ({backends: []});\n');
    await writeFile(
      join(plugin, 'package.json'),
      JSON.stringify({name: 'mycli-plugin-odd', version: '1.0.0', ...more}),
    );
    const {code, stderr} = await mycli(['plugins:link', '--no-install', plugin]);
    expect(code).toBe(0);
    expect(stderr.replaceAll(/[\s›]+/g, ' ')).toMatch(problem);
    const {stdout} = await mycli(['doctor']);
    expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(problem);
  });
});

describe('lists', () => {
  test('an empty list says where it was looked for, and an offset beyond the end is told apart', async () => {
    const empty = await mycli(['bundle:list']);
    expect(empty.stderr).toContain('\nThe project shop has no bundles, or does not exist.\n  origin ');
    expect(empty.stderr).toMatch(/\n {2}project +shop +\(/);
    await mycli(['bundle:push']);
    const beyond = await mycli(['bundle:list', '--offset', '9']);
    expect(beyond.stderr).toContain('--offset is past the end: there are 1.');
  });
});

test('commands to type begin as mycli was called, in help, in usage errors and for programs, too', async () => {
  const env = {...environment(), npm_command: 'exec'};
  const usage = await runWarm(['bundle:promote'], {cwd: project, env});
  expect(usage.stderr).toContain('Run npx mycli promote --help for usage.');
  const old = await runWarm(['run', 'build'], {cwd: project, env});
  expect(old.stderr).toContain('run npm run build, then npx mycli push\n');
  const short = await runWarm([], {cwd: project, env});
  expect(short.stdout).toContain('\n  $ npx mycli COMMAND [FLAGS]\n');
  const nested = await runWarm(['help', '--nested-commands'], {cwd: project, env});
  expect(nested.stdout).toContain('\n  $ npx mycli COMMAND [FLAGS]\n');
  const help = await runWarm(['bundle:push', '-h'], {cwd: project, env});
  expect(help.stdout).toMatch(
    /\n {2}\$ npx mycli bundle:push \[DIR\]\n[^]*\n {2}\$ npx mycli bundle:push --project my-shop\n/,
  );
  const program = await runWarm(['bundle:promote', '--json'], {cwd: project, env});
  expect(program.stdout).toContain('Run npx mycli bundle:promote --help for usage.');
  const created = await runWarm(['backend:create', 'acme', '--dir', '../acme'], {cwd: project, env});
  expect(created.stdout).toMatch(
    /^Wrote the plugin to \.\.\/acme\.\n[^]*\n {2}npx mycli plugins:link --no-install \.\n/,
  );
  // A script of package.json finds what is installed in the project; the shell in which its advice is typed does not.
  const script = await runWarm(['bundle:promote'], {cwd: project, env: {...env, npm_command: 'run-script'}});
  expect(script.stderr).toContain('Run npx mycli promote --help for usage.');
});

test('bundle:prune says why it keeps what is there', async () => {
  const run = (args: readonly string[]) => runWarm(args, {cwd: project, env: environment()});
  await run(['bundle:push', '--wait']);
  const {stdout} = await run(['bundle:prune', '--yes']);
  expect(stdout).toMatch(
    /^Nothing to prune in shop: 1 bundle kept\.\nA bundle stays if a target runs it or may roll back/,
  );
});
