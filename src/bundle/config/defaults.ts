import {execFile} from 'node:child_process';
import {join} from 'node:path';
import {promisify} from 'node:util';
import * as v from 'valibot';
import {createError} from '../../errors/index.js';
import {parseJson} from '../../errors/json.js';
import {reasonOf} from '../../errors/system-failure.js';
import {readTextFile} from '../../files/read-file.js';
import {dependenciesSchema} from '../option-schemas.js';
import {asSentence} from '../../errors/sentence.js';

/** Git answers at once, and a hanging file system must not hold up a push. */
const gitTimeoutMs = 5000;

/**
 * What git needs to run and to find its configuration. It gets nothing else: not our secrets, because a repository can
 * make it run programs, and no `GIT_DIR` of a git hook, which would name another repository.
 */
const gitVariables = new Set([
  'PATH',
  'PATHEXT',
  'HOME',
  'USERPROFILE',
  'HOMEDRIVE',
  'HOMEPATH',
  'APPDATA',
  'LOCALAPPDATA',
  'PROGRAMDATA',
  'PROGRAMFILES',
  'XDG_CONFIG_HOME',
  'SYSTEMROOT',
  'WINDIR',
  'COMSPEC',
  'TMPDIR',
  'TEMP',
  'TMP',
  'LD_LIBRARY_PATH',
  'SUDO_UID',
  'GIT_CEILING_DIRECTORIES',
  'GIT_DISCOVERY_ACROSS_FILESYSTEM',
  'GIT_EXEC_PATH',
  'GIT_CONFIG_GLOBAL',
  'GIT_CONFIG_SYSTEM',
  'GIT_CONFIG_NOSYSTEM',
]);

/**
 * The default message of a bundle: `<branch>: <short commit>` of the git work tree at `directory`, or only the commit
 * if no branch is checked out, plus ` (modified)` if tracked files have uncommitted changes. Without git, `Bundle <ISO
 * time>`.
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
  // Windows spells some of the names in lower case.
  const needed = Object.fromEntries(Object.entries(env).filter(([name]) => gitVariables.has(name.toUpperCase())));
  try {
    // `-C` instead of `cwd`, where Windows would look for a git.exe. Neither take locks nor start a file system
    // monitor.
    const fixed = ['-C', directory, '--no-optional-locks', '-c', 'core.fsmonitor=false'];
    const {stdout} = await promisify(execFile)('git', [...fixed, ...args], {env: needed, timeout: gitTimeoutMs});
    return stdout.trim() || undefined;
  } catch {
    return undefined;
  }
}

const packageSchema = v.object({
  dependencies: v.optional(dependenciesSchema, {}),
  devDependencies: v.optional(dependenciesSchema, {}),
});

/**
 * The dependencies in a project's package.json, for `--dependencies auto`: version ranges by name. Includes development
 * dependencies, because what is bundled into an application often is one.
 * @throws RuntimeCliError `ERR_CONFIG_INVALID` when package.json is missing or cannot be read.
 */
export async function readDeclaredDependencies(projectDirectory: string): Promise<Record<string, string>> {
  const path = join(projectDirectory, 'package.json');
  try {
    const {dependencies, devDependencies} = v.parse(packageSchema, parseJson(await readTextFile(path)));
    // As in npm, dependencies win over development dependencies.
    return {...devDependencies, ...dependencies};
  } catch (error) {
    throw createError(
      'ERR_CONFIG_INVALID',
      asSentence(`The dependencies in ${path} cannot be read: ${reasonOf(error)}`),
      {
        suggestions: [
          'Pass --project-directory DIR for the folder that contains it, or pass --dependencies with JSON or @FILE.',
        ],
        cause: error,
      },
    );
  }
}
