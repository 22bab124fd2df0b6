import {posix} from 'node:path';
import {createError} from '../../errors/index.js';
import type {Framework} from '../../frameworks/framework.js';
import {listsOf, patternsIn} from '../../frameworks/server-files.js';
import {fileDetails, listPaths, showPath} from '../../text/entry-names.js';
import {onWindows} from '../../text/platform.js';
import {shellLine} from '../../text/suggest.js';
import {defaultEntries, defaultPatterns, defaultSource, type ResolvedConfig} from '../config/resolve-config.js';
import type {BundleFile, BundleFormat} from '../types.js';
import {cacheFolder, isPackageFile, patternSettings, unmatchedWarnings} from './build-warnings.js';
import {compilePatterns, isExclusion} from './patterns.js';
import type {Scan} from './scan.js';
import {hasSensitiveName, phpAdvice} from './file-kinds.js';

/** Maximum number of paths in a message. */
const listed = 5;
const script = /\.[cm]?js(?:\.map)?$/;
const packageScript = /^(?=.*\.(?:[cm]?js|node)$)(?:.*\/)?node_modules\//;
const dotName = /(?<=^|\/)\./;
/** What is in there is meant for clients: RFC 8615, and the folders of frameworks. */
const wellKnown = /(?:^|\/)\.well-known(?:\/|$)/;
const publicFolder = /(?:^|\/)(?:assets|browser|client|public|static)\//;
/** For files that the list in force excludes. */
const anyFlag = '--ssr-only GLOB, with a list that does not exclude them';

interface MarkedBundle {
  readonly format: BundleFormat;
  readonly files: readonly BundleFile[];
  /** Those of ssrOnly. */
  readonly patterns: readonly string[];
  /** Of a build; undefined for an archive. */
  readonly build?: CheckedBuild | undefined;
}

interface CheckedBuild extends Pick<Scan, 'files' | 'ignored'> {
  /** The patterns of ssrOnly that match no file, the default ones included. */
  readonly unmatched: readonly string[];
  readonly framework?: Framework | undefined;
}

/**
 * Verifies that the bundle has its server-only files. An ignore rule that excludes everything an ssrOnly pattern
 * matches has hit an entry point, unless the pattern is a framework's and its entries are there.
 */
export function verifyServerFiles(
  format: BundleFormat,
  {config, sources, optional}: ResolvedConfig,
  build: CheckedBuild,
): void {
  const {files, ignored, unmatched, framework} = build;
  // Of a framework's own patterns, only its entries count. The default patterns of dot files stand for no entry.
  const isMeant = (pattern: string) =>
    !optional.ssrOnly.includes(pattern) || (framework === undefined && !/(?:^|\/)\.\*/.test(pattern));
  for (const pattern of ignored.length === 0 ? [] : unmatched.filter(isMeant)) {
    const {matches} = compilePatterns([pattern]);
    const [start = ''] = /^[^!*?{}()[\]\\]*/.exec(pattern) ?? [];
    // What is in a folder that is ignored, nobody looked at.
    const hit = ignored.find(({path}) => (path.endsWith('/') ? start.startsWith(path) : matches(path)));
    if (hit) throw ignoredError(hit, pattern);
  }
  if (isStatic(sources)) return;
  const {entries = []} = framework ?? {};
  const isLost = ({path}: {readonly path: string}) =>
    entries.some((entry) => (path.endsWith('/') ? entry.startsWith(path) : entry === path));
  const lost = files.some(({path}) => entries.includes(path)) ? undefined : ignored.find(isLost);
  if (lost) throw ignoredError(lost, lost.path);
  if (config.ssrOnly.length === 0) throw missingError(`Looked for ${defaultPatterns([]).ssrOnly.join(', ')}.`, files);
  verifyMarks({format, files, patterns: config.ssrOnly, build});
}

/**
 * Refuses a bundle that would publish its server. In v2, the service matches the patterns itself; only what a
 * framework's server needs is certain.
 */
export function verifyMarks({format, files, patterns, build}: MarkedBundle): void {
  const isListed = ({ssrOnly, linkTarget}: BundleFile) => ssrOnly && linkTarget === undefined;
  if (format === 'v1' && !files.some(isListed)) {
    if (build === undefined) {
      const suggestions = ['Build it again with --ssr-only GLOB, or with --static if it is a static site.'];
      const message = 'The archive has no server-only file. Anyone could download all of it.';
      throw createError('ERR_SSR_ENTRY_MISSING', message, {suggestions});
    }
    const paths = files.map(({path}) => path);
    const hints = unmatchedWarnings({ssrOnly: build.unmatched, ssrShared: []}, paths);
    throw missingError('Anyone could download all of it.', files, hints);
  }
  const framework = build?.framework?.static === false ? build.framework : undefined;
  const {entries = []} = framework ?? {};
  const all = files.map(({path}) => path);
  const server = compilePatterns(framework === undefined ? [] : listsOf(framework, all).ssrOnly);
  const isServers = ({path}: BundleFile) =>
    entries.includes(path) || (packageScript.test(path) && server.matches(path));
  const exposed = files.filter((file) => !file.ssrOnly && (isServers(file) || (format === 'v1' && isEntry(file))));
  if (exposed.length === 0) return;
  const paths = exposed.map(({path}) => path);
  const flag = ssrOnlyFlag(patterns, paths) ?? anyFlag;
  throw createError('ERR_SSR_ENTRY_PUBLIC', exposedText(listPaths(paths, listed)), {
    suggestions: [build === undefined ? `Build the archive again with ${flag}` : `Make it server-only: pass ${flag}`],
    details: fileDetails(paths),
  });
}

