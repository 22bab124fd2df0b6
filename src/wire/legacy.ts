import * as v from 'valibot';
import {targetSettings} from '../settings/target-settings.js';
import {bundleForm, common, describedFields} from './bundles.js';
import {answeredFields, requestedFields} from './service-fields.js';
import {del, get, post, type Half} from './operation.js';
import {range} from './parameters.js';
import * as s from './schema.js';
import {configurationOperations, configurationSchemas} from './configuration-operations.js';

const {flag, object, onlyHosted, onlyLocal, optional, text, texts, time, uri, warnings} = s;

const deletionStatus = optional(text('`ACTIVE`, or a word that starts with `CLEANUP_`: it is being deleted.'));
const bundleMessage = optional(text('The message of the bundle.'));

const project = object('A project.', {
  slug: text('Its name in paths.'),
  name: optional(text('Its name for people.')),
  organization: optional(text('The slug of the organization that it belongs to.')),
  deletion_status: deletionStatus,
});

const bundle = object('A bundle.', {
  id: s.givenBundleId,
  message: optional(text('The message of the upload.')),
  status: optional(
    s.word([0, 1, 2], '0: pending, it cannot be deployed yet. 1: completed. 2: failed.', {type: 'integer'}),
  ),
  deletion_status: deletionStatus,
  user: optional(text('Who uploaded it.')),
  created_at: optional(time('When it was uploaded.')),
  updated_at: optional(time('When it last changed.')),
  in_use_by: optional(s.shownTexts('The targets that run it.')),
});

const deployment = object(
  'A deployment. It has no ID that a client could ask for: a client that waits takes the first deployment of its bundle that is later than those it saw before its request.',
  {
    bundle: optional(v.object({id: optional(s.givenBundleId), message: bundleMessage})),
    status: optional(
      s.word(
        ['Queued', 'In Progress', 'Finished', 'Failed'],
        '`Finished` and `Failed` are final. If missing, a client that waits keeps waiting, and others treat it as unknown.',
      ),
    ),
    deploy_type: optional(
      s.word(['Publish', 'Reset Bundle', 'Push', 'Deploy Settings', 'Redeploy'], 'What kind of deployment it is.'),
    ),
    external_publish_id: optional(text('A UUID, or null.', {format: 'uuid'})),
    user: optional(text('Who requested it.')),
    created_at: optional(time('When it was requested. Without it, nobody can wait for the deployment.')),
    updated_at: optional(time('When its status last changed.')),
    duration: optional(text('How long it took, or has been taking, such as `00:01:16.867000`.')),
  },
);

const configuration = configurationSchemas('legacy', {});

const target = object('A target. Clients show the URL of what it serves: of the first host name that is there.', {
  ...answeredFields(targetSettings, 'legacy'),
  slug: text('Its name in paths.'),
  name: optional(text('Its name for people.')),
  state: optional(
    s.word(
      ['ACTIVE', 'CREATE_IN_PROGRESS', 'PUBLISH_IN_PROGRESS', 'CREATE_FAILED', 'PUBLISH_FAILED'],
      'What is going on: `CREATE_` while it is made, `PUBLISH_` while it gets a bundle or variables.',
    ),
  ),
  deletion_status: deletionStatus,
  current_deploy: optional(
    object('The newest deployment to the target.', {
      status: optional(text('As in `LegacyDeployment`, or in lower case.')),
      bundle: optional(v.object({id: s.givenBundleId, message: bundleMessage})),
    }),
  ),
  ssr_external_hostname: optional(text('The host name that customers see.')),
  cdn_domain_name: optional(text('The host name in the network of the service.', onlyHosted)),
  is_production: optional(flag('Whether customers see it.')),
  url: optional(uri('Where the target is served, if it has no host name of its own.', onlyLocal)),
});

const variables = s.objectOf(
  v.record(v.string(), v.unknown()),
  'Variables by their names: `{value, updated_by, updated_at, publishing_status_description}`. Values are masked.',
);

const page = <Row extends v.GenericSchema>(row: Row, rows: string) =>
  v.pipe(
    object(`One page of ${rows}.`, {
      count: s.total,
      next: optional(uri('URL of the next page; null on the last one.')),
      previous: optional(uri('URL of the previous page; null on the first one.')),
      results: v.array(row),
    }),
    v.transform(({results, count}) => ({rows: results, total: count})),
  );

