import {maxMessage, maxPath} from '../../../bundle/config/check-options.js';
import {matchModeSchema, v2Defaults} from '../../../bundle/option-schemas.js';
import {maxDeletedBundles} from '../protocols/requested-records.js';

/** A JSON Schema, or any other part of the document. */
export type Part = Readonly<Record<string, unknown>>;

/** Marks what only hosted services send or answer, and the local runtime does not. */
export const onlyHosted = {'x-only-hosted': true};

/** Marks what only the local runtime sends or serves. */
export const onlyLocal = {'x-only-local': true};

/** A reference to a component. */
export const ref = (kind: 'schemas' | 'parameters' | 'headers' | 'responses', name: string): Part => ({
  $ref: `#/components/${kind}/${name}`,
});

/** A member that may be null, and that a server may leave out. */
const optional = (schema: Part & {readonly type: string}): Part => ({...schema, type: [schema.type, 'null']});
const text = (description: string, more: Part = {}) => ({type: 'string', description, ...more});
const time = (description: string) => text(description, {format: 'date-time'});
const texts = (description: string) => ({type: 'array', description, items: {type: 'string'}});

const bundleId = {
  type: 'integer',
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'ID of a bundle. It is never reused, even after the bundle was deleted.',
};
const path = (description: string, fallback: string) =>
  text(
    `${description} A relative path with \`/\` between its parts, without \`.\` and \`..\`, at most ${String(maxPath)} characters.`,
    {
      default: fallback,
      maxLength: maxPath,
      pattern: '^(?!\\.{1,2}(?:/|$))[^/\\\\\\u0000]+(?:/(?!\\.{1,2}(?:/|$))[^/\\\\\\u0000]+)*$',
    },
  );
const message = text('What the bundle contains, for people.', {maxLength: maxMessage});
const warnings = optional({
  ...texts('Problems that did not stop the request. Clients show them.'),
});

const legacyStatus = ['Queued', 'In Progress', 'Finished', 'Failed'];
const apiStatus = ['queued', 'in_progress', 'finished', 'failed'];

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

const apiPage = (row: string, rows: string): Part => ({
  type: 'object',
  description: `One page of ${rows}.`,
  required: ['data'],
  properties: {
    limit: optional({type: 'integer', minimum: 1, description: 'The `limit` of the request, or the default.'}),
    offset: optional({type: 'integer', minimum: 0, description: 'The `offset` of the request, or 0.'}),
    total: optional({type: 'integer', minimum: 0, description: 'Length of the whole list.'}),
    data: {type: 'array', items: ref('schemas', row)},
  },
});

/** What both backends have in common. */
const common: Part = {
  BundleForm: {
    type: 'object',
    description: 'A v2 bundle as `multipart/form-data`. The same for both backends.',
    required: ['bundle'],
    additionalProperties: false,
    properties: {
      bundle: text(
        'The archive: a tar file, gzipped or not, sent as a file with a name. All its files are below `{rootDir}/`; a server ignores other entries. Exactly one entry is the configuration file `{rootDir}/{configPath}`, a `BundleConfig`. Entries are files, folders and symbolic links that stay inside `{rootDir}/`. Absolute paths, `..`, duplicates, hard links and devices make an archive invalid (422).',
        {format: 'binary', contentMediaType: 'application/octet-stream'},
      ),
      message: {...message, default: ''},
      rootDir: path('The folder of the archive that contains the files.', v2Defaults.rootDir),
      configPath: path('The configuration file, relative to `rootDir`.', v2Defaults.configPath),
      matchMode: text(
        'What happens if a pattern of the configuration matches no file: `strict` refuses the bundle (422), `ignore_missing` accepts it with a warning.',
        {enum: matchModeSchema.options, default: v2Defaults.matchMode},
      ),
    },
  },
  BundleConfig: {
    type: 'object',
    description:
      'The configuration file inside a v2 archive. The patterns are globs, matched by the server against paths relative to `rootDir`; one that starts with `!` excludes. Unknown keys are allowed here, but not in `bundleMetadata`.',
    required: ['ssrOnly', 'ssrShared', 'ssrParameters'],
    properties: {
      ssrOnly: texts('Files for the server only. They must never be served.'),
      ssrShared: texts('Files for the server and for browsers.'),
      ssrParameters: {type: 'object', description: 'Parameters of the server, such as `SSRFunctionNodeVersion`.'},
      bundleMetadata: {
        type: 'object',
        additionalProperties: false,
        properties: {
          dependencies: {
            type: 'object',
            description: 'Packages of the project and their versions.',
            additionalProperties: {type: 'string'},
          },
          ccOverrides: texts('Files that override those of a template.'),
        },
      },
    },
  },
  BundleMatches: {
    type: ['object', 'null'],
    description: 'The files that the patterns match, relative to `rootDir`.',
    properties: {ssrOnly: texts('Server-only files.'), ssrShared: texts('Shared files.')},
  },
};

