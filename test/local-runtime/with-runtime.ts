import {onTestFinished} from 'vitest';
import {startLocalRuntime, type LocalRuntime, type LocalRuntimeOptions} from '../../src/testing.js';
import {clientOf} from './client.js';

/** Any free ports: something else may have taken those that a data folder was last used with. */
export const anyPorts = {port: 0, appsPort: 0};

/**
 * A runtime for one test, with a client; deployments are finished at once unless said otherwise. A concurrent test
 * passes `onTestFinished` of its own.
 */
export async function startRuntime(
  options: LocalRuntimeOptions = {},
  onFinished: typeof onTestFinished = onTestFinished,
): Promise<{readonly runtime: LocalRuntime; readonly client: ReturnType<typeof clientOf>}> {
  const runtime = await startLocalRuntime({...anyPorts, deploymentSeconds: 0, ...options});
  onFinished(() => runtime.close());
  return {runtime, client: clientOf(runtime)};
}
