import type {ConfigSource} from './config-sources.js';
import type {PatternLists} from '../files/patterns.js';
import type {BundleConfig, BundleV2Metadata} from '../types.js';

/** The source of a setting's value. */
export interface SettingSource {
  /**
   * `ssrOnly`, `ssrShared`, `ssrParameters`, `bundleMetadata.dependencies`, `bundleMetadata.ccOverrides` or `message`.
   */
  readonly setting: string;
  /** `option`, `default`, `static`, `git`, `time` or a file. Merged values have several, highest precedence first. */
  readonly from: string;
}

/** A resolved configuration, and its sources. */
export interface ResolvedConfig {
  readonly config: BundleConfig;
  readonly sources: readonly SettingSource[];
}

/** The default patterns. `withoutUnmatched` omits those that match no file. */
export const defaultPatterns = {
  ssrOnly: ['ssr.js', 'ssr.mjs', 'server/**/*'],
  ssrShared: ['static/**/*', 'client/**/*'],
} as const;

/**
 * The patterns of a static site, of which `withoutUnmatched` omits some, too. Wildcards do not match a leading dot, but
 * `.well-known` belongs to a site.
 */
const staticPatterns = {ssrOnly: [], ssrShared: ['**/*', '**/.*', '**/.*/**/*']} as const;

const defaultParameters = {SSRFunctionNodeVersion: '24.x'};

/** The source of defaults. */
export const defaultSource = 'default';

/**
 * Resolves the configuration of a bundle. Each key comes from the first of `sources` that has it, else from the
 * defaults. `ssrParameters` are merged over each other and over the defaults.
 * @param sources Highest precedence first. Only options and the on-disk file have metadata.
 * @param isStatic Shares every file, whatever the sources say.
 */
export function resolveConfig(sources: readonly ConfigSource[], isStatic = false): ResolvedConfig {
  const patternSources = isStatic
    ? {sources: [], patterns: staticPatterns, from: 'static'}
    : {sources, patterns: defaultPatterns, from: defaultSource};
  const ssrOnly = patternsOf('ssrOnly', patternSources);
  const ssrShared = patternsOf('ssrShared', patternSources);
  const parameters = sources.filter(({content}) => content.ssrParameters !== undefined);
  const metadata = metadataOf(sources);
  return {
    config: {
      ...merge(sources.map(({otherKeys = {}}) => otherKeys)),
      ssrOnly: ssrOnly.value,
      ssrShared: ssrShared.value,
      ssrParameters: merge([
        defaultParameters,
        ...parameters.toReversed().map(({content}) => content.ssrParameters ?? {}),
      ]),
      ...(metadata.sources.length > 0 && {bundleMetadata: metadata.value}),
    },
    sources: [
      {setting: 'ssrOnly', from: ssrOnly.from},
      {setting: 'ssrShared', from: ssrShared.from},
      {setting: 'ssrParameters', from: [...parameters.map(({from}) => from), defaultSource].join(', ')},
      ...metadata.sources,
    ],
  };
}

/** Whether a list of patterns is a default one. Its source does not tell: a file can be called `default`, too. */
export function isDefaultList({config}: ResolvedConfig, key: keyof PatternLists): boolean {
  return config[key] === defaultPatterns[key] || config[key] === staticPatterns[key];
}

/**
 * A resolved configuration without those of its default patterns that match no file.
 * @param unmatched The patterns that match no file on their own.
 */
export function withoutUnmatched(resolved: ResolvedConfig, unmatched: PatternLists): ResolvedConfig {
  const {config, sources} = resolved;
  const remaining = (key: keyof PatternLists): readonly string[] =>
    isDefaultList(resolved, key) ? config[key].filter((pattern) => !unmatched[key].includes(pattern)) : config[key];
  return {config: {...config, ssrOnly: remaining('ssrOnly'), ssrShared: remaining('ssrShared')}, sources};
}

/** The sources of patterns: the first of `sources` that has some, else `patterns`. */
interface PatternSources {
  readonly sources: readonly ConfigSource[];
  readonly patterns: PatternLists;
  readonly from: string;
}

function patternsOf(
  key: 'ssrOnly' | 'ssrShared',
  {sources, patterns, from: fallback}: PatternSources,
): {readonly value: readonly string[]; readonly from: string} {
  for (const {content, from} of sources) {
    const value = content[key];
    if (value !== undefined) return {value, from};
  }
  return {value: patterns[key], from: fallback};
}

function metadataOf(sources: readonly ConfigSource[]): {value: BundleV2Metadata; sources: readonly SettingSource[]} {
  const dependencies = sources.find(({content}) => content.bundleMetadata?.dependencies !== undefined);
  const ccOverrides = sources.find(({content}) => content.bundleMetadata?.ccOverrides !== undefined);
  return {
    value: {
      ...(dependencies && {dependencies: dependencies.content.bundleMetadata?.dependencies}),
      ...(ccOverrides && {ccOverrides: ccOverrides.content.bundleMetadata?.ccOverrides}),
    },
    sources: [
      ...(dependencies ? [{setting: 'bundleMetadata.dependencies', from: dependencies.from}] : []),
      ...(ccOverrides ? [{setting: 'bundleMetadata.ccOverrides', from: ccOverrides.from}] : []),
    ],
  };
}

/** Merges records; later ones win. Undefined values are ignored. */
function merge(records: readonly Readonly<Record<string, unknown>>[]): Record<string, unknown> {
  return Object.fromEntries(
    records.flatMap((record) => Object.entries(record)).filter(([, value]) => value !== undefined),
  );
}
