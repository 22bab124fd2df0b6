import {commandLine} from '../../errors/suggest.js';
import type {RollbackBundleResult} from '../../operations/deploy/rollback-bundle.js';
import type {JsonDocument} from '../command/command-context.js';
import type {Body, BundleRollbackDocument} from '../output/documents.js';
import type {Output} from '../output/output.js';
import {describeOutcome, type DeployOutcome} from './deployment.js';

/** Tells what a rollback has come to and how to undo it, and gives the document of `--json`. */
export function renderRollback(
  outcome: DeployOutcome & {readonly result: RollbackBundleResult},
  output: Output,
): JsonDocument {
  const {result} = outcome;
  const {rolledBackFrom, projectSlug, targetSlug, backend} = result;
  output.result(describeOutcome(outcome));
  if (rolledBackFrom !== undefined) {
    const where = ['--project', projectSlug, '--target', targetSlug, '--runtime-backend', backend];
    output.result(`Undo it with: ${commandLine('bundle:deploy', rolledBackFrom, ...where)}`);
  }
  return {...result} satisfies Body<BundleRollbackDocument>;
}
