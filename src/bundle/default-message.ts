import {execFile} from 'node:child_process';
import {promisify} from 'node:util';

/** Git answers at once; a file system that hangs must not hold up a push. */
const gitTimeoutMs = 5000;

/**
 * The message of a bundle that was given none: `<branch>: <short commit>` of the git work tree at `directory`, the commit
 * alone when no branch is checked out, else `Bundle <ISO time>`.
 */
export async function defaultMessage(
  directory: string,
  env: Readonly<Record<string, string | undefined>>,
  now: () => Date,
): Promise<{readonly message: string; readonly from: 'git' | 'time'}> {
  const commit = await git(['rev-parse', '--short', 'HEAD'], directory, env);
  if (commit === undefined) return {message: `Bundle ${now().toISOString()}`, from: 'time'};
  const branch = await git(['symbolic-ref', '--short', '--quiet', 'HEAD'], directory, env);
  return {message: branch === undefined ? commit : `${branch}: ${commit}`, from: 'git'};
}

async function git(
  args: readonly string[],
  directory: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  // Inside a git hook these name another repository than the one of `directory`.
  const {GIT_DIR, GIT_WORK_TREE, GIT_INDEX_FILE, ...rest} = env;
  try {
    // `-C`, not `cwd`: Windows would look for a git.exe there.
    const {stdout} = await promisify(execFile)('git', ['-C', directory, ...args], {env: rest, timeout: gitTimeoutMs});
    return stdout.trim() || undefined;
  } catch {
    return undefined;
  }
}
