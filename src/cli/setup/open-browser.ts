import process from 'node:process';
import type {Environment} from '../../http/types.js';

/**
 * Opens a URL in the user's browser.
 * @param url http(s), as `shownUrl` makes it
 * @returns Whether a browser was started. False without a display, or without the program that finds the browser.
 */
export async function openBrowser(url: string, env: Environment): Promise<boolean> {
  const hasDisplay = ['darwin', 'win32'].includes(process.platform) || env['DISPLAY'] || env['WAYLAND_DISPLAY'];
  if (!hasDisplay) return false;
  const {default: open} = await import('open');
  return open(url).then(
    () => true,
    () => false,
  );
}
