import type {Interfaces} from '@oclif/core';
import {compressionLevelSchema, matchModeSchema, v2Defaults} from '../../bundle/option-schemas.js';
import {defaultRateLimit} from '../../http/rate-limit/policy.js';
import {longestTimeoutSeconds} from '../../operations/options.js';
import {deploymentRows} from './deployment-rows.js';
import {guardRows} from './guard-rows.js';
import type {Secret} from './secret.js';
import * as kinds from './kinds.js';

/** The definition of a setting. Flags, the schema of the configuration file, help and docs are derived from it. */
interface SettingDefinition<T = unknown> {
  /** Completes "No ... specified". */
  readonly label: string;
  /** Determines which commands have its flag (cli/command/flags.ts), and its heading in help. */
  readonly set: FlagSet;
  /** Without one, only the configuration file can set it. */
  readonly flag?: {
    /** Without dashes. */
    readonly name: string;
    readonly char?: Interfaces.AlphabetLowercase;
    /** The placeholder for the value in help. @default the possible values */
    readonly value?: string;
  };
  /** Environment variable. @default `MYCLI_` plus the flag in capitals, with underscores */
  readonly variable?: string;
  /**
   * Key in the configuration file, with the object that contains it. Secrets and settings of a single run have none.
   */
  readonly config?: string;
  readonly kind: kinds.Kind<T>;
  /** Paths are relative to the working directory. Without a default, the setting can be unset. */
  readonly default?: T;
  /** The help text: one sentence, in which `{default}` is replaced with the default. */
  readonly summary: string;
  /** Whether it cannot be used with the v1 format. */
  readonly v2Only?: boolean;
  /** Whether it affects how an archive is built, so that it does not apply to a prebuilt one. */
  readonly building?: boolean;
  /**
   * The setting whose value determines the owner of values on the command line; the configuration file names the
   * owners.
   */
  readonly owner?: 'runtimeBackend';
  /** The setting that says for which target values of the configuration file are meant. */
  readonly place?: 'targetSlug';
  /** The setting whose value names the object in `targets` of the configuration file that can replace this one. */
  readonly perTarget?: 'targetSlug';
  /** Other names that people try in a configuration file, where a secret is not allowed. */
  readonly aliases?: readonly string[];
}

/** Sets of flags that a command can have, with their headings in help. */
export const flagSets = {
  /** The project, the backend, and how to reach it. */
  connection: 'CONNECTION',
  /** How to retry rate-limited requests. */
  rateLimit: 'RATE LIMIT',
  /** What goes into a bundle, and its description. */
  bundle: 'BUNDLE',
  /** How to push a bundle. */
  push: 'BUNDLE',
  /** Whether and how long to wait for a deployment. */
  wait: 'WAITING',
  /** What to do when another deployment to the target is running. */
  slot: 'WAITING',
  /** Where to write what happens. */
  events: 'CI',
  /** What to check after a deployment. */
  check: 'CHECK',
  /** What to do when a deployment or its check fails. */
  rollback: 'CHECK',
  /** What must hold before something is deployed to a target. */
  guard: 'GUARD',
} as const;
/** The name of a set of flags. */
type FlagSet = keyof typeof flagSets;

const secretHelp = 'Use @FILE to read it from a file, - for stdin.';
const globHelp = 'repeatable, comma-separated or a JSON array.';

