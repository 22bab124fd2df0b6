import {defaultLimits} from '../http/limits.js';
import {defaultRateLimit} from '../http/rate-limit/policy.js';
import type {SettingRows} from './row.js';
import * as schemas from './schemas.js';
import {secretDetails, v2Defaults} from './schemas.js';

const listDetails = 'Repeatable, comma-separated or a JSON array.';

/** The project, the backend, and how to reach it. */
export const connection = {
  projectSlug: {
    flag: {name: 'project', char: 'p', value: 'SLUG'},
    schema: schemas.slug,
    syntax: 'id',
    label: 'project',
    summary: 'Project slug; with OAuth, the storefront ID.',
  },
  targetSlug: {
    flag: {name: 'target', char: 't', value: 'SLUG'},
    schema: schemas.slug,
    syntax: 'id',
    label: 'target',
    summary: 'Target slug; with OAuth, the environment ID.',
  },
  runtimeBackend: {
    flag: {name: 'runtime-backend', value: 'NAME'},
    schema: schemas.text,
    syntax: 'id',
    default: 'auto',
    label: 'backend',
    summary: "{default} (default), api, legacy or a plugin's backend.",
  },
  origin: {
    flag: {name: 'origin', value: 'URL'},
    // The library reads this variable, too.
    variable: 'MYCLI_RUNTIME_ORIGIN',
    schema: schemas.text,
    syntax: 'url',
    receives: {backend: 'legacy', secrets: ['apiKey']},
    summary: 'URL of the hosting service.',
  },
  logsOrigin: {
    flag: {name: 'logs-origin', value: 'URL', hidden: true},
    schema: schemas.text,
    syntax: 'url',
    receives: {backend: 'legacy', secrets: ['apiKey']},
    label: 'address of the logs',
    summary: 'URL of the logs of apps; default: that of --origin, with its first label "cloud" replaced by "logs".',
  },
  apiKey: {
    flag: {name: 'api-key', value: 'KEY'},
    config: false,
    schema: schemas.text,
    syntax: 'secret',
    label: 'API key',
    summary: 'API key.',
    details: secretDetails,
  },
  apiUser: {
    flag: {name: 'api-user', value: 'NAME', hidden: true},
    schema: schemas.text,
    syntax: 'id',
    label: 'user of the API key',
    summary: 'User for the API key; switches from bearer to basic authentication.',
  },
  apiOrigin: {
    flag: {name: 'api-origin', value: 'URL', hidden: true},
    config: 'api.origin',
    schema: schemas.text,
    syntax: 'url',
    receives: {backend: 'api', secrets: ['apiToken', 'clientKey', 'clientSecret']},
    label: 'API origin',
    summary: 'URL of the hosting service, with OAuth.',
  },
  organizationId: {
    flag: {name: 'organization', value: 'ID', hidden: true},
    config: 'api.organizationId',
    schema: schemas.text,
    syntax: 'id',
    label: 'organization',
    summary: 'Organization ID, with OAuth.',
  },
  tokenUrl: {
    flag: {name: 'token-url', value: 'URL', hidden: true},
    config: 'api.tokenUrl',
    schema: schemas.text,
    syntax: 'url',
    receives: {backend: 'api', secrets: ['clientKey', 'clientSecret']},
    label: 'token URL',
    summary: 'OAuth token endpoint.',
  },
  clientId: {
    flag: {name: 'client-id', value: 'ID', hidden: true},
    config: 'api.clientId',
    schema: schemas.text,
    syntax: 'id',
    label: 'client ID',
    summary: 'OAuth client ID.',
  },
  clientSecret: {
    flag: {name: 'client-secret', value: 'SECRET'},
    config: false,
    schema: schemas.text,
    syntax: 'secret',
    label: 'client secret',
    summary: 'OAuth client secret.',
    details: secretDetails,
  },
  clientKey: {
    flag: {name: 'client-key', value: 'KEY', hidden: true},
    config: false,
    schema: schemas.text,
    syntax: 'secret',
    label: 'client key',
    summary: 'Private key of the OAuth client, in PEM format, instead of a client secret.',
    details: secretDetails,
  },
  clientKeyPassphrase: {
    flag: {name: 'client-key-passphrase', value: 'TEXT', hidden: true},
    config: false,
    schema: schemas.text,
    syntax: 'secret',
    label: 'passphrase of the client key',
    summary: 'Passphrase of the client key.',
    details: secretDetails,
  },
  clientCertificate: {
    flag: {name: 'client-certificate', value: 'CERTIFICATE', hidden: true},
    config: false,
    schema: schemas.text,
    syntax: 'secret',
    label: 'client certificate',
    summary: 'Certificate that is registered for the client, in PEM format. The client key must belong to it.',
    details: secretDetails,
  },
  scopes: {
    flag: {name: 'scope', value: 'SCOPE', hidden: true},
    config: 'api.scopes',
    schema: schemas.list,
    syntax: 'words',
    label: 'OAuth scopes',
    summary: 'OAuth scope.',
    details: 'Repeatable.',
  },
  apiToken: {
    flag: {name: 'api-token', value: 'TOKEN'},
    config: false,
    schema: schemas.text,
    syntax: 'secret',
    label: 'API token',
    summary: 'OAuth access token, instead of a client.',
    details: secretDetails,
  },
  backendOptions: {
    flag: {name: 'backend-option', value: 'KEY=VALUE', hidden: true},
    config: 'backends',
    schema: schemas.backendOptions,
    syntax: 'backendOptions',
    default: {},
    summary: "Option for a plugin's backend.",
    details:
      'The value can be JSON. Repeatable. The variable has a comma-separated list, a JSON array or a JSON object.',
  },
  requestTimeout: {
    flag: {name: 'request-timeout', value: 'SECONDS'},
    schema: schemas.requestSeconds,
    default: defaultLimits.requestMs / 1000,
    summary: 'Maximum wait for a response after the request is sent; default {default}.',
  },
  connectTimeout: {
    flag: {name: 'connect-timeout', value: 'SECONDS'},
    schema: schemas.requestSeconds,
    default: defaultLimits.connectMs / 1000,
    summary: 'Maximum time to connect, including TLS; default {default}.',
  },
  idleTimeout: {
    flag: {name: 'idle-timeout', value: 'SECONDS'},
    schema: schemas.requestSeconds,
    default: defaultLimits.idleMs / 1000,
    summary: 'Maximum time in which nothing is sent or received; default {default}.',
  },
} as const satisfies SettingRows;

