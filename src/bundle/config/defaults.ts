import {join} from 'node:path';
import * as v from 'valibot';
import {createError} from '../../errors/index.js';
import {reasonOf} from '../../errors/system-failure.js';
import {readJsonFile} from '../../files/read-file.js';
import {dependenciesSchema} from '../../settings/schemas.js';
import {asSentence} from '../../text/sentence.js';

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
    const {dependencies, devDependencies} = v.parse(packageSchema, await readJsonFile(path));
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
