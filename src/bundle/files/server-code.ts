import {buffer} from 'node:stream/consumers';
import {createError} from '../../errors/index.js';
import type {Framework} from '../../frameworks/framework.js';
import {serverCodeIn, ssrOnlyFlags, type ServerScript} from '../../frameworks/server-files.js';
import {exists} from '../../files/read-file.js';
import {
  findServerScripts,
  headBytes,
  mayBeScript,
  mayBeServerScript,
  scriptsOf,
  startedScripts,
  type ScriptSource,
} from '../../projects/server-scripts.js';
import {fileDetails, listReasons} from '../../text/entry-names.js';
import type {ProjectBuild} from '../config/config-sources.js';
import type {ResolvedConfig} from '../config/resolve-config.js';
import {entryPrefix, manifestPathOf} from '../archive/manifest.js';
import {readTar} from '../prebuilt/read-tar.js';
import type {Bundle, BundleFile} from '../types.js';
import {exposedText, isStatic, ssrOnlyFlag} from './public-files.js';

/** What the default patterns of a bundle keep private. */
const coveredByDefaults = /^(?:ssr\.m?js$|server\/)/;

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
  {project, build, framework}: ProjectBuild,
): Promise<readonly string[]> {
  const source = scriptsOf(build, ownPaths(files));
  const started = await startedScripts(project, build, source);
  return checkScripts(files, {source, patterns: config.ssrOnly, isSite: isStatic(sources), started, framework});
}

/** As `checkScripts`, for an archive without a manifest: one with a manifest was checked when it was built. */
export async function checkArchivedScripts(bundle: Bundle, signal?: AbortSignal): Promise<readonly string[]> {
  if (await exists(manifestPathOf(bundle.path))) return [];
  const {files, config} = bundle;
  const prefix = `${entryPrefix(bundle)}/`;
  const texts = new Map<string, string>();
  for await (const {header, content} of readTar(bundle.path, {signal})) {
    const path = header.name.slice(prefix.length);
    const text = header.name.startsWith(prefix) && mayBeScript(path) ? await buffer(content) : undefined;
    if (text && mayBeServerScript(path, text.toString('latin1', 0, headBytes))) texts.set(path, text.toString('utf8'));
  }
  const text = (path: string) => texts.get(path) ?? '';
  const source = {paths: ownPaths(files), head: text, text: (path: string) => Promise.resolve(text(path))};
  return checkScripts(files, {source, patterns: config.ssrOnly, isSite: config.ssrOnly.length === 0});
}

/** Without links, packages (other warnings tell of them) and the configuration that old builds have at their top. */
function ownPaths(files: readonly BundleFile[]): readonly string[] {
  return files.flatMap(({path, linkTarget}) =>
    linkTarget === undefined && !/(?:^|\/)node_modules\/|^config\.server\.js$/.test(path) ? [path] : [],
  );
}

/** Refuses to publish scripts that only a server can run. Returns warnings about scripts that no browser can load. */
async function checkScripts(
  files: readonly BundleFile[],
  {source, patterns, isSite, started = [], framework}: CheckedFiles,
): Promise<readonly string[]> {
  const own = new Map(files.map((file) => [file.path, file]));
  const placed = serverCodeIn(source.paths);
  const marked = isSite ? placed : source.paths.filter((path) => own.get(path)?.ssrOnly);
  const {server, unloadable} = await findServerScripts(source, [...marked.map((path) => ({path})), ...started]);
  const exposed = server.filter(({path, isImported = false}) => {
    const {ssrOnly = true, ssrShared = false} = own.get(path) ?? {};
    // What is for both is imported by both.
    return !ssrOnly && (isSite || !isImported || !ssrShared);
  });
  if (exposed.length > 0) {
    // Of these, other warnings tell, but who makes the rest of the server private wants them to be so, too.
    const more = placed.filter((path) => {
      const {ssrOnly = true, ssrShared = true} = own.get(path) ?? {};
      return !ssrOnly && !ssrShared && server.every((script) => script.path !== path);
    });
    throw exposedError([...exposed, ...more.map((path) => ({path}))], files, {isSite, patterns, framework});
  }
  const names = unloadable.filter(({path}) => own.get(path)?.ssrOnly === false);
  if (names.length === 0) return [];
  return [
    `No browser can load these scripts, because they import packages by name: ${listReasons(names)}. ` +
      'Bundle them, or name the packages in an import map of the page.',
  ];
}

function exposedError(
  code: readonly ServerScript[],
  files: readonly BundleFile[],
  {isSite, patterns, framework}: Omit<CheckedFiles, 'source'>,
): Error {
  const paths = code.map(({path}) => path);
  const all = files.map(({path}) => path);
  const flags = ssrOnlyFlag(patterns, paths) ?? ssrOnlyFlags(paths, all);
  const then = isSite && paths.every((path) => coveredByDefaults.test(path)) ? '' : ` Then pass ${flags}`;
  const [kind, message, advice] = isSite
    ? ([
        'ERR_SENSITIVE_FILES',
        `A static site has no server code, but the build has ${listReasons(code)}.`,
        framework?.static === false
          ? `It is a build of ${framework.name}. Without static (--static, or the key of mycli.config), its server is private.`
          : `Remove static (--static, or the key of mycli.config) to keep the server private.${then}`,
      ] as const)
    : (['ERR_SSR_ENTRY_PUBLIC', exposedText(listReasons(code)), `Make it server-only: pass ${flags}`] as const);
  return createError(kind, message, {
    suggestions: [
      advice,
      'If the site does not need them, exclude them in .bundleignore.',
      'If browsers load these files, set allowSensitiveFiles: true in mycli.config.',
    ],
    details: fileDetails(paths),
  });
}
