import {checkBundleOptions, type BundlePlanOptions} from '../../bundle/index.js';
import {followUpsOf, optionProblems, rejectProblems} from '../../settings/definitions.js';
import type {PlaceOptions} from '../deploy/new-place.js';
import {planRelease, type Release} from '../deploy/release.js';
import {needsCommit} from '../guard/guards.js';
import {refuseUnsafe} from '../guard/safety.js';
import {planningHost, type Host} from '../host.js';
import type {ProjectOptions} from '../options.js';
import type {OpenOptions} from '../open-backend.js';
import type {PushRuntimeBundleBackendOptions} from './options.js';
import type {UploadStates} from '../../backends/upload-state.js';
import type {LastPush} from './unchanged-bundle.js';

export interface PushSource
  extends
    Omit<BundlePlanOptions, 'format' | 'projectSlug'>,
    Pick<PushRuntimeBundleBackendOptions, 'projectSlug' | 'archive' | 'v2'> {}

/** A push whose options are valid: what each of its steps needs. */
export interface PushRequest {
  readonly connection: OpenOptions & PlaceOptions & Pick<ProjectOptions, 'preference'>;
  readonly source: PushSource;
  readonly release: Release | undefined;
  readonly lastPush: LastPush;
  readonly uploadStates: UploadStates | undefined;
  /** Whether nothing is changed, so that missing credentials are only a warning. */
  readonly dryRun: boolean;
}

export function requestPush(options: PushRuntimeBundleBackendOptions, host: Host): PushRequest {
  const {targetSlug, ifChanged = false, pushRecords, preview, uploadStates, v2, signal} = options;
  const release = targetSlug === undefined ? undefined : planRelease('push', {...options, targetSlug}, host);
  if (release === undefined) refuseUnsafe({operation: 'push'}, host);
  signal?.throwIfAborted();
  const source = sourceOf(options, host);
  // Only a deployment can be followed by something.
  const followUps = release === undefined ? followUpsOf(options) : [];
  rejectProblems([
    ...checkBundleOptions({...source, format: v2 ? 'v2' : 'v1'}),
    ...optionProblems(options, ['targetSlug', 'pollInterval', 'timeout']),
    ...(ifChanged && pushRecords === undefined
      ? [{option: 'ifChanged', message: 'requires pushRecords to compare with the last push'}]
      : []),
    ...followUps.map((option) => ({option, message: 'requires targetSlug'})),
  ]);
  const connection = {...options, wait: release?.wait};
  const lastPush = {ifChanged, pushRecords, preview};
  return {connection, source, release, lastPush, uploadStates, dryRun: false};
}

function sourceOf(options: PushRuntimeBundleBackendOptions, host: Host): PushSource {
  const {cwd = host.cwd, recordCommit = needsCommit(options), targetSlug} = options;
  // What PWA Kit's own client sets, by which a project picks its configuration.
  const env = targetSlug === undefined ? host.env : {...host.env, DEPLOY_TARGET: targetSlug};
  return {...options, ...planningHost(host), cwd, recordCommit, env};
}
