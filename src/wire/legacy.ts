import * as v from 'valibot';
import {bundleForm, common} from './bundles.js';
import type {Half} from './operation.js';
import {range} from './parameters.js';
import * as s from './schema.js';
import {legacyTarget, legacyTargetOperations} from './targets.js';

const {object, onlyHosted, optional, text, texts, time, uri, warnings} = s;

export const maxDeletedBundles = 1000;

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
        '`Finished` and `Failed` are final. If missing, the deployment counts as queued.',
      ),
    ),
    deploy_type: optional(s.word(['Publish', 'Reset Bundle', 'Push', 'Deploy Settings', 'Redeploy'], 'What it was.')),
    external_publish_id: optional(text('A UUID, or null.', {format: 'uuid'})),
    user: optional(text('Who requested it.')),
    created_at: optional(time('When it was requested. Without it, nobody can wait for the deployment.')),
    updated_at: optional(time('When its status last changed.')),
    duration: optional(text('How long it took, or has been taking, such as `00:01:16.867000`.')),
  },
);

const page = <Row extends v.GenericSchema>(row: Row, rows: string) =>
  object(`One page of ${rows}.`, {
    count: s.total,
    next: optional(uri('URL of the next page; null on the last one.')),
    previous: optional(uri('URL of the previous page; null on the first one.')),
    results: v.array(row),
  });

const v1Files = (whose: string) => texts(`Files (not patterns) ${whose}, relative to \`{projectSlug}/bld/\`.`);

export const legacySchemas = {
  LegacyError: object(
    'A refusal. Some clients show `detail`, others `message`; send both. Clients also cope with plain text and with an empty body.',
    {detail: optional(text('The reason, for people.')), message: optional(text('The same.'))},
  ),
  LegacyV1Bundle: object(
    'A v1 bundle. `data` may be far larger than any string that a JSON parser can hold: decode it while it arrives.',
    {
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
    {bundle_ids: v.pipe(v.array(s.bundleId), v.minLength(1), v.maxLength(maxDeletedBundles))},
    {examples: [{bundle_ids: [41, 42]}]},
  ),
  LegacyBulkDeleted: object('What became of each bundle.', {
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
  LegacyTargetPage: page(legacyTarget, 'targets'),
};

const inProject = '/api/projects/:projectSlug/';
const inTarget = '/api/projects/:projectSlug/target/:targetSlug/';

const v1 = {
  stream: {type: 'application/json', schema: legacySchemas.LegacyV1Bundle},
  answer: legacySchemas.LegacyV1Uploaded,
  also: [201],
} as const;

/** The half of the wire for the legacy backend. */
export const legacy = {
  kind: 'Legacy',
  security: ['apiKey', 'apiKeyOfUser'],
  operations: {
    listProjects: {
      method: 'GET',
      path: '/api/projects/',
      route: 'projects',
      query: range,
      id: 'legacyListProjects',
      summary: 'List the projects of the user',
      description: 'Clients also use it to try an API key.',
      answer: legacySchemas.LegacyProjectPage,
    },
    pushV1: {
      method: 'POST',
      path: `${inProject}builds/`,
      route: 'upload',
      ...v1,
      id: 'legacyPushV1',
      summary: 'Upload a v1 bundle, which is not deployed',
    },
    pushAndDeployV1: {
      method: 'POST',
      path: `${inProject}builds/:targetSlug/`,
      route: 'upload',
      ...v1,
      id: 'legacyPushAndDeployV1',
      summary: 'Upload a v1 bundle and deploy it',
      description: 'Starts the deployment and answers without waiting for it.',
      mayConflict: true,
    },
    pushV2: {
      method: 'POST',
      path: '/api/v2/projects/:projectSlug/bundles/',
      route: 'upload',
      id: 'legacyPushV2',
      summary: 'Upload a v2 bundle, which is not deployed',
      stream: bundleForm,
      status: 201,
      answer: legacySchemas.LegacyV2Uploaded,
      also: [200],
    },
    listBundles: {
      method: 'GET',
      path: `${inProject}bundles/`,
      route: 'list',
      query: range,
      id: 'legacyListBundles',
      summary: 'List the bundles of a project, newest first',
      answer: legacySchemas.LegacyBundlePage,
    },
    deleteBundles: {
      method: 'POST',
      path: `${inProject}bundles/bulk-delete/`,
      route: 'delete',
      id: 'legacyDeleteBundles',
      summary: 'Delete several bundles',
      description: 'Deletes each bundle that can be deleted, and lists the others. mycli deletes one at a time.',
      json: legacySchemas.LegacyBulkDeleteRequest,
      status: 202,
      answer: legacySchemas.LegacyBulkDeleted,
    },
    deleteBundle: {
      method: 'DELETE',
      path: `${inProject}bundles/:bundleId{\\d+}/`,
      route: 'delete',
      id: 'legacyDeleteBundle',
      summary: 'Delete a bundle',
      description: 'A bundle that a target runs, or is being deployed to, cannot be deleted (409).',
      status: 202,
      also: [204],
      mayConflict: true,
    },
    download: {
      method: 'GET',
      path: `${inProject}bundles/:bundleId{\\d+}/download/`,
      route: 'download',
      id: 'legacyDownloadBundle',
      summary: 'Get the URL of an archive',
      description: 'The URL is presigned: whoever has it can download the archive for an hour, without credentials.',
      answer: legacySchemas.LegacyDownload,
    },
    listTargets: {
      method: 'GET',
      path: `${inProject}target/`,
      route: 'targets',
      query: range,
      id: 'legacyListTargets',
      summary: 'List the targets of a project',
      answer: legacySchemas.LegacyTargetPage,
    },
    getTarget: {
      method: 'GET',
      path: inTarget,
      route: 'target',
      id: 'legacyGetTarget',
      summary: 'Get a target',
      answer: legacyTarget,
    },
    deploy: {
      method: 'POST',
      path: `${inTarget}deploy/`,
      route: 'deploy',
      id: 'legacyDeploy',
      summary: 'Deploy a bundle',
      description:
        'Starts a deployment and answers without waiting for it. One deployment runs per target; while it does, others are refused (409).',
      json: legacySchemas.LegacyDeployRequest,
      status: 201,
      answer: legacySchemas.LegacyDeployAccepted,
      also: [200, 202, 204],
      mayConflict: true,
    },
    listDeployments: {
      method: 'GET',
      path: `${inTarget}deploy/`,
      route: 'history',
      query: range,
      id: 'legacyListDeployments',
      summary: 'List the deployments to a target, newest first',
      description:
        'Clients that wait for a deployment poll this. They tell deployments apart by `created_at`, and those of the same time by their position and `count`, so a new one must be on top.',
      answer: legacySchemas.LegacyDeploymentPage,
    },
    ...legacyTargetOperations,
  },
} as const satisfies Half;
