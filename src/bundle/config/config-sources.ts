import {statSync} from 'node:fs';
import {join, relative} from 'node:path';
import * as v from 'valibot';
import {createError} from '../../errors/index.js';
import {listPaths} from '../../text/entry-names.js';
import {near} from '../../text/suggest.js';
import {asRecord, isRecord} from '../../text/json.js';
import {systemCode, unreadable} from '../../errors/system-failure.js';
import type {Framework} from '../../frameworks/framework.js';
import {listsOf} from '../../frameworks/server-files.js';
import {readPwaKitSettings, readSettingsFile} from './own-settings.js';
import {loadProjectModule, type CodeTrust} from '../../modules/load-module.js';
import {describeProblems, fieldProblems} from '../../settings/schemas.js';
import type {BundlePlanOptions} from './check-options.js';
import {diskConfigSchema, serverConfigKeys, serverConfigSchema} from './content-schema.js';
import type {BundleConfig} from '../types.js';
import {isOutside} from '../../text/paths.js';
import {asSentence} from '../../text/sentence.js';

type ServerContent = {
  readonly [Key in 'ssrOnly' | 'ssrShared' | 'ssrParameters']?: BundleConfig[Key] | undefined;
};

/** A source of a bundle's configuration. */
export interface ConfigSource {
  /** `option`, or the path of the file, relative to the working directory if it is inside it. */
  readonly from: string;
  readonly content: ServerContent & {readonly bundleMetadata?: BundleConfig['bundleMetadata']};
  /** Patterns that are left out if they match no file, because a framework brings them for all of its applications. */
  readonly optional?: readonly string[] | undefined;
  /** Unknown top-level keys of an on-disk file, which are kept. */
  readonly otherKeys?: Readonly<Record<string, unknown>> | undefined;
}

/** The sources of a bundle's configuration, highest precedence first, and what is wrong with them. */
export interface ConfigSources {
  readonly sources: readonly ConfigSource[];
  readonly warnings: readonly string[];
}

/** Where an application and its build are, and what it is built with. */
export interface ProjectBuild extends CodeTrust {
  /** Absolute. */
  readonly build: string;
  readonly framework?: Framework | undefined;
}

const sourceNames = ['config.server.ts', 'config.server.js', 'config.server.mjs'];
/** What older builds leave next to their output. */
const compiledName = 'config.server.js';

/** The on-disk v2 configuration, `{buildDirectory}/{configPath}`, if there is one. */
async function readDiskConfig(path: string, cwd: string): Promise<ConfigSource | undefined> {
  if (firstFile([path]) === undefined) return undefined;
  const {ssrOnly, ssrShared, ssrParameters, bundleMetadata, ...otherKeys} = parseConfig(
    diskConfigSchema,
    await readSettingsFile(path),
    path,
  );
  return {from: showFile(path, cwd), content: {ssrOnly, ssrShared, ssrParameters, bundleMetadata}, otherKeys};
}

/** Executes the project's `config.server.*`, then the build's compiled one, while ssrOnly or ssrShared is missing. */
async function readServerConfigs(
  directories: ProjectBuild,
  cwd: string,
  explicit: ConfigSource,
): Promise<ConfigSources> {
  const {project, build, framework} = directories;
  const source = firstFile(sourceNames.map((name) => join(project, name)));
  const compiled = firstFile([join(build, compiledName)]);
  const sources: ConfigSource[] = [];
  const warnings: string[] = [];
  for (const path of new Set([source, compiled])) {
    const contents = [explicit, ...sources].map(({content}) => content);
    const isComplete = contents.some(({ssrOnly}) => ssrOnly) && contents.some(({ssrShared}) => ssrShared);
    if (path === undefined || isComplete) continue;
    const exported = exportedConfig(await loadProjectModule(path, directories), path);
    refuseMisspelledKeys(exported, path);
    const content = parseConfig(serverConfigSchema, exported, path);
    const from = showFile(path, cwd);
    const warning = withoutSettings(content, exported, from, framework?.ownSettings === 'config.server');
    if (warning === undefined) sources.push(withFrameworkLists({from, content}, framework));
    else warnings.push(warning);
  }
  return {sources, warnings};
}

/** Warns of an export of which nothing is used. It is an error in the file of a framework, whose lists are missing. */
function withoutSettings(content: ServerContent, exported: unknown, file: string, isOwn: boolean): string | undefined {
  if (Object.values(content).some((value) => value !== undefined)) return undefined;
  const keys = Object.keys(asRecord(exported));
  const has = keys.length === 0 ? '' : `, but ${listPaths(keys)}`;
  const message = `${file} exports none of ${serverConfigKeys.join(', ')}${has}.`;
  if (!isOwn) return `${message} The defaults apply.`;
  throw createError('ERR_CONFIG_INVALID', message, {suggestions: ['Export at least one of them from the file.']});
}

