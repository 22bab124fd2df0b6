import {join, relative, resolve} from 'node:path';
import {createError} from '../errors/index.js';
import {unmatchedWarnings, cacheWarnings, wideEntries, withStrictAdvice} from './files/build-warnings.js';
import {checkBundleOptions, type BundlePlanOptions} from './config/check-options.js';
import {verifyBuildDirectory} from './files/build-output.js';
import {misplacedRules, readIgnoreRules} from './files/ignore-rules.js';
import {buildWarnings, startWarnings} from '../projects/check-build.js';
import {frameworkOfBuild, otherEntries} from '../projects/build-rows.js';
import {partWarnings, unfitEntry, unfitError, unfitForHost} from '../projects/unfit-build.js';
import {exists} from '../files/read-file.js';
import type {Framework} from '../frameworks/framework.js';
import {ownValue} from '../text/json.js';
import {listsOf} from '../frameworks/server-files.js';
import {scanBuildDirectory, type Scan} from './files/scan.js';
import {optionProblems, rejectProblems, v2OnlyWarnings} from '../settings/definitions.js';
import {v2Defaults} from '../settings/schemas.js';
import {backslashWarnings, markFiles, type PatternLists} from './files/patterns.js';
import {hiddenSite, siteWarnings, ssrOnlyFlag, strayFiles, verifyServerFiles} from './files/public-files.js';
import {checkBuildScripts} from './files/server-code.js';
import {checkFileKinds} from './files/file-kinds.js';
import {readConfigSources, type ConfigSource} from './config/config-sources.js';
import {frameworkMetadata} from './config/defaults.js';
import {resolveConfig, withoutUnmatched, type SettingSource} from './config/resolve-config.js';
import {messageFor, readOrigin, withPreview, withRecord, type Origin} from './provenance/provenance.js';
import type {BundleContent, BundleProvenance, BundleV2MatchMode, PlannedBundleFile} from './types.js';

/** What to pack: the result of verifying, scanning and resolving. Nothing is written yet. */
export interface BundlePlan extends BundleContent, Pick<Scan, 'emptyFolders' | 'warnings' | 'laterFiles'> {
  /** Absolute. */
  readonly buildDirectory: string;
  /** The files of the build, sorted by path, without the configuration that v2 adds to the archive. */
  readonly files: readonly PlannedBundleFile[];
  /** Total size of `files`, in bytes. */
  readonly totalBytes: number;
  /** Source of each setting. */
  readonly sources: readonly SettingSource[];
  /** Modification time of every entry. */
  readonly modifiedAt: Date;
  /** v2 only. gzip level, 0 to 9. */
  readonly compressionLevel: number;
}

/** GNU tar warns about dates that are very old. npm packs with this one, too. */
const fixedDate = new Date('1985-10-26T08:15:00Z');

