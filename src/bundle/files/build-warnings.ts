import {join} from 'node:path';
import * as v from 'valibot';
import {createError, nearest} from '../../errors/index.js';
import {parseJson} from '../../errors/json.js';
import {readTextFile} from '../../files/read-file.js';
import {defaultSource, defaultPatterns, type ResolvedConfig} from '../config/resolve-config.js';
import type {BundleFile, BundleContent} from '../types.js';
import {listPaths, showPath} from './entry-names.js';
import {pathsOf} from './file-table.js';
import {inTurns, type Turnwise} from './in-turns.js';
import {compilePatterns, unmatchedPatterns, countMatches, isExclusion, type PatternLists} from './patterns.js';
import type {Scan} from './scan.js';

/** The cache folders of frameworks and build tools. */
const cacheFolder =
  /^(?:.*\/)?(?:(?:\.next|\.nuxt|\.angular|\.nx)\/cache|node_modules\/\.cache|\.parcel-cache|\.turbo)\//;
/** Next.js writes this file next to its cache, so the build directory is `.next` itself. */
const nextMark = 'BUILD_ID';
const nextCache = 'cache/';

/** Maximum number of paths in a message. */
const listed = 5;
const script = /\.[cm]?js$/;
const patternSettings = ['ssrOnly', 'ssrShared'] as const;

/** Warnings about framework caches in the build. They can be larger than everything else, and are never read. */
export function cacheWarnings(files: Iterable<BundleFile>): string[] {
  let isNext = false;
  const caches = new Map<string, {bytes: number; files: number}>();
  for (const {path, size} of files) {
    // Files are sorted by path, so the mark comes before the cache.
    isNext ||= path === nextMark;
    const folder = cacheFolder.exec(path)?.[0] ?? (isNext && path.startsWith(nextCache) ? nextCache : undefined);
    if (folder === undefined) continue;
    const cache = caches.get(folder) ?? {bytes: 0, files: 0};
    caches.set(folder, {bytes: cache.bytes + size, files: cache.files + 1});
  }
  return [...caches].map(
    ([folder, cache]) =>
      `The build contains a framework's cache, ${showPath(folder)} (${describeSize(cache.bytes)}, ` +
      `files: ${String(cache.files)}). Pass --ignore '/${folder}' to exclude it.`,
  );
}

