import {createError} from '../../errors/index.js';
import {near} from '../../text/suggest.js';
import {failsEveryRequest} from '../../backends/answers.js';
import {uploadFallbackReason} from '../../backends/select.js';
import {quickLook, unlessUnreadable} from '../call-backend.js';
import {refuseUnsafe, safetyOf} from '../guard/safety.js';
import type {OpenBackend} from '../open-backend.js';
import type {DryRunOptions, NewPlace, NewPlaceOptions} from '../options.js';
import {
  describeReached,
  knownAmong,
  meantTargets,
  otherProjects,
  readTargets,
  targetsIfListed,
} from '../targets/find-targets.js';

/** What a call is about to use, and what it says about creating that. */
export interface PlaceOptions extends DryRunOptions, NewPlaceOptions {
  /** Whether the target is meant to be new. @default false */
  readonly makesTarget?: boolean;
  /** Whether another backend takes over where this one refuses. */
  readonly mayFallBack?: boolean;
  /** Undefined if only the project is used. */
  readonly targetSlug?: string | undefined;
}

/** What the list of targets or projects says about a place. Empty without a list. */
export interface PlaceLook {
  readonly newPlace?: NewPlace | undefined;
  /** The URL of a target that is there. */
  readonly listedUrl?: string | undefined;
}

/**
 * Looks for what may be mistyped, with retries, for a short time. A look that fails ends no push, but is told. It ends
 * a dry run if it would fail the push, too.
 * @param place what is looked for: `target qa`
 */
async function lookPatiently<Result>(
  open: OpenBackend,
  {place, dryRun, mayFallBack}: Pick<PlaceOptions, 'dryRun' | 'mayFallBack'> & {readonly place: string},
  look: (open: OpenBackend) => Promise<Result>,
): Promise<Result | undefined> {
  const looking = (again: OpenBackend) => Promise.allSettled([look(again)]);
  const [seen] = (await quickLook(open, looking, {once: false, longestMs: 5000})) ?? [];
  open.signal.throwIfAborted();
  if (seen?.status === 'fulfilled') return seen.value;
  const failure: unknown = seen?.reason;
  const isFatal = failsEveryRequest(failure) && !(mayFallBack && uploadFallbackReason(failure));
  if (dryRun && isFatal) throw failure;
  open.host.outlet.note(`Could not check whether the ${place} exists.`);
  return undefined;
}

const notCreated = 'None is created because of --no-create (create: false, MYCLI_CREATE=false).';

/** Looks whether a call would create its target or project. @throws RuntimeCliError if that is forbidden */
export async function lookForPlace(open: OpenBackend, options: PlaceOptions): Promise<PlaceLook> {
  const {create, confirmNew, targetSlug, makesTarget = false, dryRun = false} = options;
  const isForbidden = create === false || safetyOf(open.host).includes('no-create');
  if (!isForbidden && (confirmNew === undefined || (create === true && !dryRun))) return {};
  if (targetSlug === undefined) return {newPlace: await newProject(open, {...options, isForbidden})};
  const looking = () => lookPatiently(open, {...options, place: `target ${targetSlug}`}, targetsIfListed);
  // What makes a target needs the list, too.
  const targets = await (isForbidden ? readTargets(open) : makesTarget ? targetsIfListed(open) : looking());
  if (targets === undefined) return {};
  const known = targets.find((item) => item.targetSlug === targetSlug);
  if (known !== undefined) return {listedUrl: known.url};
  const project = targets.length === 0 ? await newProject(open, {...options, isForbidden}) : undefined;
  if (makesTarget) return {newPlace: project};
  const meant = meantTargets(targets, targetSlug, mostWrong(targetSlug));
  refuseUnsafe({operation: 'create-target', targetSlug, meant}, open.host);
  if (create === false) knownAmong(targets, open, targetSlug, {advice: [notCreated]});
  return {newPlace: project ?? {kind: 'target', slug: targetSlug, meant}};
}

async function newProject(
  open: OpenBackend,
  {isForbidden, ...options}: PlaceOptions & {readonly isForbidden: boolean},
): Promise<NewPlace | undefined> {
  const {projectSlug: slug} = open;
  const others = await otherProjects(open, (read) =>
    isForbidden
      ? unlessUnreadable(open, read(open), failsEveryRequest)
      : lookPatiently(open, {...options, place: `project ${slug}`}, read),
  );
  if (others === undefined) return undefined;
  const meant = near(slug, others, mostWrong(slug));
  if (!isForbidden) return {kind: 'project', slug, meant};
  refuseUnsafe({operation: 'create-project', projectSlug: slug, meant}, open.host);
  throw createError('ERR_REJECTED', `The project "${slug}" does not exist.`, {
    suggestions: [...describeReached(open, others), notCreated],
    details: {projects: others},
  });
}

/** Two letters may be wrong. Short names, such as countries, differ in one on purpose. */
function mostWrong(slug: string): number {
  return Math.min(2, Math.floor(slug.length / 3));
}
