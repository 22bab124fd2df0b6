import {join} from 'node:path';
import * as v from 'valibot';
import {createError, nearest} from '../../errors/index.js';
import {parseJson} from '../../errors/json.js';
import {readTextFile} from '../../files/read-file.js';
import {defaultPatterns, defaultSource, type ResolvedConfig} from '../config/resolve-config.js';
import type {BundleFile, BundleContent} from '../types.js';
import {listPaths, showPath} from './entry-names.js';
import {compilePatterns, markFiles, noMarks, type PatternLists} from './patterns.js';
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

/** The framework caches in a build. They can be larger than everything else, and are never read. */
export class FrameworkCaches {
  #isNext = false;
  readonly #caches = new Map<string, {bytes: number; files: number}>();

  /** Adds a file. They must be sorted by path, so that a mark comes before its cache. */
  add({path, size}: BundleFile): void {
    this.#isNext ||= path === nextMark;
    const folder = cacheFolder.exec(path)?.[0] ?? (this.#isNext && path.startsWith(nextCache) ? nextCache : undefined);
    if (folder === undefined) return;
    const cache = this.#caches.get(folder) ?? {bytes: 0, files: 0};
    this.#caches.set(folder, {bytes: cache.bytes + size, files: cache.files + 1});
  }

  warnings(): string[] {
    return [...this.#caches].map(
      ([folder, cache]) =>
        `The build contains a framework's cache, ${showPath(folder)} (${describeSize(cache.bytes)}, ` +
        `files: ${String(cache.files)}). Pass --ignore '/${folder}' to exclude it.`,
    );
  }
}

function describeSize(bytes: number): string {
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/**
 * Warnings about a build whose layout does not fit the default patterns: scripts that are neither server-only nor
 * shared, and patterns in package.json, which are not read. There are none if all patterns were given.
 */
export async function layoutWarnings(
  strayScripts: StrayScripts,
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
  const stray = strayScripts.describe();
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

/** The scripts that are neither server-only nor shared. */
export class StrayScripts {
  readonly #inServer: string[] = [];
  readonly #atRoot: string[] = [];
  readonly #elsewhere: string[] = [];
  #count = 0;

  /** Adds a marked file if it is a stray script. */
  add({path, ssrOnly, ssrShared}: BundleFile): void {
    if (ssrOnly || ssrShared || !script.test(path)) return;
    this.#count += 1;
    const inOthers = path.includes('/') ? this.#elsewhere : this.#atRoot;
    const group = /(?:^|\/)server\//.test(path) ? this.#inServer : inOthers;
    // There may be very many, and no more are listed.
    if (group.length < listed) group.push(path);
  }

  /** Lists them, those that look like a server's entry point first. Undefined if there are none. */
  describe(): string | undefined {
    const paths = [...this.#inServer, ...this.#atRoot, ...this.#elsewhere];
    return this.#count === 0 ? undefined : listPaths(paths, listed, this.#count);
  }
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
 * @param unmatched The patterns of ssrOnly that match no file, the default ones included.
 * @throws RuntimeCliError `ERR_IGNORED_ENTRY`; `ERR_SSR_ENTRY_MISSING` when no default pattern of ssrOnly matches.
 */
export function verifyEntryPoints(
  {config, sources}: ResolvedConfig,
  unmatched: readonly string[],
  {files, ignored}: Pick<Scan, 'files' | 'ignored'>,
): void {
  const isStatic = sources.some(({setting, from}) => setting === 'ssrOnly' && from === 'static');
  for (const pattern of ignored.length === 0 ? [] : unmatched) {
    const {matches} = compilePatterns([pattern]);
    const hit = ignored.find(({path}) => matches(path));
    if (hit) throw ignoredError(hit, pattern);
  }
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