/** How to retry rate-limited requests. */
export const rateLimit = {
  maxRetries: {
    flag: {name: 'max-retries', value: 'N'},
    config: 'rateLimit.maxRetries',
    schema: schemas.count,
    default: defaultRateLimit.maxRetries,
    summary: 'Maximum number of retries; default {default}.',
  },
  baseDelayMs: {
    flag: {name: 'retry-base-delay', value: 'MS', hidden: true},
    config: 'rateLimit.baseDelayMs',
    schema: schemas.count,
    default: defaultRateLimit.baseDelayMs,
    summary: 'First delay if the server names none, doubled on each retry; default {default}.',
  },
  maxDelayMs: {
    flag: {name: 'retry-max-delay', value: 'MS', hidden: true},
    config: 'rateLimit.maxDelayMs',
    schema: schemas.count,
    default: defaultRateLimit.maxDelayMs,
    summary: 'Maximum delay; default {default}.',
  },
  statusCodes: {
    flag: {name: 'retry-status', value: 'CODE', hidden: true},
    config: 'rateLimit.statusCodes',
    schema: schemas.statuses,
    default: defaultRateLimit.statusCodes,
    summary: 'HTTP status to treat as a rate limit; default {default}.',
    details: 'Repeatable.',
  },
  rateLimitPrefix: {
    config: 'rateLimit.prefix',
    schema: schemas.text,
    summary: 'Prefix for messages about rate limits.',
  },
} as const satisfies SettingRows;