function isEntry({path}: BundleFile): boolean {
  return defaultEntries.includes(path);
}

export function exposedText(list: string): string {
  return `Anyone could download the code of the server, because it is not server-only: ${list}.`;
}

/** Warnings about public files that are probably the server's: entries, packages, scripts and dot files beside it. */
export function strayFiles(
  files: readonly BundleFile[],
  {config: {ssrOnly: patterns}, sources}: ResolvedConfig,
): readonly string[] {
  const packages = files.filter((file) => !file.ssrOnly && isPackageFile(file)).map(({path}) => path);
  const packageFlag = ssrOnlyFlag([...patterns, ...patternsIn('node_modules/', packages)], packages);
  const packageWarnings =
    packages.length === 0
      ? []
      : [
          `Anyone could download node_modules (files: ${String(packages.length)}). Add /node_modules/ to .bundleignore ` +
            `to exclude it${isStatic(sources) ? '.' : `, or, if the server needs it, ${packageFlag ?? anyFlag}`}`,
        ];
  if (isStatic(sources)) return packageWarnings;
  const exposed = files.filter((file) => !file.ssrOnly && isEntry(file)).map(({path}) => path);
  const byDefault = patternSettings.filter((key) => fromOf(sources, key) === defaultSource);
  const isBeside = besideServer(files, patterns);
  const excluded = compilePatterns(patterns.filter(isExclusion).map((pattern) => pattern.replace(/^!+/, '')));
  // What is excluded on purpose, or what other warnings are about, does not count.
  const stray = files
    .filter((file) => !file.ssrOnly && !file.ssrShared && !isEntry(file) && !hasSensitiveName(file))
    .filter((file) => !isPackageFile(file))
    .map(({path}) => path)
    .filter((path) => !excluded.matches(path))
    .filter((path) => script.test(path) || (!byDefault.includes('ssrOnly') && dotName.test(path)))
    .filter((path) => !wellKnown.test(path) && !cacheFolder.test(path));
  const rank = (path: string) => (isServerFolder(path) ? 0 : 1);
  const servers = stray.filter(isBeside).sort((a, b) => rank(a) - rank(b));
  const others = byDefault.length === 0 ? [] : stray.filter((path) => script.test(path) && !isBeside(path));
  const flags = byDefault.map((key) => (key === 'ssrOnly' ? '--ssr-only GLOB' : '--ssr-shared GLOB')).join(' or ');
  return [
    ...(exposed.length === 0
      ? []
      : [`${exposedText(listPaths(exposed, listed))} Pass ${ssrOnlyFlag(patterns, exposed) ?? anyFlag}`]),
    ...packageWarnings,
    ...(servers.length + others.length === 0
      ? []
      : [
          `These files are neither server-only nor shared: ${listPaths([...servers, ...others], listed)}. ` +
            'Anyone can download them. ' +
            (servers.length === 0
              ? `If the server runs or imports them, set ${byDefault.join(' or ')} (${flags}).`
              : `If they belong to the server, pass ${ssrOnlyFlag(patterns, servers) ?? anyFlag}`),
        ]),
  ];
}

/** Whether a file is where the server's files are: beside one, or in a folder that is meant to be server-only. */
function besideServer(files: readonly BundleFile[], patterns: readonly string[]): (path: string) => boolean {
  const folders = new Set(files.filter(({ssrOnly}) => ssrOnly).map(({path}) => posix.dirname(path)));
  const whole = patterns.flatMap((pattern) => /^[^!*?{}()[\]]+\/(?=\*\*)/.exec(pattern)?.[0] ?? []);
  return (path) => {
    const firstDot = path.search(dotName);
    const folder = posix.dirname(firstDot === -1 ? path : path.slice(0, firstDot + 1));
    if (isServerFolder(path) || whole.some((start) => path.startsWith(start))) return true;
    return folders.has(folder) && !publicFolder.test(path);
  };
}

