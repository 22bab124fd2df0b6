import {resolve} from 'node:path';
import * as Args from '@oclif/core/args';
import {readOrigin} from '../../bundle/provenance/provenance.js';
import {createError} from '../../errors/index.js';
import type {CommandContext} from './command-context.js';

export const branchArg = {
  branch: Args.string({description: 'Name of the branch; default: the one that is checked out.'}),
};

/**
 * The branch of a preview: the argument, or what the work tree is on.
 * @throws RuntimeCliError `ERR_USAGE`
 */
export async function findBranch(argument: string | undefined, context: CommandContext): Promise<string> {
  const branch = argument === undefined ? await checkedOut(context) : argument.trim();
  if (branch === undefined || branch === '') {
    throw createError('ERR_USAGE', 'No branch specified, and none is checked out here.', {
      suggestions: ['Pass the name of the branch as an argument.'],
    });
  }
  return branch;
}

async function checkedOut({cwd, env, flags}: CommandContext): Promise<string | undefined> {
  const {'project-directory': directory} = flags;
  const path = resolve(cwd, typeof directory === 'string' ? directory : '.');
  const {provenance} = await readOrigin(path, env, () => new Date());
  return provenance?.branch;
}
