import {execFile} from 'node:child_process';
import {promisify} from 'node:util';

/** Git answers at once; a file system that hangs must not hold up a push. */
const gitTimeoutMs = 5000;

/** What git needs of the environment: no secrets of others are among it. */
const passedOn =
  /^(?:PATH|HOME|USERPROFILE|SYSTEMROOT|PATHEXT|TEMP|TMP|TMPDIR|XDG_CONFIG_HOME|GIT_CONFIG_.*|GIT_EXEC_PATH)$/i;

/**
 * The message of a bundle that was given none: `<branch>: <short commit>` of the git work tree at `directory`, the commit
 * alone when no branch is checked out, with ` (modified)` when tracked files have uncommitted changes, else `Bundle <ISO time>`.
 */
export async function defaultMessage(
  directory: string,
  env: Readonly<Record<string, string | undefined>>,
  now: () => Date,
): Promise<{readonly message: string; readonly from: 'git' | 'time'}> {
  const commit = await git(['rev-parse', '--short', 'HEAD'], directory, env);
  if (commit === undefined) return {message: `Bundle ${now().toISOString()}`, from: 'time'};
  const branch = await git(['symbolic-ref', '--short', '--quiet', 'HEAD'], directory, env);
  const changes = await git(['status', '--porcelain', '--untracked-files=no'], directory, env);
  const modified = changes === undefined ? '' : ' (modified)';
  return {message: `${branch === undefined ? commit : `${branch}: ${commit}`}${modified}`, from: 'git'};
}

async function git(
  args: readonly string[],
  directory: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  // Not among them: GIT_DIR and others, which inside a git hook name another repository than the one of `directory`.
  const passed = Object.fromEntries(Object.entries(env).filter(([name]) => passedOn.test(name)));
  try {
    // `-C`, not `cwd`: Windows would look for a git.exe there. A look changes nothing, and starts no program of the repository.
    const fixed = ['-C', directory, '--no-optional-locks', '-c', 'core.fsmonitor=false'];
    const {stdout} = await promisify(execFile)('git', [...fixed, ...args], {env: passed, timeout: gitTimeoutMs});
    return stdout.trim() || undefined;
  } catch {
    return undefined;
  }
}
