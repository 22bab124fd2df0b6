import * as v from 'valibot';
import {
  bundleId,
  common,
  exampleId,
  message,
  object,
  objectOf,
  onlyHosted,
  onlyLocal,
  optional,
  say,
  ssrParameters,
  text,
  texts,
  time,
  total,
  uri,
  warnings,
  word,
  type Part,
} from './schemas.js';

/** Bundles that one request can delete. */
export const maxDeletedBundles = 1000;

const legacyStatus = (description: string, marks: Part = {}) =>
  v.pipe(v.picklist(['Queued', 'In Progress', 'Finished', 'Failed']), say(description, marks));
const deletionStatus = optional(text('`ACTIVE`, or a word that starts with `CLEANUP_`: it is being deleted.'));

const legacyProject = object('A project.', {
  slug: text('Its name in paths.'),
  name: optional(text('Its name for people.')),
  organization: optional(text('The slug of the organization that it belongs to.')),
  deletion_status: deletionStatus,
});

const legacyBundle = object('A bundle.', {
  id: bundleId,
  message: optional(text('The message of the upload.')),
  status: optional(
    v.pipe(
      v.picklist([0, 1, 2]),
      say('0: pending, it cannot be deployed yet. 1: completed. 2: failed.', {type: 'integer'}),
    ),
  ),
  deletion_status: deletionStatus,
  user: optional(text('Who uploaded it.')),
  created_at: optional(time('When it was uploaded.')),
  updated_at: optional(time('When it last changed.')),
  in_use_by: optional(texts('The targets that run it.')),
});

const legacyDeployment = object(
  'A deployment. It has no ID that a client could ask for: a client that waits takes the first deployment of its bundle that is later than those it saw before its request.',
  {
    bundle: optional(v.object({id: optional(bundleId), message: optional(text('The message of the bundle.'))})),
    status: optional(legacyStatus('`Finished` and `Failed` are final. If missing, the deployment counts as queued.')),
    deploy_type: optional(word(['Publish', 'Reset Bundle', 'Push', 'Deploy Settings', 'Redeploy'], 'What it was.')),
    external_publish_id: optional(text('A UUID, or null.', {format: 'uuid'})),
    user: optional(text('Who requested it.')),
    created_at: optional(time('When it was requested. Without it, nobody can wait for the deployment.')),
    updated_at: optional(time('When its status last changed.')),
    duration: optional(text('How long it took, or has been taking, as `hours:minutes:seconds`.')),
  },
  {
    examples: [
      {
        bundle: {id: 42, message: 'main: 1a2b3c4'},
        status: 'Finished',
        deploy_type: 'Publish',
        external_publish_id: exampleId,
        user: 'jane@example.com',
        created_at: '2026-01-02T03:04:05.000Z',
        updated_at: '2026-01-02T03:05:21.867Z',
        duration: '00:01:16.867000',
      },
    ],
  },
);

const legacyTarget = object('A target. Clients show the URL of what it serves: of the first host name that is there.', {
  slug: text('Its name in paths.'),
  name: optional(text('Its name for people.')),
  state: optional(
    word(
      ['ACTIVE', 'CREATE_IN_PROGRESS', 'PUBLISH_IN_PROGRESS', 'CREATE_FAILED', 'PUBLISH_FAILED'],
      'What is going on: `CREATE_` until a deployment has finished for the first time, then `PUBLISH_`.',
    ),
  ),
  deletion_status: deletionStatus,
  current_deploy: optional(
    object('The newest deployment to the target.', {
      status: optional(legacyStatus('See `LegacyDeployment`.')),
      bundle: optional(v.object({id: bundleId, message: optional(text('The message of the bundle.'))})),
    }),
  ),
  ssr_external_hostname: optional(text('The host name that customers see.', onlyHosted)),
  cdn_domain_name: optional(text('The host name in the network of the service.', onlyHosted)),
  is_production: optional(v.pipe(v.boolean(), say('Whether customers see it.', onlyHosted))),
  url: optional(uri('Where the target is served, if it has no host name of its own.', onlyLocal)),
});

const legacyPage = <Row extends v.GenericSchema>(row: Row, rows: string) =>
  object(`One page of ${rows}.`, {
    count: total,
    next: optional(uri('URL of the next page; null on the last one.')),
    previous: optional(uri('URL of the previous page; null on the first one.')),
    results: v.array(row),
  });

