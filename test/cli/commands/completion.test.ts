import {spawn, spawnSync} from 'node:child_process';
import {mkdir, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import process from 'node:process';
import {describe, expect, onTestFinished, test} from 'vitest';
import {makeFolder} from '../../folder.js';
import {hasScript, openTerminal} from '../pseudo-terminal.js';
import {binary, runCli} from '../spawn-cli.js';
import {runWarm} from '../warm-cli.js';

const project = {
  'mycli.config.json': '{"projectSlug": "my-shop", "targetSlug": "staging", "targets": {"production": {}}}',
  'output/ssr.js': '',
  'a folder/index.html': '',
  'release.tar.gz': '',
  'kept secret.txt': '',
  'site/mycli.config.json': '{"targetSlug": "inner"}',
};

/** The first words of the lines that a shell gets. */
async function completed(line: string): Promise<readonly string[]> {
  const cwd = await makeFolder(project);
  const {stdout} = await runWarm(['completion:words', '--', ...line.split(' ')], {cwd});
  return stdout
    .trim()
    .split('\n')
    .map((row) => row.replace(/\t.*/, ''));
}

test.each([
  ['bundle:pu', ['bundle:push']],
  ['bundle pu', ['push']],
  ['pus', ['push']],
  ['runti', ['runtime']],
  ['build di', [':directories']],
  ['inspect l', ['latest', ':files']],
  ['push --targ', ['--target']],
  ['push --target s', ['staging']],
  ['push -t p', ['production']],
  ['push --target=p', ['--target=production']],
  ['push -p ', ['my-shop']],
  ['login --kind api', ['api-key', 'api-token']],
  ['push --runtime-backend l', ['legacy']],
  ['push --message s', ['']],
  ['push --target staging --targ', ['']],
  ['--json push --config ', [':files']],
  ['runtime:start -- ./', [':files']],
  ['help bundle pu', ['push']],
  ['hel', ['help']],
  ['target:delete ', ['staging', 'production']],
  ['target:create qa --copy-from s', ['staging']],
  ['deploy ', ['latest']],
  ['deploy latest ', ['']],
  ['delete latest 4', ['']],
  ['diff running:p', ['running:production']],
  ['-C ', [':directories']],
  ['--json --cwd a', [':directories']],
  ['--config ', [':files']],
  ['-C . pus', ['push']],
  ['--js', ['--json']],
  ['--json --c', ['--cwd', '--config']],
  ['--versi', ['--version']],
  ['help --cw', ['']],
  ['open ', ['']],
  ['env:set --from ', [':files']],
  ['config:show targetS', ['targetSlug', 'targetSettings']],
  ['push --config=~/my', ['']],
  ['--cwd=~/si', ['']],
  ['push --api-key=@~/ke', [':files']],
])('completion: %j goes on with %j', async (line, words) => {
  expect(await completed(line)).toEqual(words);
});

test.each([
  ['push --api-key @k', ':files\t@'],
  ['push --ssr-param=@d', ':files\t--ssr-param=@'],
  ['env:set KEY=@k', ':files\tKEY=@'],
  ['push --config=my', ':files\t--config='],
  ['--config=my', ':files\t--config='],
  ['--json --cwd=o', ':directories\t--cwd='],
])('completion: in %j, a path stands behind %j', async (line, answer) => {
  const {stdout} = await runWarm(['completion:words', '--', ...line.split(' ')]);
  expect(stdout).toBe(`${answer}\n`);
});

test('completion: a flag that turns another off says so', async () => {
  const {stdout} = await runWarm(['completion:words', '--', 'push', '--no-wai']);
  expect(stdout).toBe('--no-wait\tTurn off --wait.\n--no-wait-for-slot\tTurn off --wait-for-slot.\n');
});

test('completion: what a command of a plugin does is said without placeholders', async () => {
  const {stdout} = await runWarm(['completion:words', '--', 'plugins:inst']);
  expect(stdout).toBe('plugins:install\tInstalls a plugin into mycli.\n');
});

test('completion: a configuration that is code runs again once its file has changed', async () => {
  const code = (slug: string) => `console.error(${JSON.stringify(slug)}); export default {targetSlug: '${slug}'};`;
  const cwd = await makeFolder({'mycli.config.mjs': code('staging')});
  const env = {XDG_CACHE_HOME: join(cwd, 'cache')};
  const complete = () => runCli(binary, ['completion:words', '--', 'push', '--target', ''], {cwd, env});
  // A configuration that a busy machine takes long to load is given up.
  await expect.poll(async () => (await complete()).stdout).toBe('staging\n');
  expect(await complete()).toMatchObject({stdout: 'staging\n', stderr: ''});
  await writeFile(join(cwd, 'mycli.config.mjs'), code('production'));
  await expect.poll(async () => (await complete()).stdout).toBe('production\n');
});

test.skipIf(!hasScript)('completion: what a command in a terminal has read needs no code, and is new', async () => {
  const code = "import targetSlug from './slug.mjs'; console.error('ran'); export default {targetSlug};";
  const cwd = await makeFolder({'mycli.config.mjs': code, 'build/ssr.js': ''});
  const env = {XDG_CACHE_HOME: join(cwd, 'cache'), HOME: cwd, TERM: 'xterm'};
  const command = `'${process.execPath}' '${binary}' build --dry-run`;
  // The configuration stays as it is while what it imports changes.
  for (const slug of ['staging', 'production']) {
    await writeFile(join(cwd, 'slug.mjs'), `export default '${slug}';`);
    expect(await openTerminal(command, {cwd, env: {...env, PATH: process.env['PATH'] ?? ''}}).ended).toBe(0);
    const completed = await runCli(binary, ['completion:words', '--', 'push', '--target', ''], {cwd, env});
    expect(completed).toMatchObject({stdout: `${slug}\n`, stderr: ''});
  }
});

test('completion: a blank is an empty word, for PowerShell, which passes none', async () => {
  const {stdout} = await runWarm(['completion:words', '--', 'login', '--kind', ' ']);
  expect(stdout).toContain('api-key\n');
});

test('completion: the script for PowerShell registers a native completer that asks for what is typed', async () => {
  const {stdout} = await runWarm(['completion', 'powershell']);
  expect(stdout).toMatch(/^Register-ArgumentCompleter -Native -CommandName mycli -ScriptBlock \{$/m);
  expect(stdout).toContain("& $program completion:words '--' @typed 2>$null");
  expect((await runWarm(['completion'], {env: {SHELL: '/usr/bin/powershell'}})).stdout).toBe(stdout);
});

test('completion: a configuration that is broken completes nothing of it, without a word', async () => {
  const cwd = await makeFolder({'mycli.config.mjs': 'throw new Error("broken")'});
  const ended = await runWarm(['completion:words', '--', 'push', '--target', ''], {cwd});
  expect(ended).toMatchObject({code: 0, stdout: '', stderr: ''});
});

test('completion: commands of plugins come from their manifests, and nothing of a plugin is run', async () => {
  const manifest = {commands: {'acme:sync': {id: 'acme:sync', flags: {deep: {name: 'deep', type: 'boolean'}}}}};
  const plugin = {name: 'mycli-plugin-acme', oclif: {commands: './throws.js'}};
  const cwd = await makeFolder({
    'package.json': '{"dependencies": {"mycli-plugin-acme": "1", "mycli-plugin-bad": "1"}}',
    'node_modules/mycli-plugin-acme/package.json': JSON.stringify(plugin),
    'node_modules/mycli-plugin-acme/oclif.manifest.json': JSON.stringify(manifest),
    'node_modules/mycli-plugin-acme/throws.js': 'throw new Error("run")',
    'node_modules/mycli-plugin-bad/package.json': '{"oclif": {}}',
    'node_modules/mycli-plugin-bad/oclif.manifest.json': '{"commands": {"x": 1, "y": null}}',
  });
  for (const [line, words] of [
    ['acme:s', 'acme:sync\n'],
    ['acme sy', 'sync\n'],
    ['acme:sync --d', '--deep\n'],
  ] as const) {
    const ended = await runWarm(['completion:words', '--', ...line.split(' ')], {cwd});
    expect(ended).toMatchObject({code: 0, stderr: '', stdout: words});
  }
  const skipping = await runWarm(['completion:words', '--', 'acme:s'], {cwd, env: {MYCLI_SKIP_PLUGINS: '1'}});
  expect(skipping.stdout).toBe('');
});

test('completion: the shell is an argument or that of $SHELL, and any other an error', async () => {
  expect((await runWarm(['completion'], {env: {SHELL: '/usr/bin/fish'}})).stdout).toContain('complete -c mycli');
  expect(await runWarm(['completion', 'tcsh'])).toMatchObject({code: 2});
  expect(await runWarm(['completion'], {env: {SHELL: '/bin/tcsh'}})).toMatchObject({code: 2});
});

const starts = {
  bash: ['bash --norc -i', 'source <(mycli completion bash)'],
  'bash without colons': ['bash --norc -i', 'COMP_WORDBREAKS=${COMP_WORDBREAKS//:}; source <(mycli completion bash)'],
  'bash without equals signs': ['bash --norc -i', "COMP_WORDBREAKS=' '; source <(mycli completion bash)"],
  zsh: ['zsh -f -i', 'autoload -U compinit; compinit -u; source <(mycli completion zsh)'],
  fish: ['fish --no-config -i', 'mycli completion fish | source'],
} as const;

/** What is typed before a Tab, and what the line ends with then. */
const splitWords = [
  ['mycli target:del', 'target:delete '],
  ['mycli push --runtime-backend=l', 'legacy '],
  ['mycli push --config=my', '--config=mycli.config.json '],
  ['mycli push --api-key @my', '@mycli.config.json '],
  ['mycli --cwd=ou', '--cwd=output/'],
] as const;
/** The first Tab finds several files. */
const bashWords = [
  ...splitWords,
  ['mycli env:set KEY=@\tmy', 'KEY=@mycli.config.json '],
  ['mycli push --target="s', '="staging" '],
  ['mycli push --config="my', '="mycli.config.json" '],
] as const;
const lines = [
  ...splitWords,
  ['mycli bundle pus', 'push '],
  ['mycli push --targ', '--target '],
  ['mycli push --target p', 'production '],
  ['mycli build ou', 'output/'],
  ['mycli -C ou', 'output/'],
  ['mycli --config my', 'mycli.config.json '],
  ['mycli diff running:p', 'production '],
  [String.raw`mycli build a\ fol`, String.raw`a\\ folder/`],
  ['mycli push --config ~/my', '~/mycli.config.json '],
  ['mycli diff rel', 'release.tar.gz '],
  ['mycli --cw', '--cwd '],
  ['mycli "target:del', '"target:delete" '],
  ['mycli push --target "s', '"staging" '],
  ['mycli push --api-key "@kept', '"@kept secret.txt" '],
  ['mycli -C ~/site push --target i', 'inner '],
] as const;

// script(1) of util-linux gives the shell a pseudo-terminal.
const has = (tool: string) => spawnSync(tool, ['--version']).status === 0;

describe.each(Object.keys(starts) as (keyof typeof starts)[])('completion in %s', (shell) => {
  test.skipIf(!has('script') || !has(shell.split(' ', 1)[0] ?? ''))(
    'Tab completes commands, flags, values and files',
    async () => {
      const cwd = await makeFolder(project);
      await mkdir(join(cwd, 'bin'));
      await symlink(binary, join(cwd, 'bin/mycli'));
      const [start, setUp] = starts[shell];
      const child = spawn('script', ['-qfec', start, '/dev/null'], {
        cwd,
        env: {
          PATH: `${join(cwd, 'bin')}:${process.env['PATH'] ?? ''}`,
          HOME: cwd,
          TERM: 'dumb',
          PS1: '$ ',
          LANG: 'C.UTF-8',
        },
        stdio: ['pipe', 'pipe', 'ignore'],
      });
      onTestFinished(() => void child.kill('SIGKILL'));
      let screen = '';
      // A bell may ring while a name is completed.
      child.stdout.setEncoding('utf8').on('data', (text: string) => (screen += text.replaceAll('\u0007', '')));
      const shows = async (pattern: RegExp) => expect.poll(() => screen).toMatch(pattern);
      child.stdin.write(`${setUp}; echo rea''dy\n`);
      await shows(/^ready/m);
      const otherLines = shell.startsWith('bash without') ? bashWords : lines;
      for (const [typed, rest] of shell === 'bash' ? [...lines, ...bashWords] : otherLines) {
        screen = '';
        child.stdin.write(`${typed}\t`);
        await shows(new RegExp(rest));
        // Ctrl-U empties the line. Another command makes a new one: shells draw only what differs from the line before.
        screen = '';
        child.stdin.write("\u0015echo ne''xt\n");
        await shows(/^next/m);
      }
      child.stdin.end('exit\n');
    },
  );
});

test('completion: words that a shell would take apart or run are left out', async () => {
  const slugs = [
    '$(touch${IFS}X)',
    '`touch X`',
    'a b',
    'a;b',
    "a'b",
    'a\nb',
    'a\tb',
    '~root',
    '*',
    'a&b',
    'größe',
    'v1.2_3',
  ];
  const targets = Object.fromEntries(slugs.map((slug) => [slug, {}]));
  const cwd = await makeFolder({'mycli.config.json': JSON.stringify({targets})});
  for (const flag of [['--target', ''], ['--target=']]) {
    const {stdout} = await runWarm(['completion:words', '--', 'push', ...flag], {cwd});
    const prefix = flag.length === 1 ? '--target=' : '';
    expect(stdout).toBe(`${prefix}größe\n${prefix}v1.2_3\n`);
  }
});

test('completion: what a configuration prints is no word', async () => {
  const cwd = await makeFolder({
    'mycli.config.mjs':
      'console.log("evil");\nprocess.stdout.write("worse\\n");\nexport default {targetSlug: "staging"};\n',
  });
  const words = async () => (await runCli(binary, ['completion:words', '--', 'push', '--target', ''], {cwd})).stdout;
  // A configuration that a busy machine takes long to load is given up.
  await expect.poll(words).toBe('staging\n');
});

test.each([
  ['loops', 'while (true) {}'],
  ['waits', 'await new Promise((resolve) => setTimeout(resolve, 1_000_000))'],
])('completion: a configuration that %s is given up, and what is known without it is offered', async (_what, code) => {
  const cwd = await makeFolder({'mycli.config.mjs': `${code};\nexport default {targetSlug: "staging"};\n`});
  const ended = await runCli(binary, ['completion:words', '--', 'push', '--runtime-backend', ''], {cwd});
  expect(ended).toMatchObject({stdout: 'auto\napi\nlegacy\n', stderr: ''});
});
