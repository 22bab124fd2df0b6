import type {BackendFailure} from '../../backends/registry.js';
import type {JsonDocument} from '../command/command-context.js';
import type {BackendDescription} from '../backends/describe-backends.js';
import type {BackendListDocument, Body} from '../output/documents.js';
import type {Output} from '../output/output.js';
import {tableLines} from './table.js';

/** Lists the backends, and gives the document of `--json`. */
export function renderBackends(
  backends: readonly BackendDescription[],
  failures: readonly BackendFailure[],
  output: Output,
): JsonDocument {
  const rows = backends.map(({name, plugin, version = '', summary, formats, capabilities, configured, missing}) => [
    name,
    `${plugin} ${version}`,
    summary,
    formats.join(', '),
    capabilities.join(', '),
    configured ? 'configured' : `missing ${missing.join(', ')}`,
  ]);
  for (const line of tableLines(['NAME', 'PLUGIN', 'SUMMARY', 'FORMATS', 'CAPABILITIES', 'STATE'], rows)) {
    output.result(line);
  }
  return {backends, failures} satisfies Body<BackendListDocument>;
}
