import * as v from 'valibot';
import {contentSchema} from '../bundle/config/content-schema.js';
import type {BundleContentOptions} from '../bundle/index.js';
import {resolveRateLimitPolicy, type RateLimitMiddlewareConfig} from '../http/rate-limit/index.js';
import {definitions, problemsOf, settingKeys, type SettingKey} from '../settings/definitions.js';
import {didYouMean, knownFields, objectSchema, text} from '../settings/schemas.js';
import type {OptionProblem} from '../settings/types.js';
import {messageOf} from '../errors/system-failure.js';
import {isRecord} from '../text/json.js';
import type {BuildBundleOptions, CommonOptions, ConnectionOptions, GuardOptions, ProjectOptions} from './options.js';
import type {PushRuntimeBundleBackendOptions} from './push/options.js';

/** A schema for each option of a call: that of the setting, if there is one. */
export type OptionSchemas<Options> = {readonly [Name in keyof Options]-?: v.GenericSchema};

function settings<Name extends SettingKey>(...names: readonly Name[]) {
  return Object.fromEntries(names.map((name) => [name, definitions[name].schema])) as {
    readonly [K in Name]: v.GenericSchema;
  };
}

const callback = v.function('must be a function');
const id = v.union([text, v.number()], 'must be a string or a number');
const toggle = definitions.wait.schema;
const names = definitions.ignore.schema;

const auth = v.custom(
  (value) => isRecord(value) && typeof value['getAuthorizationHeader'] === 'function',
  'must be an AuthStrategy, such as new ApiKeyStrategy({apiKey})',
);

/** A field of `rateLimit`, whose rules are those of `createRateLimitMiddleware`. */
function policyField(name: keyof RateLimitMiddlewareConfig): v.GenericSchema {
  return v.pipe(
    v.unknown(),
    v.rawCheck(({dataset, addIssue}) => {
      try {
        resolveRateLimitPolicy({[name]: dataset.value});
      } catch (error) {
        addIssue({message: messageOf(error).replace(`rateLimit.${name} `, '')});
      }
    }),
  );
}
const rateLimitFields: OptionSchemas<RateLimitMiddlewareConfig> = {
  maxRetries: policyField('maxRetries'),
  baseDelayMs: policyField('baseDelayMs'),
  maxDelayMs: policyField('maxDelayMs'),
  statusCodes: policyField('statusCodes'),
  prefix: policyField('prefix'),
  fetch: policyField('fetch'),
  logger: objectSchema,
  onRetry: callback,
};

const guard = knownFields(
  Object.fromEntries(
    settingKeys.flatMap((key) => {
      const {config = '', schema} = definitions[key];
      return config.startsWith('guard.') ? [[config.slice('guard.'.length), schema]] : [];
    }),
  ),
);

const common: OptionSchemas<CommonOptions> = {
  ...{signal: v.instance(AbortSignal, 'must be an AbortSignal'), cwd: text, rateLimit: knownFields(rateLimitFields)},
  ...{onProgress: callback, onEvent: callback, onRetry: callback},
  ...settings('requestTimeout', 'connectTimeout', 'idleTimeout', 'uploadRetries'),
};

const connection: OptionSchemas<ConnectionOptions> = {
  ...settings('origin', 'logsOrigin'),
  ...{apiConnection: knownFields({origin: text, organizationId: text, auth}), legacyAuth: auth},
  ...{backends: objectSchema, backendOptions: objectSchema},
};

const project: OptionSchemas<ProjectOptions> = {
  ...common,
  ...connection,
  ...{preference: definitions.runtimeBackend.schema, projectSlug: definitions.projectSlug.schema},
};
const target = {...project, ...settings('targetSlug')};
const waiting = settings('pollInterval', 'timeout');
const dryRun = {dryRun: toggle};
const guards: OptionSchemas<GuardOptions> = {guard, confirmTarget: callback, ...settings('production')};

const content: OptionSchemas<BundleContentOptions> = {
  ...contentSchema.entries,
  ...settings('buildDirectory', 'projectDirectory', 'message', 'recordCommit', 'static', 'rootDir', 'configPath'),
  ...settings('matchMode', 'ignore', 'allowSensitiveFiles', 'allowSourceMaps', 'compressionLevel'),
};

