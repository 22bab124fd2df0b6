import * as v from 'valibot';
import {longestTimeoutSeconds} from '../settings/parsers.js';

const text = v.pipe(
  v.string(),
  v.check((value) => value.trim() !== '', 'must not be empty'),
);
const texts = v.array(text);
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const status = v.pipe(v.number(), v.integer(), v.minValue(100), v.maxValue(599));
const anything = v.record(v.string(), v.unknown());

/** Everything that a configuration file may hold. No secret is among it. */
export const configSchema = v.object({
  projectSlug: v.optional(text),
  targetSlug: v.optional(text),
  runtimeBackend: v.optional(text),
  origin: v.optional(text),
  apiUser: v.optional(text),
  api: v.optional(
    v.object({
      origin: v.optional(text),
      organizationId: v.optional(text),
      tokenUrl: v.optional(text),
      clientId: v.optional(text),
      scopes: v.optional(texts),
    }),
  ),
  requestTimeout: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(longestTimeoutSeconds))),
  rateLimit: v.optional(
    v.object({
      maxRetries: v.optional(count),
      baseDelayMs: v.optional(count),
      maxDelayMs: v.optional(count),
      statusCodes: v.optional(v.array(status)),
      prefix: v.optional(text),
    }),
  ),
  buildDirectory: v.optional(text),
  projectDirectory: v.optional(text),
  message: v.optional(text),
  ssrOnly: v.optional(texts),
  ssrShared: v.optional(texts),
  ssrParameters: v.optional(anything),
  v2: v.optional(v.boolean()),
  ifChanged: v.optional(v.boolean()),
  rootDir: v.optional(text),
  configPath: v.optional(text),
  matchMode: v.optional(v.picklist(['strict', 'ignore_missing'])),
  bundleMetadata: v.optional(
    v.object({dependencies: v.optional(v.record(v.string(), v.string())), ccOverrides: v.optional(texts)}),
  ),
  ignore: v.optional(texts),
  compressionLevel: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(9))),
  wait: v.optional(v.boolean()),
  waitForSlot: v.optional(v.boolean()),
  pollInterval: v.optional(v.pipe(v.number(), v.finite(), v.gtValue(0))),
  timeout: v.optional(v.pipe(v.number(), v.finite(), v.minValue(0))),
  backends: v.optional(v.record(v.string(), anything)),
});

/** A validated configuration file. */
export type ConfigFile = v.InferOutput<typeof configSchema>;

/** Known keys by the object that they belong to; `''` is the file itself. */
export const configKeys: Readonly<Record<string, readonly string[]>> = {
  '': Object.keys(configSchema.entries),
  api: Object.keys(configSchema.entries.api.wrapped.entries),
  rateLimit: Object.keys(configSchema.entries.rateLimit.wrapped.entries),
  bundleMetadata: Object.keys(configSchema.entries.bundleMetadata.wrapped.entries),
};
