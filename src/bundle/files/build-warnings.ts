import {createError} from '../../errors/index.js';
import {nearest} from '../../text/suggest.js';
import {defaultPatterns, defaultSource, type ResolvedConfig} from '../config/resolve-config.js';
import type {BundleFile, BundleContent} from '../types.js';
import {listPaths, showPath} from '../../text/entry-names.js';
import {compilePatterns, markFiles, noMarks, type PatternLists} from './patterns.js';
import type {Scan} from './scan.js';

/** The cache folders of frameworks and build tools. */
const cacheFolder =
  /^(?:.*\/)?(?:(?:\.next|\.nuxt|\.angular|\.nx)\/cache|node_modules\/\.cache|\.parcel-cache|\.turbo)\//;
/** Next.js writes this file next to its cache, so the build directory is `.next` itself. */
const nextMark = 'BUILD_ID';
const nextCache = 'cache/';
const ownConfiguration = /^mycli\.config\.(?:m?[jt]s|json)$/;

/** Maximum number of paths in a message. */
const listed = 5;
const script = /\.[cm]?js$/;
const patternSettings = ['ssrOnly', 'ssrShared'] as const;

/**
 * Warnings about files that are probably not meant to be in a bundle: caches of frameworks, which can be larger than
 * everything else and are never read, and our own configuration.
 */
export function unwantedFiles(files: readonly BundleFile[]): readonly string[] {
  const isNext = files.some(({path}) => path === nextMark);
  const caches = new Map<string, {bytes: number; files: number}>();
  for (const {path, size} of files) {
    const folder = cacheFolder.exec(path)?.[0] ?? (isNext && path.startsWith(nextCache) ? nextCache : undefined);
    if (folder === undefined) continue;
    const cache = caches.get(folder) ?? {bytes: 0, files: 0};
    caches.set(folder, {bytes: cache.bytes + size, files: cache.files + 1});
  }
  const published = files.filter(({ssrOnly}) => !ssrOnly);
  const own = published.filter(({path}) => ownConfiguration.test(path)).map(({path}) => path);
  const packages = published.filter(({path}) => path.startsWith('node_modules/') && !cacheFolder.test(path));
  return [
    ...[...caches].map(
      ([folder, cache]) =>
        `The build contains a framework's cache, ${showPath(folder)} (${describeSize(cache.bytes)}, ` +
        `files: ${String(cache.files)}). Pass --ignore '/${folder}' to exclude it.`,
    ),
    ...own.map(
      (path) =>
        `The bundle would publish ${path}, the configuration of mycli. Push the folder that the build wrote, or pass ` +
        `--ignore /${path} to exclude the file.`,
    ),
    ...(packages.length === 0
      ? []
      : [
          `The bundle would publish node_modules (files: ${String(packages.length)}). Push the folder that the build ` +
            'wrote, or pass --ignore /node_modules/ to exclude them.',
        ]),
  ];
}

function describeSize(bytes: number): string {
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/**
 * A warning about scripts that are neither server-only nor shared, in a build whose layout does not fit the default
 * patterns. There is none if all patterns were given.
 */
export function strayScripts(files: readonly BundleFile[], {sources}: ResolvedConfig): readonly string[] {
  const byDefault = patternSettings.filter((key) =>
    sources.some(({setting, from}) => setting === key && from === defaultSource),
  );
  const stray = files.filter(({path, ssrOnly, ssrShared}) => !ssrOnly && !ssrShared && script.test(path));
  if (byDefault.length === 0 || stray.length === 0) return [];
  // Those that look like a server's entry point come first.
  const rank = (path: string) => (/(?:^|\/)server\//.test(path) ? 0 : path.includes('/') ? 2 : 1);
  const paths = stray.map(({path}) => path).sort((a, b) => rank(a) - rank(b));
  const flags = byDefault.map((key) => (key === 'ssrOnly' ? '--ssr-only GLOB' : '--ssr-shared GLOB')).join(' or ');
  return [
    `These files are neither server-only nor shared: ${listPaths(paths, listed)}. ` +
      `If the server runs or imports them, set ${byDefault.join(' or ')} (${flags}).`,
  ];
}

/**
 * Verifies that the bundle has its server-only files. An ignore rule that excludes everything an ssrOnly pattern
 * matches has hit an entry point. If some files of the pattern remain, it has not; neither has one that only hits what
 * a framework's own patterns match besides its entries, such as source maps.
 * @param unmatched The patterns of ssrOnly that match no file, the default ones included.
 * @param entries The entry points of the framework's server, if it is known.
 * @throws RuntimeCliError `ERR_IGNORED_ENTRY`; `ERR_SSR_ENTRY_MISSING` when no default pattern of ssrOnly matches.
 */
export function verifyEntryPoints(
  {config, sources, optional}: ResolvedConfig,
  unmatched: readonly string[],
  {files, ignored}: Pick<Scan, 'files' | 'ignored'>,
  entries: readonly string[] | undefined,
): void {
  const isStatic = sources.some(({setting, from}) => setting === 'ssrOnly' && from === 'static');
  for (const pattern of ignored.length === 0 ? [] : unmatched) {
    const {matches} = compilePatterns([pattern]);
    const isEntry = (path: string) => entries?.includes(path) !== false || !optional.ssrOnly.includes(pattern);
    const hit = ignored.find(({path}) => matches(path) && isEntry(path));
    if (hit) throw ignoredError(hit, pattern);
  }
  const hasEntry = files.some(({path}) => entries?.includes(path));
  const lost = hasEntry || isStatic ? undefined : ignored.find(({path}) => entries?.includes(path));
  if (lost) throw ignoredError(lost, lost.path);
  if (!isStatic && config.ssrOnly.length === 0) throw missingError(files.some(({path}) => path === 'index.html'));
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

/** Warnings about patterns that match no file. */
export function unmatchedWarnings(unmatched: PatternLists, paths: readonly string[]): string[] {
  let compared = 0;
  return patternSettings.flatMap((setting) =>
    unmatched[setting].map((pattern) => {
      compared += pattern.length * paths.length;
      const near = compared > maxCompared ? undefined : nearestFile(pattern, paths);
      const hint = near === undefined ? '' : `. The closest is "${near}"`;
      return `The ${setting} pattern "${pattern}" matches no file${hint}.`;
    }),
  );
}

/** What to do about patterns that a strict server refuses. */
const strictAdvice = 'A strict server refuses the bundle: correct the pattern, or pass --match-mode ignore_missing.';

/**
 * Warnings about a bundle that a strict server will refuse. It is the server that matches patterns.
 * @throws RuntimeCliError `ERR_PATTERN_INVALID` for patterns that take too long; `signal.reason` when aborted.
 */
export async function strictWarnings(
  {matchMode, config, files}: Pick<BundleContent, 'matchMode' | 'config' | 'files'>,
  signal?: AbortSignal,
): Promise<string[]> {
  if (matchMode !== 'strict') return [];
  const paths = files.map(({path}) => path);
  const unmatched = await markFiles(
    paths.map((path) => ({path, ...noMarks})),
    config,
    signal,
  );
  return withStrictAdvice(unmatchedWarnings(unmatched, paths));
}

/** Adds to warnings about patterns what to do if the server is strict. */
export function withStrictAdvice(warnings: readonly string[]): string[] {
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
