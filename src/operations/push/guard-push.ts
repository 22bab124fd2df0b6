import {resolve} from 'node:path';
import {readManifest} from '../../bundle/archive/manifest.js';
import {recordedCommit} from '../../bundle/provenance/provenance.js';
import type {DeploymentWatch} from '../deploy/request-deploy.js';
import {activeGuards, checkGuards, watchNotOlder} from '../guard/guards.js';
import type {GuardedSource} from '../guard/checks.js';
import {runningBundles} from '../guard/running-commit.js';
import type {OpenBackend} from '../open-backend.js';
import type {PushRuntimeBundleBackendOptions} from './options.js';
import type {Host} from '../host.js';

/** Whether there are guards to check before a push. */
export function isGuarded({targetSlug, guard}: PushRuntimeBundleBackendOptions): boolean {
  return targetSlug !== undefined && activeGuards(guard).length > 0;
}

/** Checks again what the target runs right before each request that starts the deployment of a push. */
export function watchPush(
  watch: DeploymentWatch | undefined,
  options: PushRuntimeBundleBackendOptions,
  host: Host,
): DeploymentWatch | undefined {
  return watchNotOlder(watch, options, (open, guard) => checkPush(open, {...options, guard}, host));
}

/**
 * Checks the guards of a push.
 * @throws RuntimeCliError `ERR_GUARD_REFUSED`.
 */
export async function checkPush(
  open: OpenBackend,
  options: PushRuntimeBundleBackendOptions,
  host: Host,
): Promise<void> {
  const {projectSlug, targetSlug = ''} = options;
  const confirmation = {operation: 'push', projectSlug, targetSlug} as const;
  const source = await pushSource(options, host);
  await checkGuards({confirmation, source, running: () => runningBundles(open, targetSlug)}, options, host);
}

/** What a push deploys: what is built from the work tree, or a prebuilt archive, whose manifest knows its commit. */
async function pushSource(options: PushRuntimeBundleBackendOptions, host: Host): Promise<GuardedSource> {
  const {archive, cwd = host.cwd, buildDirectory = 'build'} = options;
  if (archive === undefined) return {kind: 'tree', buildDirectory: resolve(host.cwd, cwd, buildDirectory)};
  const manifest = await readManifest(resolve(host.cwd, cwd, archive));
  const {commit, branch, dirty = false} = manifest?.provenance ?? {};
  const recorded = commit === undefined ? manifest && recordedCommit(manifest.message) : {commit, branch, dirty};
  return {kind: 'bundle', name: archive, recorded};
}
