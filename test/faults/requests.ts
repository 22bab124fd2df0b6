import {ApiKeyStrategy, BearerTokenStrategy, OAuthClientCredentialsStrategy} from '../../src/http/index.js';
import type {Host} from '../../src/operations/host.js';
import type {CommonOptions} from '../../src/operations/options.js';
import type {FaultLine, RequestKind} from './faults.js';
import {done, polled, type Outcome} from './outcomes.js';
import {deploymentId, type RequestName} from './right-answers.js';
import {deleteBundles} from '../../src/pipelines/delete.js';
import {deployBundle, waitForDeployment} from '../../src/pipelines/deploy.js';
import {pushRuntimeBundle} from '../../src/pipelines/push.js';
import {downloadBundle, listBundles} from '../../src/pipelines/read.js';

/** What a cell calls an operation with. */
export interface CellCall {
  /** Where the service is, where tokens come from: the faulty address where that is the one. */
  readonly origin: string;
  readonly tokenOrigin: string;
  /** Archives that were built before, when a small one will not do. */
  readonly archives?: {readonly v1: string; readonly v2: string} | undefined;
  readonly options: CommonOptions;
  readonly host: Host;
}

/** A request of a backend, and the call that makes it. */
export interface MatrixRequest {
  /** `api upload`. */
  readonly name: string;
  readonly request: RequestName;
  readonly kind: RequestKind;
  /** The call makes another request to the same address: there is no connection that fails for this one only. */
  readonly isNotAlone?: true;
  /**
   * Another request of the same kind goes the same way, from the client to the error: what a status or a header means
   * is tested there, and here what happens to the connection and the body.
   */
  readonly isLike?: string;
  /** Makes the call. */
  run(call: CellCall): Promise<unknown>;
  /** What becomes of the outcome of the request. @default nothing else */
  amend?(outcome: Outcome, line: FaultLine): Outcome;
}

const projectSlug = 'shop';
const targetSlug = 'staging';
/** Git, which is asked for the message of a bundle without one, would be started for each cell. */
const message = 'one';

function api({origin, options}: CellCall) {
  const auth = new BearerTokenStrategy('canary-api-token');
  return {...options, preference: 'api', projectSlug, apiConnection: {origin, organizationId: 'org', auth}} as const;
}

function legacy({origin, options}: CellCall) {
  const legacyAuth = new ApiKeyStrategy({apiKey: 'canary-api-key'});
  return {...options, preference: 'legacy', projectSlug, origin, legacyAuth} as const;
}

function withOAuth(call: CellCall) {
  const auth = new OAuthClientCredentialsStrategy({
    tokenUrl: `${call.tokenOrigin}/token`,
    clientId: 'client',
    clientSecret: 'canary-client-secret',
  });
  return {...api(call), apiConnection: {origin: call.origin, organizationId: 'org', auth}};
}

const deployed = {deploymentId, targetSlug};
const deployedLegacy = {bundleId: 7, targetSlug, before: 'none'};
const deployment = {bundleId: 7, targetSlug};

/** A look before a deployment that fails does not keep it: only how it ends is not known. */
function lookedBefore(outcome: Outcome): Outcome {
  return outcome.exitCode === 0 ? outcome : {...outcome, exitCode: 10, code: 'ERR_OUTCOME_UNKNOWN'};
}

/** 204 says that legacy has accepted a deployment, or a deletion. */
function accepted(outcome: Outcome, {name}: FaultLine): Outcome {
  return name === '204' ? done : outcome;
}

/** 409 says that another deployment to the target is running. */
function deploys(outcome: Outcome, {name}: FaultLine): Outcome {
  return name === '409' ? {...outcome, code: 'ERR_TARGET_BUSY'} : outcome;
}

/** The requests of the Api backend. */
export const apiRequests: readonly MatrixRequest[] = [
  {
    name: 'api token',
    request: 'token',
    kind: 'token',
    run: (call) => pushRuntimeBundle({...withOAuth(call), message}, call.host),
  },
  {
    name: 'api upload',
    request: 'upload',
    kind: 'write',
    run: (call) => pushRuntimeBundle({...api(call), message, archive: call.archives?.v2}, call.host),
  },
  {
    name: 'api deploy',
    request: 'deploy',
    kind: 'write',
    run: (call) => deployBundle({...api(call), ...deployment}, call.host),
    amend: deploys,
  },
  {
    name: 'api poll',
    request: 'poll',
    kind: 'read',
    run: (call) =>
      waitForDeployment({...api(call), backend: 'api', deployment: deployed, pollInterval: 0.001}, call.host),
    amend: polled,
  },
  {name: 'api list', request: 'list', kind: 'read', run: (call) => listBundles(api(call), call.host)},
];

/** What changes something at the legacy backend; uploads in both formats. */
export const legacyWrites: readonly MatrixRequest[] = [
  {
    name: 'legacy v1 upload',
    request: 'upload',
    kind: 'write',
    run: (call) => pushRuntimeBundle({...legacy(call), message, archive: call.archives?.v1}, call.host),
  },
  {
    name: 'legacy v1 upload with deployment',
    isLike: 'legacy v1 upload',
    request: 'upload',
    kind: 'write',
    run: (call) => pushRuntimeBundle({...legacy(call), message, targetSlug, archive: call.archives?.v1}, call.host),
    amend: deploys,
  },
  {
    name: 'legacy v2 upload',
    isLike: 'legacy v1 upload',
    request: 'upload',
    kind: 'write',
    run: (call) => pushRuntimeBundle({...legacy(call), message, v2: true, archive: call.archives?.v2}, call.host),
  },
  {
    name: 'legacy deploy',
    request: 'deploy',
    kind: 'write',
    run: (call) => deployBundle({...legacy(call), ...deployment}, call.host),
    amend: (outcome, line) => deploys(accepted(outcome, line), line),
  },
  {
    name: 'legacy delete',
    request: 'delete',
    kind: 'write',
    run: (call) => deleteBundles({...legacy(call), bundleIds: [7]}, call.host),
    amend: accepted,
  },
];

/** What the legacy backend is asked without changing anything. */
export const legacyReads: readonly MatrixRequest[] = [
  {
    name: 'legacy look before a deployment',
    isLike: 'legacy list',
    request: 'look',
    kind: 'read',
    isNotAlone: true,
    run: (call) => deployBundle({...legacy(call), ...deployment, wait: true, pollInterval: 0.001}, call.host),
    amend: lookedBefore,
  },
  {
    name: 'legacy poll',
    isLike: 'api poll',
    request: 'poll',
    kind: 'read',
    run: (call) =>
      waitForDeployment(
        {...legacy(call), backend: 'legacy', deployment: deployedLegacy, pollInterval: 0.001},
        call.host,
      ),
    amend: polled,
  },
  {name: 'legacy list', request: 'list', kind: 'read', run: (call) => listBundles(legacy(call), call.host)},
  {
    name: 'legacy download',
    request: 'download',
    kind: 'read',
    run: (call) => downloadBundle({...legacy(call), bundleId: 7, output: 'bundle.tar.gz'}, call.host),
  },
  {
    name: 'archive of a download',
    request: 'archive',
    kind: 'archive',
    run: (call) => downloadBundle({...legacy(call), bundleId: 7, output: 'bundle.tar.gz'}, call.host),
  },
];