const v1Files = (whose: string) => texts(`Files (not patterns) ${whose}, relative to \`{projectSlug}/bld/\`.`);

export const legacySchemas = {
  LegacyError: object(
    'A refusal. Some clients show `detail`, others `message`; send both. Clients also cope with plain text and with an empty body.',
    {detail: optional(text('The reason, for people.')), message: optional(text('The same.'))},
  ),
  LegacyV1Bundle: object(
    'A v1 bundle. `data` may be far larger than any string that a JSON parser can hold: decode it while it arrives.',
    {
      ...describedFields.entries,
      message: s.message,
      encoding: v.literal('base64'),
      ssr_parameters: s.ssrParameters,
      ssr_only: v1Files('for the server only, which must never be served'),
      ssr_shared: v1Files('for the server and for browsers'),
      bundle_metadata: v.optional(
        s.objectOf(
          v.unknown(),
          'Facts about the project, such as `dependencies`, its packages and their versions. Take any members: published clients send `cc_overrides`, for example.',
        ),
      ),
      data: text(
        'An uncompressed tar, in base64 with padding. Every entry is below `{projectSlug}/bld/`. Clients send this member last.',
        {contentEncoding: 'base64', contentMediaType: 'application/x-tar'},
      ),
    },
  ),
  LegacyV1Uploaded: object('An accepted v1 bundle. An answer without `bundle_id` counts as a failure.', {
    bundle_id: s.givenBundleId,
    message: bundleMessage,
    url: optional(uri('After a push that deploys: where the target is served.')),
    bundle_preview_url: optional(uri('Where the bundle can be looked at before it is deployed.')),
    warnings,
  }),
  LegacyV2Uploaded: object('An accepted v2 bundle. An answer without `id` counts as a failure.', {
    id: s.givenBundleId,
    warnings,
    matches: common.BundleMatches,
  }),
  LegacyProject: project,
  LegacyBundle: bundle,
  LegacyDownload: object('Where an archive can be downloaded.', {
    download_url: uri(
      'A presigned URL of the archive, usually on another host, valid for an hour. Clients send no credentials there.',
    ),
  }),
  LegacyBulkDeleteRequest: object(
    'Bundles to delete.',
    {bundle_ids: v.pipe(v.array(s.bundleId), v.minLength(1), v.maxLength(1000))},
    {examples: [{bundle_ids: [41, 42]}]},
  ),
  LegacyBulkDeleted: object('The outcome for each bundle.', {
    rejected_bundles: optional(
      v.pipe(
        v.array(
          v.object({
            bundle_id: optional(s.givenBundleId),
            bundle_ids: optional(v.pipe(v.array(s.givenBundleId), s.say('Several with the same reason.', onlyHosted))),
            errors: optional(text('The reason, for people.')),
            detail: optional(text('The same. Services send one of the two.', onlyHosted)),
          }),
        ),
        s.say('Bundles that are not deleted: they do not exist, or a target uses them.'),
      ),
    ),
    bundles_queued_for_cleanup: optional(v.pipe(v.array(s.givenBundleId), s.say('Bundles that are deleted.'))),
  }),
  LegacyDeployRequest: object(
    'The bundle to deploy. `current`: deploy again what the target runs.',
    {bundle_id: v.union([s.bundleId, s.typedBundleId, v.literal('current')])},
    {examples: [{bundle_id: 42}]},
  ),
  LegacyDeployAccepted: object('The deployment was accepted. Every member may be missing or null.', {
    warnings,
    status: optional(text('Its status so far: as in `LegacyDeployment`, or in lower case.', onlyHosted)),
    bundle_id: optional(s.bundleIdAs('The bundle.', onlyHosted)),
    bundle: optional(object('The bundle.', {id: s.givenBundleId}, onlyHosted)),
    created_at: optional(time('When it was requested.', onlyHosted)),
  }),
  LegacyDeployment: deployment,
  LegacyProjectPage: page(project, 'projects'),
  LegacyBundlePage: page(bundle, 'bundles'),
  LegacyDeploymentPage: page(deployment, 'deployments to a target'),
  LegacyTargetPage: page(target, 'targets'),
  LegacyTarget: target,
  LegacyNewTarget: object('A target to make.', {
    ...requestedFields(targetSettings, 'legacy'),
    slug: s.newTargetSlug,
    name: s.newTargetName,
  }),
  LegacyTargetSettings: configuration.settings,
  LegacyRedirect: configuration.redirect,
  LegacyNewRedirect: configuration.newRedirect,
  LegacyRedirectPage: page(configuration.redirect, 'redirects'),
  LegacyAccessHeaderPage: page(configuration.accessHeader, 'access headers'),
  LegacyApiKey: object("The user's new key. The old one no longer works.", {
    api_key: v.pipe(v.string(), v.nonEmpty(), s.say('The key.')),
  }),
  LegacyCloneRequest: object('The target to copy. What it runs is deployed to the new one.', {
    from_target_slug: text('The slug of that target.'),
    clone_environment_variables: optional(flag('Whether to copy its variables.')),
    clone_redirects: optional(flag('Whether to copy its redirects.')),
    clone_b2c_target_info: optional(flag('Whether to copy what connects it to the commerce platform.')),
  }),
  LegacyVariables: v.union([
    v.pipe(
      object('One page of variables.', {count: s.total, results: v.array(variables)}),
      v.transform(({results, count}) => ({rows: results, total: count})),
    ),
    v.pipe(
      variables,
      v.transform((all) => ({rows: [all], total: 1})),
    ),
  ]),
  LegacyInvalidation: object('What to invalidate.', {
    pattern: s.pattern,
    items: v.optional(v.pipe(v.null(), s.say('Always null.'))),
  }),
  LegacyInvalidated: object('An accepted invalidation, which takes minutes.', {
    result: optional(text('What was accepted.')),
    slug: optional(text('The target.')),
  }),
  LegacyLogToken: object('A token for the logs.', {
    token: v.pipe(v.string(), v.nonEmpty(), s.say('Clients send it in the query of the WebSocket.')),
    warnings: optional(texts('Why nothing is logged. Clients show it.', onlyLocal)),
  }),
};

