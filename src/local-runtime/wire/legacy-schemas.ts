import * as v from 'valibot';
import * as s from './schemas.js';

const {object, onlyHosted, onlyLocal, optional, text, texts, time, uri, warnings} = s;

export const maxDeletedBundles = 1000;

const statusWord = (description: string, marks: s.Part = {}) =>
  optional(v.pipe(v.picklist(['Queued', 'In Progress', 'Finished', 'Failed']), s.say(description, marks)));
const deletionStatus = optional(text('`ACTIVE`, or a word that starts with `CLEANUP_`: it is being deleted.'));
const bundleMessage = optional(text('The message of the bundle.'));

const project = object('A project.', {
  slug: text('Its name in paths.'),
  name: optional(text('Its name for people.')),
  organization: optional(text('The slug of the organization that it belongs to.')),
  deletion_status: deletionStatus,
});

const bundle = object('A bundle.', {
  id: s.bundleId,
  message: optional(text('The message of the upload.')),
  status: optional(
    v.pipe(
      v.picklist([0, 1, 2]),
      s.say('0: pending, it cannot be deployed yet. 1: completed. 2: failed.', {type: 'integer'}),
    ),
  ),
  deletion_status: deletionStatus,
  user: optional(text('Who uploaded it.')),
  created_at: optional(time('When it was uploaded.')),
  updated_at: optional(time('When it last changed.')),
  in_use_by: optional(texts('The targets that run it.')),
});

const deployment = object(
  'A deployment. It has no ID that a client could ask for: a client that waits takes the first deployment of its bundle that is later than those it saw before its request.',
  {
    bundle: optional(v.object({id: optional(s.bundleId), message: bundleMessage})),
    status: statusWord('`Finished` and `Failed` are final. If missing, the deployment counts as queued.'),
    deploy_type: optional(s.word(['Publish', 'Reset Bundle', 'Push', 'Deploy Settings', 'Redeploy'], 'What it was.')),
    external_publish_id: optional(text('A UUID, or null.', {format: 'uuid'})),
    user: optional(text('Who requested it.')),
    created_at: optional(time('When it was requested. Without it, nobody can wait for the deployment.')),
    updated_at: optional(time('When its status last changed.')),
    duration: optional(text('How long it took, or has been taking, such as `00:01:16.867000`.')),
  },
);

const target = object('A target. Clients show the URL of what it serves: of the first host name that is there.', {
  slug: text('Its name in paths.'),
  name: optional(text('Its name for people.')),
  state: optional(
    s.word(
      ['ACTIVE', 'CREATE_IN_PROGRESS', 'PUBLISH_IN_PROGRESS', 'CREATE_FAILED', 'PUBLISH_FAILED'],
      'What is going on: `CREATE_` until a deployment has finished for the first time, then `PUBLISH_`.',
    ),
  ),
  deletion_status: deletionStatus,
  current_deploy: optional(
    object('The newest deployment to the target.', {
      status: statusWord('See `LegacyDeployment`.'),
      bundle: optional(v.object({id: s.bundleId, message: bundleMessage})),
    }),
  ),
  ssr_external_hostname: optional(text('The host name that customers see.', onlyHosted)),
  cdn_domain_name: optional(text('The host name in the network of the service.', onlyHosted)),
  is_production: optional(v.pipe(v.boolean(), s.say('Whether customers see it.', onlyHosted))),
  url: optional(uri('Where the target is served, if it has no host name of its own.', onlyLocal)),
});

const page = <Row extends v.GenericSchema>(row: Row, rows: string) =>
  object(`One page of ${rows}.`, {
    count: s.total,
    next: optional(uri('URL of the next page; null on the last one.')),
    previous: optional(uri('URL of the previous page; null on the first one.')),
    results: v.array(row),
  });

const v1Files = (whose: string) => texts(`Files (not patterns) ${whose}, relative to \`{projectSlug}/bld/\`.`);

export const legacy = {
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
    bundle_id: s.bundleId,
    message: bundleMessage,
    url: optional(uri('After a push that deploys: where the target is served.')),
    bundle_preview_url: optional(uri('Where the bundle can be looked at before it is deployed.')),
    warnings,
  }),
  LegacyV2Uploaded: object('An accepted v2 bundle. An answer without `id` counts as a failure.', {
    id: s.bundleId,
    warnings,
    matches: s.common.BundleMatches,
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
    rejected_bundles: v.pipe(
      v.array(v.object({bundle_id: s.bundleId, errors: text('The reason, for people.')})),
      s.say('Bundles that are not deleted: they do not exist, or a target uses them.'),
    ),
    bundles_queued_for_cleanup: v.pipe(v.array(s.bundleId), s.say('Bundles that are deleted.')),
  }),
  LegacyDeployRequest: object(
    'The bundle to deploy. `current`: deploy again what the target runs.',
    {bundle_id: v.union([s.bundleId, v.literal('current')])},
    {examples: [{bundle_id: 42}]},
  ),
  LegacyDeployAccepted: object('The deployment was accepted. Every member may be missing or null.', {
    warnings,
    status: statusWord('Its status so far.', onlyHosted),
    bundle: optional(object('The bundle.', {id: s.bundleId}, onlyHosted)),
    created_at: optional(time('When it was requested.', onlyHosted)),
  }),
  LegacyDeployment: deployment,
  LegacyTarget: target,
  LegacyProjectPage: page(project, 'projects'),
  LegacyBundlePage: page(bundle, 'bundles'),
  LegacyDeploymentPage: page(deployment, 'deployments to a target'),
  LegacyTargetPage: page(target, 'targets'),
};
