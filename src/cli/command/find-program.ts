import {constants} from 'node:fs';
import {access, stat} from 'node:fs/promises';
import {delimiter, join} from 'node:path';
import process from 'node:process';
import {createError} from '../../errors/index.js';
import type {Environment} from '../../http/types.js';

/**
 * The path of a program in `PATH`.
 * @throws RuntimeCliError `ERR_PROGRAM_MISSING`.
 */
export async function findProgram(
  name: string,
  {env, platform}: {readonly env: Environment; readonly platform: NodeJS.Platform} = process,
): Promise<string> {
  const endings = platform === 'win32' ? (env['PATHEXT'] ?? '.EXE;.CMD;.BAT;.COM').split(';') : [''];
  for (const folder of (env['PATH'] ?? '').split(delimiter)) {
    for (const ending of endings) {
      const path = join(folder, name + ending.toLowerCase());
      if (folder !== '' && (await isProgram(path))) return path;
    }
  }
  const suggestion =
    name === 'npm'
      ? 'npm comes with Node.js: add the folder that contains it to PATH, then try again.'
      : `Install ${name}, or install the dependencies of the plugin yourself and run mycli plugins:link --no-install DIR.`;
  throw createError('ERR_PROGRAM_MISSING', `${name} is not in PATH.`, {suggestions: [suggestion]});
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
