import {near} from '../../text/suggest.js';
import {quickLook} from '../call-backend.js';
import {refuseUnsafe, safetyOf} from '../guard/safety.js';
import type {OpenBackend} from '../open-backend.js';
import type {NewPlace} from '../options.js';
import {knownAmong, meantTargets, otherProjects, readTargets, targetsIfListed} from '../targets/find-targets.js';
import type {Release} from './release.js';

/** What the list of targets says about the target of a deployment. Empty without a list. */
export interface TargetLook {
  readonly newPlace?: NewPlace | undefined;
  /** The URL of a target that is there. */
  readonly listedUrl?: string | undefined;
}

const notCreated = 'None is created because of --no-create (create: false, MYCLI_CREATE=false).';

/** Looks whether a deployment would create its target or project. @throws RuntimeCliError if that is forbidden */
export async function lookForTarget(open: OpenBackend, release: Release): Promise<TargetLook> {
  const {create, targetSlug, confirmNew} = release;
  const isForbidden = create === false || safetyOf(open.host).includes('no-create');
  if (!isForbidden && confirmNew === undefined) return {};
  const targets = isForbidden ? await readTargets(open) : await quickLook(open, targetsIfListed);
  open.signal.throwIfAborted();
  if (targets === undefined) return {};
  const known = targets.find((item) => item.targetSlug === targetSlug);
  if (known !== undefined) return {listedUrl: known.url};
  const meant = meantTargets(targets, targetSlug, mostWrong(targetSlug));
  refuseUnsafe({operation: 'create-target', targetSlug, meant}, open.host);
  if (create === false) knownAmong(targets, open, targetSlug, {advice: [notCreated]});
  const project = targets.length === 0 ? await newProject(open) : undefined;
  return {newPlace: project ?? {kind: 'target', slug: targetSlug, meant}};
}

async function newProject(open: OpenBackend): Promise<NewPlace | undefined> {
  const {projectSlug} = open;
  const {slugs, isAll} = (await otherProjects(open)) ?? {};
  if (slugs === undefined || !isAll) return undefined;
  return {kind: 'project', slug: projectSlug, meant: near(projectSlug, slugs, mostWrong(projectSlug))};
}

/** Two letters may be wrong. Short names, such as countries, differ in one on purpose. */
function mostWrong(slug: string): number {
  return Math.min(2, Math.floor(slug.length / 3));
}