/** The lists of a Storefront Next project come before its framework's, as its own client puts them. */
function withFrameworkLists(source: ConfigSource, framework: Framework | undefined): ConfigSource {
  if (framework?.ownSettings !== 'config.server') return source;
  const {ssrOnly, ssrShared} = listsOf(framework, []);
  const {content} = source;
  const parameters = Object.entries(content.ssrParameters ?? {});
  return {
    from: source.from,
    content: {
      ssrOnly: [...new Set([...(content.ssrOnly ?? []), ...ssrOnly])],
      ssrShared: [...new Set([...(content.ssrShared ?? []), ...ssrShared])],
      ssrParameters: Object.fromEntries(parameters.filter(([name, value]) => name !== 'envBasePath' || Boolean(value))),
    },
    optional: [...ssrOnly, ...ssrShared],
  };
}

/** What a PWA Kit project keeps in its own configuration. Its client leaves out patterns that match nothing. */
async function readPwaKit(directories: ProjectBuild, cwd: string, target: string | undefined): Promise<ConfigSource[]> {
  if (directories.framework?.ownSettings !== 'pwa-kit') return [];
  const own = await readPwaKitSettings(directories, target);
  if (own === undefined) return [];
  const content = parseConfig(serverConfigSchema, own.settings, own.file);
  withoutSettings(content, own.settings, own.file, true);
  const optional = [...(content.ssrOnly ?? []), ...(content.ssrShared ?? [])];
  return [{from: showFile(own.file, cwd), content, optional}];
}

/** The named export `config`, the `config` or `runtime` of the default export, or the default export itself. */
function exportedConfig(exported: Readonly<Record<string, unknown>>, path: string): unknown {
  const value = 'config' in exported ? exported['config'] : exported['default'];
  if (isRecord(value)) {
    const inside = 'config' in value ? value['config'] : value;
    return isRecord(inside) && isRecord(inside['runtime']) ? inside['runtime'] : inside;
  }
  if ('config' in exported) return value;
  throw createError('ERR_CONFIG_INVALID', `${path} does not export a configuration.`, {
    suggestions: ['Export an object, either as the default export or as config.'],
  });
}

/** Other keys are the project's own, but a misspelled one of ours would silently leave a default in place. */
function refuseMisspelledKeys(config: unknown, path: string): void {
  for (const key of Object.keys(config ?? {})) {
    const meant = serverConfigKeys.includes(key) ? undefined : near(key, serverConfigKeys)[0];
    if (meant === undefined) continue;
    throw createError('ERR_CONFIG_INVALID', `${path} has an unknown key: ${key}.`, {
      suggestions: [`Did you mean ${meant}?`],
    });
  }
}

function parseConfig<Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
  path: string,
): v.InferOutput<Schema> {
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  const problems = fieldProblems(result.issues);
  throw createError('ERR_CONFIG_INVALID', asSentence(`${path} is invalid: ${describeProblems(problems)}`), {
    suggestions: ['Correct the file.'],
    details: {file: path, problems},
  });
}

/** The first of `paths` that exists. Reading it fails if it is not a file. */
function firstFile(paths: readonly string[]): string | undefined {
  return paths.find((path) => {
    try {
      return statSync(path, {throwIfNoEntry: false}) !== undefined;
    } catch (error) {
      if (systemCode(error) === 'ENOTDIR') return false;
      throw unreadable(path, error);
    }
  });
}

function showFile(path: string, cwd: string): string {
  const shown = relative(cwd, path);
  return isOutside(shown) ? path : shown;
}

/**
 * Options, then the on-disk v2 file or, without one, the `config.server` files and the framework's own settings.
 * @throws RuntimeCliError `ERR_CONFIG_INVALID` naming file and field.
 */
export async function readConfigSources(
  options: BundlePlanOptions,
  directories: ProjectBuild,
  configPath: string | undefined,
): Promise<ConfigSources> {
  const {cwd, env, ssrOnly, ssrShared, ssrParameters, bundleMetadata} = options;
  const metadata = configPath === undefined ? {dependencies: bundleMetadata?.dependencies} : bundleMetadata;
  const explicit = {from: 'option', content: {ssrOnly, ssrShared, ssrParameters, bundleMetadata: metadata}};
  const onDisk = configPath === undefined ? undefined : await readDiskConfig(join(directories.build, configPath), cwd);
  if (onDisk) return {sources: [explicit, onDisk], warnings: []};
  const {sources, warnings} = await readServerConfigs(directories, cwd, explicit);
  // A static site has no use for what its framework's server would need.
  const own = options.static === true ? [] : await readPwaKit(directories, cwd, env['DEPLOY_TARGET']);
  return {sources: [explicit, ...sources, ...own], warnings};
}
