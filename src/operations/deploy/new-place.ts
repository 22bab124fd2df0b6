import {shownUrl} from '../../backends/answers.js';
import {nearest} from '../../text/suggest.js';
import {invoke, quickLook} from '../call-backend.js';
import {refuseUnsafe, safetyOf} from '../guard/safety.js';
import type {OpenBackend} from '../open-backend.js';
import type {NewPlace} from '../options.js';
import {pageSize} from '../pages.js';
import {knownAmong, readTargets, targetsIfListed} from '../targets/find-targets.js';
import type {Release} from './release.js';

/** What the list of targets says about the target of a deployment. Empty without a list. */
export interface TargetLook {
  /** What the deployment is about to create. */
  readonly newPlace?: NewPlace | undefined;
  /** The URL of a target that is there. */
  readonly listedUrl?: string | undefined;
}

/**
 * Looks whether a deployment is about to create its target or its project, which a mistyped name would.
 * @throws RuntimeCliError `ERR_REJECTED` or `ERR_SAFETY` if the target is new, and creating one is forbidden
 */
export async function lookForTarget(open: OpenBackend, release: Release): Promise<TargetLook> {
  const {create, targetSlug, confirmNew} = release;
  const isForbidden = create === false || safetyOf(open.host).includes('no-create');
  if (!isForbidden && confirmNew === undefined) return {};
  const targets = isForbidden ? await readTargets(open) : await quickLook(open, targetsIfListed);
  open.signal.throwIfAborted();
  if (targets === undefined) return {};
  const known = targets.find((item) => item.targetSlug === targetSlug);
  if (known !== undefined) return {listedUrl: shownUrl(known.url)};
  refuseUnsafe({operation: 'create-target', targetSlug}, open.host);
  if (create === false) knownAmong(targets, open, targetSlug, {suggestPush: false});
  const slugs = targets.map((item) => item.targetSlug);
  const project = slugs.length === 0 ? await newProject(open) : undefined;
  return {newPlace: project ?? {kind: 'target', slug: targetSlug, meant: meantBy(targetSlug, slugs)}};
}

async function newProject(open: OpenBackend): Promise<NewPlace | undefined> {
  if (open.backend.listProjects === undefined) return undefined;
  const {projectSlug} = open;
  const page = await quickLook(open, (again) => invoke(again, 'listProjects', {limit: pageSize}));
  const slugs = page?.items.map((item) => item.projectSlug) ?? [];
  // What is missing in a part of the list may be in the rest.
  if (page === undefined || page.cursor !== undefined || slugs.includes(projectSlug)) return undefined;
  return {kind: 'project', slug: projectSlug, meant: meantBy(projectSlug, slugs)};
}

/** Two letters may be wrong. Short names, such as countries, differ in one on purpose. */
function meantBy(slug: string, slugs: readonly string[]): string | undefined {
  return nearest(slug, slugs, Math.min(2, Math.floor(slug.length / 3)));
}
