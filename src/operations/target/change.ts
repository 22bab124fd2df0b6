import type {PlannedWrite} from '../../backends/contract.js';
import type {ErrorCode, RuntimeCliError} from '../../errors/index.js';
import type {OpenBackend} from '../open-backend.js';

interface TargetChange extends Pick<PlannedWrite, 'operation' | 'variables'> {
  readonly targetSlug: string;
  readonly dryRun?: boolean | undefined;
}

/** Asks before a target is changed, or would be. @throws RuntimeCliError if it must not be */
export async function allowChange(
  {backendName: backend, projectSlug, host}: OpenBackend,
  {dryRun = false, ...change}: TargetChange,
): Promise<void> {
  await host.writes?.before({...change, backend, projectSlug, bundleIds: []}, {dryRun});
}

const unclear: ReadonlySet<string> = new Set<ErrorCode>([
  'ERR_OUTCOME_UNKNOWN',
  'ERR_SERVER',
  'ERR_RESPONSE_INVALID',
  'ERR_BACKEND_FAILED',
]);

/** Whether a request that failed like this may have been carried out all the same. */
export function isUnclear({code}: RuntimeCliError): boolean {
  return unclear.has(code);
}
