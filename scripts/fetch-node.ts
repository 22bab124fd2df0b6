import {spawnSync} from 'node:child_process';

/**
 * The path of the Node of a version or a range such as `24`, which the npm package `node` brings. Fetched once: npx
 * keeps it.
 */
export function fetchNode(range: string): string {
  const env = {...process.env};
  // The package fetches its binary when it is installed.
  delete env['npm_config_ignore_scripts'];
  const args = ['--yes', '--package', `node@${range}`, '--', 'node', '--print', 'process.execPath'];
  // npx is a script on Windows, which only a shell starts.
  const shell = process.platform === 'win32';
  const {status, stdout} = spawnSync('npx', args, {env, shell, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit']});
  if (status !== 0) throw new Error(`The npm package node@${range} brings no Node for this machine.`);
  return stdout.trim();
}