/** Verifies the options, scans the build folder and resolves the configuration. Writes nothing. */
export async function planBundle(options: BundlePlanOptions): Promise<BundlePlan> {
  const {signal} = options;
  signal?.throwIfAborted();
  rejectProblems(checkBundleOptions(options));
  const buildDirectory = resolve(options.cwd, options.buildDirectory ?? 'build');
  const projectDirectory = resolve(options.cwd, options.projectDirectory ?? '.');
  const places = {cwd: options.cwd, project: projectDirectory};
  await verifyBuildDirectory(buildDirectory, places);
  const framework = await frameworkOfBuild(projectDirectory, buildDirectory);
  const v2 = options.format === 'v2' ? await v2Fields(options, buildDirectory, framework) : undefined;
  const ignored = [...(framework?.ignore ?? []), ...(options.ignore ?? [])];
  const rules = await readIgnoreRules([projectDirectory, buildDirectory], ignored);
  // Git answers while this thread scans.
  const [scan, origin] = await Promise.all([
    scanBuildDirectory(buildDirectory, rules, {ownFiles: options.ownFiles, signal}),
    readOrigin(projectDirectory, options.env, options.now),
  ]);
  const {files, emptyFolders} = v2 ? withoutConfig(scan, v2.configPath) : scan;
  const {refusesForeign, guardCode: guard} = options;
  const directories = {project: projectDirectory, build: buildDirectory, framework, refusesForeign, guard};
  const {sources, warnings} = await readConfigSources(options, directories, v2?.configPath);
  signal?.throwIfAborted();
  const paths = files.map(({path}) => path);
  const known = framework?.static === false ? {name: framework.name, lists: listsOf(framework, paths)} : undefined;
  const collected =
    framework && options.collectsMetadata && !options.static
      ? await frameworkMetadata(framework, projectDirectory, options.format)
      : undefined;
  const ofFramework = {ssrParameters: framework?.parameters, bundleMetadata: collected};
  const all = [...sources, ...(framework ? [{from: framework.name, content: ofFramework}] : [])];
  const named = v2 && framework?.v2 ? withNames(all, framework.v2.parameterNames) : all;
  const resolved = resolveConfig(named, {static: options.static, framework: known, paths});
  const {ssrOnly, ssrShared} = resolved.config;
  const misspelt = [
    ...backslashWarnings('pattern', [...ssrOnly, ...ssrShared]),
    ...backslashWarnings('ignore rule', rules.patterns),
  ];
  const unmatched = await markFiles(files, resolved.config, signal);
  const settings = withoutUnmatched(resolved, unmatched);
  const {format} = options;
  const isOfRow = settings.sources.some(({setting, from}) => setting === 'ssrOnly' && from === known?.name);
  const unfit = await (framework && isOfRow
    ? unfitEntry(framework, buildDirectory)
    : framework === undefined && options.static !== true && unfitForHost('The build', buildDirectory));
  if (unfit) throw unfitError(unfit, places);
  const isMarkedByRow = options.static !== true && (isOfRow || framework?.lists !== undefined);
  const scriptWarnings =
    isMarkedByRow || options.allowSensitiveFiles === true ? [] : await checkBuildScripts(files, settings, directories);
  verifyServerFiles(format, settings, {files, ignored: scan.ignored, unmatched: unmatched.ssrOnly, framework});
  const kindWarnings = await checkFileKinds(files, {
    ...options,
    buildDirectory,
    framework,
    serverOnlyFlag: (exposed) => ssrOnlyFlag(settings.config.ssrOnly, exposed),
  });
  const hasServer = files.some(({ssrOnly}) => ssrOnly);
  const started = framework ?? {name: 'The build', entries: hasServer ? otherEntries : []};
  const message = messageOf(options, origin);
  const {SOURCE_DATE_EPOCH: epoch = ''} = options.env;
  signal?.throwIfAborted();

  return {
    format,
    buildDirectory,
    ...(v2 ?? {projectSlug: options.projectSlug}),
    message: message.message,
    config: settings.config,
    provenance: message.provenance,
    files,
    emptyFolders,
    totalBytes: files.reduce((sum, {size}) => sum + size, 0),
    warnings: [
      ...(format === 'v1' ? v2OnlyWarnings(options) : []),
      ...message.warnings,
      ...warnings,
      ...scan.warnings,
      ...misspelt,
      ...misplacedRules(rules.patterns, relative(projectDirectory, buildDirectory), [
        ...paths,
        ...scan.ignored.map(({path}) => path),
      ]),
      ...kindWarnings,
      ...scriptWarnings,
      ...(await partWarnings(projectDirectory, buildDirectory)),
      ...(options.allowSensitiveFiles === true ? [] : siteWarnings(settings, paths)),
      ...cacheWarnings(files),
      ...wideEntries(files, buildDirectory),
      ...(options.static === true ? [] : await buildWarnings(started, directories, paths)),
      ...(framework === undefined && hasServer ? await startWarnings(buildDirectory, paths) : []),
      ...strayFiles(files, settings),
      ...hiddenSite(files, settings, framework),
      ...patternWarnings(v2?.matchMode, settings.config, unmatched, paths),
    ],
    laterFiles: scan.laterFiles,
    sources: [...settings.sources, {setting: 'message', from: message.from}],
    modifiedAt: epoch === '' ? fixedDate : new Date(Number(epoch) * 1000),
    compressionLevel: options.compressionLevel ?? v2Defaults.compressionLevel,
  };
}

