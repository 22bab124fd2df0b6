import {execFileSync} from 'node:child_process';

/** What git needs, and nothing of the user who runs the tests. */
export const gitEnvironment = {
  PATH: process.env['PATH'] ?? '',
  HOME: '/nonexistent',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
};

/** Runs git in a folder, and returns what it prints. */
export function git(directory: string, ...args: readonly string[]): string {
  const identity = ['-c', 'user.name=Ann', '-c', 'user.email=ann@git.example', '-c', 'protocol.file.allow=always'];
  return execFileSync('git', [...identity, ...args], {
    cwd: directory,
    env: gitEnvironment,
    encoding: 'utf8',
    stdio: 'pipe',
  }).trim();
}

/** Commits everything in a folder, and returns the hash of the commit. */
export function commit(directory: string, message: string): string {
  git(directory, 'add', '--all');
  git(directory, 'commit', '-q', '--allow-empty', '-m', message);
  return git(directory, 'rev-parse', 'HEAD');
}
