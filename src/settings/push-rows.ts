import {defaultLimits, defaultUploadRetries} from '../http/time-limits.js';
import {defaultRateLimit, rateLimitRules} from '../http/rate-limit/policy.js';
import type {SettingRows} from './row.js';
import * as schemas from './schemas.js';
import {secretDetails, v2Defaults} from './schemas.js';

/** A secret, which no configuration file may have. */
const secret = {config: false, schema: schemas.nonEmpty, syntax: 'secret'} as const;

const address = {schema: schemas.nonEmpty, syntax: 'url'} as const;
const name = {schema: schemas.nonEmpty, syntax: 'id'} as const;
const off = {schema: schemas.toggle, default: false} as const;

const listDetails = 'Repeatable, comma-separated or a JSON array.';

export const pushSets = {
  connection: {
    projectSlug: {
      flag: {name: 'project', char: 'p', value: 'SLUG'},
      schema: schemas.slug,
      syntax: 'id',
      label: 'project',
      summary: 'Project slug.',
      details: 'With OAuth, it is the storefront ID.',
    },
    targetSlug: {
      flag: {name: 'target', char: 't', value: 'SLUG'},
      schema: schemas.slug,
      syntax: 'id',
      label: 'target',
      summary: 'Target slug.',
      details: 'With OAuth, it is the environment ID.',
    },
    runtimeBackend: {
      flag: {name: 'runtime-backend', value: 'NAME'},
      ...name,
      default: 'auto',
      label: 'backend',
      summary: "Backend to use: auto, api, legacy or a plugin's; default {default}.",
    },
    origin: {
      flag: {name: 'origin', value: 'URL'},
      // The library reads this variable, too.
      variable: 'MYCLI_RUNTIME_ORIGIN',
      ...address,
      receives: {backend: 'legacy', secrets: ['apiKey']},
      summary: 'URL of the service.',
    },
    logsOrigin: {
      variable: 'MYCLI_LOGS_ORIGIN',
      ...address,
      receives: {backend: 'legacy', secrets: ['apiKey']},
      label: 'address of the logs',
      summary: 'URL of the logs of apps; default: --origin with its first label "cloud" replaced by "logs".',
    },
    apiKey: {
      flag: {name: 'api-key', value: 'KEY'},
      ...secret,
      label: 'API key',
      summary: 'API key.',
      details: secretDetails,
    },
    apiOrigin: {
      flag: {name: 'api-origin', value: 'URL'},
      config: 'api.origin',
      ...address,
      receives: {backend: 'api', secrets: ['apiToken', 'clientKey', 'clientSecret']},
      label: 'API origin',
      summary: 'URL of the service with OAuth.',
    },
    organizationId: {
      flag: {name: 'organization', value: 'ID'},
      config: 'api.organizationId',
      ...name,
      label: 'organization',
      summary: 'OAuth organization ID.',
    },
    clientSecret: {
      flag: {name: 'client-secret', value: 'SECRET'},
      ...secret,
      label: 'client secret',
      summary: 'OAuth client secret.',
      details: secretDetails,
    },
    clientKey: {
      variable: 'MYCLI_CLIENT_KEY',
      ...secret,
      label: 'client key',
      summary: 'Private key of the OAuth client, in PEM format, instead of a client secret.',
    },
    clientKeyPassphrase: {
      variable: 'MYCLI_CLIENT_KEY_PASSPHRASE',
      ...secret,
      label: 'passphrase of the client key',
      summary: 'Passphrase of the client key.',
    },
    clientCertificate: {
      variable: 'MYCLI_CLIENT_CERTIFICATE',
      ...secret,
      label: 'client certificate',
      summary: 'Certificate registered for the OAuth client, in PEM format. It must belong to the client key.',
    },
    apiToken: {
      flag: {name: 'api-token', value: 'TOKEN'},
      ...secret,
      label: 'API token',
      summary: 'OAuth access token, instead of a client.',
      details: secretDetails,
    },
    backendOptions: {
      flag: {name: 'backend-option', value: 'K=V'},
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
      summary: 'Maximum wait for a response; default {default}.',
      notes:
        'In seconds, from the last byte of a request to the end of the response. A download only has to start in that time.',
    },
    connectTimeout: {
      flag: {name: 'connect-timeout', value: 'SECONDS'},
      schema: schemas.requestSeconds,
      default: defaultLimits.connectMs / 1000,
      summary: 'Maximum time to connect, including TLS; default {default}.',
      notes: 'In seconds.',
    },
    idleTimeout: {
      flag: {name: 'idle-timeout', value: 'SECONDS'},
      schema: schemas.requestSeconds,
      default: defaultLimits.idleMs / 1000,
      summary: 'Maximum time without progress; default {default}.',
      notes: 'In seconds, while sending a request or receiving its response.',
    },
    uploadRetries: {
      variable: 'MYCLI_UPLOAD_RETRIES',
      schema: schemas.number(...rateLimitRules.maxRetries),
      default: defaultUploadRetries,
      summary: 'How often an interrupted upload is repeated; default {default}.',
      notes: 'From its first byte, and only if the server cannot have all of it. It waits as `rateLimit` says.',
    },
  },
  /** A login stores credentials of these. Other commands take them from the login, a variable or the configuration. */
  login: {
    apiUser: {
      flag: {name: 'api-user', value: 'NAME'},
      ...name,
      label: 'user of the API key',
      summary: 'User for the API key; switches from bearer to basic authentication.',
    },
    tokenUrl: {
      flag: {name: 'token-url', value: 'URL'},
      config: 'api.tokenUrl',
      ...address,
      receives: {backend: 'api', secrets: ['clientKey', 'clientSecret']},
      label: 'token URL',
      summary: 'OAuth token endpoint.',
    },
    clientId: {
      flag: {name: 'client-id', value: 'ID'},
      config: 'api.clientId',
      ...name,
      label: 'client ID',
      summary: 'OAuth client ID.',
    },
    scopes: {
      flag: {name: 'scope', value: 'SCOPE'},
      config: 'api.scopes',
      schema: schemas.list,
      syntax: 'words',
      label: 'OAuth scopes',
      summary: 'OAuth scope.',
      details: 'Repeatable.',
    },
  },
  rateLimit: {
    maxRetries: {
      flag: {name: 'max-retries', value: 'N'},
      config: 'rateLimit.maxRetries',
      schema: schemas.number(...rateLimitRules.maxRetries),
      default: defaultRateLimit.maxRetries,
      summary: 'Maximum retries; default {default}.',
    },
    baseDelayMs: {
      variable: 'MYCLI_RETRY_BASE_DELAY',
      config: 'rateLimit.baseDelayMs',
      schema: schemas.number(...rateLimitRules.baseDelayMs),
      default: defaultRateLimit.baseDelayMs,
      summary: 'First delay in milliseconds if the server names none, doubled on each retry; default {default}.',
    },
    maxDelayMs: {
      variable: 'MYCLI_RETRY_MAX_DELAY',
      config: 'rateLimit.maxDelayMs',
      schema: schemas.number(...rateLimitRules.maxDelayMs),
      default: defaultRateLimit.maxDelayMs,
      summary: 'Maximum delay in milliseconds; default {default}.',
    },
    statusCodes: {
      variable: 'MYCLI_RETRY_STATUS',
      config: 'rateLimit.statusCodes',
      schema: schemas.statuses(schemas.number(...rateLimitRules.status)),
      default: defaultRateLimit.statusCodes,
      summary: 'HTTP status to treat as a rate limit; default {default}.',
      details: 'Repeatable.',
    },
    rateLimitPrefix: {
      config: 'rateLimit.prefix',
      schema: schemas.nonEmpty,
      summary: 'Prefix for messages about rate limits.',
    },
  },
  bundle: {
    buildDirectory: {
      flag: {name: 'build-directory', char: 'b', value: 'DIR'},
      schema: schemas.path,
      syntax: 'path',
      default: 'build',
      summary: 'Build folder; default {default}.',
    },
    projectDirectory: {
      flag: {name: 'project-directory', value: 'DIR'},
      schema: schemas.path,
      syntax: 'path',
      default: '.',
      summary: 'Folder of config.server.ts or .js.',
      details: 'Default: the folder of the configuration file.',
      notes: 'Default in the library: the working directory.',
    },
    message: {
      flag: {name: 'message', char: 'm', value: 'TEXT'},
      schema: schemas.bundleMessage,
      summary: 'Bundle description; default: branch and commit.',
      details: 'Outside git, the time.',
      notes: 'At most 2,048 characters. Outside git, the default is the time.',
    },
    recordCommit: {
      schema: schemas.toggle,
      summary: 'Append branch and commit to your message; default: if a guard needs them.',
      notes: 'As in `Release 5 [main: 1a2b3c4]`.',
    },
    ssrOnly: {
      flag: {name: 'ssr-only', value: 'GLOB'},
      schema: schemas.list,
      building: true,
      summary: 'Server-only files.',
      details: listDetails,
      notes:
        'Glob patterns, written to a v2 bundle verbatim. Not empty. By default `ssr.js`, `ssr.mjs` and everything in `server`, if the build has them.',
    },
    ssrShared: {
      flag: {name: 'ssr-shared', value: 'GLOB'},
      schema: schemas.list,
      building: true,
      summary: 'Files shared between server and client.',
      details: listDetails,
      notes:
        'Glob patterns, written to a v2 bundle verbatim. By default everything in `static` and `client`, if the build has them.',
    },
    static: {
      flag: {name: 'static'},
      schema: schemas.toggle,
      building: true,
      summary: 'Bundle a static site, without server-only files.',
      details: 'Every file is shared, and patterns are not strict.',
      notes:
        'No file is server-only and every file is shared, whatever configuration files say. `matchMode` is then `ignore_missing` by default.',
    },
    ssrParameters: {
      flag: {name: 'ssr-param', value: 'KEY=VALUE'},
      schema: schemas.jsonObjectSchema,
      building: true,
      summary: 'SSR parameter.',
      details: 'The value can be JSON. A number that would print differently, such as 3.10, stays text. Repeatable.',
      notes: 'Merged over the defaults and over configuration files.',
    },
    nodeVersion: {
      flag: {name: 'node-version', char: 'n', value: 'VERSION'},
      config: false,
      ...name,
      summary: 'Node.js version.',
      details: 'On the server: sets the SSR parameter SSRFunctionNodeVersion.',
    },
    rootDir: {
      variable: 'MYCLI_ROOT_DIR',
      schema: schemas.entryPath,
      v2Only: true,
      summary: `Root folder of the archive (v2); default ${v2Defaults.rootDir}.`,
      notes: 'At most 256 characters.',
    },
    configPath: {
      variable: 'MYCLI_CONFIG_PATH',
      schema: schemas.entryPath,
      v2Only: true,
      summary: `Path of the configuration, in the root folder (v2); default ${v2Defaults.configPath}.`,
      notes: 'At most 256 characters.',
    },
    matchMode: {
      variable: 'MYCLI_MATCH_MODE',
      schema: schemas.matchModeSchema,
      v2Only: true,
      summary: `Refuse (strict) or ignore patterns that match no file (v2); default ${v2Defaults.matchMode}.`,
    },
    dependencies: {
      variable: 'MYCLI_DEPENDENCIES',
      config: 'bundleMetadata.dependencies',
      schema: schemas.dependenciesSchema,
      syntax: 'packages',
      building: true,
      summary: "Dependencies for the bundle's metadata; auto uses those declared in package.json.",
    },
    ccOverrides: {
      variable: 'MYCLI_CC_OVERRIDE',
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
      summary: 'Files to exclude.',
      details: `As in .bundleignore. The flag replaces the configuration's list. ${listDetails}`,
      notes: 'In gitignore syntax, in addition to `.bundleignore`.',
    },
    allowSensitiveFiles: {
      variable: 'MYCLI_ALLOW_SENSITIVE_FILES',
      ...off,
      summary: 'Publish server code, and files whose names suggest secrets (.env*, .npmrc, private keys).',
      notes: 'Without it, they are an error.',
    },
    allowSourceMaps: {
      variable: 'MYCLI_ALLOW_SOURCE_MAPS',
      ...off,
      summary: 'Publish source maps without a warning.',
    },
    compressionLevel: {
      variable: 'MYCLI_COMPRESSION_LEVEL',
      schema: schemas.compressionLevel,
      v2Only: true,
      building: true,
      summary: `gzip level, from 0 (none) to 9 (smallest archive) (v2); default ${v2Defaults.compressionLevel}.`,
    },
  },
  push: {
    v2: {
      flag: {name: 'v2'},
      ...off,
      summary: 'Use the v2 format with Runtime (API key); it sends about half the bytes of v1.',
      details: 'The service must support it. Runtime (OAuth) always uses v2.',
    },
    ifChanged: {
      flag: {name: 'if-changed'},
      ...off,
      summary: 'Skip the upload if the bundle is unchanged.',
      details: 'Compared with the last push to the same project and backend.',
    },
  },
} as const satisfies Readonly<Record<string, SettingRows>>;
