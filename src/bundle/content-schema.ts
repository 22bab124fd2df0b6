import * as v from 'valibot';
import {notJson} from './config-json.js';
import {isExclusion, patternListProblem, patternProblem} from './patterns.js';
import type {BundleConfig} from './types.js';

const object = v.custom<Readonly<Record<string, unknown>>>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'must be an object',
);

const usablePattern = v.pipe(
  v.string(),
  v.check(
    (pattern) => patternProblem(pattern) === undefined,
    ({input}) => patternProblem(input) ?? 'is not a glob pattern',
  ),
);

const patterns = v.pipe(
  v.array(v.string('must be a text'), 'must be a list of glob patterns'),
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
  object,
  v.check(
    (parameters) => notJson(parameters, '') === undefined,
    (issue) => `holds what JSON cannot carry, at ${notJson(issue.input, 'ssrParameters') ?? 'ssrParameters'}`,
  ),
);

/** Packages by name. A map on the way: `v.record` silently leaves out some names, such as `constructor`. */
export const dependenciesSchema = v.pipe(
  object,
  v.transform((dependencies) => new Map(Object.entries(dependencies))),
  v.map(v.string(), v.string('must be a version range')),
  v.transform((dependencies): Record<string, string> => Object.fromEntries(dependencies)),
);

const bundleMetadata = v.pipe(
  object,
  v.object({
    dependencies: v.optional(dependenciesSchema),
    ccOverrides: v.optional(v.array(v.string('must be a text'), 'must be a list of ids')),
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
export const serverConfigSchema = v.pipe(object, v.object(serverEntries));

/** The keys of a `config.server.*` file. */
export const serverConfigKeys: readonly string[] = Object.keys(serverEntries);

/** An on-disk v2 configuration file. Its unknown top-level keys are kept, those of `bundleMetadata` are dropped. */
export const diskConfigSchema = v.pipe(
  object,
  v.looseObject({...serverEntries, bundleMetadata: v.optional(bundleMetadata)}),
);

/** The configuration inside an archive, where nothing can be filled in any more. */
export const archivedConfigSchema = v.pipe(
  object,
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

/** What is wrong with a value, one sentence without a subject for each field that is. */
export interface FieldProblem {
  /** Such as `ssrOnly`, or `bundleMetadata.dependencies.react`; '' is the value itself. */
  readonly field: string;
  readonly message: string;
}

/** The fields of a failed validation. */
export function fieldProblems(issues: readonly v.BaseIssue<unknown>[]): readonly FieldProblem[] {
  return issues.map((issue) => ({field: v.getDotPath(issue) ?? '', message: issue.message}));
}

/** `ssrOnly must be a list of glob patterns; ...` */
export function describeProblems(problems: readonly FieldProblem[]): string {
  return problems.map(({field, message}) => `${field || 'it'} ${message}`).join('; ');
}
