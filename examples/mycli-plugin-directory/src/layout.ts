import {join, resolve} from 'node:path';
import type {BackendContext} from 'mycli/backend';
import {failure} from './failure.js';
import type {DirectoryOptions} from './options.js';

/** The paths of a project. */
export interface ProjectLayout {
  /** The bundles, in numbered folders. */
  readonly bundles: string;
  /** Uploads in progress. Old ones can be removed. */
  readonly incoming: string;
  /** A folder for each target. */
  readonly targets: string;
}

/** The paths of a target. */
export interface TargetLayout {
  /** Link to the folder of the deployed bundle. */
  readonly current: string;
  /** The deployments, in numbered folders. */
  readonly deployments: string;
}

/** The layout of a project. @throws when the folder is not configured, or the slug cannot be a folder name. */
export function projectLayout({
  options: {directory},
  configDirectory,
  projectSlug,
}: Pick<BackendContext<DirectoryOptions>, 'options' | 'configDirectory' | 'projectSlug'>): ProjectLayout {
  if (directory === undefined) throw failure('ERR_OPTION_INVALID', 'The option "directory" is missing.');
  const project = join(resolve(configDirectory, directory), folderName(projectSlug));
  return {bundles: project, incoming: join(project, 'incoming'), targets: join(project, 'targets')};
}

/** The layout of a target. @throws when the slug cannot be a folder name. */
export function targetLayout({targets}: ProjectLayout, targetSlug: string): TargetLayout {
  const target = join(targets, folderName(targetSlug));
  return {current: join(target, 'current'), deployments: join(target, 'deployments')};
}

function folderName(slug: string): string {
  if (slug !== '' && slug !== '.' && slug !== '..' && !/[/\\\u0000-\u001f]/.test(slug)) return slug;
  throw failure('ERR_OPTION_INVALID', `${JSON.stringify(slug)} cannot be a folder name.`);
}
