import {basename, isAbsolute, relative, resolve} from 'node:path';
import {pipeline} from 'node:stream/promises';
import {
  manifestPathOf,
  planBundle,
  verifyReplaceable,
  writeBundle,
  type BundlePlan,
  type PackOptions,
} from '../bundle/index.js';
import type {Bundle} from '../bundle/types.js';
import {createStatement, statementType} from '../bundle/provenance/statement.js';
import {createError} from '../errors/index.js';
import {isRecord, parseJson} from '../errors/json.js';
import {systemCode} from '../errors/system-failure.js';
import {readTextFile} from '../files/read-file.js';
import {stageFile} from '../files/write-files.js';
import {callBackNow, type Host} from './host.js';
import type {BuildBundleOptions, CommonOptions} from './options.js';

/** What `buildBundle` resolves to. */
export interface BuildBundleResult {
  readonly bundle: Bundle;
  /** Path of the manifest. */
  readonly manifest: string;
  /** Path of the in-toto statement, with `provenance`. */
  readonly statement?: string | undefined;
  readonly warnings: readonly string[];
}

/** Options of a build whose archive goes to a stream, or nowhere. */
export interface PreviewBuildOptions extends Omit<BuildBundleOptions, 'output'> {
  /** Path of the archive. It is checked, but not written. */
  readonly output?: string | undefined;
}

/**
 * Writes the archive of a plan and its manifest. Each is written completely or not at all.
 * @throws RuntimeCliError for a file that changes while it is read, or an output that cannot be written or must not be
 * replaced; `signal.reason` when aborted.
 */
export async function writeBuild(
  plan: BundlePlan,
  options: BuildBundleOptions,
  host: Host,
): Promise<BuildBundleResult> {
  const path = resolve(options.cwd ?? host.cwd, options.output);
  // Again, because a file may have appeared since.
  const verify = options.force ? undefined : () => verifyOutputs(path, options);
  const bundle = await writeBundle(plan, {path, mode: 0o666, manifest: true, verify, ...packOptions(options)});
  const statement = options.provenance ? await writeStatement(bundle, host) : undefined;
  return {bundle, manifest: manifestPathOf(path), statement, warnings: plan.warnings};
}

function statementPathOf(archivePath: string): string {
  return `${archivePath}.intoto.json`;
}

/** @throws RuntimeCliError `ERR_OUTPUT` if a file that is no output of a build would be replaced. */
async function verifyOutputs(path: string, {provenance}: Pick<BuildBundleOptions, 'provenance'>): Promise<void> {
  await verifyReplaceable(path);
  const statement = statementPathOf(path);
  if (!provenance || (await isStatement(statement))) return;
  throw createError(
    'ERR_OUTPUT',
    `${statement} exists and is not the provenance of a bundle, so it was not replaced.`,
    {
      suggestions: ['Pass --output FILE to write the bundle elsewhere, or --force to replace the file.'],
      details: {path: statement},
    },
  );
}

/** Whether there is an in-toto statement, or nothing, at a path. */
async function isStatement(path: string): Promise<boolean> {
  try {
    const value = parseJson(await readTextFile(path));
    return isRecord(value) && value['_type'] === statementType;
  } catch (error) {
    return systemCode(error) === 'ENOENT';
  }
}

async function writeStatement(bundle: Bundle, {userAgent, now}: Host): Promise<string> {
  const path = statementPathOf(bundle.path);
  const version = /^mycli\/(\S+)/.exec(userAgent)?.[1] ?? 'unknown';
  const statement = createStatement(bundle, {name: basename(bundle.path), version, finishedOn: now()});
  const text = `${JSON.stringify(statement, undefined, 2)}\n`;
  const staged = await stageFile(path, 0o666, (stream) => pipeline([text], stream));
  try {
    await staged.place();
  } finally {
    await staged.discard();
  }
  return path;
}

/**
 * Verifies the build and scans its directory. Writes nothing.
 * @throws RuntimeCliError for invalid options, an unusable build directory or configuration, or an output inside the
 * build.
 */
export async function planBuild(options: PreviewBuildOptions, host: Host): Promise<BundlePlan> {
  const {format = 'v2', cwd = host.cwd, output, force, ...content} = options;
  if (output !== undefined && !force) await verifyOutputs(resolve(cwd, output), options);
  const plan = await planBundle({...content, format, cwd, env: host.env, now: () => host.now()});
  if (output !== undefined) verifyOutside(plan.buildDirectory, resolve(cwd, output));
  return plan;
}

/** The packing options of an operation. */
export function packOptions({signal, onProgress}: CommonOptions): PackOptions {
  return {
    signal,
    onProgress: onProgress && ((progress) => callBackNow(() => onProgress({phase: 'build', ...progress}))),
  };
}

/** An archive inside the build would be part of the next one. */
function verifyOutside(buildDirectory: string, output: string): void {
  const inside = relative(buildDirectory, output);
  if (inside.startsWith('..') || isAbsolute(inside)) return;
  throw createError('ERR_OUTPUT', `${output} is inside the build directory, so the next bundle would contain it.`, {
    suggestions: ['Pass --output FILE to write it elsewhere.'],
  });
}
