import {chmod, chown, mkdir, readFile, rm, writeFile} from 'node:fs/promises';
import {delimiter, join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {ciRunOf} from '../../../src/bundle/provenance/ci.js';
import {changedFiles, compareCommits, readWorkTree} from '../../../src/bundle/provenance/git.js';
import {messageFor, readOrigin, recordedCommit, withRecord} from '../../../src/bundle/provenance/provenance.js';
import {makeFolder} from '../../folder.js';
import {commit, git, gitEnvironment} from './repository.js';
import {shellLine} from '../../../src/text/suggest.js';

const now = () => new Date(0);

test.skipIf(process.platform === 'win32')(
  'git gets what it needs of the environment: no secrets, and nothing that a hook of another repository sets',
  async () => {
    const folder = await makeFolder({});
    const git = join(folder, 'git');
    // Without one, git is not asked at all.
    await mkdir(join(folder, '.git'));
    await writeFile(git, `#!/bin/sh\nenv >> "${join(folder, 'environment')}"\necho abc1234\n`);
    await chmod(git, 0o755);
    const kept = {HOME: folder, SUDO_UID: '1000', GIT_CEILING_DIRECTORIES: '/', XDG_CONFIG_HOME: folder};
    const env = {
      ...kept,
      PATH: [folder, process.env['PATH']].join(delimiter),
      MYCLI_API_KEY: 'canary',
      MYCLI_CLIENT_SECRET: 'canary',
      GITHUB_TOKEN: 'canary',
      AWS_SECRET_ACCESS_KEY: 'canary',
      HTTPS_PROXY: 'http://ann:canary@proxy.example',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'http.extraheader',
      GIT_CONFIG_VALUE_0: 'authorization: canary',
      GIT_DIR: '/canary',
      GIT_SSH_COMMAND: 'canary',
    };
    expect(await readOrigin(folder, env, now)).toMatchObject({message: 'abc1234: abc1234 (modified)', from: 'git'});
    const seen = await readFile(join(folder, 'environment'), 'utf8');
    expect(seen).not.toMatch(/canary|GIT_DIR|GIT_CONFIG_COUNT/);
    for (const [name, value] of Object.entries(kept)) expect(seen).toContain(`${name}=${value}`);
  },
);

test.skipIf(process.platform === 'win32')('two processes of git tell all that a push asks', async () => {
  const folder = await makeFolder({file: 'one', 'bin/.keep': ''});
  git(folder, 'init', '-q', '-b', 'main');
  const hash = commit(folder, 'first');
  git(folder, 'remote', 'add', 'origin', 'https://git.example/shop.git');
  const path = gitEnvironment.PATH;
  const script = `#!/bin/sh\necho "$*" >> "${join(folder, 'calls')}"\nPATH='${path}' exec git "$@"\n`;
  await writeFile(join(folder, 'bin/git'), script);
  await chmod(join(folder, 'bin/git'), 0o755);
  const env = {...gitEnvironment, PATH: [join(folder, 'bin'), path].join(delimiter)};
  const {provenance} = await readOrigin(folder, env, now);
  expect(provenance).toMatchObject({commit: hash, branch: 'main', dirty: false});
  const calls = (await readFile(join(folder, 'calls'), 'utf8')).trim().split('\n');
  expect(calls).toHaveLength(2);
});

const plain = (run: ReturnType<typeof ciRunOf>) => JSON.parse(JSON.stringify(run ?? null)) as unknown;

describe('the provenance', () => {
  test('is commit, branch and whether tracked files were changed; looking changes nothing', async () => {
    const folder = await makeFolder({file: 'one'});
    git(folder, 'init', '-q', '-b', 'feature/x');
    const hash = commit(folder, 'first');
    const short = hash.slice(0, 12);
    const {provenance, message} = await readOrigin(folder, gitEnvironment, now);
    expect(provenance).toEqual({commit: hash, branch: 'feature/x', dirty: false, ci: undefined});
    expect(message).toBe(`feature/x: ${short}`);
    const index = await readFile(join(folder, '.git/index'));
    await writeFile(join(folder, 'file'), 'two!');
    expect((await readOrigin(folder, gitEnvironment, now)).message).toBe(`feature/x: ${short} (modified)`);
    expect((await readFile(join(folder, '.git/index'))).equals(index)).toBe(true);
    git(folder, 'checkout', '-q', '--detach');
    expect((await readOrigin(folder, gitEnvironment, now)).message).toBe(`${short} (modified)`);
  });

  test('is that of the branch although a tag has its name, and although hashes are configured to be short', async () => {
    const folder = await makeFolder({file: 'one'});
    git(folder, 'init', '-q', '-b', 'wip');
    git(folder, 'config', 'core.abbrev', '4');
    const hash = commit(folder, 'first');
    git(folder, 'tag', 'wip');
    const {provenance, message} = await readOrigin(folder, gitEnvironment, now);
    expect(provenance).toMatchObject({branch: 'wip', commit: hash});
    expect(message).toBe(`wip: ${hash.slice(0, 12)}`);
    expect(recordedCommit(message)).toMatchObject({branch: 'wip'});
  });

  test.each([
    ['staged', ['add', 'file']],
    ['in conflict', ['merge', '-q', 'other']],
    ['renamed', ['mv', 'same', 'moved']],
    ['removed from the index', ['rm', '-q', '--cached', 'same']],
  ])('is modified if a file is %s', async (_, args) => {
    const folder = await makeFolder({file: 'one', same: 'same'});
    git(folder, 'init', '-q', '-b', 'main');
    commit(folder, 'first');
    git(folder, 'checkout', '-q', '-b', 'other');
    await writeFile(join(folder, 'file'), 'two');
    commit(folder, 'second');
    git(folder, 'checkout', '-q', 'main');
    await writeFile(join(folder, 'file'), 'three');
    if (args[0] === 'merge') commit(folder, 'third');
    else if (args[0] !== 'add') git(folder, 'checkout', '-q', 'file');
    try {
      git(folder, ...args);
    } catch {
      // A merge with conflicts fails.
    }
    expect((await readOrigin(folder, gitEnvironment, now)).provenance).toMatchObject({branch: 'main', dirty: true});
  });

  test('has the commit, as modified, if git cannot tell the status', async () => {
    const folder = await makeFolder({file: 'one'});
    git(folder, 'init', '-q', '-b', 'main');
    const hash = commit(folder, 'first');
    await writeFile(join(folder, '.git/index'), 'no index');
    expect((await readOrigin(folder, gitEnvironment, now)).message).toBe(`main: ${hash.slice(0, 12)} (modified)`);
  });

  test.each(['--assume-unchanged', '--skip-worktree'])('is modified if %s hides changes', async (mark) => {
    const folder = await makeFolder({'config/local.json': 'one', gone: 'two'});
    git(folder, 'init', '-q');
    commit(folder, 'first');
    git(folder, 'update-index', '--skip-worktree', 'gone');
    await rm(join(folder, 'gone'));
    expect((await readOrigin(folder, gitEnvironment, now)).provenance?.dirty).toBe(false);
    git(folder, 'update-index', mark, 'config/local.json');
    expect((await readOrigin(join(folder, 'config'), gitEnvironment, now)).provenance?.dirty).toBe(true);
    expect(await changedFiles(folder, [], gitEnvironment)).toEqual(['config/local.json (hidden from git status)']);
  });

  test('is missing if git refuses, and why is told', async () => {
    const folder = await makeFolder({file: 'one'});
    git(folder, 'init', '-q');
    commit(folder, 'first');
    if (process.getuid?.() === 0) {
      await chown(folder, 1001, 1001);
      const {refusal, provenance} = await readOrigin(folder, gitEnvironment, now);
      expect(provenance).toBeUndefined();
      expect(refusal?.message).toBe(
        `git refuses to read ${folder}: detected dubious ownership in repository at '${folder}'.`,
      );
      expect(refusal?.suggestions).toEqual([
        `If you trust the repository, run: ${shellLine('git', 'config', '--global', '--add', 'safe.directory', folder)}`,
      ]);
      await chown(folder, 0, 0);
    }
    git(folder, 'config', 'core.repositoryFormatVersion', '99');
    await expect(readWorkTree(folder, gitEnvironment)).rejects.toMatchObject({code: 'ERR_GIT', exitCode: 3});
  });

  test('says that a submodule is changed, whatever the repository ignores', async () => {
    const library = await makeFolder({file: 'one'});
    git(library, 'init', '-q');
    commit(library, 'first');
    const folder = await makeFolder({});
    git(folder, 'init', '-q');
    git(folder, 'submodule', '--quiet', 'add', library, 'library');
    git(folder, 'config', 'diff.ignoreSubmodules', 'all');
    git(folder, 'config', 'submodule.library.ignore', 'all');
    commit(folder, 'first');
    expect((await readOrigin(folder, gitEnvironment, now)).provenance?.dirty).toBe(false);
    await writeFile(join(folder, 'library/file'), 'two');
    expect((await readOrigin(folder, gitEnvironment, now)).provenance?.dirty).toBe(true);
    expect(await changedFiles(folder, [join(folder, 'build')], gitEnvironment)).toEqual(['library']);
  });

  test('takes the branch from CI if a commit is checked out, and only for that commit', async () => {
    const folder = await makeFolder({file: 'one'});
    git(folder, 'init', '-q', '-b', 'main');
    const hash = commit(folder, 'first');
    git(folder, 'checkout', '-q', '--detach');
    const env = {...gitEnvironment, GITLAB_CI: 'true', CI_COMMIT_BRANCH: 'release', CI_JOB_URL: 'https://ci.example/1'};
    const {provenance, message} = await readOrigin(folder, {...env, CI_COMMIT_SHA: hash}, now);
    expect(provenance).toMatchObject({branch: 'release', ci: {system: 'GitLab CI', url: 'https://ci.example/1'}});
    expect([message, messageFor(provenance ?? {})]).toEqual([hash.slice(0, 12), `release: ${message}`]);
    const other = await readOrigin(folder, {...env, CI_COMMIT_SHA: '0'.repeat(40)}, now);
    expect(other.provenance?.branch).toBeUndefined();
  });

  test('is that of CI outside a repository, and nothing without either', async () => {
    const folder = await makeFolder({});
    const env = {...gitEnvironment, GIT_CEILING_DIRECTORIES: join(folder, '..')};
    expect((await readOrigin(folder, env, now)).provenance).toBeUndefined();
    expect((await readOrigin(folder, {...env, CI: '1'}, now)).provenance).toEqual({ci: {}});
    git(folder, 'init', '-q');
    const time = {from: 'time', message: 'Build of 1970-01-01 00:00:00 UTC'};
    expect(await readOrigin(folder, env, now)).toMatchObject(time);
    const without = await readOrigin(folder, {...env, PATH: '/nonexistent'}, now);
    expect(without).toMatchObject({...time, refusal: {code: 'ERR_GIT'}});
    await rm(join(folder, '.git/HEAD'));
    expect(await readOrigin(folder, env, now)).toEqual({...time, provenance: undefined, refusal: undefined});
  });
});

test.skipIf(process.platform === 'win32')(
  'looking at a repository starts no program that its configuration names',
  async () => {
    const folder = await makeFolder({file: 'one'});
    git(folder, 'init', '-q', '-b', 'main');
    const hash = commit(folder, 'first');
    const trap = join(folder, '..', `trap-${String(process.pid)}`);
    const program = `touch ${trap}; false`;
    for (const [key, value] of [
      ['core.fsmonitor', program],
      ['gpg.program', program],
      ['log.showSignature', 'true'],
      ['core.pager', program],
      ['core.sshCommand', program],
      ['remote.origin.url', `ext::sh -c "${program}"`],
      ['remote.origin.promisor', 'true'],
      ['extensions.partialClone', 'origin'],
    ] as const)
      git(folder, 'config', key, value);
    await readOrigin(folder, gitEnvironment, now);
    await changedFiles(folder, [join(folder, 'build')], gitEnvironment);
    expect(await compareCommits(folder, {commit: hash, with: '1'.repeat(40)}, gitEnvironment)).toBe('unknown');
    await expect(readFile(trap)).rejects.toMatchObject({code: 'ENOENT'});
  },
);

describe('a message', () => {
  test.each([
    ['main: 1a2b3c4', {branch: 'main', commit: '1a2b3c4', dirty: false}],
    ['1a2b3c4 (modified)', {branch: undefined, commit: '1a2b3c4', dirty: true}],
    ['Release 5 [feature/x: 1a2b3c4 (modified)]', {branch: 'feature/x', commit: '1a2b3c4', dirty: true}],
    ['Release 5', undefined],
    ['20240101', undefined],
    ['build: 4711', undefined],
    ['facade', undefined],
    ['Build of 2026-01-01 00:00:00 UTC', undefined],
    ['fix [the thing]', undefined],
  ])('%j names %j', (message, expected) => {
    expect(recordedCommit(message)).toEqual(expected);
  });

  test('gets the whole commit unless it has it', () => {
    const commit = '1a2b3c4d5e6f'.padEnd(40, '0');
    expect(withRecord('Release 5', {branch: 'main', commit})).toBe(`Release 5 [main: ${commit}]`);
    expect(withRecord('main: 1a2b3c4', {branch: 'main', commit})).toBe('main: 1a2b3c4');
    const modified = {branch: 'main', commit, dirty: true};
    expect(withRecord('main: 1a2b3c4', modified)).toBe(`main: 1a2b3c4 [main: ${commit} (modified)]`);
    expect(withRecord('Release 5', {})).toBe('Release 5');
  });
});

test.each([
  [
    {
      GITHUB_ACTIONS: 'true',
      GITHUB_SERVER_URL: 'https://github.example',
      GITHUB_REPOSITORY: 'shop/site',
      GITHUB_RUN_ID: '7',
      GITHUB_REF: 'refs/heads/main',
      GITHUB_SHA: 'a',
    },
    {system: 'GitHub Actions', url: 'https://github.example/shop/site/actions/runs/7', branch: 'main', commit: 'a'},
  ],
  [{GITHUB_ACTIONS: 'true', GITHUB_REF: 'refs/pull/12/merge', GITHUB_REF_NAME: '12/merge'}, {system: 'GitHub Actions'}],
  [
    {GITLAB_CI: 'true', CI_JOB_URL: 'https://x:y@ci.example/1'},
    {system: 'GitLab CI', url: 'https://ci.example/1'},
  ],
  [
    {JENKINS_URL: 'https://j', BUILD_URL: 'https://j/1', GIT_BRANCH: 'origin/main', GIT_COMMIT: 'a'},
    {system: 'Jenkins', url: 'https://j/1', branch: 'main', commit: 'a'},
  ],
  [{JENKINS_URL: 'https://j', BRANCH_NAME: 'main', CHANGE_ID: '7'}, {system: 'Jenkins'}],
  [
    {CIRCLECI: 'true', CIRCLE_BUILD_URL: 'https://c/1', CIRCLE_BRANCH: 'main', CIRCLE_SHA1: 'a'},
    {system: 'CircleCI', url: 'https://c/1', branch: 'main', commit: 'a'},
  ],
  [
    {BUILDKITE: 'true', BUILDKITE_BUILD_URL: 'https://b/1', BUILDKITE_BRANCH: 'main', BUILDKITE_COMMIT: 'a'},
    {system: 'Buildkite', url: 'https://b/1', branch: 'main', commit: 'a'},
  ],
  [
    {
      TF_BUILD: 'True',
      SYSTEM_COLLECTIONURI: 'https://dev.example/o/',
      SYSTEM_TEAMPROJECT: 'my shop',
      BUILD_BUILDID: '5',
      BUILD_SOURCEBRANCH: 'refs/heads/main',
      BUILD_SOURCEVERSION: 'a',
    },
    {
      system: 'Azure Pipelines',
      url: 'https://dev.example/o/my%20shop/_build/results?buildId=5',
      branch: 'main',
      commit: 'a',
    },
  ],
  [
    {
      BITBUCKET_BUILD_NUMBER: '3',
      BITBUCKET_GIT_HTTP_ORIGIN: 'https://bb.example/shop/site',
      BITBUCKET_BRANCH: 'main',
      BITBUCKET_COMMIT: 'a',
    },
    {
      system: 'Bitbucket Pipelines',
      url: 'https://bb.example/shop/site/addon/pipelines/home#!/results/3',
      branch: 'main',
      commit: 'a',
    },
  ],
  [{CI: 'true'}, {}],
  [{CI: 'false'}, null],
  [{}, null],
])('the CI run of %j', (env, expected) => {
  expect(plain(ciRunOf(env))).toEqual(expected);
});
