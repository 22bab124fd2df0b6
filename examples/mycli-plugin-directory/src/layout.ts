import {join} from 'node:path';
import {failure} from './failure.js';
import type {DirectoryOptions} from './options.js';

/** Where things of a project are. */
export interface ProjectLayout {
  /** Numbered folders: the bundles. */
  readonly bundles: string;
  /** What is being written; sweep it freely once it is old. */
  readonly incoming: string;
  /** A folder for each target. */
  readonly targets: string;
}

/** Where things of a target are. */
export interface TargetLayout {
  /** Link to the folder of the bundle that runs. */
  readonly current: string;
  /** Numbered folders: the deployments. */
  readonly deployments: string;
}

/** The layout of a project. @throws when the folder is not configured, or the slug is not a name of a folder. */
export function projectLayout({directory}: DirectoryOptions, projectSlug: string): ProjectLayout {
  if (directory === undefined) throw failure('ERR_OPTION_INVALID', 'the option "directory" is missing');
  const project = join(directory, folderName(projectSlug));
  return {bundles: project, incoming: join(project, 'incoming'), targets: join(project, 'targets')};
}

/** The layout of a target. @throws when the slug is not a name of a folder. */
export function targetLayout({targets}: ProjectLayout, targetSlug: string): TargetLayout {
  const target = join(targets, folderName(targetSlug));
  return {current: join(target, 'current'), deployments: join(target, 'deployments')};
}

function folderName(slug: string): string {
  if (slug !== '' && slug !== '.' && slug !== '..' && !/[/\\\u0000-\u001f]/.test(slug)) return slug;
  throw failure('ERR_OPTION_INVALID', `${JSON.stringify(slug)} cannot be the name of a folder`);
}