const rows = {
  projectSlug: {
    label: 'project',
    set: 'connection',
    flag: {name: 'project', char: 'p', value: 'SLUG'},
    config: 'projectSlug',
    kind: kinds.slug,
    summary: 'Project slug, or the storefront ID for Api.',
  },
  targetSlug: {
    label: 'target',
    set: 'connection',
    flag: {name: 'target', char: 't', value: 'SLUG'},
    config: 'targetSlug',
    kind: kinds.slug,
    summary: 'Target slug, or the environment ID for Api.',
  },
  runtimeBackend: {
    label: 'backend',
    set: 'connection',
    flag: {name: 'runtime-backend', value: 'NAME'},
    config: 'runtimeBackend',
    kind: kinds.text,
    default: 'auto',
    summary: "{default} (default), api, legacy or the name of a plugin's backend.",
  },
  origin: {
    label: 'origin',
    set: 'connection',
    flag: {name: 'origin', value: 'URL'},
    // The library reads this variable, too.
    variable: 'MYCLI_RUNTIME_ORIGIN',
    config: 'origin',
    kind: kinds.address,
    summary: 'URL of the hosting service (legacy backend).',
  },
  apiKey: {
    label: 'API key',
    set: 'connection',
    flag: {name: 'api-key', value: 'KEY'},
    kind: kinds.secret,
    aliases: ['password'],
    summary: `API key for the legacy backend. ${secretHelp}`,
  },
  apiUser: {
    label: 'user of the API key',
    set: 'connection',
    flag: {name: 'api-user', value: 'NAME'},
    config: 'apiUser',
    kind: kinds.text,
    summary: 'User for the API key; switches from bearer to basic authentication.',
  },
  apiOrigin: {
    label: 'Api origin',
    set: 'connection',
    flag: {name: 'api-origin', value: 'URL'},
    config: 'api.origin',
    kind: kinds.address,
    summary: 'URL of the Api backend.',
  },
  organizationId: {
    label: 'organization',
    set: 'connection',
    flag: {name: 'organization', value: 'ID'},
    config: 'api.organizationId',
    kind: kinds.text,
    summary: 'Organization ID (Api backend).',
  },
  tokenUrl: {
    label: 'token URL',
    set: 'connection',
    flag: {name: 'token-url', value: 'URL'},
    config: 'api.tokenUrl',
    kind: kinds.address,
    summary: 'OAuth token endpoint (Api backend).',
  },
  clientId: {
    label: 'client ID',
    set: 'connection',
    flag: {name: 'client-id', value: 'ID'},
    config: 'api.clientId',
    kind: kinds.text,
    summary: 'OAuth client ID (Api backend).',
  },
  clientSecret: {
    label: 'client secret',
    set: 'connection',
    flag: {name: 'client-secret', value: 'SECRET'},
    kind: kinds.secret,
    aliases: ['secret'],
    summary: `OAuth client secret (Api backend). ${secretHelp}`,
  },
  scopes: {
    label: 'OAuth scopes',
    set: 'connection',
    flag: {name: 'scope', value: 'SCOPE'},
    config: 'api.scopes',
    kind: kinds.words,
    summary: 'OAuth scope (Api backend); repeatable.',
  },
  apiToken: {
    label: 'Api token',
    set: 'connection',
    flag: {name: 'api-token', value: 'TOKEN'},
    kind: kinds.secret,
    aliases: ['accessToken', 'token'],
    summary: `Access token (Api backend), instead of a client ID and secret. ${secretHelp}`,
  },
  backendOptions: {
    label: 'backend options',
    set: 'connection',
    flag: {name: 'backend-option', value: 'KEY=VALUE'},
    config: 'backends',
    kind: kinds.keyValuesByOwner,
    owner: 'runtimeBackend',
    place: 'targetSlug',
    default: {},
    summary: "Option for a plugin's backend; the value can be JSON; repeatable.",
  },
  requestTimeout: {
    label: 'request timeout',
    set: 'connection',
    flag: {name: 'request-timeout', value: 'SECONDS'},
    config: 'requestTimeout',
    kind: kinds.seconds(
      ` above 0 and at most ${String(longestTimeoutSeconds)}`,
      (value) => value > 0 && value <= longestTimeoutSeconds,
    ),
    default: 300,
    summary: 'Maximum wait for a response after the request is sent; default {default}.',
  },
  maxRetries: {
    label: 'number of retries',
    set: 'rateLimit',
    flag: {name: 'max-retries', value: 'N'},
    config: 'rateLimit.maxRetries',
    kind: kinds.count,
    default: defaultRateLimit.maxRetries,
    summary: 'Maximum number of retries; default {default}.',
  },
  baseDelayMs: {
    label: 'base delay of retries',
    set: 'rateLimit',
    flag: {name: 'retry-base-delay', value: 'MS'},
    config: 'rateLimit.baseDelayMs',
    kind: kinds.count,
    default: defaultRateLimit.baseDelayMs,
    summary: 'First delay if the server names none, doubled on each retry; default {default}.',
  },
  maxDelayMs: {
    label: 'longest delay of retries',
    set: 'rateLimit',
    flag: {name: 'retry-max-delay', value: 'MS'},
    config: 'rateLimit.maxDelayMs',
    kind: kinds.count,
    default: defaultRateLimit.maxDelayMs,
    summary: 'Maximum delay; default {default}.',
  },
  statusCodes: {
    label: 'rate limit statuses',
    set: 'rateLimit',
    flag: {name: 'retry-status', value: 'CODE'},
    config: 'rateLimit.statusCodes',
    kind: kinds.statuses,
    default: defaultRateLimit.statusCodes,
    summary: 'HTTP status to treat as a rate limit; repeatable; default {default}.',
  },
  rateLimitPrefix: {
    label: 'prefix of rate limit messages',
    set: 'rateLimit',
    config: 'rateLimit.prefix',
    kind: kinds.text,
    summary: 'Prefix for messages about rate limits.',
  },
  buildDirectory: {
    label: 'build directory',
    set: 'bundle',
    flag: {name: 'build-directory', char: 'b', value: 'DIR'},
    config: 'buildDirectory',
    kind: kinds.path,
    default: 'build',
    summary: 'Build output folder; default {default}.',
  },
  projectDirectory: {
    label: 'project directory',
    set: 'bundle',
    flag: {name: 'project-directory', value: 'DIR'},
    config: 'projectDirectory',
    kind: kinds.path,
    default: '.',
    summary: 'Folder that contains config.server.ts or .js; default: the working directory.',
  },
  message: {
    label: 'message',
    set: 'bundle',
    flag: {name: 'message', char: 'm', value: 'TEXT'},
    config: 'message',
    kind: kinds.text,
    summary: 'Bundle description; default: branch and commit, or the time.',
  },
  ssrOnly: {
    label: 'server-only patterns',
    set: 'bundle',
    flag: {name: 'ssr-only', value: 'GLOB'},
    config: 'ssrOnly',
    kind: kinds.list,
    building: true,
    summary: `Server-only files; ${globHelp}`,
  },
  ssrShared: {
    label: 'shared patterns',
    set: 'bundle',
    flag: {name: 'ssr-shared', value: 'GLOB'},
    config: 'ssrShared',
    kind: kinds.list,
    building: true,
    summary: `Files shared between server and client; ${globHelp}`,
  },
  static: {
    label: 'static site',
    set: 'bundle',
    flag: {name: 'static'},
    config: 'static',
    kind: kinds.toggle,
    building: true,
    summary: 'Bundle a static site: no server-only files, every file shared, patterns not strict.',
  },
  ssrParameters: {
    label: 'SSR parameters',
    set: 'bundle',
    flag: {name: 'ssr-param', value: 'KEY=VALUE'},
    config: 'ssrParameters',
    kind: kinds.keyValues,
    building: true,
    summary: 'SSR parameter; the value can be JSON; repeatable.',
  },
  nodeVersion: {
    label: 'Node.js version',
    set: 'bundle',
    flag: {name: 'node-version', char: 'n', value: 'VERSION'},
    kind: kinds.text,
    summary: 'Node.js version on the server; sets the SSR parameter SSRFunctionNodeVersion.',
  },
  v2: {
    label: 'v2 format',
    set: 'push',
    flag: {name: 'v2'},
    config: 'v2',
    kind: kinds.toggle,
    default: false,
    summary: 'Use the v2 format with the legacy backend; Api always uses v2.',
  },
  ifChanged: {
    label: 'comparison with the last push',
    set: 'push',
    flag: {name: 'if-changed'},
    config: 'ifChanged',
    kind: kinds.toggle,
    default: false,
    summary: 'Skip the upload if the bundle is unchanged since the last push to the same project and backend.',
  },
  rootDir: {
    label: 'root folder',
    set: 'bundle',
    flag: {name: 'root-dir', value: 'DIR'},
    config: 'rootDir',
    kind: kinds.text,
    v2Only: true,
    summary: `Root folder of the archive (v2); default ${v2Defaults.rootDir}.`,
  },
  configPath: {
    label: 'configuration path',
    set: 'bundle',
    flag: {name: 'config-path', value: 'PATH'},
    config: 'configPath',
    kind: kinds.text,
    v2Only: true,
    summary: `Path of the configuration, relative to the root folder (v2); default ${v2Defaults.configPath}.`,
  },
  matchMode: {
    label: 'match mode',
    set: 'bundle',
    flag: {name: 'match-mode'},
    config: 'matchMode',
    kind: kinds.oneOf(matchModeSchema),
    v2Only: true,
    summary: `Refuse (strict) or ignore patterns that match no file (v2); default ${v2Defaults.matchMode}.`,
  },
  dependencies: {
    label: 'dependencies',
    set: 'bundle',
    flag: {name: 'dependencies', value: 'JSON|@FILE|auto'},
    config: 'bundleMetadata.dependencies',
    kind: kinds.packages,
    building: true,
    summary: "Dependencies for the bundle's metadata; auto uses those declared in package.json.",
  },
  ccOverrides: {
    label: 'overrides',
    set: 'bundle',
    flag: {name: 'cc-override', value: 'ID'},
    config: 'bundleMetadata.ccOverrides',
    kind: kinds.list,
    v2Only: true,
    building: true,
    summary: "Override ID for the bundle's metadata; repeatable.",
  },
  ignore: {
    label: 'ignore patterns',
    set: 'bundle',
    flag: {name: 'ignore', value: 'GLOB'},
    config: 'ignore',
    kind: kinds.list,
    building: true,
    summary: `Files to exclude, as in .bundleignore; ${globHelp}`,
  },
  allowSensitiveFiles: {
    label: 'permission for sensitive files',
    set: 'bundle',
    flag: {name: 'allow-sensitive-files'},
    config: 'allowSensitiveFiles',
    kind: kinds.toggle,
    default: false,
    summary:
      'Include files whose names suggest secrets (.env*, .npmrc, private keys) even if they are not server-only.',
  },
  compressionLevel: {
    label: 'compression level',
    set: 'bundle',
    flag: {name: 'compression-level', value: '0-9'},
    config: 'compressionLevel',
    kind: kinds.number(compressionLevelSchema),
    v2Only: true,
    building: true,
    summary: `gzip level, from 0 (none) to 9 (smallest archive) (v2); default ${v2Defaults.compressionLevel}.`,
  },
  ...deploymentRows,
  events: {
    label: 'events',
    set: 'events',
    flag: {name: 'events', value: 'FILE|-|fd:N'},
    kind: kinds.text,
    summary: 'Write each step, progress, wait and the outcome as a line of JSON to a file, - (stdout) or a descriptor.',
  },
  ...guardRows,
} as const satisfies Readonly<Record<string, SettingDefinition>>;

