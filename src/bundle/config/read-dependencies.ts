import {join} from 'node:path';
import * as v from 'valibot';
import {createError} from '../../errors/index.js';
import {readTextFile} from '../../modules/index.js';
import {dependenciesSchema} from '../option-schemas.js';
import {reasonOf} from '../../errors/system-failure.js';

const packageSchema = v.object({
  dependencies: v.optional(dependenciesSchema, {}),
  devDependencies: v.optional(dependenciesSchema, {}),
});

/**
 * The dependencies that a project's package.json declares, those of development too, name to version range: what
 * `--dependencies auto` takes. What is bundled into an application often is a dependency of development only.
 * @throws RuntimeCliError `ERR_CONFIG_INVALID` when there is no package.json, or none that can be read.
 */
export async function readDeclaredDependencies(projectDirectory: string): Promise<Record<string, string>> {
  const path = join(projectDirectory, 'package.json');
  try {
    const {dependencies, devDependencies} = v.parse(packageSchema, JSON.parse(await readTextFile(path)));
    // As npm has it: of a package that is in both, the one that the application runs with counts.
    return {...devDependencies, ...dependencies};
  } catch (error) {
    throw createError('ERR_CONFIG_INVALID', `the dependencies in ${path} cannot be read: ${reasonOf(error)}`, {
      suggestions: ['Name the directory that has it with --project-directory, or pass --dependencies JSON or @FILE.'],
      cause: error,
    });
  }
}
