import {resolve} from 'node:path';
import * as Args from '@oclif/core/args';
import {readOrigin} from '../../bundle/provenance/provenance.js';
import {createError} from '../../errors/index.js';
import type {CommandContext} from './command-context.js';

export const branchArg = {
  branch: Args.string({description: 'Name of the branch; default: the one that is checked out.'}),
};

/** The branch of a preview, by default the one that is checked out. */
export async function findBranch(argument: string | undefined, {cwd, env, flags}: CommandContext) {
  const {'project-directory': directory} = flags;
  const path = resolve(cwd, typeof directory === 'string' ? directory : '.');
  const branch = argument?.trim() ?? (await readOrigin(path, env, () => new Date())).provenance?.branch;
  if (branch === undefined || branch === '') {
    throw createError('ERR_USAGE', 'No branch specified, and none is checked out here.', {
      suggestions: ['Pass the name of the branch as an argument.'],
    });
  }
  return branch;
}
