import {execFile, type ExecFileException} from 'node:child_process';
import {realpath} from 'node:fs/promises';
import {dirname, join, relative} from 'node:path';
import {promisify} from 'node:util';
import {createError} from '../../errors/index.js';
import {findProgram, startOf} from '../../files/programs.js';
import {exists} from '../../files/read-file.js';
import type {Environment} from '../../text/platform.js';
import {isOutside} from '../../text/paths.js';
import {asSentence, oneLine} from '../../text/sentence.js';

/** Git answers at once, and a hanging file system must not hold up a push. */
const gitTimeoutMs = 5000;

/** What git and its filters need. No secrets, and no `GIT_DIR` of a hook, which names another repository. */
const needed = new RegExp(
  `^(?:${[
    'PATH|PATHEXT|LD_LIBRARY_PATH|DEVELOPER_DIR|HOME|XDG_CONFIG_HOME|SUDO_UID|TMPDIR|TE?MP',
    'SystemRoot|SystemDrive|windir|ComSpec|USERPROFILE|HOMEDRIVE|HOMEPATH|(?:LOCAL)?APPDATA|ProgramData|ProgramFiles.*',
    'GIT_(?:CEILING_DIRECTORIES|DISCOVERY_ACROSS_FILESYSTEM|EXEC_PATH|CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM))',
  ].join('|')})$`,
  'i',
);

/** Nothing may ask for a password or be fetched from a server. What git refuses is told in English. */
const fixedVariables = {GIT_TERMINAL_PROMPT: '0', GIT_NO_LAZY_FETCH: '1', GIT_NO_REPLACE_OBJECTS: '1', LC_ALL: 'C'};

/** Configuration that would start programs or connections. */
const fixedConfiguration = ['core.fsmonitor=false', 'log.showSignature=false', 'protocol.allow=never'];

