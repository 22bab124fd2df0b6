import type {DeployBundleResult} from '../../operations/options.js';
import type {JsonDocument} from '../command/command-context.js';
import type {Body, BundleDeployDocument} from '../output/documents.js';
import type {Output} from '../output/output.js';
import {afterDeployment} from './next-command.js';

/** A deployment that was accepted, or has ended. */
export interface DeployOutcome {
  readonly result: DeployBundleResult;
  /** How long it took, in words. */
  readonly took: string;
}

/** Tells what a deployment has come to and what to do next, and gives the document of `--json`. */
export function renderDeployment(outcome: DeployOutcome, output: Output): JsonDocument {
  const {result} = outcome;
  output.result(describeOutcome(outcome));
  for (const line of afterDeployment(result.status, result)) output.result(line);
  return {...result} satisfies Body<BundleDeployDocument>;
}

/** `Bundle 42 runs on staging of shop (api) after 12.3 s.` */
export function describeOutcome({result, took}: DeployOutcome): string {
  const {bundleId, targetSlug, projectSlug, backend, status, deploymentId} = result;
  const where = `${targetSlug} of ${projectSlug} (${backend})`;
  if (status === 'finished') return `Bundle ${String(bundleId)} runs on ${where} after ${took}.`;
  const id = deploymentId === undefined ? '' : ` ${String(deploymentId)}`;
  return `The deployment${id} of bundle ${String(bundleId)} to ${where} is ${status}.`;
}
