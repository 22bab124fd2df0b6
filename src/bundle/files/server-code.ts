import {createError} from '../../errors/index.js';
import type {Framework} from '../../frameworks/framework.js';
import {
  listCode,
  serverCodeIn,
  ssrOnlyFlags,
  staticServerError,
  type ServerScript,
} from '../../frameworks/server-files.js';
import {findServerScripts, scriptsOf, startedScripts, type ScriptSource} from '../../projects/server-scripts.js';
import type {ResolvedConfig} from '../config/resolve-config.js';
import type {BundleFile} from '../types.js';
import {isStatic, ssrOnlyFlag} from './public-files.js';

/** Maximum number of paths in the details of an error. */
const mostPaths = 100;

/** What is known about the files of a build or an archive. */
interface CheckedFiles {
  readonly source: ScriptSource;
  /** Those of ssrOnly. */
  readonly patterns: readonly string[];
  /** Whether every file is for visitors. */
  readonly isSite: boolean;
  readonly started?: readonly ServerScript[];
  readonly framework?: Framework | undefined;
}

/** As `checkScripts`, for a build. */
export async function checkBuildScripts(
  files: readonly BundleFile[],
  {config, sources}: ResolvedConfig,
  {
    project,
    build,
    framework,
  }: {readonly project: string; readonly build: string; readonly framework?: Framework | undefined},
): Promise<readonly string[]> {
  const source = scriptsOf(build, ownPaths(files));
  const started = await startedScripts(project, build, source);
  return checkScripts(files, {source, patterns: config.ssrOnly, isSite: isStatic(sources), started, framework});
}

/** Without links, nor the packages, of which other warnings tell. */
export function ownPaths(files: readonly BundleFile[]): readonly string[] {
  return files.flatMap(({path, linkTarget}) =>
    linkTarget === undefined && !/(?:^|\/)node_modules\//.test(path) ? [path] : [],
  );
}

/**
 * Refuses to publish scripts that only a server can run, where no framework says what is public. Returns warnings about
 * scripts that no browser can load.
 * @throws RuntimeCliError `ERR_SENSITIVE_FILES` for a static site, otherwise `ERR_SSR_ENTRY_PUBLIC`, naming the files.
 */
export async function checkScripts(
  files: readonly BundleFile[],
  {source, patterns, isSite, started = [], framework}: CheckedFiles,
): Promise<readonly string[]> {
  const own = new Map(files.map((file) => [file.path, file]));
  const marked = isSite ? serverCodeIn(source.paths) : source.paths.filter((path) => own.get(path)?.ssrOnly);
  const {server, unloadable} = await findServerScripts(source, [...marked.map((path) => ({path})), ...started]);
  const exposed = server.filter(({path, isImported = false}) => {
    const {ssrOnly = true, ssrShared = false} = own.get(path) ?? {};
    // What is for both is imported by both.
    return !ssrOnly && (isSite || !isImported || !ssrShared);
  });
  const all = files.map(({path}) => path);
  if (exposed.length > 0)
    throw isSite ? staticServerError(exposed, all, framework) : exposedError(exposed, patterns, all);
  const names = unloadable.filter(({path}) => own.get(path)?.ssrOnly === false);
  if (names.length === 0) return [];
  return [
    `No browser can load these scripts, because they import packages by name: ${listCode(names)}. ` +
      'Bundle them, or name the packages in an import map of the page.',
  ];
}

function exposedError(code: readonly ServerScript[], patterns: readonly string[], all: readonly string[]): Error {
  const paths = code.map(({path}) => path);
  return createError(
    'ERR_SSR_ENTRY_PUBLIC',
    `Anyone could download the code of the server, because it is not server-only: ${listCode(code)}.`,
    {
      suggestions: [
        `Make it server-only: pass ${ssrOnlyFlag(patterns, paths) ?? ssrOnlyFlags(paths, all)}`,
        'If the site does without these files, exclude them with --ignore GLOB or in .bundleignore.',
        'If browsers load them, pass --allow-sensitive-files.',
      ],
      details: {files: paths.slice(0, mostPaths), count: paths.length},
    },
  );
}
