import {join} from 'node:path';
import * as v from 'valibot';
import {readTextFile} from '../../modules/index.js';
import {showPath} from './entry-names.js';
import {defaultSource, type ResolvedSettings} from '../config/settings.js';
import type {BundleFile} from '../types.js';

/** Folders that frameworks and build tools keep their caches in, up to the cache. */
const cacheFolder =
  /^(?:.*\/)?(?:(?:\.next|\.nuxt|\.angular|\.nx)\/cache|node_modules\/\.cache|\.parcel-cache|\.turbo)\//;
/** What Next.js writes beside its cache: the build directory is `.next` itself. */
const nextMark = 'BUILD_ID';
const nextCache = 'cache/';

/** How many paths a message lists. */
const listed = 5;
const script = /\.[cm]?js$/;
const patternSettings = ['ssrOnly', 'ssrShared'] as const;

/** A warning for each cache of a framework in the build: it can be larger than all the rest, and nobody reads it. */
export function cacheWarnings(files: readonly BundleFile[]): string[] {
  const isNext = files.some(({path}) => path === nextMark);
  const caches = new Map<string, {bytes: number; files: number}>();
  for (const {path, size} of files) {
    const folder = cacheFolder.exec(path)?.[0] ?? (isNext && path.startsWith(nextCache) ? nextCache : undefined);
    if (folder === undefined) continue;
    const cache = caches.get(folder) ?? {bytes: 0, files: 0};
    caches.set(folder, {bytes: cache.bytes + size, files: cache.files + 1});
  }
  return [...caches].map(
    ([folder, cache]) =>
      `the build contains a framework's cache, ${showPath(folder)} (${describeSize(cache.bytes)}, ` +
      `files: ${String(cache.files)}); leave it out with --ignore '/${folder}'`,
  );
}

function describeSize(bytes: number): string {
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/**
 * Warnings about a build that does not have the layout which the default patterns expect: scripts that end up neither
 * server-only nor shared, and patterns in package.json that are not read. None when all patterns were given.
 */
export async function layoutWarnings(
  files: readonly BundleFile[],
  {sources}: ResolvedSettings,
  projectDirectory: string,
): Promise<readonly string[]> {
  const byDefault = patternSettings.filter((key) =>
    sources.some(({setting, from}) => setting === key && from === defaultSource),
  );
  if (byDefault.length === 0) return [];
  const unread = await readMobifySettings(projectDirectory);
  const ignored = byDefault.filter((key) => unread.includes(key));
  const flags = byDefault.map((key) => (key === 'ssrOnly' ? '--ssr-only GLOB' : '--ssr-shared GLOB')).join(' or ');
  const stray = files.filter(({path, ssrOnly, ssrShared}) => !ssrOnly && !ssrShared && script.test(path));
  return [
    ...(ignored.length === 0
      ? []
      : [
          `package.json sets ${ignored.map((key) => `mobify.${key}`).join(' and ')}, which mycli does not read: ` +
            `the defaults apply. Move them to config.server.ts, or pass ${flags}`,
        ]),
    ...(stray.length === 0
      ? []
      : [
          `neither server-only nor shared, by the defaults: ${strayNames(stray)}. ` +
            `If the server runs or imports them, set ${byDefault.join(' or ')} (${flags})`,
        ]),
  ];
}

/** Those that look like the entry point of a server first. */
function strayNames(stray: readonly BundleFile[]): string {
  const rank = ({path}: BundleFile): number => {
    if (/(?:^|\/)server\//.test(path)) return 0;
    return path.includes('/') ? 2 : 1;
  };
  const names = stray.toSorted((a, b) => rank(a) - rank(b)).map(({path}) => showPath(path));
  const more = names.length > listed ? ` and ${String(names.length - listed)} more` : '';
  return `${names.slice(0, listed).join(', ')}${more}`;
}

const packageSchema = v.object({mobify: v.optional(v.record(v.string(), v.unknown()), {})});

/** The patterns that a project keeps where older tools look for them. */
async function readMobifySettings(projectDirectory: string): Promise<readonly string[]> {
  try {
    const text = await readTextFile(join(projectDirectory, 'package.json'));
    return Object.keys(v.parse(packageSchema, JSON.parse(text)).mobify);
  } catch {
    // Nothing else of it is needed here.
    return [];
  }
}