function describeSize(bytes: number): string {
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/**
 * Warnings about a build whose layout does not fit the default patterns: scripts that are neither server-only nor
 * shared, and patterns in package.json, which are not read. There are none if all patterns were given.
 */
export async function layoutWarnings(
  files: Iterable<BundleFile>,
  {sources}: ResolvedConfig,
  projectDirectory: string,
): Promise<readonly string[]> {
  const byDefault = patternSettings.filter((key) =>
    sources.some(({setting, from}) => setting === key && from === defaultSource),
  );
  if (byDefault.length === 0) return [];
  const unread = await readMobifySettings(projectDirectory);
  const ignored = byDefault.filter((key) => unread.includes(key));
  const flags = byDefault.map((key) => (key === 'ssrOnly' ? '--ssr-only GLOB' : '--ssr-shared GLOB')).join(' or ');
  const stray = strayScripts(files);
  return [
    ...(ignored.length === 0
      ? []
      : [
          `package.json sets ${ignored.map((key) => `mobify.${key}`).join(' and ')}, which mycli does not read, so the ` +
            `defaults apply. Move the patterns to config.server.ts, or pass ${flags}.`,
        ]),
    ...(stray === undefined
      ? []
      : [
          `These files are neither server-only nor shared: ${stray}. ` +
            `If the server runs or imports them, set ${byDefault.join(' or ')} (${flags}).`,
        ]),
  ];
}

/** Lists scripts that are neither server-only nor shared, those that look like a server's entry point first. */
function strayScripts(files: Iterable<BundleFile>): string | undefined {
  const [inServer, atRoot, elsewhere]: [string[], string[], string[]] = [[], [], []];
  let count = 0;
  for (const {path, ssrOnly, ssrShared} of files) {
    if (ssrOnly || ssrShared || !script.test(path)) continue;
    count += 1;
    const inOthers = path.includes('/') ? elsewhere : atRoot;
    const group = /(?:^|\/)server\//.test(path) ? inServer : inOthers;
    // There may be very many, and no more are listed.
    if (group.length < listed) group.push(path);
  }
  return count === 0 ? undefined : listPaths([...inServer, ...atRoot, ...elsewhere], listed, count);
}

const packageSchema = v.object({mobify: v.optional(v.record(v.string(), v.unknown()), {})});

/** The patterns in a project's package.json, where older tools read them. */
async function readMobifySettings(projectDirectory: string): Promise<readonly string[]> {
  try {
    const text = await readTextFile(join(projectDirectory, 'package.json'));
    return Object.keys(v.parse(packageSchema, parseJson(text)).mobify);
  } catch {
    // Problems with package.json do not matter here.
    return [];
  }
}

/**
 * Verifies that the bundle has its server-only files. An ignore rule that excludes everything an ssrOnly pattern
 * matches has hit an entry point. If some files of the pattern remain, it has not.
 * @throws RuntimeCliError `ERR_IGNORED_ENTRY`; `ERR_SSR_ENTRY_MISSING` when no default pattern of ssrOnly matches.
 */
export function verifyEntryPoints({config, sources}: ResolvedConfig, {files, ignored}: Scan): void {
  const isDefault = sources.some(({setting, from}) => setting === 'ssrOnly' && from === defaultSource);
  const expected = isDefault ? defaultPatterns.ssrOnly : config.ssrOnly;
  const missing = ignored.length === 0 ? [] : unmatchedPatterns(expected, files.paths);
  for (const pattern of missing) {
    const {matches} = compilePatterns([pattern]);
    const hit = ignored.find(({path}) => matches(path));
    if (hit) throw ignoredError(hit, pattern);
  }
  if (isDefault && config.ssrOnly.length === 0) throw missingError([...files.paths].includes('index.html'));
}

function ignoredError({path, rule}: {readonly path: string; readonly rule: string}, pattern: string): Error {
  return createError(
    'ERR_IGNORED_ENTRY',
    `The ignore rule "${rule}" excludes ${showPath(path)}, and with it everything that the ssrOnly pattern "${pattern}" matches.`,
    {
      suggestions: [
        'Correct the rule in .bundleignore or --ignore, or pass --ssr-only GLOB to choose other server-only files.',
      ],
      details: {path, rule, pattern},
    },
  );
}

function missingError(looksStatic: boolean): Error {
  return createError(
    'ERR_SSR_ENTRY_MISSING',
    `The build has no server-only file. Looked for ${defaultPatterns.ssrOnly.join(', ')}.`,
    {
      suggestions: [
        ...(looksStatic ? ['For a static site, pass --static or set static: true in mycli.config.'] : []),
        'Pass --ssr-only GLOB to choose the server-only files.',
        'Check that this is the folder that the build wrote (--build-directory, unless it is an argument).',
      ],
    },
  );
}

/** Limit for finding the closest file: characters of patterns times number of paths. */
const maxCompared = 20_000_000;

/**
 * Warnings about patterns that match no file.
 * @throws RuntimeCliError `ERR_PATTERN_INVALID` for patterns that take too long; `signal.reason` when aborted.
 */
export async function patternWarnings(
  patterns: PatternLists,
  paths: Iterable<string>,
  signal?: AbortSignal,
): Promise<string[]> {
  return unmatchedWarnings(patterns, {counts: await countMatches(patterns, paths, signal, 1), paths}, signal);
}

/** The same, given how many files each pattern matches, or only whether it matches one. */
export function unmatchedWarnings(
  patterns: PatternLists,
  {
    counts,
    paths,
  }: {readonly counts: {readonly [Key in keyof PatternLists]: readonly number[]}; readonly paths: Iterable<string>},
  signal?: AbortSignal,
): Promise<string[]> {
  function* warning(): Turnwise<string[]> {
    const warnings = [];
    let compared = 0;
    // Few bundles have such a pattern, and there may be very many paths.
    let all: readonly string[] | undefined;
    for (const setting of ['ssrOnly', 'ssrShared'] as const) {
      for (const [index, pattern] of patterns[setting].entries()) {
        if (counts[setting][index] !== 0 || isExclusion(pattern)) continue;
        yield;
        all ??= [...paths];
        compared += pattern.length * all.length;
        const near = compared > maxCompared ? undefined : nearestFile(pattern, all);
        const hint = near === undefined ? '' : `. The closest is "${near}"`;
        warnings.push(`The ${setting} pattern "${pattern}" matches no file${hint}.`);
      }
    }
    return warnings;
  }
  return inTurns(warning(), signal);
}

/** What to do about patterns that a strict server refuses. */
const strictAdvice = 'A strict server refuses the bundle: correct the pattern, or pass --match-mode ignore_missing.';

/** Warnings about a v2 bundle that a strict server will refuse. It is the server that matches patterns. */
export async function strictWarnings(
  {matchMode, config, files}: Pick<BundleContent, 'matchMode' | 'config'> & {readonly files: Iterable<BundleFile>},
  signal?: AbortSignal,
): Promise<string[]> {
  if (matchMode !== 'strict') return [];
  const warnings = await patternWarnings(config, pathsOf(files), signal);
  return warnings.map((warning) => `${warning} ${strictAdvice}`);
}

/** The file that a pattern was probably meant to match: one with a similar name, or in a folder with a similar name. */
function nearestFile(pattern: string, paths: readonly string[]): string | undefined {
  const file = nearest(pattern, paths);
  const [, folder] = /^([^*?[{(!]+)\//.exec(pattern) ?? [];
  if (file !== undefined || folder === undefined) return file;
  const folders = new Set(paths.flatMap((path) => (path.includes('/') ? [path.slice(0, path.lastIndexOf('/'))] : [])));
  const near = nearest(folder, [...folders]);
  return near === undefined ? undefined : paths.find((path) => path.startsWith(`${near}/`));
}
