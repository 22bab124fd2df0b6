import {join} from 'node:path';
import * as v from 'valibot';
import {createError} from '../../errors/index.js';
import {reasonOf} from '../../errors/system-failure.js';
import {exists, readJsonFile} from '../../files/read-file.js';
import type {Framework} from '../../frameworks/framework.js';
import {readJsonRecord} from '../../projects/read-project.js';
import {dependenciesSchema} from '../../settings/schemas.js';
import {asRecord, isRecord} from '../../text/json.js';
import {asSentence} from '../../text/sentence.js';
import type {BundleFormat, BundleV2Metadata} from '../types.js';

/** The metadata that the own client of a framework collects in a project. */
export async function frameworkMetadata(
  {installed, listsOverrides}: Framework,
  project: string,
  format: BundleFormat,
): Promise<BundleV2Metadata | undefined> {
  if (installed === undefined || !(await exists(join(project, 'package.json')))) return undefined;
  const dependencies = {...(await readDeclaredDependencies(project)), ...(await installedVersions(installed, project))};
  return listsOverrides && format === 'v1' ? {dependencies, ccOverrides: await readOverrides(project)} : {dependencies};
}

/** The lowest installed version of each package, as npm has recorded them. Other package managers do not. */
async function installedVersions(names: readonly string[], project: string): Promise<Record<string, string>> {
  const {packages} = await readJsonRecord(join(project, 'node_modules', '.package-lock.json'));
  if (!isRecord(packages)) return {};
  const {default: compare} = await import('semver/functions/compare.js');
  const lowest = names.map((name) => {
    const versions = Object.entries(packages).flatMap(([path, entry]) =>
      path.endsWith(`node_modules/${name}`) ? [String(asRecord(entry)['version'])] : [],
    );
    return [name, versions.sort(compare)[0] ?? 'unknown'] as const;
  });
  return Object.fromEntries(lowest);
}

/** The files of the project that replace those of the template it extends, by `ccExtensibility` of package.json. */
async function readOverrides(project: string): Promise<readonly string[]> {
  const {ccExtensibility} = await readJsonRecord(join(project, 'package.json'));
  const {extends: base, overridesDir} = asRecord(ccExtensibility);
  if (typeof base !== 'string' || typeof overridesDir !== 'string' || overridesDir === '') return [];
  const {default: fastGlob} = await import('fast-glob');
  const own = await fastGlob('**/*', {cwd: join(project, overridesDir), dot: true});
  const replaces = await Promise.all(own.map((file) => exists(join(project, 'node_modules', base, file))));
  return own.filter((_, index) => replaces[index]).sort();
}

const packageSchema = v.object({
  dependencies: v.optional(dependenciesSchema, {}),
  devDependencies: v.optional(dependenciesSchema, {}),
});

/** For the dependencies `auto`, with development dependencies: what is bundled into an application often is one. */
export async function readDeclaredDependencies(projectDirectory: string): Promise<Record<string, string>> {
  const path = join(projectDirectory, 'package.json');
  try {
    const {dependencies, devDependencies} = v.parse(packageSchema, await readJsonFile(path));
    // As in npm, dependencies win over development dependencies.
    return {...devDependencies, ...dependencies};
  } catch (error) {
    const message = asSentence(`The dependencies in ${path} cannot be read: ${reasonOf(error)}`);
    const advice =
      'Pass --project-directory DIR for the folder that contains it, or list the packages in MYCLI_DEPENDENCIES.';
    throw createError('ERR_CONFIG_INVALID', message, {suggestions: [advice], cause: error});
  }
}
