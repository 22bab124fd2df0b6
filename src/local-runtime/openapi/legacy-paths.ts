import {archivePrefix} from '../protocols/archive-protocol.js';
import {legacyPrefix} from '../protocols/legacy-protocol.js';
import {
  alternative,
  answer,
  bundleForm,
  deployRefusals,
  emptyAnswer,
  jsonBody,
  listRefusals,
  parameterRefs,
  refuse,
  uploadRefusals,
} from './parts.js';
import {onlyLocal, ref, type Part} from './schema-parts.js';

/** What the operations have in common. */
const common = {tags: ['legacy'], security: [{apiKey: []}, {apiKeyOfUser: []}]};
const project = `${legacyPrefix}projects/{projectSlug}/`;
const target = `${project}target/{targetSlug}/`;
const inProject = parameterRefs('projectSlug');
const onTarget = parameterRefs('projectSlug', 'targetSlug');
const ofBundle = parameterRefs('projectSlug', 'bundleId');
const pageParameters = parameterRefs('limit', 'offset');
const alsoAccepted = 'Accepted by clients as well.';

const page = (row: unknown) => ({count: 1, next: null, previous: null, results: [row]});
const v1Body = jsonBody('LegacyV1Bundle', {
  message: 'main: 1a2b3c4',
  encoding: 'base64',
  ssr_parameters: {SSRFunctionNodeVersion: '24.x'},
  ssr_only: ['ssr.js'],
  ssr_shared: ['static/app.js'],
  bundle_metadata: {dependencies: {react: '19.0.0'}},
  data: 'c2hvcC9ibGQvc3NyLmpz',
});
const v1Uploaded = (url: string) =>
  answer('The bundle was stored.', 'LegacyV1Uploaded', {
    bundle_id: 42,
    message: 'main: 1a2b3c4',
    url,
    bundle_preview_url: null,
    warnings: [],
  });
const pushed = v1Uploaded('https://runtime.example/');
const pushedAndDeployed = v1Uploaded('https://staging.shop.example/');
const v2Uploaded = answer('The bundle was stored.', 'LegacyV2Uploaded', {
  id: 42,
  warnings: [],
  matches: {ssrOnly: ['ssr.js'], ssrShared: ['static/app.js']},
});
const deployed = answer('The deployment was accepted.', 'LegacyDeployAccepted', {warnings: []});
const targetExample = {
  slug: 'staging',
  name: 'staging',
  state: 'ACTIVE',
  deletion_status: 'ACTIVE',
  current_deploy: {status: 'Finished', bundle: {id: 42, message: 'main: 1a2b3c4'}},
  ssr_external_hostname: 'staging.shop.example',
  cdn_domain_name: 'd111.cdn.example',
  is_production: false,
};

