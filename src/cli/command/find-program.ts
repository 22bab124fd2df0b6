import which from 'which';
import {createError} from '../../errors/index.js';

/**
 * The path of a program in `PATH`.
 * @throws RuntimeCliError `ERR_PROGRAM_MISSING`.
 */
export async function findProgram(name: string, path?: string): Promise<string> {
  const found = await which(name, {nothrow: true, ...(path === undefined ? {} : {path})});
  if (found !== null) return found;
  const suggestion =
    name === 'npm'
      ? 'npm comes with Node.js: add the folder that contains it to PATH, then try again.'
      : `Install ${name}, or install the dependencies of the plugin yourself and run mycli plugins:link --no-install DIR.`;
  throw createError('ERR_PROGRAM_MISSING', `${name} is not in PATH.`, {suggestions: [suggestion]});
}
