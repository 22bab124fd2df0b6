import {spawn} from 'node:child_process';
import {once} from 'node:events';
import process from 'node:process';
import type {Environment} from '../../http/types.js';
import {findProgram} from './find-program.js';

/** The program that opens a URL on each platform, and its arguments before the URL. None of them is a shell. */
function openerOf(platform: NodeJS.Platform): readonly [program: string, ...args: readonly string[]] {
  if (platform === 'darwin') return ['open'];
  // Like `start` in cmd, but without cmd, which would execute what follows an `&`.
  return platform === 'win32' ? ['rundll32', 'url.dll,FileProtocolHandler'] : ['xdg-open'];
}

/**
 * Opens a URL in the user's browser.
 * @param url http(s), as `shownUrl` makes it
 * @returns Whether a browser was started. False without a display, or without the program that finds the browser.
 */
export async function openBrowser(
  url: string,
  {env, platform = process.platform}: {readonly env: Environment; readonly platform?: NodeJS.Platform},
): Promise<boolean> {
  const hasDisplay = platform === 'darwin' || platform === 'win32' || Boolean(env['DISPLAY'] || env['WAYLAND_DISPLAY']);
  if (!hasDisplay) return false;
  const [name, ...args] = openerOf(platform);
  try {
    const program = await findProgram(name, {env, platform});
    const child = spawn(program, [...args, url], {detached: true, stdio: 'ignore', env});
    child.unref();
    await once(child, 'spawn');
    return true;
  } catch {
    return false;
  }
}
