import * as v from 'valibot';
import {notJson} from './config-json.js';
import {dependenciesSchema, objectSchema} from '../option-schemas.js';
import {isExclusion, patternListProblem, patternProblem} from '../files/patterns.js';
import type {BundleConfig} from '../types.js';

const usablePattern = v.pipe(
  v.string(),
  v.check(
    (pattern) => patternProblem(pattern) === undefined,
    ({input}) => patternProblem(input) ?? 'is not a glob pattern',
  ),
);

const patterns = v.pipe(
  v.array(v.string('must be a string'), 'must be an array of glob patterns'),
  v.check(
    (list) => patternListProblem(list) === undefined,
    ({input}) => patternListProblem(input) ?? 'is too long',
  ),
  // It is not asked when the list is too long.
  v.array(usablePattern),
);

const ssrOnly = v.pipe(
  patterns,
  v.check((list) => list.some((pattern) => !isExclusion(pattern)), 'must name at least one server-only file'),
);

const ssrParameters = v.pipe(
  objectSchema,
  v.check(
    (parameters) => notJson(parameters, '') === undefined,
    (issue) => `holds what JSON cannot carry, at ${notJson(issue.input, 'ssrParameters') ?? 'ssrParameters'}`,
  ),
);

const bundleMetadata = v.pipe(
  objectSchema,
  v.object({
    dependencies: v.optional(dependenciesSchema),
    ccOverrides: v.optional(v.array(v.string('must be a string'), 'must be an array of ids')),
  }),
);

const serverEntries = {
  ssrOnly: v.optional(ssrOnly),
  ssrShared: v.optional(patterns),
  ssrParameters: v.optional(ssrParameters),
};

/** What options may say about a bundle's configuration. */
export const contentSchema = v.object({...serverEntries, bundleMetadata: v.optional(bundleMetadata)});

/** What a `config.server.*` file says: metadata never comes from it. */
export const serverConfigSchema = v.pipe(objectSchema, v.object(serverEntries));

/** The keys of a `config.server.*` file. */
export const serverConfigKeys: readonly string[] = Object.keys(serverEntries);

/** An on-disk v2 configuration file. Its unknown top-level keys are kept, those of `bundleMetadata` are dropped. */
export const diskConfigSchema = v.pipe(
  objectSchema,
  v.looseObject({...serverEntries, bundleMetadata: v.optional(bundleMetadata)}),
);

/** The configuration inside an archive, where nothing can be filled in any more. */
export const archivedConfigSchema = v.pipe(
  objectSchema,
  v.looseObject({
    ssrOnly,
    ssrShared: patterns,
    ssrParameters: v.optional(ssrParameters, {}),
    bundleMetadata: v.optional(bundleMetadata),
  }),
);

/** What a source of settings says about a bundle's configuration. */
export type BundleContent = {
  readonly [Key in 'ssrOnly' | 'ssrShared' | 'ssrParameters' | 'bundleMetadata']?: BundleConfig[Key] | undefined;
};
