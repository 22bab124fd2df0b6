import type {Suggestion} from '../../errors/suggestion.js';
import * as v from 'valibot';
import type {BundleId, DeploymentItem} from '../../backends/contract.js';
import {isUnderWay} from '../../backends/members.js';
import {compareCommits, isShallow, resolveCommit} from '../../bundle/provenance/git.js';
import {recordedCommit, type RecordedCommit} from '../../bundle/provenance/provenance.js';
import type {Environment} from '../../text/platform.js';
import {findBundle, readHistory, recentDeployments} from '../list-bundles.js';
import {requireCapability} from '../call-backend.js';
import type {OpenBackend} from '../open-backend.js';

export interface RunningBundle extends Pick<DeploymentItem, 'bundleId'>, Partial<Pick<DeploymentItem, 'status'>> {
  /** Undefined if the bundle does not say. */
  readonly recorded: RecordedCommit | undefined;
}

/** What a target runs and is getting: every deployment back to the newest that has finished, but none that failed. */
export async function runningBundles(open: OpenBackend, targetSlug: string): Promise<readonly RunningBundle[]> {
  requireCapability(open.backend, 'history');
  const items = await readHistory(open, targetSlug);
  const finished = items.findIndex(({status}) => status === 'finished');
  const recent = finished === -1 ? items : items.slice(0, finished + 1);
  const relevant = recent.filter(({status}) => status !== 'failed');
  // So many deployments failed that the one that runs is out of sight.
  const isOutOfSight = finished === -1 && items.length >= recentDeployments;
  const running: RunningBundle[] = isOutOfSight ? [{recorded: undefined}] : [];
  for (const item of relevant) running.push({...item, recorded: await recordOfDeployment(open, item)});
  return running;
}

async function recordOfDeployment(
  open: OpenBackend,
  {bundleId, message}: DeploymentItem,
): Promise<RecordedCommit | undefined> {
  const recorded = message === undefined ? undefined : recordedCommit(message);
  return recorded ?? (bundleId === undefined ? undefined : recordOfBundle(open, bundleId));
}

/** What plugins' backends that store `bundle.provenance` return in `metadata`. */
const storedMetadata = v.object({
  provenance: v.object({commit: v.string(), branch: v.optional(v.string()), dirty: v.optional(v.boolean(), false)}),
});

/** What a bundle on the service says about its commit: the provenance that the service keeps, or its message. */
export async function recordOfBundle(open: OpenBackend, bundleId: BundleId): Promise<RecordedCommit | undefined> {
  if (open.backend.listBundles === undefined) return undefined;
  const item = await findBundle(open, bundleId);
  const metadata = v.safeParse(storedMetadata, item?.metadata);
  if (metadata.success) return metadata.output.provenance;
  return item?.message === undefined ? undefined : recordedCommit(item.message);
}

/** Why something must not be deployed, and what to do. */
export interface Problem {
  /** One sentence, or two. */
  readonly message: string;
  readonly suggestion: Suggestion;
}

interface Replacement {
  readonly commit: string;
  /** Undefined if it is not uploaded yet. */
  readonly bundleId: BundleId | undefined;
  readonly running: RunningBundle;
  readonly targetSlug: string;
}

/** The problem with deploying `commit` where `running` runs, if there is one. What cannot be told is a problem. */
export async function commitProblem(
  {commit, bundleId: deployed, running, targetSlug}: Replacement,
  directory: string,
  env: Environment,
): Promise<Problem | undefined> {
  const {bundleId, recorded} = running;
  const bundle = bundleId === undefined ? 'an unknown bundle' : `bundle ${String(bundleId)}`;
  const verb = isUnderWay(running.status) ? 'is getting' : 'runs';
  const onPurpose = `set targets.${targetSlug}.guard.notOlder to false in the configuration file`;
  if (recorded === undefined) {
    return {
      message: `The target ${targetSlug} ${verb} ${bundle}, which does not say which commit it was built from.`,
      suggestion: `To replace it once, ${onPurpose}, and recordCommit to true, so that the new bundle records its commit.`,
    };
  }
  const relation = await compareCommits(directory, {commit, with: recorded.commit}, env);
  if (relation === 'same' || relation === 'newer') return undefined;
  const runs = `${recorded.commit.slice(0, 12)}, which ${targetSlug} ${verb} (${bundle})`;
  const shown = commit.slice(0, 12);
  if (relation === 'older') {
    return {
      message: `The commit ${shown} is older than ${runs}.`,
      suggestion: goBack('Pull and push again', deployed),
    };
  }
  if (relation === 'diverged') {
    return {
      message: `The commit ${shown} does not contain ${runs}.`,
      suggestion: goBack('Merge it or rebase onto it and push again', deployed),
    };
  }
  const missing = (await resolveCommit(commit, directory, env)) === undefined ? shown : recorded.commit.slice(0, 12);
  if (await isShallow(directory, env)) {
    return {
      message: `This clone is shallow, so it cannot tell whether the commit ${shown} is older than ${runs}.`,
      suggestion: 'Run git fetch --unshallow, or check out the whole history in CI (fetch-depth: 0).',
    };
  }
  return {
    message: `This clone does not have the commit ${missing}, so it cannot tell whether ${shown} is older than ${runs}.`,
    suggestion: `Run git fetch --all, or, if the commit is gone for good, ${onPurpose}.`,
  };
}

/** `push`: how to get ahead, unless a certain bundle is to be deployed. No guard judges where a rollback goes. */
function goBack(push: string, bundleId: BundleId | undefined): Suggestion {
  if (bundleId === undefined) return [`${push}. To go back on purpose, use `, {run: ['bundle:rollback']}];
  return ['To deploy it on purpose, use ', {run: ['bundle:rollback', '--to', String(bundleId)]}];
}
