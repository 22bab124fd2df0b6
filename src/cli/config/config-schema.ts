import * as v from 'valibot';
import {isRecord, longestTimeoutSeconds} from '../settings/parsers.js';

const text = v.pipe(
  v.string('must be a text'),
  v.check((value) => value.trim() !== '', 'must not be empty'),
);
const texts = v.array(text, 'must be a list of texts');
const flag = v.boolean('must be true or false');
/** @param expected Ends the sentence "maxRetries must be ...". */
const number = (expected: string, isRight: (value: number) => boolean) => {
  const message = `must be ${expected}`;
  return v.pipe(v.number(message), v.check(isRight, message));
};
const count = number('a whole number, 0 or more', (value) => Number.isSafeInteger(value) && value >= 0);
const status = number('a status, 100 to 599', (value) => Number.isInteger(value) && value >= 100 && value <= 599);
const seconds = number('a number of seconds, 0 or more', (value) => Number.isFinite(value) && value >= 0);
const requestTimeout = number(
  `a number of seconds above 0, at most ${String(longestTimeoutSeconds)}`,
  (value) => value > 0 && value <= longestTimeoutSeconds,
);
/** valibot alone takes a list for an object. */
const object = v.custom<object>(isRecord, 'must be an object');
const anything = v.pipe(object, v.record(v.string(), v.unknown()));

const api = {
  origin: v.optional(text),
  organizationId: v.optional(text),
  tokenUrl: v.optional(text),
  clientId: v.optional(text),
  scopes: v.optional(texts),
};

const rateLimit = {
  maxRetries: v.optional(count),
  baseDelayMs: v.optional(count),
  maxDelayMs: v.optional(count),
  statusCodes: v.optional(v.array(status, 'must be a list of statuses')),
  prefix: v.optional(text),
};

const bundleMetadata = {
  dependencies: v.optional(v.pipe(object, v.record(v.string(), v.string('must be a version range')))),
  ccOverrides: v.optional(texts),
};

/** Everything that a configuration file may hold. No secret is among it. */
export const configSchema = v.object({
  /** For editors. */
  $schema: v.optional(text),
  projectSlug: v.optional(text),
  targetSlug: v.optional(text),
  runtimeBackend: v.optional(text),
  origin: v.optional(text),
  apiUser: v.optional(text),
  api: v.optional(v.pipe(object, v.object(api))),
  requestTimeout: v.optional(requestTimeout),
  rateLimit: v.optional(v.pipe(object, v.object(rateLimit))),
  buildDirectory: v.optional(text),
  projectDirectory: v.optional(text),
  message: v.optional(text),
  ssrOnly: v.optional(texts),
  ssrShared: v.optional(texts),
  ssrParameters: v.optional(anything),
  v2: v.optional(flag),
  ifChanged: v.optional(flag),
  rootDir: v.optional(text),
  configPath: v.optional(text),
  matchMode: v.optional(v.picklist(['strict', 'ignore_missing'], 'must be strict or ignore_missing')),
  bundleMetadata: v.optional(v.pipe(object, v.object(bundleMetadata))),
  ignore: v.optional(texts),
  allowSensitiveFiles: v.optional(flag),
  compressionLevel: v.optional(
    number('a whole number, 0 to 9', (value) => Number.isInteger(value) && value >= 0 && value <= 9),
  ),
  wait: v.optional(flag),
  waitForSlot: v.optional(flag),
  pollInterval: v.optional(number('a number of seconds above 0', (value) => Number.isFinite(value) && value > 0)),
  timeout: v.optional(seconds),
  backends: v.optional(v.pipe(object, v.record(v.string(), anything))),
});

/** Checks a configuration file. */
export const parseConfigFile = v.safeParser(configSchema);

/** A validated configuration file. */
export type ConfigFile = v.InferOutput<typeof configSchema>;

/** Known keys by the object that they belong to; `''` is the file itself. */
export const configKeys: Readonly<Record<string, readonly string[]>> = {
  '': Object.keys(configSchema.entries),
  api: Object.keys(api),
  rateLimit: Object.keys(rateLimit),
  bundleMetadata: Object.keys(bundleMetadata),
};
