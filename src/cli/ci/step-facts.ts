import {isRuntimeCliError} from '../../errors/index.js';
import {isRecord} from '../../errors/json.js';
import type {JsonDocument} from '../output/output.js';

/** What later steps of a pipeline want to know, by the name of the output. */
export interface StepFacts {
  readonly 'bundle-id'?: string | undefined;
  readonly 'deployment-id'?: string | undefined;
  readonly backend?: string | undefined;
  readonly sha256?: string | undefined;
}

/** The names of all outputs. */
export const factNames = [
  'bundle-id',
  'deployment-id',
  'backend',
  'sha256',
] as const satisfies readonly (keyof StepFacts)[];

/** The facts in the document of a push or a deployment. */
export function factsOfDocument(document: JsonDocument): StepFacts {
  const {bundleId, deploymentId, backend, archive} = document;
  return {
    'bundle-id': textOf(bundleId),
    'deployment-id': textOf(deploymentId),
    backend: textOf(backend),
    sha256: isRecord(archive) ? textOf(archive['sha256']) : undefined,
  };
}

/** The facts that are known although what followed has failed: they stand in the details of the error. */
export function factsOfError(error: unknown): StepFacts {
  const details = (isRuntimeCliError(error) ? error.details : undefined) ?? {};
  const {deployment} = details;
  const fromDeployment = isRecord(deployment) ? deployment['deploymentId'] : undefined;
  return factsOfDocument({...details, deploymentId: details['deploymentId'] ?? fromDeployment});
}

/** An id or a name as text; nothing for anything else. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}
