import {lstat, mkdir, readdir, readFile, realpath, rm} from 'node:fs/promises';
import {dirname, join, relative, sep} from 'node:path';
import {backendNamePattern} from '../../backends/plugins/checked-backend.js';
import {reservedNames} from '../../backends/registry.js';
import {createError, isRuntimeCliError, outputError} from '../../errors/index.js';
import {replaceTextFile} from '../../files/write-files.js';

export interface NewPlugin {
  readonly name: string;
  readonly directory: string;
  /** Whether the folder may have other files, and files of the same name are replaced. */
  readonly force: boolean;
  readonly mycli: {readonly root: string};
}

const templateName = 'acme';
const packagePrefix = 'mycli-plugin-';

export function pluginPackage(name: string): string {
  const refuse = (why: string) => {
    throw createError('ERR_USAGE', `The backend cannot be called ${JSON.stringify(name)}: ${why}.`);
  };
  if (reservedNames.has(name)) refuse('this name is reserved');
  if (name.startsWith(packagePrefix)) refuse(`the package is called ${packagePrefix}NAME, the backend NAME`);
  if (!backendNamePattern.test(name)) refuse('a name starts with a letter and has at most 32 of a-z, 0-9 and "-"');
  return `${packagePrefix}${name}`;
}

/** Writes a plugin, and returns the paths of its files. A new folder is removed again if it cannot be written. */
export async function writePlugin({name, directory, force, mycli}: NewPlugin): Promise<readonly string[]> {
  let folder: string | undefined;
  try {
    folder = await mkdir(directory, {recursive: true});
    // A repository that has just been created is as good as empty.
    if (!force && (await readdir(directory)).some((entry) => entry !== '.git')) {
      throw createError('ERR_OUTPUT', `${directory} is not empty.`, {
        suggestions: [
          'Pass --dir DIR to write to another folder, or --force to add to this one and replace files of the same name.',
        ],
      });
    }
    // npm installs a folder as a link.
    const link = relative(await realpath(directory), await realpath(mycli.root));
    const replacements = [
      [templateName, name],
      ['file:../mycli', `file:${JSON.stringify(link.split(sep).join('/')).slice(1, -1)}`],
    ] as const;
    return await writeTemplates(join(mycli.root, 'templates', 'backend'), directory, replacements);
  } catch (error) {
    if (folder !== undefined) await rm(folder, {recursive: true, force: true});
    throw isRuntimeCliError(error) ? error : outputError(directory, error);
  }
}

async function writeTemplates(
  template: string,
  directory: string,
  replacements: readonly (readonly [found: string, replacement: string])[],
): Promise<readonly string[]> {
  const written: string[] = [];
  for (const entry of await readdir(template, {recursive: true, withFileTypes: true})) {
    if (!entry.isFile()) continue;
    const source = join(entry.parentPath, entry.name);
    // npm neither publishes a .gitignore nor takes a package.json in a package for one of its files.
    const file = relative(template, source)
      .replace(/^_gitignore$/, '.gitignore')
      .replace(/^_/, '');
    let text = await readFile(source, 'utf8');
    for (const [found, replacement] of replacements) text = text.replaceAll(found, () => replacement);
    const path = join(directory, file);
    // With --force, the folder may be somebody else's checkout, with links that lead elsewhere.
    for (let above = dirname(file); above !== '.'; above = dirname(above)) {
      const stats = await lstat(join(directory, above)).catch(() => undefined);
      if (stats?.isSymbolicLink() === true)
        throw createError('ERR_OUTPUT', `${path} cannot be written: ${join(directory, above)} is a link.`, {
          suggestions: ['Remove the link, or pass --dir DIR to write to another folder.'],
        });
    }
    await mkdir(dirname(path), {recursive: true});
    await replaceTextFile(path, text);
    written.push(file.split(sep).join('/'));
  }
  return written.sort();
}
