import * as v from 'valibot';
import {isExclusion, patternProblem, showPattern} from '../files/patterns.js';
import {dependenciesSchema, jsonObjectSchema, objectSchema} from '../../settings/schemas.js';
import type {BundleConfig} from '../types.js';

/** The configuration as JSON. Keys are sorted, so equal configurations have equal bytes. */
export function configJson(config: BundleConfig): string {
  return `${JSON.stringify(config, sortedKeys, 2)}\n`;
}

function sortedKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

const pattern = v.pipe(
  v.string('must be a string'),
  v.check(
    (text) => patternProblem(text) === undefined,
    ({input}) => `${patternProblem(input) ?? 'is not a glob pattern'}: ${showPattern(input)}`,
  ),
);

const patterns = v.array(pattern, 'must be an array of glob patterns');

const ssrOnly = v.pipe(
  patterns,
  v.check((list) => list.some((text) => !isExclusion(text)), 'must have at least one pattern'),
);

const bundleMetadata = v.pipe(
  objectSchema,
  v.object({
    dependencies: v.optional(dependenciesSchema),
    ccOverrides: v.optional(v.array(v.string('must be a string'), 'must be an array of IDs')),
  }),
);

const serverEntries = {
  ssrOnly: v.optional(ssrOnly),
  ssrShared: v.optional(patterns),
  ssrParameters: v.optional(jsonObjectSchema),
};

/** A bundle's configuration as options. */
export const contentSchema = v.object({...serverEntries, bundleMetadata: v.optional(bundleMetadata)});

/** A `config.server.*` file. Its metadata is never used. */
export const serverConfigSchema = v.pipe(objectSchema, v.object(serverEntries));

export const serverConfigKeys: readonly string[] = Object.keys(serverEntries);

/** An on-disk v2 configuration file. Unknown top-level keys are kept; unknown keys of `bundleMetadata` are dropped. */
export const diskConfigSchema = v.pipe(
  objectSchema,
  v.check(
    (config) => !['__proto__', 'constructor', 'prototype'].some((key) => Object.hasOwn(config, key)),
    'must not have a key named __proto__, constructor or prototype',
  ),
  v.looseObject({...serverEntries, bundleMetadata: v.optional(bundleMetadata)}),
);

/** The configuration inside an archive, to which no defaults apply. */
export const archivedConfigSchema = v.pipe(
  objectSchema,
  v.looseObject({
    // Empty in the bundle of a static site.
    ssrOnly: patterns,
    ssrShared: patterns,
    ssrParameters: v.optional(jsonObjectSchema, {}),
    bundleMetadata: v.optional(bundleMetadata),
  }),
);