/** The name of a setting. */
export type SettingKey = keyof typeof rows;
/** The name of a setting that always has a value. */
export type DefaultedKey = {
  [K in SettingKey]: (typeof rows)[K] extends {default: unknown} ? K : never;
}[SettingKey];
/** The value of a setting. */
export type SettingValue<K extends SettingKey> = (typeof rows)[K]['kind'] extends kinds.Kind<infer T> ? T : never;
/** The name of a setting that is a secret. */
export type SecretKey = {
  [K in SettingKey]: SettingValue<K> extends Secret ? K : never;
}[SettingKey];
/** The flags of each set for oclif. `Shapes` has the flag type of each shape. */
export type FlagsBySet<Shapes extends Readonly<Record<kinds.FlagShape, unknown>>> = {
  readonly [Set in FlagSet]: {
    [
      K in SettingKey as (typeof rows)[K] extends {set: Set; flag: {name: infer Name extends string}} ? Name : never
    ]: Shapes[(typeof rows)[K]['kind']['shape']];
  };
};

/** Every setting, in display order. */
export const definitions: {readonly [K in SettingKey]: SettingDefinition<SettingValue<K>>} = rows;

/** The name of every setting. */
export const settingKeys: readonly SettingKey[] = Object.keys(rows) as SettingKey[];

/** The names of those that are secrets. */
export const secretKeys = settingKeys.filter((key): key is SecretKey => definitions[key].kind === kinds.secret);

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
