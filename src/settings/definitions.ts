import type * as v from 'valibot';
import {defaultRateLimit} from '../http/rate-limit/policy.js';
import * as schemas from './schemas.js';
import {checkDefaults, checkFields, defaultWait, v2Defaults} from './schemas.js';

/**
 * A setting. Flags, the schema and the type of the configuration file, `config:show`, help, the reference and the
 * library's check of its options are derived from it.
 */
interface SettingRow {
  /** Determines which commands have its flag, and its heading in help and in the reference. */
  readonly set: FlagSet;
  /** Without one, only the configuration file can set it. */
  readonly flag?: {
    /** Without dashes. */
    readonly name: string;
    readonly char?: 'b' | 'm' | 'n' | 'p' | 't' | 'w';
    /** The placeholder for the value in help. */
    readonly value?: string;
    /** Whether it works but help leaves it out: it rarely changes from run to run. */
    readonly hidden?: true;
  };
  /** Environment variable. @default `MYCLI_` plus the flag in capitals, with underscores */
  readonly variable?: string;
  /**
   * Key in the configuration file, with the object that contains it. Secrets and settings of a single run have none.
   * @default the name of the setting
   */
  readonly config?: string | false;
  /** Validates the value, whatever its source, and the option of the same name in the library. */
  readonly schema: v.GenericSchema;
  /** How text is read, if the type of the schema does not tell. */
  readonly syntax?: Syntax;
  /** Paths are relative to the working directory. Without a default, the setting can be unset. */
  readonly default?: unknown;
  /** The help text: one sentence, in which `{default}` is replaced with the default. */
  readonly summary: string;
  /** What only the reference says. */
  readonly details?: string;
  /** Completes "No ... specified". @default the name of the setting */
  readonly label?: string;
  /** What to do about a value that the library refuses. */
  readonly advice?: string;
  /** Whether it cannot be used with the v1 format. */
  readonly v2Only?: true;
  /** Whether it affects how an archive is built, so that it does not apply to a prebuilt one. */
  readonly building?: true;
  /** Whether `targets` of the configuration file can replace it for a target. */
  readonly perTarget?: true;
  /** Other names that people try in a configuration file, where a secret is not allowed. */
  readonly aliases?: readonly string[];
}

/**
 * How text becomes a value. `backendOptions`: pairs for the chosen backend, which decides what the texts mean.
 * `packages`: JSON, `@FILE` or `auto`.
 */
export type Syntax =
  | 'text'
  | 'url'
  | 'path'
  | 'secret'
  | 'word'
  | 'switch'
  | 'number'
  | 'list'
  | 'words'
  | 'numbers'
  | 'pairs'
  | 'backendOptions'
  | 'packages';

/** Sets of flags that a command can have, with their headings. */
export const flagSets = {
  /** The project, the backend, and how to reach it. */
  connection: 'CONNECTION',
  /** What goes into a bundle, and its description. */
  bundle: 'BUNDLE',
  /** How to push a bundle. */
  push: 'BUNDLE',
  /** Whether and how long to wait for a deployment. */
  wait: 'DEPLOYMENT',
  /** What to do when another deployment to the target is running. */
  slot: 'DEPLOYMENT',
  /** What to check after a deployment. */
  check: 'DEPLOYMENT',
  /** What to do when a deployment or its check fails. */
  rollback: 'DEPLOYMENT',
  /** How to retry rate-limited requests. */
  rateLimit: 'OTHER',
  /** Where to write what happens. */
  events: 'OTHER',
  /** What must hold before something is deployed to a target. */
  guard: 'GUARD',
} as const;
/** The name of a set of flags. */
export type FlagSet = keyof typeof flagSets;

const secretDetails = 'Use @FILE to read it from a file, - for stdin.';
const listDetails = 'Repeatable, comma-separated or a JSON array.';

