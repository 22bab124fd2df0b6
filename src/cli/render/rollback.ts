import type {RollbackBundleResult} from '../../operations/rollback-bundle.js';
import type {JsonDocument} from '../command-context.js';
import type {Body, BundleRollbackDocument} from '../documents.js';
import type {Output} from '../output/output.js';
import {renderDeployment} from './deployment.js';

/** Tells what a rollback has come to, and gives the document of `--json`. */
export function renderRollback(result: RollbackBundleResult, output: Output): JsonDocument {
  const {rolledBackFrom, projectSlug, targetSlug, backend} = result;
  renderDeployment(result, output);
  if (rolledBackFrom !== undefined) {
    const where = `--project ${projectSlug} --target ${targetSlug} --runtime-backend ${backend}`;
    output.result(`Undo it with: mycli bundle:deploy ${String(rolledBackFrom)} ${where}`);
  }
  return {...result} satisfies Body<BundleRollbackDocument>;
}
