import {resolve} from 'node:path';
import {readOrigin} from '../../bundle/provenance/provenance.js';
import {createError} from '../../errors/index.js';
import type {CommandContext} from '../command/context.js';

/** The branch of a preview: the given one, or that of the work tree. @throws RuntimeCliError `ERR_USAGE` */
export async function previewBranch(given: string | undefined, context: CommandContext): Promise<string> {
  if (given !== undefined && given.trim() !== '') return given.trim();
  const {cwd, env, flags} = context;
  const {'project-directory': directory} = flags;
  const {provenance} = await readOrigin(
    resolve(cwd, typeof directory === 'string' ? directory : '.'),
    env,
    () => new Date(),
  );
  if (given === undefined && provenance?.branch !== undefined) return provenance.branch;
  throw createError('ERR_USAGE', 'No branch specified, and none is checked out here.', {
    suggestions: ['Pass the name of the branch as an argument.'],
  });
}