const rows = {
  projectSlug: {
    set: 'connection',
    flag: {name: 'project', char: 'p', value: 'SLUG'},
    schema: schemas.slug,
    label: 'project',
    summary: 'Project slug, or the storefront ID for Api.',
  },
  targetSlug: {
    set: 'connection',
    flag: {name: 'target', char: 't', value: 'SLUG'},
    schema: schemas.slug,
    label: 'target',
    summary: 'Target slug, or the environment ID for Api.',
  },
  runtimeBackend: {
    set: 'connection',
    flag: {name: 'runtime-backend', value: 'NAME'},
    schema: schemas.text,
    default: 'auto',
    label: 'backend',
    summary: "{default} (default), api, legacy or a plugin's backend.",
  },
  origin: {
    set: 'connection',
    flag: {name: 'origin', value: 'URL'},
    // The library reads this variable, too.
    variable: 'MYCLI_RUNTIME_ORIGIN',
    schema: schemas.text,
    syntax: 'url',
    summary: 'URL of the hosting service (legacy backend).',
  },
  apiKey: {
    set: 'connection',
    flag: {name: 'api-key', value: 'KEY'},
    config: false,
    schema: schemas.text,
    syntax: 'secret',
    aliases: ['password'],
    label: 'API key',
    summary: 'API key for the legacy backend.',
    details: secretDetails,
  },
  apiUser: {
    set: 'connection',
    flag: {name: 'api-user', value: 'NAME', hidden: true},
    schema: schemas.text,
    label: 'user of the API key',
    summary: 'User for the API key; switches from bearer to basic authentication.',
  },
  apiOrigin: {
    set: 'connection',
    flag: {name: 'api-origin', value: 'URL', hidden: true},
    config: 'api.origin',
    schema: schemas.text,
    syntax: 'url',
    label: 'Api origin',
    summary: 'URL of the Api backend.',
  },
  organizationId: {
    set: 'connection',
    flag: {name: 'organization', value: 'ID', hidden: true},
    config: 'api.organizationId',
    schema: schemas.text,
    label: 'organization',
    summary: 'Organization ID (Api backend).',
  },
  tokenUrl: {
    set: 'connection',
    flag: {name: 'token-url', value: 'URL', hidden: true},
    config: 'api.tokenUrl',
    schema: schemas.text,
    syntax: 'url',
    label: 'token URL',
    summary: 'OAuth token endpoint (Api backend).',
  },
  clientId: {
    set: 'connection',
    flag: {name: 'client-id', value: 'ID', hidden: true},
    config: 'api.clientId',
    schema: schemas.text,
    label: 'client ID',
    summary: 'OAuth client ID (Api backend).',
  },
  clientSecret: {
    set: 'connection',
    flag: {name: 'client-secret', value: 'SECRET'},
    config: false,
    schema: schemas.text,
    syntax: 'secret',
    aliases: ['secret'],
    label: 'client secret',
    summary: 'OAuth client secret (Api backend).',
    details: secretDetails,
  },
  scopes: {
    set: 'connection',
    flag: {name: 'scope', value: 'SCOPE', hidden: true},
    config: 'api.scopes',
    schema: schemas.list,
    syntax: 'words',
    label: 'OAuth scopes',
    summary: 'OAuth scope (Api backend).',
    details: 'Repeatable.',
  },
  apiToken: {
    set: 'connection',
    flag: {name: 'api-token', value: 'TOKEN'},
    config: false,
    schema: schemas.text,
    syntax: 'secret',
    aliases: ['accessToken', 'token'],
    label: 'Api token',
    summary: 'Access token (Api backend), instead of a client.',
    details: secretDetails,
  },
  backendOptions: {
    set: 'connection',
    flag: {name: 'backend-option', value: 'KEY=VALUE', hidden: true},
    config: 'backends',
    schema: schemas.backendOptions,
    syntax: 'backendOptions',
    default: {},
    summary: "Option for a plugin's backend.",
    details: 'The value can be JSON. Repeatable.',
  },
  requestTimeout: {
    set: 'connection',
    flag: {name: 'request-timeout', value: 'SECONDS', hidden: true},
    schema: schemas.requestSeconds,
    default: 300,
    summary: 'Maximum wait for a response after the request is sent; default {default}.',
  },
  maxRetries: {
    set: 'rateLimit',
    flag: {name: 'max-retries', value: 'N'},
    config: 'rateLimit.maxRetries',
    schema: schemas.count,
    default: defaultRateLimit.maxRetries,
    summary: 'Maximum number of retries; default {default}.',
  },
  baseDelayMs: {
    set: 'rateLimit',
    flag: {name: 'retry-base-delay', value: 'MS', hidden: true},
    config: 'rateLimit.baseDelayMs',
    schema: schemas.count,
    default: defaultRateLimit.baseDelayMs,
    summary: 'First delay if the server names none, doubled on each retry; default {default}.',
  },
  maxDelayMs: {
    set: 'rateLimit',
    flag: {name: 'retry-max-delay', value: 'MS', hidden: true},
    config: 'rateLimit.maxDelayMs',
    schema: schemas.count,
    default: defaultRateLimit.maxDelayMs,
    summary: 'Maximum delay; default {default}.',
  },
  statusCodes: {
    set: 'rateLimit',
    flag: {name: 'retry-status', value: 'CODE', hidden: true},
    config: 'rateLimit.statusCodes',
    schema: schemas.statuses,
    default: defaultRateLimit.statusCodes,
    summary: 'HTTP status to treat as a rate limit; default {default}.',
    details: 'Repeatable.',
  },
  rateLimitPrefix: {
    set: 'rateLimit',
    config: 'rateLimit.prefix',
    schema: schemas.text,
    summary: 'Prefix for messages about rate limits.',
  },
  buildDirectory: {
    set: 'bundle',
    flag: {name: 'build-directory', char: 'b', value: 'DIR'},
    schema: schemas.path,
    syntax: 'path',
    default: 'build',
    summary: 'Build output folder; default {default}.',
  },
  projectDirectory: {
    set: 'bundle',
    flag: {name: 'project-directory', value: 'DIR', hidden: true},
    schema: schemas.path,
    syntax: 'path',
    default: '.',
    summary: 'Folder that contains config.server.ts or .js; default: the working directory.',
  },
  message: {
    set: 'bundle',
    flag: {name: 'message', char: 'm', value: 'TEXT'},
    schema: schemas.message,
    advice: 'Shorten the message.',
    summary: 'Bundle description; default: branch and commit.',
    details: 'Outside git, the time.',
  },
  ssrOnly: {
    set: 'bundle',
    flag: {name: 'ssr-only', value: 'GLOB'},
    schema: schemas.list,
    building: true,
    summary: 'Server-only files.',
    details: listDetails,
  },
  ssrShared: {
    set: 'bundle',
    flag: {name: 'ssr-shared', value: 'GLOB'},
    schema: schemas.list,
    building: true,
    summary: 'Files shared between server and client.',
    details: listDetails,
  },
  static: {
    set: 'bundle',
    flag: {name: 'static'},
    schema: schemas.toggle,
    building: true,
    summary: 'Bundle a static site, without server-only files.',
    details: 'Every file is shared, and patterns are not strict.',
  },
  ssrParameters: {
    set: 'bundle',
    flag: {name: 'ssr-param', value: 'KEY=VALUE'},
    schema: schemas.jsonObjectSchema,
    building: true,
    summary: 'SSR parameter.',
    details: 'The value can be JSON. Repeatable.',
  },
  nodeVersion: {
    set: 'bundle',
    flag: {name: 'node-version', char: 'n', value: 'VERSION'},
    config: false,
    schema: schemas.text,
    summary: 'Node.js version on the server.',
    details: 'Sets the SSR parameter SSRFunctionNodeVersion.',
  },
  v2: {
    set: 'push',
    flag: {name: 'v2'},
    schema: schemas.toggle,
    default: false,
    summary: 'Use the v2 format with the legacy backend.',
    details: 'Api always uses v2.',
  },
  ifChanged: {
    set: 'push',
    flag: {name: 'if-changed'},
    schema: schemas.toggle,
    default: false,
    summary: 'Skip the upload if the bundle is unchanged.',
    details: 'Compared with the last push to the same project and backend.',
  },
  rootDir: {
    set: 'bundle',
    flag: {name: 'root-dir', value: 'DIR', hidden: true},
    schema: schemas.entryPath,
    advice: `Set rootDir to a relative path such as ${v2Defaults.rootDir}.`,
    v2Only: true,
    summary: `Root folder of the archive (v2); default ${v2Defaults.rootDir}.`,
  },
  configPath: {
    set: 'bundle',
    flag: {name: 'config-path', value: 'PATH', hidden: true},
    schema: schemas.entryPath,
    advice: `Set configPath to a relative path such as ${v2Defaults.configPath}.`,
    v2Only: true,
    summary: `Path of the configuration, relative to the root folder (v2); default ${v2Defaults.configPath}.`,
  },
  matchMode: {
    set: 'bundle',
    flag: {name: 'match-mode', value: 'strict|ignore_missing', hidden: true},
    schema: schemas.matchModeSchema,
    v2Only: true,
    summary: `Refuse (strict) or ignore patterns that match no file (v2); default ${v2Defaults.matchMode}.`,
  },
  dependencies: {
    set: 'bundle',
    flag: {name: 'dependencies', value: 'JSON|@FILE|auto', hidden: true},
    config: 'bundleMetadata.dependencies',
    schema: schemas.dependenciesSchema,
    syntax: 'packages',
    building: true,
    summary: "Dependencies for the bundle's metadata; auto uses those declared in package.json.",
  },
  ccOverrides: {
    set: 'bundle',
    flag: {name: 'cc-override', value: 'ID', hidden: true},
    config: 'bundleMetadata.ccOverrides',
    schema: schemas.list,
    v2Only: true,
    building: true,
    summary: "Override ID for the bundle's metadata.",
    details: 'Repeatable.',
  },
  ignore: {
    set: 'bundle',
    flag: {name: 'ignore', value: 'GLOB'},
    schema: schemas.list,
    building: true,
    summary: 'Files to exclude, as in .bundleignore.',
    details: listDetails,
  },
  allowSensitiveFiles: {
    set: 'bundle',
    flag: {name: 'allow-sensitive-files', hidden: true},
    schema: schemas.toggle,
    default: false,
    summary:
      'Include files whose names suggest secrets (.env*, .npmrc, private keys) even if they are not server-only.',
  },
  compressionLevel: {
    set: 'bundle',
    flag: {name: 'compression-level', value: '0-9', hidden: true},
    schema: schemas.compressionLevel,
    v2Only: true,
    building: true,
    summary: `gzip level, from 0 (none) to 9 (smallest archive) (v2); default ${v2Defaults.compressionLevel}.`,
  },
  wait: {
    set: 'wait',
    flag: {name: 'wait', char: 'w'},
    schema: schemas.toggle,
    default: false,
    summary: 'Wait for the deployment to finish.',
  },
  waitForSlot: {
    set: 'slot',
    flag: {name: 'wait-for-slot', hidden: true},
    schema: schemas.toggle,
    default: false,
    summary: 'Wait for a running deployment to the target to end before deploying; at most --timeout.',
  },
  pollInterval: {
    set: 'wait',
    flag: {name: 'poll-interval', value: 'SECONDS', hidden: true},
    schema: schemas.pollSeconds,
    default: defaultWait.pollInterval,
    summary: 'Time between status checks; default {default}.',
  },
  timeout: {
    set: 'wait',
    flag: {name: 'timeout', value: 'SECONDS'},
    schema: schemas.waitSeconds,
    default: defaultWait.timeout,
    summary: 'Limit for waiting, 0 for none; default {default}.',
  },
  check: {
    set: 'check',
    flag: {name: 'check', value: 'URL|PATH'},
    config: 'check.url',
    schema: schemas.checks,
    syntax: 'list',
    perTarget: true,
    summary: 'URL to check after the deployment.',
    details: `Or a path below the URL of the target. Implies --wait. ${listDetails}`,
  },
  checkStatus: {
    set: 'check',
    flag: {name: 'check-status', value: 'CODE', hidden: true},
    config: 'check.status',
    schema: checkFields.status,
    perTarget: true,
    summary: 'HTTP status to accept; default: any 2xx, after redirects to the same origin.',
    details: 'Repeatable.',
  },
  checkText: {
    set: 'check',
    flag: {name: 'check-text', value: 'TEXT', hidden: true},
    config: 'check.text',
    schema: checkFields.text,
    perTarget: true,
    summary: 'Text that the response must contain.',
  },
  checkRetries: {
    set: 'check',
    flag: {name: 'check-retries', value: 'N', hidden: true},
    config: 'check.retries',
    schema: checkFields.retries,
    perTarget: true,
    default: checkDefaults.retries,
    summary: 'Maximum number of retries of a check; default {default}.',
  },
  checkInterval: {
    set: 'check',
    flag: {name: 'check-interval', value: 'SECONDS', hidden: true},
    config: 'check.interval',
    schema: checkFields.interval,
    perTarget: true,
    default: checkDefaults.interval,
    summary: 'Time between attempts of a check; default {default}.',
  },
  checkTimeout: {
    set: 'check',
    flag: {name: 'check-timeout', value: 'SECONDS', hidden: true},
    config: 'check.timeout',
    schema: checkFields.timeout,
    perTarget: true,
    default: checkDefaults.timeout,
    summary: 'Maximum time for one attempt of a check; default {default}.',
  },
  rollbackOnFailure: {
    set: 'rollback',
    flag: {name: 'rollback-on-failure'},
    config: 'check.rollbackOnFailure',
    schema: schemas.toggle,
    perTarget: true,
    default: false,
    summary: 'Deploy what ran before if it fails.',
    details: 'Also if a check fails. Implies --wait.',
  },
  events: {
    set: 'events',
    flag: {name: 'events', value: 'FILE|-|fd:N'},
    config: false,
    schema: schemas.text,
    summary: 'Write what happens to a file, as lines of JSON.',
    details: 'Each step, progress, wait and the outcome; - is stdout, fd:N a descriptor.',
  },
  guardCleanTree: {
    set: 'guard',
    config: 'guard.cleanTree',
    schema: schemas.toggle,
    perTarget: true,
    summary: 'Refuse to deploy what was built with uncommitted changes.',
  },
  guardBranch: {
    set: 'guard',
    config: 'guard.branch',
    schema: schemas.someItems,
    perTarget: true,
    summary: 'Only deploy what was built on a branch that these patterns match.',
  },
  guardOrigin: {
    set: 'guard',
    config: 'guard.origin',
    schema: schemas.text,
    syntax: 'url',
    perTarget: true,
    summary: 'Only deploy from a clone of this git repository.',
  },
  guardNotOlder: {
    set: 'guard',
    config: 'guard.notOlder',
    schema: schemas.toggle,
    perTarget: true,
    summary: 'Refuse to deploy a commit that does not contain the one that the target runs.',
  },
  guardCiOnly: {
    set: 'guard',
    config: 'guard.ciOnly',
    schema: schemas.toggle,
    perTarget: true,
    summary: 'Refuse to deploy from anywhere but CI.',
  },
  guardConfirm: {
    set: 'guard',
    config: 'guard.confirm',
    schema: schemas.toggle,
    perTarget: true,
    summary: 'Ask a person to type the name of the target before deploying.',
  },
  production: {
    set: 'guard',
    schema: schemas.toggle,
    perTarget: true,
    summary: 'Treat the target as production, whatever its name (for MYCLI_SAFETY=no-production).',
  },
  recordCommit: {
    set: 'guard',
    schema: schemas.toggle,
    summary: 'Append branch and commit to a message of yours; default: only if a guard of the target needs them.',
  },
} as const satisfies Readonly<Record<string, SettingRow>>;

