import {ApiKeyStrategy, BearerTokenStrategy} from '../../../src/http/index.js';
import type {DeployBundleOptions} from '../../../src/operations/options.js';
import {
  startRecordingServer,
  type Handler,
  type RecordedRequest,
  type RecordingServer,
} from '../../recording-server.js';
import {deployBundle} from '../calls.js';
import {createProject} from '../test-host.js';

/** The options of a deployment of bundle 5 to `staging` with both backends. */
export function deployOptions({origin}: RecordingServer): DeployBundleOptions {
  return {
    ...{preference: 'legacy', projectSlug: 'shop', targetSlug: 'staging', bundleId: 5, pollInterval: 0.01, origin},
    legacyAuth: new ApiKeyStrategy({apiKey: 'key'}),
    apiConnection: {origin, organizationId: 'org', auth: new BearerTokenStrategy('token')},
    rateLimit: {maxRetries: 0},
  };
}

/** Deploys to a server that answers so. Resolves to the result or the error, and what was requested. */
export async function deployTo(
  handler: Handler,
  more: Partial<DeployBundleOptions> = {},
): Promise<{readonly outcome: unknown; readonly requests: readonly RecordedRequest[]; readonly posts: number}> {
  await using server = await startRecordingServer(handler);
  await using project = await createProject();
  const deployment = deployBundle({...deployOptions(server), ...more}, project.host);
  const outcome: unknown = await deployment.catch((reason: unknown) => reason);
  const {requests} = server;
  return {outcome, requests, posts: requests.filter(({method}) => method === 'POST').length};
}