async function v2Fields(
  {rootDir, configPath, matchMode, static: isStatic}: BundlePlanOptions,
  build: string,
  framework: Framework | undefined,
): Promise<{readonly rootDir: string; readonly configPath: string; readonly matchMode: BundleV2MatchMode}> {
  const own = framework?.v2;
  const isOwn = own !== undefined && (await exists(join(build, own.configPath)));
  return {
    rootDir: rootDir ?? v2Defaults.rootDir,
    configPath: configPath ?? (isOwn ? own.configPath : v2Defaults.configPath),
    matchMode: matchMode ?? (isStatic ? 'ignore_missing' : (own?.matchMode ?? v2Defaults.matchMode)),
  };
}

/** Sources with the names that parameters have in the bundle. */
function withNames(sources: readonly ConfigSource[], names: Readonly<Record<string, string>>): readonly ConfigSource[] {
  return sources.map((source) => {
    const parameters = Object.entries(source.content.ssrParameters ?? {});
    if (parameters.length === 0) return source;
    const named = parameters.map(([name, value]) => [ownValue(names, name) ?? name, value] as const);
    return {...source, content: {...source.content, ssrParameters: Object.fromEntries(named)}};
  });
}

/** The archive has a single configuration, which replaces the file at its path. */
function withoutConfig({files, emptyFolders}: Scan, configPath: string): Pick<Scan, 'files' | 'emptyFolders'> {
  const isAbove = (path: string) => configPath.startsWith(`${path}/`);
  const isBelow = (path: string) => path.startsWith(`${configPath}/`);
  const inTheWay =
    files.find(({path}) => isAbove(path) || isBelow(path))?.path ?? emptyFolders.find((path) => isBelow(path));
  if (inTheWay !== undefined) {
    const message = `The build contains ${inTheWay}, but the bundle's configuration goes to ${configPath}.`;
    const advice = 'Remove it from the build, or set configPath in mycli.config to put the configuration elsewhere.';
    throw createError('ERR_FILE_UNSUPPORTED', message, {suggestions: [advice]});
  }
  return {
    files: files.filter(({path}) => path !== configPath),
    emptyFolders: emptyFolders.filter((path) => !isAbove(path)),
  };
}

/** @param matchMode Undefined for v1, whose patterns are matched here. */
function patternWarnings(
  matchMode: BundleV2MatchMode | undefined,
  {ssrOnly, ssrShared}: PatternLists,
  unmatched: PatternLists,
  paths: readonly string[],
): readonly string[] {
  if (matchMode === 'ignore_missing') return [];
  const left = {
    ssrOnly: ssrOnly.filter((pattern) => unmatched.ssrOnly.includes(pattern)),
    ssrShared: ssrShared.filter((pattern) => unmatched.ssrShared.includes(pattern)),
  };
  const warnings = unmatchedWarnings(left, paths);
  return matchMode === 'strict' ? withStrictAdvice(warnings) : warnings;
}

function messageOf(
  {message: given, recordCommit = false, preview}: BundlePlanOptions,
  {message: standard, from, provenance, refusal}: Origin,
) {
  if (recordCommit && refusal !== undefined) throw refusal;
  const warnings = refusal === undefined ? [] : [[refusal.message, ...refusal.suggestions].join(' ')];
  const plain = recordCommit ? recordIn(given, standard, provenance) : (given ?? standard);
  const message = withPreview(plain, preview);
  // The name of a branch can be very long.
  rejectProblems(optionProblems({message}, ['message']));
  return {message, from: given === undefined ? from : 'option', provenance, warnings};
}

function recordIn(given: string | undefined, standard: string, provenance: BundleProvenance | undefined): string {
  if (given !== undefined) return withRecord(given, provenance);
  return (provenance && messageFor(provenance)) ?? standard;
}
