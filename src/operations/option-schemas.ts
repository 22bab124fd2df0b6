import * as v from 'valibot';
import {contentSchema} from '../bundle/config/content-schema.js';
import {definitions, settingKeys, type FlagSet, type KeysOfEach, type SettingKey} from '../settings/definitions.js';
import {knownFields, objectSchema, nonEmpty} from '../settings/schemas.js';
import {redirectSchema, settingsSchema} from '../settings/target-settings.js';
import {isRecord} from '../text/json.js';
import type * as bundles from './bundle-options.js';
import type * as options from './options.js';
import type * as push from './push/options.js';
import type * as targets from './targets/options.js';

export type CallOptionName =
  | keyof (push.PushRuntimeBundleBackendOptions & bundles.BuildBundleOptions & bundles.DiffBundlesOptions)
  | keyof (options.DeployBundleOptions & options.RollbackBundleOptions & options.PromoteBundleOptions)
  | keyof (options.WaitForDeploymentOptions & bundles.ListDeploymentsOptions & targets.ProjectStatusOptions)
  | keyof (bundles.DownloadBundleOptions & bundles.DeleteBundlesOptions & bundles.PruneBundlesOptions)
  | keyof (targets.CreateTargetOptions & targets.DeleteTargetOptions & targets.ApplyTargetOptions)
  | keyof (targets.SetVariablesOptions & targets.InvalidateOptions & targets.TailLogsOptions)
  | keyof (targets.DeployPreviewOptions & targets.PrunePreviewsOptions);

function settings<const Name extends SettingKey>(...keys: readonly Name[]) {
  const entries = keys.map((key) => [key, definitions[key].schema] as const);
  return Object.fromEntries(entries) as Readonly<Record<Name, v.GenericSchema>>;
}

/** The schemas of options that are settings of these sets, under the names that a configuration file has. */
function ofSets<const Set extends FlagSet>(...sets: readonly Set[]) {
  const keys = settingKeys.filter(
    (key) => definitions[key].config === key && (sets as readonly FlagSet[]).includes(definitions[key].set),
  );
  return settings(...keys) as Readonly<Record<KeysOfEach<Set> & CallOptionName, v.GenericSchema>>;
}

function each<const Name extends string>(schema: v.GenericSchema, ...names: readonly Name[]) {
  return Object.fromEntries(names.map((name) => [name, schema])) as Readonly<Record<Name, v.GenericSchema>>;
}

const callback = v.function('must be a function');
const id = v.union([nonEmpty, v.number()], 'must be a string or a number');
const number = v.number('must be a number');
const positive = v.pipe(number, v.integer('must be a positive integer'), v.minValue(1, 'must be a positive integer'));
const natural = 'must be a non-negative integer';
const toggle = definitions.wait.schema;
const names = definitions.ignore.schema;

const auth = v.custom(
  (value) => isRecord(value) && typeof value['getAuthorizationHeader'] === 'function',
  'must be an AuthStrategy, such as new ApiKeyStrategy({apiKey})',
);

const guardFields = settingKeys.flatMap((key) => {
  const {config = '', schema} = definitions[key];
  return config.startsWith('guard.') ? [[config.slice('guard.'.length), schema] as const] : [];
});

export type OptionSchemas = Readonly<Record<string, v.GenericSchema>>;

/** A schema for each option of any call: calls may share an object of options, and ignore what only others have. */
export const optionSchemas: Readonly<Record<CallOptionName, v.GenericSchema>> = {
  ...settings('projectSlug', 'targetSlug', 'origin', 'logsOrigin'),
  ...settings('requestTimeout', 'connectTimeout', 'idleTimeout', 'uploadRetries'),
  ...ofSets('bundle', 'push', 'wait', 'slot', 'create'),
  ...settings('check', 'rollbackOnFailure', 'production', 'copyFrom'),
  ...contentSchema.entries,
  preference: definitions.runtimeBackend.schema,
  rateLimit: knownFields({
    ...settings('maxRetries', 'baseDelayMs', 'maxDelayMs', 'statusCodes'),
    prefix: v.string('must be a string'),
    ...each(callback, 'fetch', 'onRetry'),
    logger: objectSchema,
  }),
  configuration: knownFields({
    settings: settingsSchema(),
    redirects: v.array(redirectSchema, 'must be an array of redirects'),
    ...each(toggle, 'prune', 'access', 'primary'),
    variables: names,
  }),
  guard: knownFields(Object.fromEntries(guardFields)),
  apiConnection: knownFields({origin: nonEmpty, organizationId: nonEmpty, auth}),
  legacyAuth: auth,
  signal: v.instance(AbortSignal, 'must be an AbortSignal'),
  ...each(callback, 'onProgress', 'onEvent', 'onFallback', 'onResolve'),
  ...each(callback, 'onDeletion', 'onReconnect', 'onAccess'),
  ...each(callback, 'confirm', 'confirmTarget', 'confirmNew', 'guardsOf', 'optionsOf'),
  ...each(objectSchema, 'backends', 'backendOptions', 'pushRecords', 'uploadStates', 'set'),
  ...each(nonEmpty, 'cwd', 'archive', 'preview', 'output', 'backend', 'branch', 'match', 'name'),
  ...each(toggle, 'force', 'dryRun', 'follow', 'allTargets', 'ifMissing', 'ifExists', 'rotate'),
  limit: v.union([positive, v.literal(Infinity)], 'must be a positive integer'),
  keep: positive,
  offset: v.pipe(number, v.integer(natural), v.minValue(0, natural)),
  olderThanMs: v.pipe(number, v.minValue(0, 'must be at least 0')),
  ...each(id, 'bundleId', 'deploymentId'),
  ...each(names, 'unset', 'patterns', 'invalidate', 'variables'),
  bundleIds: v.pipe(v.array(id, 'must be an array of bundle IDs'), v.minLength(1, 'must not be empty')),
  format: v.picklist(['v1', 'v2'], 'must be v1 or v2'),
  // A source of a comparison, or a target whose bundle is promoted and a bundle that is rolled back to.
  from: v.union([objectSchema, nonEmpty], 'must be a target or the source of a bundle'),
  to: v.union([objectSchema, id], 'must be a bundle or the source of one'),
  // Only its backend knows what it is.
  deployment: v.unknown(),
};