const v1Data = text(
  'An uncompressed tar, in base64 with padding. Every entry is below `{projectSlug}/bld/`. Clients send this member last.',
  {contentEncoding: 'base64', contentMediaType: 'application/x-tar'},
);
const v1Files = (whose: string) => texts(`Files (not patterns) ${whose}, relative to \`{projectSlug}/bld/\`.`);

/** The bodies of the legacy backend. */
export const legacy = {
  LegacyError: object(
    'A refusal. Some clients show `detail`, others `message`; send both. Clients also cope with plain text and with an empty body.',
    {detail: optional(text('The reason, for people.')), message: optional(text('The same.'))},
  ),
  LegacyV1Bundle: object(
    'A v1 bundle. `data` may be far larger than any string that a JSON parser can hold: decode it while it arrives.',
    {
      message,
      encoding: v.literal('base64'),
      ssr_parameters: ssrParameters,
      ssr_only: v1Files('for the server only, which must never be served'),
      ssr_shared: v1Files('for the server and for browsers'),
      bundle_metadata: v.optional(
        objectOf(
          v.unknown(),
          'Facts about the project, such as `dependencies`, its packages and their versions. Take any members: published clients send `cc_overrides`, for example.',
        ),
      ),
      data: v1Data,
    },
    {
      examples: [
        {
          message: 'main: 1a2b3c4',
          encoding: 'base64',
          ssr_parameters: {SSRFunctionNodeVersion: '24.x'},
          ssr_only: ['ssr.js'],
          ssr_shared: ['static/app.js'],
          bundle_metadata: {dependencies: {react: '19.0.0'}},
          data: 'c2hvcC9ibGQvc3NyLmpz',
        },
      ],
    },
  ),
  LegacyV1Uploaded: object('An accepted v1 bundle. An answer without `bundle_id` counts as a failure.', {
    bundle_id: bundleId,
    message: optional(text('The message of the bundle.')),
    url: optional(uri('After a push that deploys: where the target is served.')),
    bundle_preview_url: optional(uri('Where the bundle can be looked at before it is deployed.')),
    warnings,
  }),
  LegacyV2Uploaded: object('An accepted v2 bundle. An answer without `id` counts as a failure.', {
    id: bundleId,
    warnings,
    matches: common.BundleMatches,
  }),
  LegacyProject: legacyProject,
  LegacyBundle: legacyBundle,
  LegacyDownload: object('Where an archive can be downloaded.', {
    download_url: uri(
      'A presigned URL of the archive, usually on another host, valid for an hour. Clients send no credentials there.',
    ),
  }),
  LegacyBulkDeleteRequest: object(
    'Bundles to delete.',
    {bundle_ids: v.pipe(v.array(bundleId), v.minLength(1), v.maxLength(maxDeletedBundles))},
    {examples: [{bundle_ids: [41, 42]}]},
  ),
  LegacyBulkDeleted: object('What became of each bundle.', {
    rejected_bundles: v.pipe(
      v.array(v.object({bundle_id: bundleId, errors: text('The reason, for people.')})),
      say('Bundles that are not deleted: they do not exist, or a target uses them.'),
    ),
    bundles_queued_for_cleanup: v.pipe(v.array(bundleId), say('Bundles that are deleted.')),
  }),
  LegacyDeployRequest: object(
    'The bundle to deploy. `current`: deploy again what the target runs.',
    {bundle_id: v.union([bundleId, v.literal('current')])},
    {examples: [{bundle_id: 42}]},
  ),
  LegacyDeployAccepted: object('The deployment was accepted. Every member may be missing or null.', {
    warnings,
    status: optional(legacyStatus('Its status so far.', onlyHosted)),
    bundle: optional(object('The bundle.', {id: bundleId}, onlyHosted)),
    created_at: optional(text('When it was requested.', {format: 'date-time', ...onlyHosted})),
  }),
  LegacyDeployment: legacyDeployment,
  LegacyTarget: legacyTarget,
  LegacyProjectPage: legacyPage(legacyProject, 'projects'),
  LegacyBundlePage: legacyPage(legacyBundle, 'bundles'),
  LegacyDeploymentPage: legacyPage(legacyDeployment, 'deployments to a target'),
  LegacyTargetPage: legacyPage(legacyTarget, 'targets'),
};
