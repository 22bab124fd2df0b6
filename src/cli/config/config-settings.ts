import {resolve} from 'node:path';
import type {BundleV2MatchMode} from '../../bundle/types.js';
import type {BackendOptions} from '../settings/settings.js';
import type {ConfigFile} from './config-schema.js';

/** What a configuration file says about settings. Unset keys are `undefined`. */
export interface ConfigSettings {
  readonly runtimeBackend?: string | undefined;
  readonly projectSlug?: string | undefined;
  readonly targetSlug?: string | undefined;
  readonly origin?: string | undefined;
  readonly apiUser?: string | undefined;
  readonly apiOrigin?: string | undefined;
  readonly organizationId?: string | undefined;
  readonly tokenUrl?: string | undefined;
  readonly clientId?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly backendOptions?: BackendOptions | undefined;
  readonly requestTimeout?: number | undefined;
  readonly maxRetries?: number | undefined;
  readonly baseDelayMs?: number | undefined;
  readonly maxDelayMs?: number | undefined;
  readonly statusCodes?: readonly number[] | undefined;
  readonly rateLimitPrefix?: string | undefined;
  readonly buildDirectory?: string | undefined;
  readonly projectDirectory?: string | undefined;
  readonly message?: string | undefined;
  readonly ssrOnly?: readonly string[] | undefined;
  readonly ssrShared?: readonly string[] | undefined;
  readonly ssrParameters?: Readonly<Record<string, unknown>> | undefined;
  readonly v2?: boolean | undefined;
  readonly ifChanged?: boolean | undefined;
  readonly rootDir?: string | undefined;
  readonly configPath?: string | undefined;
  readonly matchMode?: BundleV2MatchMode | undefined;
  readonly dependencies?: Readonly<Record<string, string>> | undefined;
  readonly ccOverrides?: readonly string[] | undefined;
  readonly ignore?: readonly string[] | undefined;
  readonly allowSensitiveFiles?: boolean | undefined;
  readonly compressionLevel?: number | undefined;
  readonly wait?: boolean | undefined;
  readonly waitForSlot?: boolean | undefined;
  readonly pollInterval?: number | undefined;
  readonly timeout?: number | undefined;
}

/** The settings of a validated configuration file. Its paths are relative to `directory`, the folder that it is in. */
export function configSettings(config: ConfigFile, directory: string): ConfigSettings {
  const {$schema: _, api, rateLimit, backends, bundleMetadata, buildDirectory, projectDirectory, ...same} = config;
  return {
    ...same,
    apiOrigin: api?.origin,
    organizationId: api?.organizationId,
    tokenUrl: api?.tokenUrl,
    clientId: api?.clientId,
    scopes: api?.scopes,
    backendOptions: backends,
    maxRetries: rateLimit?.maxRetries,
    baseDelayMs: rateLimit?.baseDelayMs,
    maxDelayMs: rateLimit?.maxDelayMs,
    statusCodes: rateLimit?.statusCodes,
    rateLimitPrefix: rateLimit?.prefix,
    dependencies: bundleMetadata?.dependencies,
    ccOverrides: bundleMetadata?.ccOverrides,
    buildDirectory: buildDirectory === undefined ? undefined : resolve(directory, buildDirectory),
    projectDirectory: projectDirectory === undefined ? undefined : resolve(directory, projectDirectory),
  };
}
