import {json, type Answer} from '../answer.js';
import type {AdmittedCall} from '../context.js';
import {deploymentState, type DeploymentState} from '../store/deployment-state.js';
import type {BundleRecord, DeploymentRecord} from '../store/records.js';
import {readRange, slice} from './list-range.js';

/** Of the protocol's numbers (0 pending, 1 completed, 2 failed) the one of every bundle that this server has accepted. */
const bundleCompleted = 1;

const statusWords: Readonly<Record<DeploymentState['status'], string>> = {
  queued: 'Queued',
  in_progress: 'In Progress',
  failed: 'Failed',
  finished: 'Finished',
};

/** One page of a list, with the addresses of its neighbours. */
export function legacyList<T>(call: AdmittedCall, items: readonly T[], row: (item: T) => unknown): Answer {
  const range = readRange(call);
  const {limit, offset} = range;
  const page = (start: number): string =>
    `${call.origin}${call.path}?${new URLSearchParams({limit: String(limit), offset: String(start)}).toString()}`;
  return json(200, {
    count: items.length,
    next: offset + limit < items.length ? page(offset + limit) : null,
    previous: offset > 0 ? page(Math.max(0, offset - limit)) : null,
    results: slice(items, range).map(row),
  });
}

/** A row of the list of bundles. */
export function legacyBundle(bundle: BundleRecord, inUseBy: readonly string[]): unknown {
  return {
    id: bundle.id,
    message: bundle.message,
    status: bundleCompleted,
    deletion_status: 'ACTIVE',
    user: bundle.createdBy,
    created_at: bundle.createdAt,
    updated_at: bundle.createdAt,
    in_use_by: inUseBy,
  };
}

/** A row of the list of deployments. */
export function legacyDeployment(deployment: DeploymentRecord, now: Date): unknown {
  const {status, updatedAt} = deploymentState(deployment, now);
  return {
    bundle: {id: deployment.bundleId, message: deployment.message},
    status: statusWords[status],
    deploy_type: 'Publish',
    external_publish_id: deployment.deploymentId,
    user: deployment.createdBy,
    created_at: deployment.createdAt,
    updated_at: updatedAt,
    duration: durationText(deployment, now),
  };
}

/** The time that a deployment took, or has taken until now, as this protocol writes it: `00:01:16.867000`. */
function durationText({createdAt, endsAt}: DeploymentRecord, now: Date): string {
  const created = Date.parse(createdAt);
  const milliseconds = Math.max(0, Math.min(now.getTime(), Date.parse(endsAt)) - created);
  const [hours, rest] = [Math.floor(milliseconds / 3_600_000), milliseconds % 3_600_000];
  return `${String(hours).padStart(2, '0')}:${new Date(rest).toISOString().slice(14, 23)}000`;
}

/** A target, from its deployments, the newest first; `current_deploy` is the newest. None when it was never used. */
export function legacyTarget(slug: string, deployments: readonly DeploymentRecord[], now: Date): unknown {
  const [newest] = deployments;
  if (!newest) return undefined;
  const {status} = deploymentState(newest, now);
  const isFirst = !deployments.some((deployment) => deploymentState(deployment, now).status === 'finished');
  return {
    slug,
    name: slug,
    state: targetState(status, isFirst ? 'CREATE' : 'PUBLISH'),
    deletion_status: 'ACTIVE',
    current_deploy: {status: statusWords[status], bundle: {id: newest.bundleId, message: newest.message}},
  };
}

function targetState(status: DeploymentState['status'], step: 'CREATE' | 'PUBLISH'): string {
  switch (status) {
    case 'queued':
    case 'in_progress':
      return `${step}_IN_PROGRESS`;
    case 'failed':
      return `${step}_FAILED`;
    case 'finished':
      return 'ACTIVE';
  }
}