const api: Part = {
  AccessToken: {
    type: 'object',
    description: 'An access token.',
    required: ['access_token'],
    properties: {
      access_token: text(
        'A JWT. Clients send it as it is. They also decode its claims, but only to show whose it is and when it expires.',
        {pattern: '^[!-~]+$'},
      ),
      token_type: optional(text('`Bearer`.', {enum: ['Bearer', null]})),
      expires_in: optional({
        type: 'integer',
        description: 'Lifetime in seconds. Clients renew the token shortly before. If missing, it is used until a 401.',
      }),
      scope: optional(text('The granted scopes, separated by spaces.')),
    },
  },
  OAuthError: {
    type: 'object',
    description: 'A refusal of the token endpoint (RFC 6749, section 5.2).',
    required: ['error'],
    properties: {
      error: text(
        'Such as `invalid_client`, `invalid_scope`, `invalid_request` or `unsupported_grant_type`. A client that may fall back to the legacy backend does so after `invalid_scope`.',
      ),
      error_description: optional(text('The reason, for people.')),
    },
  },
  Problem: {
    type: 'object',
    description: 'A refusal, as problem details (RFC 9457).',
    properties: {
      type: optional(text('A URI for the kind of problem, or `about:blank`.')),
      title: optional(text('The phrase of the status, or a short name of the problem.')),
      detail: optional(text('The reason, for people. Clients show it.')),
    },
  },
  ApiUploaded: {
    type: 'object',
    description: 'An accepted bundle.',
    required: ['bundleId'],
    properties: {bundleId, warnings, matches: ref('schemas', 'BundleMatches')},
  },
  ApiBundle: {
    type: 'object',
    description: 'A bundle.',
    required: ['bundleId'],
    properties: {
      bundleId,
      description: optional(text('The message of the upload.')),
      status: optional(
        text('`ok`: it can be deployed. `preparing`: not yet. `broken`: it never can.', {
          enum: ['ok', 'broken', 'preparing', null],
        }),
      ),
      lifecycleStatus: optional(
        text('`active`, or a word that starts with `cleanup` or `delet`: it is being deleted.'),
      ),
      createdBy: optional(text('The user or client that uploaded it.')),
      creationDate: optional(time('When it was uploaded.')),
      lastModified: optional(time('When it last changed.')),
      type: optional(text('`ssr`, or `legacy` for bundles without server code.', {enum: ['ssr', 'legacy', null]})),
      ssrParameters: optional({type: 'object', description: 'From the configuration of the bundle.'}),
      inUseBy: optional(texts('The environments that run it.')),
    },
  },
  ApiDeployRequest: {
    type: 'object',
    required: ['bundleId'],
    properties: {bundleId},
  },
  ApiDeployment: {
    type: 'object',
    description:
      'A deployment. All members but `deploymentId` may be missing or null; without `status`, a deployment counts as queued.',
    required: ['deploymentId'],
    properties: {
      deploymentId: text('ID of the deployment. A part of its URL.', {format: 'uuid'}),
      status: optional(text('`finished` and `failed` are final.', {enum: [...apiStatus, null]})),
      statusMessage: optional(text('The status in words, and the reason of a failure.')),
      progress: {
        type: ['object', 'null'],
        description: 'Null until the deployment has started.',
        properties: {
          description: optional(text('What is being done.')),
          percentage: optional({type: 'number', minimum: 0, maximum: 100}),
        },
      },
      duration: optional({type: 'number', description: 'Seconds that it took; null until it has ended.'}),
      bundle: {
        type: ['object', 'null'],
        properties: {bundleId: optional(bundleId), description: optional(text('The message of the bundle.'))},
      },
      createdBy: optional(text('The user or client that requested it.')),
      creationDate: optional(time('When it was requested.')),
      lastModified: optional(time('When its status last changed.')),
      url: {
        ...optional(text('Where the environment is served. Clients show it and open it.', {format: 'uri'})),
        ...onlyLocal,
      },
      warnings: {...warnings, ...onlyHosted},
    },
  },
  ApiBundlePage: apiPage('ApiBundle', 'bundles'),
  ApiDeploymentPage: apiPage('ApiDeployment', 'deployments'),
};

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

const legacy: Part = {
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

const openApi: Part = {
  OpenApiDocument: {
    type: 'object',
    description: 'An OpenAPI document.',
    additionalProperties: true,
    required: ['openapi', 'info'],
    properties: {openapi: text('Version of the format.'), info: {type: 'object'}},
  },
};

/** The schemas of bodies. */
export const schemas: Part = {...common, ...api, ...legacy, ...openApi};
