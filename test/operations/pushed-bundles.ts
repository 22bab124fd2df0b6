import {onTestFinished} from 'vitest';
import {ApiKeyStrategy, OAuthClientCredentialsStrategy} from '../../src/http/index.js';
import type {ConnectionOptions} from '../../src/operations/options.js';
import {startLocalRuntime, type LocalRuntime, type LocalRuntimeOptions} from '../../src/testing.js';
import {createProject, type TestProject} from './test-host.js';
import {listBundles, listDeployments} from '../../src/pipelines/read.js';
import {pushRuntimeBundle} from './calls.js';

/** A runtime, a project, and how to reach the one from the other. */
export interface Service {
  readonly runtime: LocalRuntime;
  readonly project: TestProject;
  readonly connection: ConnectionOptions & {readonly projectSlug: string; readonly rateLimit: object};
  /** Pushes a bundle to the legacy backend; deploys it when there is a target. Returns its id. */
  push(options?: {readonly targetSlug?: string; readonly v2?: boolean}): Promise<number>;
}

/** Starts a runtime for one test; deployments are finished at once unless said otherwise. */
export async function startService(options: LocalRuntimeOptions = {}): Promise<Service> {
  const runtime = await startLocalRuntime({deploymentSeconds: 0, ...options});
  const project = await createProject();
  onTestFinished(async () => {
    await runtime.close();
    await project[Symbol.asyncDispose]();
  });
  const {origin, credentials} = runtime;
  const {organizationId, clientId, clientSecret, tokenUrl, apiKey} = credentials;
  const auth = new OAuthClientCredentialsStrategy({tokenUrl, clientId, clientSecret, scopes: []});
  const connection = {
    origin,
    legacyAuth: new ApiKeyStrategy({apiKey}),
    apiConnection: {origin, organizationId, auth},
    projectSlug: 'shop',
    rateLimit: {maxRetries: 3, baseDelayMs: 1, maxDelayMs: 5},
  };
  return {
    runtime,
    project,
    connection,
    async push({targetSlug, v2 = true} = {}) {
      const push = {...connection, preference: 'legacy', v2, targetSlug, wait: targetSlug !== undefined};
      const {bundleId} = await pushRuntimeBundle({...push, pollInterval: 0.01}, project.host);
      return Number(bundleId);
    },
  };
}

/** The deployments to `staging`, newest first: `2 finished`. */
export async function stagingHistory({connection, project}: Service): Promise<readonly string[]> {
  const options = {...connection, preference: 'legacy', targetSlug: 'staging'};
  const {deployments} = await listDeployments(options, project.host);
  return deployments.map(({bundleId, status}) => `${String(bundleId)} ${status}`);
}

/** The IDs of the bundles that the project has, newest first. */
export async function bundlesLeft({connection, project}: Service): Promise<readonly unknown[]> {
  const {bundles} = await listBundles({...connection, preference: 'legacy'}, project.host);
  return bundles.map(({bundleId}) => bundleId);
}
