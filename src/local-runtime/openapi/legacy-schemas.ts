import {maxDeletedBundles} from '../protocols/requested-records.js';
import {
  bundleId,
  message,
  onlyHosted,
  onlyLocal,
  optional,
  ref,
  text,
  texts,
  time,
  warnings,
  type Part,
} from './schema-parts.js';

const legacyStatus = ['Queued', 'In Progress', 'Finished', 'Failed'];

const legacyPage = (row: string, rows: string): Part => ({
  type: 'object',
  description: `One page of ${rows}.`,
  required: ['results'],
  properties: {
    count: optional({type: 'integer', minimum: 0, description: 'Length of the whole list.'}),
    next: optional(text('URL of the next page; null on the last one.', {format: 'uri'})),
    previous: optional(text('URL of the previous page; null on the first one.', {format: 'uri'})),
    results: {type: 'array', items: ref('schemas', row)},
  },
});

const legacyCurrentDeploy = {
  type: ['object', 'null'],
  description: 'The newest deployment to the target.',
  properties: {
    status: optional(text('See `LegacyDeployment`.', {enum: [...legacyStatus, null]})),
    bundle: {
      type: ['object', 'null'],
      required: ['id'],
      properties: {id: bundleId, message: optional(text('The message of the bundle.'))},
    },
  },
};