/** A deployment, without what only some of them have. */
const deployment = {...target, ...waiting, ...guards, ...settings('wait', 'check'), invalidate: names};
const choice = {onFallback: callback, onResolve: callback};
const push: OptionSchemas<PushRuntimeBundleBackendOptions> = {
  ...{...deployment, ...content, ...choice, ...settings('waitForSlot', 'rollbackOnFailure', 'v2', 'ifChanged')},
  ...{archive: text, pushRecords: objectSchema, uploadStates: objectSchema, onFormat: callback},
};
const {targetSlug, wait, waitForSlot, ifChanged, ...preview} = push;
const build: OptionSchemas<BuildBundleOptions> = {
  ...{...common, ...content, ...settings('projectSlug')},
  ...{format: v.picklist(['v1', 'v2'], 'must be v1 or v2'), output: text, force: toggle},
};
const {production: _, ...laterGuards} = guards;
const doomedPreview = {...project, ...laterGuards, ...dryRun, timeout: waiting.timeout, confirm: callback};
const list = {...project, limit: v.number('must be a number'), offset: definitions.maxRetries.schema};

/** The options that each call of the library takes. */
export const callOptions = {
  pushRuntimeBundle: push,
  pushBundleV2: {...common, ...content, ...settings('projectSlug', 'origin')},
  buildBundle: build,
  inspectArchive: {signal: common.signal, onEvent: callback, rootDir: content.rootDir, configPath: content.configPath},
  inspectBundle: {...project, bundleId: id, rootDir: content.rootDir, configPath: content.configPath},
  diffBundles: {...project, ...content, from: objectSchema, to: objectSchema, variables: names},
  deployBundle: {
    ...{...deployment, ...choice, ...settings('waitForSlot', 'rollbackOnFailure', 'projectDirectory')},
    bundleId: id,
  },
  rollbackBundle: {...deployment, ...settings('projectDirectory'), to: id},
  promoteBundle: {
    ...{...deployment, ...settings('waitForSlot', 'rollbackOnFailure', 'projectDirectory')},
    from: definitions.targetSlug.schema,
  },
  waitForDeployment: {
    ...{...common, ...connection, ...waiting, ...settings('projectSlug')},
    ...{backend: text, deployment: v.unknown()},
  },
  listBundles: list,
  listDeployments: {...list, ...settings('targetSlug')},
  downloadBundle: {...project, bundleId: id, output: text, force: toggle},
  deleteBundles: {
    ...project,
    ...{bundleIds: v.array(id, 'must be an array of bundle IDs'), confirm: callback, onDeletion: callback},
  },
  pruneBundles: {...project, ...dryRun, confirm: callback, keep: list.offset, olderThanMs: list.limit, match: text},
  readDeploymentLogs: {
    ...target,
    deploymentId: id,
    follow: toggle,
    pollInterval: waiting.pollInterval,
    onLines: callback,
  },
  getProjectStatus: {...target, allTargets: toggle},
  project,
  target,
  createTarget: {...target, ...waiting, ...dryRun, ...settings('copyFrom', 'wait'), name: text, ifMissing: toggle},
  deleteTarget: {...target, ...guards, ...dryRun, force: toggle, ifExists: toggle, confirm: callback},
  setVariables: {...target, ...waiting, ...guards, ...dryRun, ...settings('wait'), set: objectSchema, unset: names},
  invalidate: {...target, ...guards, ...dryRun, patterns: names},
  tailLogs: {...target, onReconnect: callback},
  deployPreview: {...preview, branch: text, ...settings('copyFrom')},
  deletePreview: {...doomedPreview, branch: text},
  prunePreviews: {...doomedPreview, olderThanMs: list.limit},
} as const;

/** Calls may share an object of options, so each ignores those of the others. */
const allNames = new Set(Object.values(callOptions).flatMap((accepted) => Object.keys(accepted)));

/** What is wrong with the options of a call: values of another type, and names that no call has. */
export function callProblems<Options extends object>(
  options: Options,
  accepted: OptionSchemas<Options>,
): readonly OptionProblem[] {
  const schemaOf = new Map(Object.entries<v.GenericSchema>(accepted));
  return Object.entries(options).flatMap(([option, value]) => {
    if (value === undefined) return [];
    const schema = schemaOf.get(option);
    if (schema !== undefined) return problemsOf(option, value, schema);
    if (allNames.has(option)) return [];
    return [{option, message: `is not an option${didYouMean(option, [...schemaOf.keys()])}`}];
  });
}