/** The operations of the legacy backend. */
export const legacyPaths: Part = {
  [`${legacyPrefix}projects/`]: {
    get: {
      operationId: 'legacyListProjects',
      ...common,
      summary: 'List projects',
      description: 'The projects of the user. Clients also use it to try an API key.',
      parameters: pageParameters,
      responses: {
        '200': answer(
          'A page of projects.',
          'LegacyProjectPage',
          page({slug: 'shop', name: 'Shop', organization: 'acme', deletion_status: 'ACTIVE'}),
        ),
        ...refuse('Legacy', 'badRequest', 'unauthorized'),
      },
    },
  },
  [`${project}builds/`]: {
    parameters: inProject,
    post: {
      operationId: 'legacyPushV1',
      ...common,
      summary: 'Upload a v1 bundle',
      description: 'Stores a bundle, and deploys nothing.',
      requestBody: v1Body,
      responses: {
        '200': pushed,
        '201': alternative(pushed, alsoAccepted),
        ...refuse('Legacy', ...uploadRefusals),
      },
    },
  },
  [`${project}builds/{targetSlug}/`]: {
    parameters: onTarget,
    post: {
      operationId: 'legacyPushAndDeployV1',
      ...common,
      summary: 'Upload a v1 bundle and deploy it',
      description: 'Stores a bundle, starts its deployment and answers without waiting for it.',
      requestBody: v1Body,
      responses: {
        '200': pushedAndDeployed,
        '201': alternative(pushedAndDeployed, alsoAccepted),
        ...refuse('Legacy', ...uploadRefusals, 'conflict'),
      },
    },
  },
  [`${legacyPrefix}v2/projects/{projectSlug}/bundles/`]: {
    parameters: inProject,
    post: {
      operationId: 'legacyPushV2',
      ...common,
      summary: 'Upload a v2 bundle',
      description: 'Stores a bundle, and deploys nothing.',
      requestBody: bundleForm,
      responses: {
        '200': alternative(v2Uploaded, alsoAccepted),
        '201': v2Uploaded,
        ...refuse('Legacy', ...uploadRefusals),
      },
    },
  },
  [`${project}bundles/`]: {
    parameters: inProject,
    get: {
      operationId: 'legacyListBundles',
      ...common,
      summary: 'List bundles',
      description: 'The bundles of a project, newest first.',
      parameters: pageParameters,
      responses: {
        '200': answer(
          'A page of bundles.',
          'LegacyBundlePage',
          page({
            id: 42,
            message: 'main: 1a2b3c4',
            status: 1,
            deletion_status: 'ACTIVE',
            user: 'jane@example.com',
            created_at: '2026-01-02T03:04:05.000Z',
            updated_at: '2026-01-02T03:04:05.000Z',
            in_use_by: ['staging'],
          }),
        ),
        ...refuse('Legacy', ...listRefusals),
      },
    },
  },
  [`${project}bundles/bulk-delete/`]: {
    parameters: inProject,
    post: {
      operationId: 'legacyDeleteBundles',
      ...common,
      summary: 'Delete several bundles',
      description: 'Deletes each bundle that can be deleted, and lists the others. mycli deletes one at a time.',
      requestBody: jsonBody('LegacyBulkDeleteRequest', {bundle_ids: [41, 42]}),
      responses: {
        '202': answer('The bundles are deleted, now or soon.', 'LegacyBulkDeleted', {
          rejected_bundles: [{bundle_id: 42, errors: 'Bundle 42 is in use by "staging".'}],
          bundles_queued_for_cleanup: [41],
        }),
        ...refuse('Legacy', 'badRequest', 'unauthorized', 'unknownProject', 'timeout', 'tooLarge', 'unsupported'),
      },
    },
  },
  [`${project}bundles/{bundleId}/`]: {
    parameters: ofBundle,
    delete: {
      operationId: 'legacyDeleteBundle',
      ...common,
      summary: 'Delete a bundle',
      description: 'A bundle that a target runs, or is being deployed to, cannot be deleted (409).',
      responses: {
        '202': emptyAnswer('The bundle will be deleted.'),
        '204': alternative(emptyAnswer(''), 'The bundle is deleted.'),
        ...refuse('Legacy', 'badRequest', 'unauthorized', 'notFound', 'conflict'),
      },
    },
  },
  [`${project}bundles/{bundleId}/download/`]: {
    parameters: ofBundle,
    get: {
      operationId: 'legacyDownloadBundle',
      ...common,
      summary: 'Get the URL of an archive',
      description: 'The URL is presigned: whoever has it can download the archive for an hour, without credentials.',
      responses: {
        '200': answer('The URL.', 'LegacyDownload', {
          download_url: 'https://archives.example/shop/42?expires=1767326645000&signature=c2lnbmF0dXJl',
        }),
        ...refuse('Legacy', 'badRequest', 'unauthorized', 'notFound'),
      },
    },
  },
  [`${project}target/`]: {
    parameters: inProject,
    get: {
      operationId: 'legacyListTargets',
      ...common,
      summary: 'List targets',
      description: 'The targets of a project.',
      parameters: pageParameters,
      responses: {
        '200': answer('A page of targets.', 'LegacyTargetPage', page(targetExample)),
        ...refuse('Legacy', ...listRefusals),
      },
    },
  },
  [target]: {
    parameters: onTarget,
    get: {
      operationId: 'legacyGetTarget',
      ...common,
      summary: 'Get a target',
      responses: {
        '200': answer('The target.', 'LegacyTarget', targetExample),
        ...refuse('Legacy', 'badRequest', 'unauthorized', 'notFound'),
      },
    },
  },
  [`${target}deploy/`]: {
    parameters: onTarget,
    post: {
      operationId: 'legacyDeploy',
      ...common,
      summary: 'Deploy a bundle',
      description:
        'Starts a deployment and answers without waiting for it. One deployment runs per target; while it does, others are refused (409).',
      requestBody: jsonBody('LegacyDeployRequest', {bundle_id: 42}),
      responses: {
        '200': alternative(deployed, alsoAccepted),
        '201': deployed,
        '204': alternative(emptyAnswer(''), 'The deployment was accepted.'),
        ...refuse('Legacy', ...deployRefusals),
      },
    },
    get: {
      operationId: 'legacyListDeployments',
      ...common,
      summary: 'List deployments',
      description:
        'The deployments to a target, newest first. Clients that wait for a deployment poll this. They tell deployments apart by `created_at`, and those of the same time by their position and `count`, so a new one must be on top.',
      parameters: pageParameters,
      responses: {
        '200': answer(
          'A page of deployments.',
          'LegacyDeploymentPage',
          page({
            bundle: {id: 42, message: 'main: 1a2b3c4'},
            status: 'Finished',
            deploy_type: 'Publish',
            external_publish_id: '0b9f6a1e-3f43-4b5e-9d0c-5a1f6f6d2c11',
            user: 'jane@example.com',
            created_at: '2026-01-02T03:04:05.000Z',
            updated_at: '2026-01-02T03:05:21.867Z',
            duration: '00:01:16.867000',
          }),
        ),
        ...refuse('Legacy', ...listRefusals),
      },
    },
  },
  [`${archivePrefix}{projectSlug}/{bundleId}`]: {
    parameters: ofBundle,
    get: {
      operationId: 'downloadArchive',
      ...common,
      ...onlyLocal,
      summary: 'Download an archive',
      description:
        'Where the presigned URLs of the local runtime lead. Those of another server may lead anywhere. They need no ranges, but with them and a strong `ETag`, clients resume an interrupted download.',
      security: [],
      parameters: [
        {name: 'expires', in: 'query', required: true, description: 'A part of the URL.', schema: {type: 'string'}},
        {name: 'signature', in: 'query', required: true, description: 'A part of the URL.', schema: {type: 'string'}},
        {
          name: 'Range',
          in: 'header',
          description: 'The part of the archive that is missing.',
          schema: {type: 'string'},
          example: 'bytes=1048576-',
        },
        {
          name: 'If-Range',
          in: 'header',
          description: 'The `ETag` of the part that the client has. If it is another one by now, the answer is 200.',
          schema: {type: 'string'},
        },
        {
          name: 'If-None-Match',
          in: 'header',
          description: 'An `ETag` that the client has.',
          schema: {type: 'string'},
        },
      ],
      responses: {
        '200': archive('The archive.'),
        '206': archive('The requested part of the archive.', {'Content-Range': ref('headers', 'ContentRange')}),
        '304': {...emptyAnswer('The archive is the one that the client has.'), headers: archiveHeaders()},
        '416': {
          ...emptyAnswer('The archive ends before the requested part.'),
          headers: {...archiveHeaders(), 'Content-Range': ref('headers', 'ContentRange')},
        },
        ...refuse('Legacy', 'badRequest', 'notFound'),
      },
    },
  },
};

function archiveHeaders(): Part {
  return {
    'X-Request-Id': ref('headers', 'RequestId'),
    ETag: ref('headers', 'ETag'),
    'Accept-Ranges': ref('headers', 'AcceptRanges'),
  };
}

function archive(description: string, headers: Part = {}): Part {
  return {
    description,
    headers: {...archiveHeaders(), ...headers},
    content: {'application/octet-stream': {schema: {type: 'string', format: 'binary'}}},
  };
}