/** The bodies of the legacy backend. */
export const legacySchemas: Part = {
  LegacyError: {
    type: 'object',
    description:
      'A refusal. Some clients show `detail`, others `message`; send both. Clients also cope with plain text and with an empty body.',
    properties: {
      detail: optional(text('The reason, for people.')),
      message: optional(text('The same.')),
    },
  },
  LegacyV1Bundle: {
    type: 'object',
    description:
      'A v1 bundle. `data` may be far larger than any string that a JSON parser can hold: decode it while it arrives.',
    required: ['message', 'encoding', 'data', 'ssr_parameters', 'ssr_only', 'ssr_shared'],
    properties: {
      message,
      encoding: {const: 'base64'},
      data: text(
        'An uncompressed tar, in base64 with padding. Every entry is below `{projectSlug}/bld/`. Clients send this member last.',
        {contentEncoding: 'base64', contentMediaType: 'application/x-tar'},
      ),
      ssr_parameters: {type: 'object', description: 'Parameters of the server, such as `SSRFunctionNodeVersion`.'},
      ssr_only: texts(
        'Files (not patterns) for the server only, relative to `{projectSlug}/bld/`. They must never be served.',
      ),
      ssr_shared: texts('Files (not patterns) for the server and for browsers, relative to `{projectSlug}/bld/`.'),
      bundle_metadata: {
        type: 'object',
        description: 'Facts about the project. Take any members: published clients send `cc_overrides`, for example.',
        additionalProperties: true,
        properties: {
          dependencies: {type: 'object', description: 'Packages of the project and their versions.'},
        },
      },
    },
  },
  LegacyV1Uploaded: {
    type: 'object',
    description: 'An accepted v1 bundle. An answer without `bundle_id` counts as a failure.',
    required: ['bundle_id'],
    properties: {
      bundle_id: bundleId,
      message: optional(text('The message of the bundle.')),
      url: optional(text('After a push that deploys: where the target is served.', {format: 'uri'})),
      bundle_preview_url: optional(text('Where the bundle can be looked at before it is deployed.', {format: 'uri'})),
      warnings,
    },
  },
  LegacyV2Uploaded: {
    type: 'object',
    description: 'An accepted v2 bundle. An answer without `id` counts as a failure.',
    required: ['id'],
    properties: {id: bundleId, warnings, matches: ref('schemas', 'BundleMatches')},
  },
  LegacyProject: {
    type: 'object',
    description: 'A project.',
    required: ['slug'],
    properties: {
      slug: text('Its name in paths.'),
      name: optional(text('Its name for people.')),
      organization: optional(text('The slug of the organization that it belongs to.')),
      deletion_status: optional(text('`ACTIVE`, or a word that starts with `CLEANUP_`.')),
    },
  },
  LegacyBundle: {
    type: 'object',
    description: 'A bundle.',
    required: ['id'],
    properties: {
      id: bundleId,
      message: optional(text('The message of the upload.')),
      status: optional({
        type: 'integer',
        enum: [0, 1, 2, null],
        description: '0: pending, it cannot be deployed yet. 1: completed. 2: failed.',
      }),
      deletion_status: optional(text('`ACTIVE`, or a word that starts with `CLEANUP_`: it is being deleted.')),
      user: optional(text('Who uploaded it.')),
      created_at: optional(time('When it was uploaded.')),
      updated_at: optional(time('When it last changed.')),
      in_use_by: optional(texts('The targets that run it.')),
    },
  },
  LegacyDownload: {
    type: 'object',
    required: ['download_url'],
    properties: {
      download_url: text(
        'A presigned URL of the archive, usually on another host, valid for an hour. Clients send no credentials there.',
        {format: 'uri'},
      ),
    },
  },
  LegacyBulkDeleteRequest: {
    type: 'object',
    required: ['bundle_ids'],
    properties: {bundle_ids: {type: 'array', minItems: 1, maxItems: maxDeletedBundles, items: bundleId}},
  },
  LegacyBulkDeleted: {
    type: 'object',
    description: 'What became of each bundle.',
    required: ['rejected_bundles', 'bundles_queued_for_cleanup'],
    properties: {
      rejected_bundles: {
        type: 'array',
        description: 'Bundles that are not deleted: they do not exist, or a target uses them.',
        items: {
          type: 'object',
          required: ['bundle_id', 'errors'],
          properties: {bundle_id: bundleId, errors: text('The reason, for people.')},
        },
      },
      bundles_queued_for_cleanup: {type: 'array', description: 'Bundles that are deleted.', items: bundleId},
    },
  },
  LegacyDeployRequest: {
    type: 'object',
    required: ['bundle_id'],
    properties: {
      bundle_id: {
        description: 'The bundle. `current`: deploy again what the target runs.',
        oneOf: [bundleId, {const: 'current'}],
      },
    },
  },
  LegacyDeployAccepted: {
    type: 'object',
    description: 'The deployment was accepted. Every member may be missing or null.',
    properties: {
      warnings,
      status: {...optional(text('Its status so far.', {enum: [...legacyStatus, null]})), ...onlyHosted},
      bundle: {type: ['object', 'null'], properties: {id: bundleId}, ...onlyHosted},
      created_at: {...optional(time('When it was requested.')), ...onlyHosted},
    },
  },
  LegacyDeployment: {
    type: 'object',
    description:
      'A deployment. It has no ID that a client could ask for: a client that waits takes the first deployment of its bundle that is later than those it saw before its request.',
    properties: {
      bundle: {
        type: ['object', 'null'],
        properties: {id: optional(bundleId), message: optional(text('The message of the bundle.'))},
      },
      status: optional(
        text('`Finished` and `Failed` are final. If missing, the deployment counts as queued.', {
          enum: [...legacyStatus, null],
        }),
      ),
      deploy_type: optional(
        text('What it was.', {enum: ['Publish', 'Reset Bundle', 'Push', 'Deploy Settings', 'Redeploy', null]}),
      ),
      external_publish_id: optional(text('A UUID, or null.', {format: 'uuid'})),
      user: optional(text('Who requested it.')),
      created_at: optional(time('When it was requested. Without it, nobody can wait for the deployment.')),
      updated_at: optional(time('When its status last changed.')),
      duration: optional(text('How long it took, or has been taking, as `hours:minutes:seconds`.')),
    },
  },
  LegacyTarget: {
    type: 'object',
    description: 'A target. Clients show the URL of what it serves: of the first host name that is there.',
    required: ['slug'],
    properties: {
      slug: text('Its name in paths.'),
      name: optional(text('Its name for people.')),
      state: optional(
        text('What is going on: `CREATE_` until a deployment has finished for the first time, then `PUBLISH_`.', {
          enum: ['ACTIVE', 'CREATE_IN_PROGRESS', 'PUBLISH_IN_PROGRESS', 'CREATE_FAILED', 'PUBLISH_FAILED', null],
        }),
      ),
      deletion_status: optional(text('`ACTIVE`, or a word that starts with `CLEANUP_`.')),
      current_deploy: legacyCurrentDeploy,
      ssr_external_hostname: {...optional(text('The host name that customers see.')), ...onlyHosted},
      cdn_domain_name: {...optional(text('The host name in the network of the service.')), ...onlyHosted},
      is_production: {...optional({type: 'boolean'}), ...onlyHosted},
      url: {
        ...optional(text('Where the target is served, if it has no host name of its own.', {format: 'uri'})),
        ...onlyLocal,
      },
    },
  },
  LegacyProjectPage: legacyPage('LegacyProject', 'projects'),
  LegacyBundlePage: legacyPage('LegacyBundle', 'bundles'),
  LegacyDeploymentPage: legacyPage('LegacyDeployment', 'deployments to a target'),
  LegacyTargetPage: legacyPage('LegacyTarget', 'targets'),
};
