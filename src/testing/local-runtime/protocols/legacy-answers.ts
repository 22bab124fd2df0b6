import {json, type Answer} from '../answer.js';
import type {AdmittedCall} from '../context.js';
import {HttpFailure} from '../http-failure.js';
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
  const {status, updatedAt, duration} = deploymentState(deployment, now);
  return {
    bundle: {id: deployment.bundleId, message: deployment.message},
    status: statusWords[status],
    deploy_type: 'publish',
    user: deployment.createdBy,
    created_at: deployment.createdAt,
    updated_at: updatedAt,
    duration: duration ?? null,
  };
}

/**
 * The state of a target, from its deployments, the newest first; `current_deploy` is the newest.
 * @throws HttpFailure 404 when it was never used.
 */
export function legacyTarget(slug: string, deployments: readonly DeploymentRecord[], now: Date): Answer {
  const [newest] = deployments;
  if (!newest) throw new HttpFailure(404, `There is no target "${slug}": it comes into being when it is deployed to.`);
  const {status} = deploymentState(newest, now);
  const isFirst = !deployments.some((deployment) => deploymentState(deployment, now).status === 'finished');
  return json(200, {
    slug,
    state: targetState(status, isFirst ? 'CREATE' : 'PUBLISH'),
    current_deploy: {status: statusWords[status], bundle: {id: newest.bundleId}},
  });
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