const inProject = '/api/projects/:projectSlug/';
const inTarget = '/api/projects/:projectSlug/target/:targetSlug/';

const acceptedTarget = {answer: legacySchemas.LegacyTarget, statuses: [201, 200, 202], mayConflict: true} as const;

const v1 = {
  stream: {type: 'application/json', schema: legacySchemas.LegacyV1Bundle},
  answer: legacySchemas.LegacyV1Uploaded,
  statuses: [200, 201],
} as const;

/** The half of the wire for Runtime (API key). */
export const legacy = {
  kind: 'Legacy',
  prefix: 'legacy',
  security: ['apiKey', 'apiKeyOfUser'],
  operations: {
    listProjects: get('/api/projects/', 'projects', 'List the projects of the user', {
      query: range,
      description: 'Clients also use it to try an API key.',
      answer: legacySchemas.LegacyProjectPage,
    }),
    pushV1: post(`${inProject}builds/`, 'upload', 'Upload a v1 bundle, which is not deployed', v1),
    pushAndDeployV1: post(`${inProject}builds/:targetSlug/`, 'upload', 'Upload a v1 bundle and deploy it', {
      ...v1,
      description: 'Starts the deployment and answers without waiting for it.',
      mayConflict: true,
    }),
    pushV2: post('/api/v2/projects/:projectSlug/bundles/', 'upload', 'Upload a v2 bundle, which is not deployed', {
      stream: bundleForm,
      statuses: [201, 200],
      answer: legacySchemas.LegacyV2Uploaded,
    }),
    listBundles: get(`${inProject}bundles/`, 'list', 'List the bundles of a project, newest first', {
      query: range,
      answer: legacySchemas.LegacyBundlePage,
    }),
    deleteBundles: post(`${inProject}bundles/bulk-delete/`, 'delete', 'Delete several bundles', {
      description: 'Deletes each bundle that can be deleted, and lists the others. mycli deletes one at a time.',
      json: legacySchemas.LegacyBulkDeleteRequest,
      statuses: [202],
      answer: legacySchemas.LegacyBulkDeleted,
    }),
    deleteBundle: del(`${inProject}bundles/:bundleId{\\d+}/`, 'delete', 'Delete a bundle', {
      description: 'A bundle that a target runs, or is being deployed to, cannot be deleted (409).',
      statuses: [202, 204],
      mayConflict: true,
    }),
    downloadBundle: get(`${inProject}bundles/:bundleId{\\d+}/download/`, 'download', 'Get the URL of an archive', {
      description: 'The URL is presigned: whoever has it can download the archive for an hour, without credentials.',
      answer: legacySchemas.LegacyDownload,
    }),
    listTargets: get(`${inProject}target/`, 'targets', 'List the targets of a project', {
      query: range,
      answer: legacySchemas.LegacyTargetPage,
    }),
    getTarget: get(inTarget, 'target', 'Get a target', {answer: legacySchemas.LegacyTarget}),
    deploy: post(`${inTarget}deploy/`, 'deploy', 'Deploy a bundle', {
      description:
        'Starts a deployment and answers without waiting for it. One deployment runs per target; while it does, others are refused (409).',
      json: legacySchemas.LegacyDeployRequest,
      statuses: [201, 200, 202, 204],
      answer: legacySchemas.LegacyDeployAccepted,
      mayConflict: true,
    }),
    listDeployments: get(`${inTarget}deploy/`, 'history', 'List the deployments to a target, newest first', {
      query: range,
      description:
        'Clients that wait for a deployment poll this. They tell deployments apart by `created_at`, and those of the same time by their position and `count`, so a new one must be on top.',
      answer: legacySchemas.LegacyDeploymentPage,
    }),
    createTarget: post(`${inProject}target/`, 'create-target', 'Create a target', {
      description: 'Starts making it and answers without waiting. Clients look at its `state`.',
      lacking: [404, 405],
      json: legacySchemas.LegacyNewTarget,
      ...acceptedTarget,
    }),
    cloneTarget: post(`${inTarget}clone/`, 'create-target', 'Create a target as a copy of another one', {
      description: 'The target in the path is the new one.',
      lacking: [405],
      json: legacySchemas.LegacyCloneRequest,
      ...acceptedTarget,
    }),
    deleteTarget: del(inTarget, 'delete-target', 'Delete a target', {
      description: 'Lists may have it for a while, with its `deletion_status`.',
      lacking: [405],
      statuses: [204, 200, 202],
      mayConflict: true,
    }),
    listVariables: get(`${inTarget}env-var/`, 'variables', 'List the environment variables of a target', {
      query: range,
      description: 'Clients read pages, and all variables in one object.',
      lacking: [405],
      answer: legacySchemas.LegacyVariables,
    }),
    invalidate: post(`${inTarget}invalidation/`, 'invalidate', 'Clear the cache of a target', {
      lacking: [405],
      json: legacySchemas.LegacyInvalidation,
      statuses: [201, 200, 202],
      answer: legacySchemas.LegacyInvalidated,
    }),
    ...configurationOperations(
      {
        target: inTarget,
        variables: `${inTarget}env-var/`,
        redirects: `${inTarget}redirect/`,
        redirect: `${inTarget}redirect/:fromPath/`,
        access: `${inTarget}access-control-header/`,
        accessHeader: `${inTarget}access-control-header/:accessId/`,
      },
      configuration,
      {
        target: legacySchemas.LegacyTarget,
        redirects: legacySchemas.LegacyRedirectPage,
        access: legacySchemas.LegacyAccessHeaderPage,
      },
    ),
    createApiKey: post('/api/users/me/api_key/', 'api-key', 'Get a new API key, which ends the one of the request', {
      statuses: [201, 200],
      answer: legacySchemas.LegacyApiKey,
      lacking: [404, 405],
    }),
    createLogToken: post(`${inTarget}jwt/`, 'log-token', 'Create a token for the logs of a target', {
      description:
        'With it, clients open a WebSocket on the host of the logs: that of the API, with its first label `cloud` replaced by `logs`. Its query has `project`, `environment`, `access_token` and maybe `user`. Each message is a JSON array of `{message, timestamp}`, where `message` is `TIME TAB REQUEST-ID TAB LEVEL TAB TEXT`, `LEVEL TEXT` or any text, and `timestamp` is milliseconds since 1970. Clients send an empty message every five minutes.',
      lacking: [405],
      capability: 'tail-logs',
      answer: legacySchemas.LegacyLogToken,
      statuses: [200, 201],
    }),
  },
} as const satisfies Half;
