import {lstat, mkdir, readdir, readFile, realpath, rename, rmdir, writeFile} from 'node:fs/promises';
import {basename, dirname, join, relative, sep} from 'node:path';
import {backendNamePattern} from '../../backends/backend-shape.js';
import {reservedNames} from '../../backends/registry.js';
import {createError, isRuntimeCliError} from '../../errors/index.js';
import {commandLine} from '../../errors/suggest.js';
import {outputError, systemCode} from '../../errors/system-failure.js';
import {createSweptDirectory} from '../../files/temporary-directory.js';

/** A plugin to write. */
export interface NewPlugin {
  /** Name of its backend. */
  readonly name: string;
  /** Absolute folder of the plugin. */
  readonly directory: string;
  /** Whether the folder may have other files, and files of the same name are replaced. */
  readonly force: boolean;
  /** The mycli that writes it. */
  readonly mycli: {readonly root: string};
}

/** Name of the plugin that the templates are. */
const templateName = 'acme';
const packagePrefix = 'mycli-plugin-';

/**
 * The name of the package for a backend.
 * @throws RuntimeCliError `ERR_USAGE` when it cannot be the name of a backend. All that can are names of packages, too.
 */
export function pluginPackage(name: string): string {
  const problem = nameProblem(name);
  if (problem === undefined) return `${packagePrefix}${name}`;
  const likely = name
    .toLowerCase()
    .replace(/^.*mycli-plugin-/, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^[^a-z]+|-$/g, '');
  throw createError('ERR_USAGE', `The backend cannot be called ${JSON.stringify(name)}: ${problem}.`, {
    suggestions: nameProblem(likely) === undefined ? [`Run ${commandLine('backend:create', likely)}`] : [],
  });
}

function nameProblem(name: string): string | undefined {
  if (reservedNames.has(name)) return 'this name is reserved';
  if (name.startsWith(packagePrefix)) return `the package is called ${packagePrefix}NAME, the backend NAME`;
  if (backendNamePattern.test(name)) return undefined;
  return 'a name starts with a letter and has at most 32 of a-z, 0-9 and "-"';
}

/**
 * Writes a plugin: all of its files, or none. Returns their paths in its folder.
 * @throws RuntimeCliError `ERR_OUTPUT` when the folder is not empty and `force` is not set, or cannot be written.
 */
export async function writePlugin(plugin: NewPlugin): Promise<readonly string[]> {
  const {directory, force} = plugin;
  const present = await namesIn(directory);
  // A repository that has just been created is as good as empty.
  if (!force && present?.some((name) => name !== '.git')) {
    throw createError('ERR_OUTPUT', `${directory} is not empty.`, {
      suggestions: [
        'Pass --dir DIR to write to another folder, or --force to add to this one and replace files of the same name.',
      ],
    });
  }
  try {
    return await (present === undefined ? writeNew(plugin) : writeInto(plugin));
  } catch (error) {
    throw isRuntimeCliError(error) ? error : outputError(directory, error);
  }
}

/** The entries of a folder; undefined if it does not exist. */
async function namesIn(directory: string): Promise<readonly string[] | undefined> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw outputError(directory, error);
  }
}

/** The folder appears with all of its files. */
async function writeNew(plugin: NewPlugin): Promise<readonly string[]> {
  const {directory} = plugin;
  const parent = dirname(directory);
  const made = await mkdir(parent, {recursive: true});
  try {
    const staging = await createSweptDirectory(parent);
    try {
      const staged = join(staging.path, 'plugin');
      const files = await render(plugin, staged);
      await rename(staged, directory);
      return files;
    } finally {
      await staging.remove();
    }
  } catch (error) {
    for (let path = parent; made !== undefined && path.length >= made.length; path = dirname(path)) {
      await rmdir(path).catch(() => undefined);
    }
    throw error;
  }
}

/** Nothing is written if anything is in the way of a file. */
async function writeInto(plugin: NewPlugin): Promise<readonly string[]> {
  const {directory} = plugin;
  const staging = await createSweptDirectory(directory);
  try {
    const staged = join(staging.path, 'plugin');
    const files = await render(plugin, staged);
    for (const file of files) await refuseObstacles(directory, file);
    for (const file of files) {
      await mkdir(dirname(join(directory, file)), {recursive: true});
      await rename(join(staged, file), join(directory, file));
    }
    return files;
  } finally {
    await staging.remove();
  }
}

/**
 * Files below a link would be written elsewhere. The folder itself may be one: the user named it.
 * @throws RuntimeCliError `ERR_OUTPUT`
 */
async function refuseObstacles(directory: string, file: string): Promise<void> {
  if ((await lstat(join(directory, file)).catch(() => undefined))?.isDirectory())
    throw createError('ERR_OUTPUT', `${join(directory, file)} is a folder, and must be a file.`);
  for (let below = dirname(file); below !== '.'; below = dirname(below)) {
    const path = join(directory, below);
    const stats = await lstat(path).catch(() => undefined);
    if (stats === undefined || stats.isDirectory()) continue;
    throw createError('ERR_OUTPUT', `${path} is not a folder, so files cannot be written to it.`, {
      suggestions: ['Replace it with a folder, or pass --dir DIR to write to another folder.'],
    });
  }
}

/** Writes the files of the templates to the new folder `staged`, with the names that they have in the plugin. */
async function render({name, directory, mycli}: NewPlugin, staged: string): Promise<readonly string[]> {
  // npm installs a folder as a link.
  const folder = await realpath(directory).catch(async () =>
    join(await realpath(dirname(directory)), basename(directory)),
  );
  const link = relative(folder, await realpath(mycli.root));
  const replacements = [
    [templateName, name],
    ['file:../mycli', `file:${JSON.stringify(link.split(sep).join('/')).slice(1, -1)}`],
  ] as const;
  const template = join(mycli.root, 'templates', 'backend');
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
    await mkdir(dirname(join(staged, file)), {recursive: true});
    await writeFile(join(staged, file), text, {flag: 'wx'});
    written.push(file.split(sep).join('/'));
  }
  return written.sort();
}
