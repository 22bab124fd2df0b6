import type {DeploymentRecord} from './records.js';

/** Status of a deployment at a point in time. */
export interface DeploymentState {
  readonly status: 'queued' | 'in_progress' | 'finished' | 'failed';
  /** 0 to 100; none while it is queued. */
  readonly percentage: number | undefined;
  /** ISO 8601: when it came into this state. */
  readonly updatedAt: string;
  /** Seconds that it took; none until it has ended. */
  readonly duration: number | undefined;
}

/** Part of a deployment's time that it is queued. */
export const queuedShare = 0.25;

/** How far a deployment that fails gets, in percent. */
const failsAt = 50;

/** The state of a deployment at `now`, from its times alone. */
export function deploymentState(deployment: DeploymentRecord, now: Date): DeploymentState {
  const created = Date.parse(deployment.createdAt);
  const starts = Date.parse(deployment.startsAt);
  const ends = Date.parse(deployment.endsAt);
  const time = now.getTime();
  if (time >= ends) {
    return {
      status: deployment.outcome,
      percentage: deployment.outcome === 'finished' ? 100 : failsAt,
      updatedAt: deployment.endsAt,
      duration: (ends - created) / 1000,
    };
  }
  if (time < starts) {
    return {status: 'queued', percentage: undefined, updatedAt: deployment.createdAt, duration: undefined};
  }
  const limit = deployment.outcome === 'finished' ? 100 : failsAt;
  const percentage = Math.floor((limit * (time - starts)) / (ends - starts));
  return {status: 'in_progress', percentage, updatedAt: deployment.startsAt, duration: undefined};
}