/** How a git command ended. Without git, or if it takes too long, there is no code. */
interface GitOutcome {
  readonly code?: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** A git command in a folder. Never rejects. */
async function run(args: readonly string[], directory: string, env: Environment): Promise<GitOutcome> {
  const passed = Object.fromEntries(Object.entries(env).filter(([name]) => needed.test(name)));
  const fixed = ['-C', directory, '--no-optional-locks', ...fixedConfiguration.flatMap((entry) => ['-c', entry])];
  const options = {env: {...passed, ...fixedVariables}, timeout: gitTimeoutMs, maxBuffer: 128 * 1024 * 1024};
  const git = findProgram('git', env);
  if (git === undefined) return {stdout: '', stderr: ''};
  const {file, args: all, windowsVerbatimArguments} = startOf(git, [...fixed, ...args], env);
  try {
    const running = promisify(execFile)(file, all, {...options, windowsVerbatimArguments});
    const {stdout, stderr} = await running;
    // If this thread was busy for longer than the limit, what git printed may be lost.
    return running.child.killed ? {stdout: '', stderr} : {code: 0, stdout, stderr};
  } catch (error) {
    const {code, stderr = ''} = error as Partial<ExecFileException> & {readonly stderr?: string};
    return {code: typeof code === 'number' ? code : undefined, stdout: '', stderr};
  }
}

/** What a git command prints, without whitespace around it. Undefined if that is nothing, or if it fails. */
async function ask(args: readonly string[], directory: string, env: Environment): Promise<string | undefined> {
  const {code, stdout} = await run(args, directory, env);
  return code === 0 ? stdout.trim() || undefined : undefined;
}

/** The commit that is checked out, and how the work tree differs from it. */
export interface WorkTree {
  /** Full hash. */
  readonly commit: string;
  /** Undefined if no branch is checked out. */
  readonly branch?: string | undefined;
  /** Whether tracked files have uncommitted changes. */
  readonly dirty: boolean;
}

/** Whether git would find a work tree: it looks for `.git` in each folder above. To look costs less than to run it. */
async function isInWorkTree(directory: string): Promise<boolean> {
  // A folder that cannot be read is git's to judge.
  const start = await realpath(directory).catch(() => undefined);
  if (start === undefined) return true;
  for (let folder = start; ; folder = dirname(folder)) {
    if (await exists(join(folder, '.git'))) return true;
    if (dirname(folder) === folder) return false;
  }
}

/** Undefined outside a work tree and before the first commit. @throws RuntimeCliError `ERR_GIT` if git cannot tell. */
export async function readWorkTree(directory: string, env: Environment): Promise<WorkTree | undefined> {
  if (!(await isInWorkTree(directory))) return undefined;
  const flags = ['--branch', '--no-ahead-behind', '--untracked-files=no', '--ignore-submodules=untracked'];
  const [status, hidden] = await Promise.all([
    run(['status', '--porcelain=v2', ...flags], directory, env),
    hiddenFiles(directory, env),
  ]);
  const lines = status.stdout;
  const [, commit] = /^# branch\.oid (\S+)$/m.exec(lines) ?? [];
  if (commit === undefined) return readCommit(directory, env);
  if (commit === '(initial)') return undefined;
  const [, branch] = /^# branch\.head (?!\(detached\)$)(.+)$/m.exec(lines) ?? [];
  return {commit, branch, dirty: /^[^#]/m.test(lines) || hidden?.length !== 0};
}

/** The commit alone, where git cannot tell the status, or not in time: it counts as modified. */
async function readCommit(directory: string, env: Environment): Promise<WorkTree | undefined> {
  const [head, ref] = await Promise.all([
    run(['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'], directory, env),
    // Not `--short`, which says `heads/main` if a tag has the name of the branch, too.
    ask(['symbolic-ref', '--quiet', 'HEAD'], directory, env),
  ]);
  if (head.code === undefined) throw gitMissing(directory);
  // With `--quiet`, it says nothing of a repository without a commit. A `.git` that is none is not git's.
  if (head.code > 1 && /not a git repository \(or/.test(head.stderr)) return undefined;
  if (head.code > 1) throw gitRefusal(directory, head.stderr);
  const commit = head.stdout.trim();
  return commit === '' ? undefined : {commit, branch: ref?.replace(/^refs\/heads\//, ''), dirty: true};
}

/** URL of the remote `origin`, as it is configured. It can contain credentials. Undefined if there is none. */
export function remoteOrigin(directory: string, env: Environment): Promise<string | undefined> {
  return ask(['remote', 'get-url', 'origin'], directory, env);
}

function gitMissing(directory: string): Error {
  return createError('ERR_GIT', `git cannot be run in ${directory}, which is in a git work tree.`, {
    suggestions: ['Install git or add it to PATH. If it is there, check that it works: git status'],
  });
}

function gitRefusal(directory: string, said: string): Error {
  const [reason = ''] = said.replace(/^fatal: /, '').split('\n');
  const [trust] = /git config --global --add safe\.directory .+/.exec(said) ?? [];
  return createError('ERR_GIT', asSentence(`git refuses to read ${directory}: ${oneLine(reason)}`), {
    suggestions: [trust === undefined ? 'See: git status' : `If you trust the repository, run: ${trust}`],
  });
}

/**
 * The files whose changes git was told to ignore (`git update-index --assume-unchanged`, `--skip-worktree`). A sparse
 * checkout skips many that are not there. Undefined if git cannot tell.
 */
async function hiddenFiles(directory: string, env: Environment): Promise<readonly string[] | undefined> {
  const {code, stdout} = await run(['ls-files', '-v', '-z', '--full-name', ':/'], directory, env);
  if (code !== 0) return undefined;
  const marked = stdout.split('\0').flatMap((entry) => (/^(?:[a-z]|S) /.test(entry) ? [entry.slice(2)] : []));
  if (marked.length === 0) return [];
  const root = (await ask(['rev-parse', '--show-toplevel'], directory, env)) ?? directory;
  const present = await Promise.all(marked.map((path) => exists(join(root, path))));
  return marked.filter((_, index) => present[index]);
}

/** The files that are not as committed, but for absolute paths (`without`). Undefined if git cannot tell. */
export async function changedFiles(
  directory: string,
  without: readonly string[],
  env: Environment,
): Promise<readonly string[] | undefined> {
  // Of the whole work tree: what `directory` is built from can be anywhere in it.
  const root = await ask(['rev-parse', '--show-toplevel'], directory, env);
  if (root === undefined) return undefined;
  const excluded = without.map((path) => relative(root, path)).filter((path) => path !== '' && !isOutside(path));
  const paths = ['--', '.', ...excluded.map((path) => `:(exclude,literal)${path}`)];
  // A repository can be configured to hide changes in submodules.
  const flags = ['--porcelain', '-z', '--no-renames', '--untracked-files=normal', '--ignore-submodules=none'];
  const [outcome, hidden] = await Promise.all([run(['status', ...flags, ...paths], root, env), hiddenFiles(root, env)]);
  if (outcome.code !== 0 || hidden === undefined) return undefined;
  const changed = outcome.stdout.split('\0').flatMap((entry) => (entry === '' ? [] : [entry.slice(3)]));
  return [...changed, ...hidden.map((path) => `${path} (hidden from git status)`)];
}

/** `newer`: the first commit contains the second. `unknown`: the clone lacks one of them, or git cannot tell. */
export type CommitRelation = 'same' | 'newer' | 'older' | 'diverged' | 'unknown';

/** How one commit relates to another, as far as the clone at `directory` knows. */
export async function compareCommits(
  directory: string,
  {commit, with: other}: {readonly commit: string; readonly with: string},
  env: Environment,
): Promise<CommitRelation> {
  const [first, second] = await Promise.all([commit, other].map((name) => resolveCommit(name, directory, env)));
  if (first === undefined || second === undefined) return 'unknown';
  if (first === second) return 'same';
  const isAncestor = (one: string, of: string) => run(['merge-base', '--is-ancestor', one, of], directory, env);
  const [newer, older] = await Promise.all([isAncestor(second, first), isAncestor(first, second)]);
  if (newer.code === 0) return 'newer';
  if (older.code === 0) return 'older';
  if (newer.code !== 1 || older.code !== 1) return 'unknown';
  // The history in between may be what a shallow clone lacks.
  return (await isShallow(directory, env)) ? 'unknown' : 'diverged';
}

/** The full hash of a commit that the clone has. Only a hash is looked up, never a name. */
export async function resolveCommit(name: string, directory: string, env: Environment): Promise<string | undefined> {
  if (!/^[0-9a-f]{4,64}$/.test(name)) return undefined;
  return ask(['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`], directory, env);
}

/** Whether the clone at `directory` lacks a part of the history. */
export async function isShallow(directory: string, env: Environment): Promise<boolean> {
  return (await ask(['rev-parse', '--is-shallow-repository'], directory, env)) === 'true';
}
