import {describe, expect, test} from 'vitest';
import {commandFirst, joinWords, spellHelp} from '../../../src/cli/command/command-line.js';
import {makeFolder} from '../../folder.js';
import {runWarm} from '../warm-cli.js';

const ids = ['acme:hello', 'acme:hello:loud', 'bundle:push', 'push', 'plugins', 'plugins:install'];
const known = {findCommand: (id: string) => (ids.includes(id) ? {id} : undefined)};

describe('the words of a command', () => {
  test.each([
    ['bundle push --wait', 'bundle:push --wait'],
    ['acme hello loud x', 'acme:hello:loud x'],
    ['acme hello quiet', 'acme:hello quiet'],
    ['push bundle', 'push bundle'],
    ['bundle --wait push', 'bundle --wait push'],
  ])('%s are read as %s', (typed, read) => {
    expect(joinWords(typed.split(' '), known).join(' ')).toBe(read);
  });

  test('after help name what is explained, unless help has flags of its own', () => {
    expect(spellHelp(['help', 'bundle', 'push'])).toEqual(['bundle', 'push', '--help']);
    expect(spellHelp(['help'])).toEqual(['--help']);
    expect(spellHelp(['help', '-n'])).toEqual(['help', '-n']);
    expect(spellHelp(['push', 'help'])).toEqual(['push', 'help']);
  });
});

test.each([
  ['--json push dist --wait', 'push dist --json --wait'],
  ['-C shop --config=x.json --quiet bundle push --wait', 'bundle push -C shop --config=x.json --quiet --wait'],
  ['-Cshop push', 'push -Cshop'],
  ['-C shop --json', ''],
  ['push --json dist', 'push --json dist'],
  ['--nope push', '--nope push'],
])('global flags may precede the command: %s is read as %s', (typed, read) => {
  expect(commandFirst(typed.split(' ')).join(' ')).toBe(read);
});

test.each(['push --message -h', 'bundle push -m --help', 'push -m -v'])('makes no success of %s', async (line) => {
  const ended = await runWarm([...line.split(' '), '--json']);
  expect(ended.code).toBe(3);
  expect(JSON.parse(ended.stdout)).toMatchObject({error: {exitCode: 3}});
});

test.each(['--message=-wip', '--message=--json', '--message=a=-b', '--message=-', '-m=-p', '-m-wip'])(
  'a value in the word of its flag may begin with a dash: %s',
  async (word) => {
    const env = {MYCLI_RUNTIME_ORIGIN: 'http://127.0.0.1:9', MYCLI_API_KEY: 'key', MYCLI_PROJECT: 'shop'};
    const cwd = await makeFolder({'build/ssr.js': ''});
    const {code, stdout} = await runWarm(['push', '--dry-run', word, '--json'], {cwd, env});
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({message: word.replace(/^(?:--message=|-m=?)/, '')});
  },
);

test('a value of a list may begin with a dash', async () => {
  const cwd = await makeFolder({'build/ssr.js': '', 'build/-build': ''});
  const {stdout} = await runWarm(['build', '--dry-run', '--ignore=-build', '--json'], {cwd, env: {}});
  expect(JSON.parse(stdout)).toMatchObject({files: [{path: 'ssr.js'}]});
});

test.each([
  ['build --output=', '--output must not be empty.'],
  ['push --message=', '--message must not be empty.'],
  ['list --limit=', '--limit: Expected an integer but received:'],
  ['list --limit=-p', '--limit: Expected an integer but received: -p.'],
  ['list --limit=-x', '--limit: Expected an integer but received: -x.'],
  ['list -- --all', 'If it is a flag, leave out the -- before it.'],
  ['push -- --dry-run', 'If it is a flag, leave out the -- before it.'],
])('mycli %s is a clear error', async (line, message) => {
  const {code, stderr} = await runWarm(line.split(' '));
  expect(code).toBe(2);
  expect(stderr).toContain(message);
});

describe('mycli', () => {
  test('says its version for -v alone, and for --version wherever it stands', async () => {
    const {stdout} = await runWarm(['--version']);
    expect(stdout).toMatch(/^mycli\/\S+ \S+ node-\S+\n$/);
    for (const line of [
      '-v',
      '-v --json',
      '--version',
      'deploy --version',
      'bundle push --json --version',
      'bundle --version',
    ])
      expect(await runWarm(line.split(' '))).toMatchObject({code: 0, stdout, stderr: ''});
  });

  test.each([
    ['--debug', ''],
    ['-C web', ''],
    ['bundle --debug', 'bundle'],
  ])('shows for %s the same as without the global flags', async (line, bare) => {
    const {code, stdout} = await runWarm(bare.split(' ').filter((word) => word !== ''));
    expect(await runWarm(line.split(' '))).toMatchObject({code, stdout});
  });

  test('knows its commands as words and by their aliases, under one name', async () => {
    for (const args of [['bundle:push'], ['bundle', 'push'], ['push']]) {
      const {code, stdout, stderr} = await runWarm([...args, '--nope', '--json']);
      expect({code, stderr}).toEqual({code: 2, stderr: expect.stringContaining('mycli push --help') as string});
      expect(JSON.parse(stdout)).toMatchObject({error: {message: 'Unknown flag: --nope'}});
    }
  });

  test.each([
    [['psuh'], 'Did you mean mycli push?'],
    [['--nope'], 'Run mycli help to list all commands.'],
    [['bundle', 'psuh', '--wait'], 'Did you mean mycli push --wait?'],
    [['bundl', 'push'], 'Did you mean mycli push?'],
    [['deplo', '42'], 'Did you mean mycli deploy 42?'],
    [['show', 'bundle.tar.gz'], 'Did you mean mycli inspect bundle.tar.gz?'],
    [['push', '--wait=false'], 'Pass --no-wait.'],
    [['push', '--dry-run=true'], 'Pass --dry-run alone, or leave it out.'],
    [['push', '--prod'], 'Did you mean --target production?'],
    [['push', '--dir', 'dist'], 'Did you mean --build-directory?'],
    [['deploy', '--prod', '--dir=build'], 'Leave out --dir: deploy takes a bundle, push a folder.'],
    [['create', 'qa2'], 'Did you mean mycli target:create qa2 or mycli init?'],
    [['create'], 'Did you mean mycli init?'],
    [['push', '--verbose'], 'Did you mean --debug?'],
    [['push', '--wait', '-v'], 'Did you mean --debug?'],
    [['target', 'list', '-v'], 'Did you mean --debug?'],
    [['-v', 'push'], 'Put the command before its flags: mycli push --debug'],
    [['bundle', '-v'], 'Run mycli bundle --help for usage.'],
    [['deploy', '1', '--to', 'staging'], 'Did you mean --target?'],
    [['promote', 'staging', 'production'], 'Pass --from staging --target production.'],
    [
      ['promote', 'staging'],
      'To deploy to staging, pass --from SLUG --target staging. If it runs the bundle, pass --from staging --target SLUG.',
    ],
  ])('answers %j with what was meant', async (args, suggestion) => {
    const {code, stdout, stderr} = await runWarm(args);
    expect({code, stdout}).toEqual({code: 2, stdout: ''});
    expect(stderr).toContain(suggestion);
  });
});