/** What goes into a bundle, and its description. */
export const bundle = {
  buildDirectory: {
    flag: {name: 'build-directory', char: 'b', value: 'DIR'},
    schema: schemas.path,
    syntax: 'path',
    default: 'build',
    summary: 'Build output folder; default {default}.',
  },
  projectDirectory: {
    flag: {name: 'project-directory', value: 'DIR', hidden: true},
    schema: schemas.path,
    syntax: 'path',
    default: '.',
    summary: 'Folder that contains config.server.ts or .js; default: that of the configuration file.',
  },
  message: {
    flag: {name: 'message', char: 'm', value: 'TEXT'},
    schema: schemas.message,
    summary: 'Bundle description; default: branch and commit.',
    details: 'Outside git, the time.',
  },
  recordCommit: {
    schema: schemas.toggle,
    summary: 'Append branch and commit to a message of yours; default: only if a guard of the target needs them.',
  },
  ssrOnly: {
    flag: {name: 'ssr-only', value: 'GLOB'},
    schema: schemas.list,
    building: true,
    summary: 'Server-only files.',
    details: listDetails,
  },
  ssrShared: {
    flag: {name: 'ssr-shared', value: 'GLOB'},
    schema: schemas.list,
    building: true,
    summary: 'Files shared between server and client.',
    details: listDetails,
  },
  static: {
    flag: {name: 'static'},
    schema: schemas.toggle,
    building: true,
    summary: 'Bundle a static site, without server-only files.',
    details: 'Every file is shared, and patterns are not strict.',
  },
  ssrParameters: {
    flag: {name: 'ssr-param', value: 'KEY=VALUE'},
    schema: schemas.jsonObjectSchema,
    building: true,
    summary: 'SSR parameter.',
    details: 'The value can be JSON. A number that would print differently, such as 3.10, stays text. Repeatable.',
  },
  nodeVersion: {
    flag: {name: 'node-version', char: 'n', value: 'VERSION'},
    config: false,
    schema: schemas.text,
    syntax: 'id',
    summary: 'Node.js version on the server.',
    details: 'Sets the SSR parameter SSRFunctionNodeVersion.',
  },
  rootDir: {
    flag: {name: 'root-dir', value: 'DIR', hidden: true},
    schema: schemas.entryPath,
    v2Only: true,
    summary: `Root folder of the archive (v2); default ${v2Defaults.rootDir}.`,
  },
  configPath: {
    flag: {name: 'config-path', value: 'PATH', hidden: true},
    schema: schemas.entryPath,
    v2Only: true,
    summary: `Path of the configuration, relative to the root folder (v2); default ${v2Defaults.configPath}.`,
  },
  matchMode: {
    flag: {name: 'match-mode', value: 'strict|ignore_missing', hidden: true},
    schema: schemas.matchModeSchema,
    v2Only: true,
    summary: `Refuse (strict) or ignore patterns that match no file (v2); default ${v2Defaults.matchMode}.`,
  },
  dependencies: {
    flag: {name: 'dependencies', value: 'JSON|@FILE|auto', hidden: true},
    config: 'bundleMetadata.dependencies',
    schema: schemas.dependenciesSchema,
    syntax: 'packages',
    building: true,
    summary: "Dependencies for the bundle's metadata; auto uses those declared in package.json.",
  },
  ccOverrides: {
    flag: {name: 'cc-override', value: 'ID', hidden: true},
    config: 'bundleMetadata.ccOverrides',
    schema: schemas.list,
    v2Only: true,
    building: true,
    summary: "Override ID for the bundle's metadata.",
    details: 'Repeatable.',
  },
  ignore: {
    flag: {name: 'ignore', value: 'GLOB'},
    schema: schemas.list,
    building: true,
    summary: 'Files to exclude, as in .bundleignore.',
    details: listDetails,
  },
  allowSensitiveFiles: {
    flag: {name: 'allow-sensitive-files', hidden: true},
    schema: schemas.toggle,
    default: false,
    summary:
      'Include files whose names suggest secrets (.env*, .npmrc, private keys) even if they are not server-only, and ' +
      'code of a server.',
  },
  allowSourceMaps: {
    flag: {name: 'allow-source-maps', hidden: true},
    schema: schemas.toggle,
    default: false,
    summary: 'Publish source maps without a warning.',
  },
  compressionLevel: {
    flag: {name: 'compression-level', value: '0-9', hidden: true},
    schema: schemas.compressionLevel,
    v2Only: true,
    building: true,
    summary: `gzip level, from 0 (none) to 9 (smallest archive) (v2); default ${v2Defaults.compressionLevel}.`,
  },
} as const satisfies SettingRows;

export const push = {
  v2: {
    flag: {name: 'v2'},
    schema: schemas.toggle,
    default: false,
    summary: 'Use the v2 format with Runtime (API key).',
    details: 'Runtime (OAuth) always uses v2.',
  },
  ifChanged: {
    flag: {name: 'if-changed'},
    schema: schemas.toggle,
    default: false,
    summary: 'Skip the upload if the bundle is unchanged.',
    details: 'Compared with the last push to the same project and backend.',
  },
} as const satisfies SettingRows;