/** The flag that adds files to the server-only ones, if they are not excluded. Undefined for a static site. */
export function ssrOnlyFlag(patterns: readonly string[], paths: readonly string[]): string | undefined {
  const known = compilePatterns(patterns);
  const all = [...new Set([...patterns, ...paths.filter((path) => !known.matches(path)).map(coveringPattern)])];
  const {matches} = compilePatterns(all);
  if (patterns.length === 0 || !paths.every(matches)) return undefined;
  const isPlain = !all.some((pattern) => /[,\s\\[]/.test(pattern));
  // No form of JSON gets through both PowerShell and cmd.
  if (onWindows && !isPlain) return shellLine(...all.flatMap((pattern) => ['--ssr-only', pattern]));
  return shellLine('--ssr-only', isPlain ? all.join(',') : JSON.stringify(all));
}

// server/.a/b is covered by server/**/.*/**, server/b.js by server/**/*, c/d.js by c/*.js, what is at the top by name.
function coveringPattern(path: string): string {
  const [top = '', ...names] = path.split('/');
  if (names.length === 0) return path;
  const isDot = (name: string) => name.startsWith('.');
  if (![top, ...names].some(isDot)) {
    const [folder] = /^(?:.*?\/)?server\//.exec(path) ?? [];
    return folder === undefined ? `${posix.dirname(path)}/*${posix.extname(path)}` : `${folder}**/*`;
  }
  const folders = names.filter(isDot).map(() => '/**/.*');
  return `${top}${folders.join('')}${isDot(names.at(-1) ?? '') ? '' : '/**'}`;
}

function isServerFolder(path: string): boolean {
  return /(?:^|\/)server\//.test(path);
}

function fromOf(sources: ResolvedConfig['sources'], key: string): string | undefined {
  return sources.find(({setting}) => setting === key)?.from;
}

/** A warning about a static site whose address shows nothing. */
export function siteWarnings({sources}: ResolvedConfig, paths: readonly string[]): readonly string[] {
  if (!isStatic(sources) || paths.includes('index.html')) return [];
  const pages = paths.filter((path) => /^[^/]+\/index\.html$/.test(path)).map((path) => posix.dirname(path));
  return [
    'The site has no home page: there is no index.html at the top of the build. ' +
      (pages.length === 0
        ? 'Check that this is the folder that the build wrote.'
        : `Visitors have to open its pages by their paths: ${listPaths(
            pages.map((folder) => `/${folder}/`),
            listed,
          )}.`),
  ];
}

/** A warning about a build of which, by the lists of its framework or configuration, browsers could load nothing. */
export function hiddenSite(
  files: readonly BundleFile[],
  {sources}: ResolvedConfig,
  framework: Framework | undefined,
): readonly string[] {
  const from = fromOf(sources, 'ssrOnly') ?? defaultSource;
  if (['option', 'static', defaultSource].includes(from) || files.some(({ssrOnly}) => !ssrOnly)) return [];
  const {name = '', public: folders = []} = framework ?? {};
  const place = folders.length === 0 ? '' : ` ${name} has them in ${folders.join(' or ')}.`;
  return [
    `With the lists of ${from}, every file is server-only: browsers can load no script, style or image.${place} Unless ` +
      'the app is only an API, check that the build is complete, or choose its server-only files with --ssr-only GLOB.',
  ];
}

export function isStatic(sources: ResolvedConfig['sources']): boolean {
  return fromOf(sources, 'ssrOnly') === 'static';
}

function ignoredError({path, rule}: {readonly path: string; readonly rule: string}, pattern: string): Error {
  const matched = `the ssrOnly pattern "${pattern}"`;
  const message = `The ignore rule "${rule}" excludes ${showPath(path)}, and with it everything that ${matched} matches.`;
  const advice =
    'Correct the rule in .bundleignore or --ignore, or pass --ssr-only GLOB to choose other server-only files.';
  return createError('ERR_SSR_ENTRY_MISSING', message, {suggestions: [advice], details: {path, rule, pattern}});
}

/** @param what What was looked for. */
function missingError(what: string, files: readonly BundleFile[], hints: readonly string[] = []): Error {
  const pages = files.flatMap(({path}) => (posix.basename(path) === 'index.html' ? [posix.dirname(path)] : []));
  const looksStatic = files.some(({path}) => path === 'index.html');
  const server = files.find(({path}) => /^server\.[cm]?js$/.test(path))?.path;
  return createError('ERR_SSR_ENTRY_MISSING', `The build has no server-only file. ${what}`, {
    suggestions: [
      ...hints,
      ...(server === undefined ? [] : [`The build has ${server}. If that is its server, pass --ssr-only ${server}.`]),
      ...phpAdvice(files.map(({path}) => path)),
      ...(files.some(({path}) => /\.d\.[cm]?ts$/.test(path)) && !looksStatic
        ? ['It looks like the build of a library. Push the application that uses it.']
        : []),
      ...(pages.length === 0 || looksStatic || hints.length > 0
        ? []
        : [
            `Its pages are in ${listPaths(pages, listed)}. To push ${server === undefined ? 'them as a site' : 'them without a server'}, pass that folder.`,
          ]),
      ...(looksStatic ? ['For a static site, pass --static or set static: true in mycli.config.'] : []),
      'Pass --ssr-only GLOB to choose the server-only files.',
      'Check that this is the folder that the build wrote. To choose another, pass it as DIR or --build-directory.',
    ],
  });
}
