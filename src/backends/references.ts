/** ID of an uploaded bundle. IDs never cross backends. */
export type BundleId = string | number;

export const deploymentStatuses = ['queued', 'in_progress', 'finished', 'failed'] as const;

/** Status of a deployment. */
export type DeploymentStatus = (typeof deploymentStatuses)[number];

/** Whether a deployment with this status, if it is known, has yet to end. */
export function isUnderWay(status: string | undefined): boolean {
  return status === 'queued' || status === 'in_progress';
}

/** Identifies a deployment to the backend that made it. Plain JSON, opaque to the host. */
export interface DeploymentRef {
  /** ID shown to users and programs, if the server has one. */
  readonly deploymentId?: string | number | undefined;
  readonly [key: string]: unknown;
}

export const targetStates = ['creating', 'ready', 'publishing', 'failed', 'deleting'] as const;

/**
 * State of a target. `publishing`: it gets a bundle or variables. `failed`: it could not be made, or what was last
 * published failed.
 */
export type TargetState = (typeof targetStates)[number];

/** An answer of the service. */
export interface ServiceAnswer {
  /** The server's own response, unmodified, for `--json`. Plain JSON. @default undefined */
  readonly raw?: unknown;
}

/** A request about a target. */
export interface TargetRequest {
  /** A target of the project of the context. */
  readonly targetSlug: string;
}