type Rows = typeof rows;
/** The name of a setting. */
export type SettingKey = keyof Rows;
/** The name of a setting that always has a value. */
export type DefaultedKey = {[K in SettingKey]: Rows[K] extends {default: unknown} ? K : never}[SettingKey];
/** The name of a setting that is a secret. */
export type SecretKey = {[K in SettingKey]: Rows[K] extends {syntax: 'secret'} ? K : never}[SettingKey];
/** What the schema of a setting accepts. */
export type ValidValue<K extends SettingKey> = v.InferOutput<Rows[K]['schema']>;
/** The names of the flags in a set, with their settings. */
export type FlagsOf<Set extends FlagSet> = {
  [K in SettingKey as Rows[K] extends {set: Set; flag: {name: infer Name extends string}} ? Name : never]: K;
};

/** A setting with everything that follows from its row. */
export interface SettingDefinition extends SettingRow {
  readonly config?: string;
  readonly label: string;
  readonly syntax: Syntax;
}

const syntaxes: Readonly<Record<string, Syntax>> = {
  boolean: 'switch',
  number: 'number',
  array: 'list',
  custom: 'pairs',
  picklist: 'word',
};

function define([key, {config = key, ...row}]: readonly [string, SettingRow]): readonly [string, SettingDefinition] {
  const {type, item} = row.schema as typeof row.schema & {readonly item?: v.GenericSchema};
  const syntax = item?.type === 'number' ? 'numbers' : (syntaxes[type] ?? 'text');
  return [key, {label: key, syntax, ...row, ...(config === false ? {} : {config})}];
}

/** Every setting, in display order. */
export const definitions = Object.fromEntries(Object.entries<SettingRow>(rows).map(define)) as Readonly<
  Record<SettingKey, SettingDefinition>
>;

/** The name of every setting. */
export const settingKeys: readonly SettingKey[] = Object.keys(rows) as SettingKey[];

/** The names of those that are secrets. */
export const secretKeys = settingKeys.filter((key): key is SecretKey => definitions[key].syntax === 'secret');

/** The environment variable of a setting. Those without a flag have none. */
export function variableOf(key: SettingKey): string | undefined {
  const {variable, flag} = definitions[key];
  return variable ?? (flag && `MYCLI_${flag.name.toUpperCase().replaceAll('-', '_')}`);
}

/** The help text of a setting. */
export function summaryOf(key: SettingKey): string {
  const {summary, default: standard} = definitions[key];
  return summary.replace('{default}', () => JSON.stringify(standard).replaceAll(/["[\]]/g, ''));
}
