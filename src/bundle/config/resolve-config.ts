import {dotNames, everythingIn} from '../../frameworks/server-files.js';
import type {ConfigSource} from './config-sources.js';
import type {PatternLists} from '../files/patterns.js';
import type {BundleConfig} from '../types.js';

/** The source of a setting's value. */
export interface SettingSource {
  /**
   * `ssrOnly`, `ssrShared`, `ssrParameters`, `bundleMetadata.dependencies`, `bundleMetadata.ccOverrides` or `message`.
   */
  readonly setting: string;
  /**
   * `option`, `default`, `static`, `git`, `time`, the name of a framework or a file. Merged values have several,
   * highest precedence first.
   */
  readonly from: string;
}

/** A resolved configuration, and its sources. */
export interface ResolvedConfig {
  readonly config: BundleConfig;
  readonly sources: readonly SettingSource[];
  /** Patterns that are left out if they match no file. */
  readonly optional: PatternLists;
}

/** The modules that a service starts if nothing else is said. */
export const defaultEntries: readonly string[] = ['ssr.js', 'ssr.mjs'];

/** The default patterns of a build with these files. `withoutUnmatched` omits those that match none. */
export function defaultPatterns(paths: readonly string[]): PatternLists {
  const depth = Math.max(1, dotNames(paths));
  return {
    ssrOnly: [...defaultEntries, ...everythingIn('server/', depth)],
    ssrShared: ['static/**/*', 'client/**/*'],
  };
}

/** Wildcards do not match a leading dot, but `.well-known` belongs to a site. */
const staticPatterns = {ssrOnly: [], ssrShared: ['**/*', '**/.*', '**/.*/**/*']} as const;

const defaultParameters = {SSRFunctionNodeVersion: '24.x'};

export const defaultSource = 'default';

/** What the patterns of a bundle fall back to. */
interface Fallback {
  /** The files of the build. @default none */
  readonly paths?: readonly string[] | undefined;
  /** Shares every file, whatever the sources say. */
  readonly static?: boolean | undefined;
  /** The framework of the build, whose patterns come before the defaults. */
  readonly framework?: {readonly name: string; readonly lists: PatternLists} | undefined;
}

/**
 * Each key comes from the first of `sources` (highest precedence first) that has it, else from the framework or the
 * defaults. `ssrParameters` are merged over each other and over the defaults.
 */
export function resolveConfig(sources: readonly ConfigSource[], fallback: Fallback = {}): ResolvedConfig {
  const ssrOnly = patternsOf('ssrOnly', sources, fallback);
  const ssrShared = patternsOf('ssrShared', sources, fallback);
  const parameters = sources.filter(({content}) => content.ssrParameters !== undefined);
  const metadata = metadataOf(sources);
  return {
    config: {
      ...merge(sources.map(({otherKeys = {}}) => otherKeys)),
      ssrOnly: ssrOnly.value,
      ssrShared: ssrShared.value,
      ssrParameters: mergeParameters([
        defaultParameters,
        ...parameters.toReversed().map(({content}) => content.ssrParameters ?? {}),
      ]),
      ...(metadata.length > 0 && {bundleMetadata: Object.fromEntries(metadata.map(({key, value}) => [key, value]))}),
    },
    sources: [
      {setting: 'ssrOnly', from: ssrOnly.from},
      {setting: 'ssrShared', from: ssrShared.from},
      {setting: 'ssrParameters', from: [...parameters.map(({from}) => from), defaultSource].join(', ')},
      ...metadata.map(({key, from}) => ({setting: `bundleMetadata.${key}`, from})),
    ],
    optional: {ssrOnly: ssrOnly.optional, ssrShared: ssrShared.optional},
  };
}

/** Merges parameters. The Node version has two spellings, of which services know either: one is sent, the last. */
function mergeParameters(records: readonly Readonly<Record<string, unknown>>[]): Record<string, unknown> {
  const isNodeVersion = (name: string) => name.toLowerCase() === 'ssrfunctionnodeversion';
  const names = records.flatMap((record) => Object.keys(record).filter(isNodeVersion));
  const entries = Object.entries(merge(records));
  return Object.fromEntries(entries.filter(([name]) => !isNodeVersion(name) || name === names.at(-1)));
}

/** A resolved configuration without those of its optional patterns that match no file. */
export function withoutUnmatched(resolved: ResolvedConfig, unmatched: PatternLists): ResolvedConfig {
  const {config, optional} = resolved;
  const remaining = (key: keyof PatternLists): readonly string[] =>
    config[key].filter((pattern) => !unmatched[key].includes(pattern) || !optional[key].includes(pattern));
  return {...resolved, config: {...config, ssrOnly: remaining('ssrOnly'), ssrShared: remaining('ssrShared')}};
}

function patternsOf(
  key: 'ssrOnly' | 'ssrShared',
  sources: readonly ConfigSource[],
  {static: isStatic = false, framework, paths = []}: Fallback,
) {
  if (isStatic) return {value: staticPatterns[key], from: 'static', optional: staticPatterns[key]};
  for (const {content, from, optional = []} of sources) {
    const value = content[key];
    if (value !== undefined) return {value, from, optional};
  }
  if (framework !== undefined) {
    const {name, lists} = framework;
    return {value: lists[key], from: name, optional: lists[key]};
  }
  const own = defaultPatterns(paths)[key];
  return {value: own, from: defaultSource, optional: own};
}

/** The metadata, each key from the first source that has it. */
function metadataOf(sources: readonly ConfigSource[]) {
  return (['dependencies', 'ccOverrides'] as const).flatMap((key) => {
    const source = sources.find(({content}) => content.bundleMetadata?.[key] !== undefined);
    return source === undefined ? [] : [{key, from: source.from, value: source.content.bundleMetadata?.[key]}];
  });
}

/** Merges records; later ones win. Undefined values are ignored. */
function merge(records: readonly Readonly<Record<string, unknown>>[]): Record<string, unknown> {
  return Object.fromEntries(
    records.flatMap((record) => Object.entries(record)).filter(([, value]) => value !== undefined),
  );
}
