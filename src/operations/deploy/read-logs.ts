import {setImmediate} from 'node:timers/promises';
import type {BundleId, DeploymentItem, DeploymentRef} from '../../backends/contract.js';
import {backendTitle} from '../../backends/names.js';
import {createError} from '../../errors/index.js';
import {readHistory} from '../list-bundles.js';
import {verifyTarget} from '../targets/find-targets.js';
import {invoke, quickLook} from '../call-backend.js';
import type {OpenBackend} from '../open-backend.js';
import type {TargetOptions, TargetResult} from '../options.js';
import {pause} from './poll.js';

/** Options of `readDeploymentLogs`. */
export interface ReadLogsOptions extends TargetOptions {
  /** ID of a deployment to the target. @default the newest one */
  readonly deploymentId?: string | number | undefined;
  /** Waits for more lines until the log is complete. @default false: ends with the last line there is */
  readonly follow?: boolean | undefined;
  /** Seconds between reads while following. @default 2 */
  readonly pollInterval?: number | undefined;
  /** Called with the lines as they arrive. They are not part of the result then. */
  readonly onLines?: ((lines: readonly string[]) => void) | undefined;
}

/** What `readDeploymentLogs` resolves to. */
export interface ReadLogsResult extends TargetResult {
  readonly deploymentId?: string | number | undefined;
  /** The deployed bundle, if the server reports it. */
  readonly bundleId?: BundleId | undefined;
  /** Status of the deployment before its log was read. */
  readonly status: DeploymentItem['status'];
  readonly lines: readonly string[];
  /** Whether the log is complete. */
  readonly done: boolean;
}

/** The default of `pollInterval`, in seconds. */
const defaultPollInterval = 2;
/** How many of the last lines the error of a failed deployment has. */
const shownLines = 20;

export async function findDeployment(
  open: OpenBackend,
  {targetSlug, deploymentId}: Pick<ReadLogsOptions, 'targetSlug' | 'deploymentId'>,
): Promise<DeploymentItem> {
  const {projectSlug} = open;
  const items = await readHistory(open, targetSlug, deploymentId === undefined ? undefined : Infinity);
  const found = items.find(
    ({deployment}) => deploymentId === undefined || String(deployment.deploymentId) === String(deploymentId),
  );
  if (found !== undefined) return found;
  await verifyTarget(open, targetSlug, items);
  throw createError(
    'ERR_REJECTED',
    deploymentId === undefined
      ? `Nothing is deployed to the target "${targetSlug}" of ${projectSlug}.`
      : `The target "${targetSlug}" of ${projectSlug} has no deployment ${String(deploymentId)}.`,
    {
      suggestions: [
        'List the deployments with their IDs:',
        [{run: ['bundle:history', ...open.flags(targetSlug), '--columns', 'created,bundle,deployment']}],
      ],
    },
  );
}

/** How many parts and lines of a log are read at most, since a server could invent new ones forever. */
const [maxParts, maxLines] = [10_000, 1_000_000];

/** Reads a log to its last line, or to its end if `follow`. Resolves to whether it is complete. */
export async function readLog(
  open: OpenBackend,
  deployment: DeploymentRef,
  onLines: (lines: readonly string[]) => void,
  {follow = false, pollInterval = defaultPollInterval}: Pick<ReadLogsOptions, 'follow' | 'pollInterval'> = {},
): Promise<boolean> {
  const {signal} = open;
  let cursor: string | undefined;
  let read = 0;
  for (let parts = 1; ; parts += 1) {
    const {lines, cursor: next} = await invoke(open, 'readLogs', {deployment, cursor});
    read += lines.length;
    if (lines.length > 0) onLines(lines);
    if (next === undefined) return true;
    if (lines.length > 0 && next === cursor) {
      throw createError(
        'ERR_RESPONSE_INVALID',
        `The ${backendTitle(open.backend.name)} backend repeats the log of the deployment.`,
      );
    }
    if ((parts >= maxParts || read > maxLines) && !follow) {
      const size = `${String(parts)} parts (${String(read)} lines)`;
      throw createError('ERR_RESPONSE_INVALID', `The log of the deployment does not end after ${size}.`);
    }
    cursor = next;
    if (lines.length > 0) {
      // Signals are heard although the backend waits for nothing.
      await setImmediate();
      signal.throwIfAborted();
      continue;
    }
    if (!follow) return false;
    await pause(pollInterval * 1000, signal);
  }
}

/** The last lines of the log of a deployment, as far as they can be had. */
export async function lastLines(open: OpenBackend, deployment: DeploymentRef): Promise<readonly string[]> {
  if (!open.backend.readLogs) return [];
  let last: readonly string[] = [];
  const keepLast = (lines: readonly string[]) => {
    last = [...last, ...lines].slice(-shownLines);
  };
  await quickLook(open, (again) => readLog(again, deployment, keepLast));
  return last;
}
