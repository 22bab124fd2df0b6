import {statSync} from 'node:fs';
import {isAbsolute, join, relative} from 'node:path';
import * as v from 'valibot';
import {createError, nearest} from '../../errors/index.js';
import {parseJson} from '../../errors/json.js';
import {reasonOf, systemCode} from '../../errors/system-failure.js';
import {loadModule} from '../../modules/load-module.js';
import {readTextFile} from '../../files/read-file.js';
import {describeProblems, fieldProblems} from '../option-schemas.js';
import type {BundlePlanOptions} from './check-options.js';
import {diskConfigSchema, serverConfigKeys, serverConfigSchema} from './content-schema.js';
import type {BundleConfig} from '../types.js';
import {asSentence} from '../../errors/sentence.js';

/** A source of a bundle's configuration. */
export interface ConfigSource {
  /** `option`, or the path of the file, relative to the working directory if it is inside it. */
  readonly from: string;
  readonly content: {
    readonly [Key in 'ssrOnly' | 'ssrShared' | 'ssrParameters' | 'bundleMetadata']?: BundleConfig[Key] | undefined;
  };
  /** Unknown top-level keys of an on-disk file, which are kept. */
  readonly otherKeys?: Readonly<Record<string, unknown>> | undefined;
}

const sourceNames = ['config.server.ts', 'config.server.js', 'config.server.mjs'];
/** What older builds leave next to their output. */
const compiledName = 'config.server.js';

/**
 * Reads the on-disk v2 configuration, `{buildDirectory}/{configPath}`; undefined if there is none.
 * @throws RuntimeCliError `ERR_CONFIG_INVALID` naming file and field.
 */
async function readDiskConfig(path: string, cwd: string): Promise<ConfigSource | undefined> {
  if (firstFile([path]) === undefined) return undefined;
  const {ssrOnly, ssrShared, ssrParameters, bundleMetadata, ...otherKeys} = parseConfig(
    diskConfigSchema,
    jsonOf(await readText(path), path),
    path,
  );
  return {from: showFile(path, cwd), content: {ssrOnly, ssrShared, ssrParameters, bundleMetadata}, otherKeys};
}

/**
 * Executes the project's `config.server.ts`, `.js` or `.mjs`, then the build's compiled `config.server.js`, if they
 * exist and `isComplete` is still false.
 * @throws RuntimeCliError `ERR_CONFIG_INVALID` naming file and field.
 */
async function readServerConfigs(
  directories: {readonly project: string; readonly build: string},
  cwd: string,
  isComplete: (sources: readonly ConfigSource[]) => boolean,
): Promise<readonly ConfigSource[]> {
  const project = firstFile(sourceNames.map((name) => join(directories.project, name)));
  const compiled = firstFile([join(directories.build, compiledName)]);
  const sources: ConfigSource[] = [];
  for (const path of new Set([project, compiled])) {
    if (path === undefined || isComplete(sources)) continue;
    const exported = exportedConfig(await loadModule(path), path);
    refuseMisspelledKeys(exported, path);
    const content = parseConfig(serverConfigSchema, exported, path);
    sources.push({from: showFile(path, cwd), content});
  }
  return sources;
}

/** The named export `config`, the `config` of the default export, or the default export itself. */
function exportedConfig(exported: Readonly<Record<string, unknown>>, path: string): unknown {
  if ('config' in exported) return exported['config'];
  const value = exported['default'];
  if (typeof value === 'object' && value !== null) return 'config' in value ? value.config : value;
  throw createError('ERR_CONFIG_INVALID', `${path} does not export a configuration.`, {
    suggestions: ['Export an object, either as the default export or as config.'],
  });
}

/** Other keys are the project's own, but a misspelled one of ours would silently leave a default in place. */
function refuseMisspelledKeys(config: unknown, path: string): void {
  for (const key of Object.keys(config ?? {})) {
    const meant = serverConfigKeys.includes(key) ? undefined : nearest(key, serverConfigKeys);
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

function jsonOf(text: string, path: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw createError('ERR_CONFIG_INVALID', asSentence(`${path} is not valid JSON: ${reasonOf(error)}`), {
      suggestions: ['Correct the file, or build the application again.'],
      cause: error,
    });
  }
}

async function readText(path: string): Promise<string> {
  try {
    return await readTextFile(path);
  } catch (error) {
    throw unreadable(path, error);
  }
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

function unreadable(path: string, error: unknown): Error {
  return createError('ERR_CONFIG_INVALID', asSentence(`${path} cannot be read: ${reasonOf(error)}`), {cause: error});
}

function showFile(path: string, cwd: string): string {
  const shown = relative(cwd, path);
  return shown.startsWith('..') || isAbsolute(shown) ? path : shown;
}

/**
 * Reads the sources of a bundle's configuration, highest precedence first: options, then the on-disk v2 file or, if
 * there is none and ssrOnly or ssrShared is still missing, the `config.server` files.
 * @param configPath v2 only: path of the on-disk file, relative to the build directory.
 * @throws RuntimeCliError `ERR_CONFIG_INVALID` naming file and field.
 */
export async function readConfigSources(
  options: BundlePlanOptions,
  directories: {readonly project: string; readonly build: string},
  configPath: string | undefined,
): Promise<readonly ConfigSource[]> {
  const {cwd, ssrOnly, ssrShared, ssrParameters, bundleMetadata} = options;
  const content = {ssrOnly, ssrShared, ssrParameters};
  if (configPath === undefined) {
    const metadata = {dependencies: bundleMetadata?.dependencies};
    return withServerConfigs({from: 'option', content: {...content, bundleMetadata: metadata}}, directories, cwd);
  }
  const explicit = {from: 'option', content: {...content, bundleMetadata}};
  const onDisk = await readDiskConfig(join(directories.build, configPath), cwd);
  return onDisk ? [explicit, onDisk] : withServerConfigs(explicit, directories, cwd);
}

async function withServerConfigs(
  explicit: ConfigSource,
  directories: {readonly project: string; readonly build: string},
  cwd: string,
): Promise<readonly ConfigSource[]> {
  const isComplete = (found: readonly ConfigSource[]): boolean => {
    const contents = [explicit, ...found].map(({content}) => content);
    return (
      contents.some(({ssrOnly}) => ssrOnly !== undefined) && contents.some(({ssrShared}) => ssrShared !== undefined)
    );
  };
  return [explicit, ...(await readServerConfigs(directories, cwd, isComplete))];
}
