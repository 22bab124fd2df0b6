import {mkdir, readdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {beforeEach, describe, expect, test} from 'vitest';
import type {LocalRuntime} from '../../../src/testing.js';
import {makeFolder, writeTree} from '../../folder.js';
import {startRuntime} from '../../local-runtime/with-runtime.js';
import {hasScript, openTerminal} from '../pseudo-terminal.js';
import {binary, runCli} from '../spawn-cli.js';

const mycli = `'${process.execPath}' '${binary}'`;
/** An interactive shell with jobs, without the files of whoever runs the tests. */
const shell = 'exec bash --norc --noprofile -i';
/** 6 kB, of which a terminal that is not raw takes 4. */
const pastedKey = [
  '-----BEGIN PRIVATE KEY-----',
  ...Array.from({length: 90}, (_, line) => `touch ran-${String(line)} #canary`.padEnd(64, 'x')),
  '-----END PRIVATE KEY-----',
].join('\r');

let root: string;
let runtime: LocalRuntime;
let env: Readonly<Record<string, string>>;

beforeEach(async () => {
  root = await makeFolder();
  await mkdir(join(root, 'build'));
  await writeFile(join(root, 'build/ssr.js'), 'export default 1;\n');
  ({runtime} = await startRuntime());
  env = {
    ...{
      HOME: root,
      TMPDIR: root,
      PATH: process.env['PATH'] ?? '',
      TERM: 'xterm',
      LANG: 'C.UTF-8',
      PS1: 'prompt> ',
      HISTFILE: '',
    },
    ...{MYCLI_RUNTIME_ORIGIN: runtime.origin, MYCLI_PROJECT: 'shop'},
  };
});

const inShell = (more: Readonly<Record<string, string>> = {}) =>
  openTerminal(shell, {cwd: root, env: {...env, ...more}});

/** Two bundles, of which `prune --keep 1` deletes one. */
async function pushTwice(): Promise<Readonly<Record<string, string>>> {
  const withKey = {...env, MYCLI_API_KEY: runtime.credentials.apiKey};
  for (const message of ['the first', 'the second'])
    expect((await runCli(binary, ['push', '-m', message], {cwd: root, env: withKey})).code).toBe(0);
  return withKey;
}

const deletions = () => runtime.requests.filter(({route}) => route === 'delete').length;

describe.skipIf(!hasScript)('a secret', () => {
  test.each([
    ['with brackets', `\u001B[200~${pastedKey}\u001B[201~\r`],
    ['without brackets', `${pastedKey}\r`],
  ])('of several lines, pasted %s, is neither shown nor run by the shell nor taken', async (_, pasted) => {
    const terminal = inShell();
    terminal.type(`${mycli} login --no-verify\r`);
    await terminal.shows('[input is masked]');
    terminal.type(pasted);
    await terminal.shows('prompt> ');
    expect(terminal.shown()).toContain('has more than one line, which cannot be entered here.');
    expect(terminal.shown()).toMatch(/Pipe it: mycli login.* < FILE/);
    terminal.type('echo code-$?\r');
    await terminal.shows('code-3');
    terminal.type('exit\r');
    await terminal.ended;
    expect(terminal.sent()).not.toMatch(/canary|PRIVATE KEY/);
    expect(await readdir(root)).toEqual(['build']);
  });

  test('with a line break at its end is taken, and the paste mode of the terminal ends', async () => {
    const terminal = inShell();
    terminal.type(`${mycli} login\r`);
    await terminal.shows('[input is masked]');
    terminal.type(`\u001B[200~${runtime.credentials.apiKey}\r\u001B[201~`);
    await terminal.shows('Stored the API key');
    expect(terminal.sent()).not.toContain(runtime.credentials.apiKey);
    expect(terminal.sent().lastIndexOf('\u001B[?2004l')).toBeGreaterThan(
      terminal.sent().lastIndexOf('[input is masked]'),
    );
  });

  test.each([
    ['a flag', '--api-key', 'push --api-key -', 'canary'],
    ['a flag in several lines', '--api-key', 'push --api-key -', pastedKey],
    ['a variable', 'TOKEN', 'env:set TOKEN=- --target staging', 'canary'],
  ])('that is typed for %s is not shown', async (_, name, command, keys) => {
    const terminal = inShell();
    terminal.type(`${mycli} ${command}\r`);
    await terminal.shows(`? value of ${name}: [input is masked]`);
    terminal.type(`${keys}\r`);
    await terminal.shows('prompt> ');
    expect(terminal.sent()).not.toMatch(/canary|PRIVATE KEY/);
  });

  test('is not typed as a file of variables, which the terminal would show', async () => {
    const terminal = inShell();
    terminal.type(`${mycli} env:set --from - --target staging\r`);
    await terminal.shows('Variables are not read from a terminal, which would show them.');
  });

  test('of several lines is asked for again by init, which keeps the other answers', async () => {
    const terminal = inShell();
    terminal.type(`${mycli} init --runtime-backend legacy -t production --build-directory build\r`);
    await terminal.shows('(hidden, empty to skip): [input is masked]');
    terminal.type(`\u001B[200~${pastedKey}\u001B[201~\r`);
    await terminal.shows(/Pipe it: mycli login.* < FILE.*\[input is masked\]/s);
    terminal.type(`${runtime.credentials.apiKey}\r`);
    await terminal.shows('prompt> ');
    expect(terminal.shown()).toContain('Wrote mycli.config.');
    expect(terminal.sent()).not.toMatch(/canary|PRIVATE KEY/);
  });

  test('of several lines is refused for the backend of a plugin, too', async () => {
    await writeTree(root, {
      'zed/package.json': JSON.stringify({
        ...{name: 'mycli-plugin-zed', version: '1.0.0', type: 'module'},
        oclif: {hooks: {'mycli:backends': './hook.js'}},
      }),
      'zed/hook.js': `export default async () => ({backends: [{
        apiVersion: 1, name: 'zed', summary: 'Zed', formats: ['v2'], secrets: ['token'], upload: async () => ({}),
      }]});`,
      '.local/share/mycli/package.json': JSON.stringify({
        oclif: {schema: 1, plugins: [{name: 'mycli-plugin-zed', root: join(root, 'zed'), type: 'link'}]},
      }),
    });
    const terminal = inShell();
    terminal.type(`${mycli} login --runtime-backend zed\r`);
    await terminal.shows('token of the zed backend: [input is masked]');
    terminal.type(`${pastedKey}\r`);
    await terminal.shows('prompt> ');
    expect(terminal.shown()).toContain('The token of the zed backend has more than one line');
    expect(terminal.sent()).not.toMatch(/canary|PRIVATE KEY/);
  });
});

describe.skipIf(!hasScript)('a question', () => {
  test.each([
    ['itself', (command: string) => command],
    ['a script', (command: string) => `sh -c "${command}; true"`],
  ])('is asked again after Ctrl-Z has stopped %s, and earlier answers are kept', async (_, started) => {
    const terminal = inShell();
    const init = `${mycli} init --runtime-backend legacy -p shop --origin ${runtime.origin}`;
    terminal.type(`${started(init)}\r`);
    await terminal.shows('Target to deploy to');
    terminal.type('staging\r');
    await terminal.shows('Build folder: (build)');
    terminal.type('\u001A');
    await terminal.shows('prompt> ');
    // The terminal is as it was: not raw.
    terminal.type('stty -a\r');
    await terminal.shows(/ icanon .* echo .*prompt> /s);
    terminal.type('fg\r');
    await terminal.shows('Build folder: (build)');
    terminal.type('\u001A');
    await terminal.shows('Stopped');
    terminal.type('fg\r');
    await terminal.shows('Build folder: (build)');
    terminal.type('\r');
    await terminal.shows('[input is masked]');
    terminal.type('\r');
    await terminal.shows('Wrote mycli.config.');
    await terminal.shows('prompt> ');
    expect(await readFile(join(root, 'mycli.config.ts'), 'utf8')).toContain("targetSlug: 'staging'");
  });

  test('for a secret hides the cursor, which Ctrl-Z shows', async () => {
    const terminal = inShell();
    terminal.type(`${mycli} login\r`);
    await terminal.shows('[input is masked]');
    terminal.type('\u001A');
    await terminal.shows('Stopped');
    const sent = terminal.sent();
    expect(sent.lastIndexOf('\u001B[?25h')).toBeGreaterThan(sent.lastIndexOf('\u001B[?25l'));
    expect(sent.lastIndexOf('\u001B[?2004h', sent.lastIndexOf('Stopped'))).toBeLessThan(
      sent.lastIndexOf('\u001B[?2004l'),
    );
    terminal.type('fg\r');
    await terminal.shows('[input is masked]');
    terminal.type('\u0003');
    await terminal.shows('prompt> ');
    terminal.type('echo code-$?\r');
    await terminal.shows('code-130');
  });

  test('about a target that may be a typo comes before the upload', async () => {
    const terminal = inShell(await pushTwice());
    terminal.type(`${mycli} push --target staging --wait\r`);
    await terminal.shows('Deployed to staging.');
    const uploads = () => runtime.requests.filter(({route}) => route === 'upload').length;
    const before = uploads();
    terminal.type(`${mycli} push --target stagin\r`);
    await terminal.shows('The target stagin is new; did you mean staging? Create stagin? (y/N)');
    terminal.type('n\r');
    await terminal.shows('Cancelled. Nothing was changed.');
    expect(uploads()).toBe(before);
    await terminal.shows('prompt> ');
    terminal.type(`${mycli} push --target stagin\r`);
    await terminal.shows('Create stagin? (y/N)');
    terminal.type('y\r');
    await terminal.shows('The deployment to stagin is queued');
    expect(uploads()).toBe(before + 1);
  });

  test('is not answered by what was typed before it', async () => {
    const terminal = inShell(await pushTwice());
    terminal.type(`${mycli} prune --keep 1\ry\ry\r`);
    await terminal.shows('Delete this bundle of shop? (y/N)');
    expect(deletions()).toBe(0);
    terminal.type('n\r');
    await terminal.shows('Cancelled. Nothing was deleted.');
    expect(deletions()).toBe(0);
  });

  test.each([
    ['prune --keep 1', '> out.txt'],
    ['prune --keep 1 --json', ''],
    ['prune --keep 1 --quiet', '> out.txt'],
    ['delete 1 --json', '> out.txt'],
  ])('has what it is about beside it: mycli %s %s', async (args, redirection) => {
    const terminal = openTerminal(`${mycli} ${args} ${redirection}`, {cwd: root, env: await pushTwice()});
    await terminal.shows('(y/N)');
    expect(terminal.shown()).toMatch(/ID +.*\r\n1 .*the first.*\r\n.*Delete .*of shop\?/s);
    terminal.type('n\r');
    expect(await terminal.ended).toBe(2);
  });

  test.each([
    ['init --runtime-backend legacy', '"Project slug:"', 'If the command has --yes, pass it to be asked nothing.'],
    ['login', `"API key for ORIGIN:"`, 'Pipe it: mycli login --kind api-key --origin ORIGIN < FILE'],
  ])('that cannot be seen is an error, which says what to do: mycli %s 2> err.txt', async (command, asked, advice) => {
    const terminal = openTerminal(`${mycli} ${command} 2> err.txt`, {cwd: root, env: {...env, MYCLI_PROJECT: ''}});
    expect(await terminal.ended).toBe(2);
    const told = (await readFile(join(root, 'err.txt'), 'utf8')).replaceAll(runtime.origin, 'ORIGIN');
    expect(told).toContain(`${asked} cannot be asked, because stderr is not a terminal.`);
    expect(told).toContain(advice);
    expect(await readdir(root)).toEqual(['build', 'err.txt']);
  });

  test('about an address of the configuration that cannot be seen sends nothing, and names the flag and variable', async () => {
    await writeFile(join(root, 'mycli.config.json'), JSON.stringify({origin: runtime.origin}));
    const own = {...env, MYCLI_RUNTIME_ORIGIN: '', MYCLI_API_KEY: runtime.credentials.apiKey};
    const terminal = openTerminal(`${mycli} list 2> err.txt`, {cwd: root, env: own});
    expect(await terminal.ended).toBe(3);
    const told = await readFile(join(root, 'err.txt'), 'utf8');
    expect(told).toContain(`pass --origin ${runtime.origin}. In CI, list ${runtime.origin} in MYCLI_TRUSTED_ORIGINS.`);
    expect(runtime.requests).toEqual([]);
  });

  test('of a second init may be answered too late: the first one has written', async () => {
    const terminals = [inShell(), inShell()];
    for (const terminal of terminals) {
      terminal.type(`${mycli} init --runtime-backend legacy -p shop -t staging --build-directory build\r`);
      await terminal.shows('[input is masked]');
    }
    for (const terminal of terminals) {
      terminal.type('\r');
      await terminal.shows('prompt> ');
    }
    expect(terminals[0]?.shown()).toContain('Wrote mycli.config.ts.');
    expect(terminals[1]?.shown()).toMatch(/Error: .*mycli\.config\.ts already contains a configuration\./);
    expect((await readdir(root)).toSorted()).toEqual(['.config', 'build', 'mycli.config.ts']);
  });

  test('is broken between words on a narrow terminal, as is what is wrong with an answer', async () => {
    const {MYCLI_PROJECT: _, ...more} = env;
    const terminal = openTerminal(`stty cols 40; ${mycli} init --runtime-backend legacy`, {cwd: root, env: more});
    await terminal.shows('Project slug:');
    terminal.type('\u0015a/b\r');
    await terminal.shows(/> It must not contain \/ or \\: "a\/b"/);
    terminal.type('\u0015my-long-project-of-40-columns\r');
    await terminal.shows(/Target to deploy to \("-" for none\):\r?\n \(staging\)/);
    terminal.type('\u0003');
    expect(await terminal.ended).toBe(130);
  });

  test('has only ASCII where the locale has', async () => {
    const terminal = openTerminal(`${mycli} init`, {cwd: root, env: {...env, LC_ALL: 'C', MYCLI_RUNTIME_ORIGIN: ''}});
    await terminal.shows('Which service do you deploy to?');
    terminal.type('\r');
    await terminal.shows('URL of the service:');
    terminal.type('\u0003');
    expect(await terminal.ended).toBe(130);
    expect(terminal.sent()).toMatch(/^\p{ASCII}*$/u);
  });

  test.each([{CI: 'true'}, {TERM: 'dumb'}])('is not asked with %j', async (more) => {
    const terminal = openTerminal(`${mycli} login`, {cwd: root, env: {...env, ...more}});
    expect(await terminal.ended).toBe(2);
    expect(terminal.sent()).toContain('cannot be asked, because TERM is dumb, or CI is set.');
    expect(terminal.sent()).not.toContain('\u001B');
  });
});

describe.skipIf(!hasScript)('a push that hangs', () => {
  /** Its list is drawn, and the cursor is hidden. */
  const pushing = async () => {
    ({runtime} = await startRuntime({faults: ['hangx1:route=upload']}));
    const more = {MYCLI_RUNTIME_ORIGIN: runtime.origin, MYCLI_API_KEY: runtime.credentials.apiKey};
    const terminal = inShell(more);
    terminal.type(`${mycli} push --create\r`);
    await terminal.shows('Upload the bundle');
    return terminal;
  };
  const cursor = (sent: string) => {
    return sent.lastIndexOf('\u001B[?25h') > sent.lastIndexOf('\u001B[?25l') ? 'shown' : 'hidden';
  };

  test('shows the cursor while Ctrl-Z has stopped it, and draws its list below after fg', async () => {
    const terminal = await pushing();
    expect(cursor(terminal.sent())).toBe('hidden');
    for (const round of [1, 2]) {
      terminal.type('\u001A');
      await terminal.shows('prompt> ');
      expect([round, cursor(terminal.sent())]).toEqual([round, 'shown']);
      terminal.type('fg\r');
      await terminal.shows(/ push.*Backend: Runtime.*Upload the bundle/s);
      expect([round, cursor(terminal.sent())]).toEqual([round, 'hidden']);
    }
    terminal.type('\u0003');
    await terminal.shows('prompt> ');
    expect(cursor(terminal.sent())).toBe('shown');
    terminal.type('echo code-$?\r');
    await terminal.shows('code-130');
  });

  test('shows the cursor when Ctrl-\\ ends it', async () => {
    const terminal = await pushing();
    terminal.type('\u001C');
    await terminal.shows('prompt> ');
    expect(cursor(terminal.sent())).toBe('shown');
    terminal.type('echo code-$?\r');
    await terminal.shows('code-131');
  });
});

test.skipIf(!hasScript)('a login in a terminal asks for the organization that a push needs', async () => {
  const {organizationId, clientId, clientSecret, tokenUrl} = runtime.credentials;
  const flags = `--api-origin ${runtime.origin} --client-id ${clientId} --token-url ${tokenUrl}`;
  const terminal = openTerminal(`${mycli} login ${flags}`, {cwd: root, env});
  await terminal.shows('Organization ID:');
  terminal.type(`${organizationId}\r`);
  await terminal.shows('[input is masked]');
  terminal.type(`${clientSecret}\r`);
  await terminal.shows(/Push a bundle: mycli push .*\r\n/);
  expect(terminal.shown()).not.toContain('--organization ID');
  expect(await terminal.ended).toBe(0);
  const pushed = await runCli(binary, ['push', '--api-origin', runtime.origin], {cwd: root, env});
  expect(pushed.code, pushed.stderr).toBe(0);
});
