import {commandLine} from '../../errors/command-line.js';
import type {BuildOutcome} from '../../tasks/build-tasks.js';
import type {JsonDocument} from '../command-context.js';
import type {Body, BundleBuildDocument} from '../documents.js';
import type {Output} from '../output/output.js';
import {describePlannedFiles, plannedDocument} from './plan.js';

/** Tells what a build has made, and gives the document of `--json`; none when the archive is on stdout. */
export function renderBuild({plan, result, streamed}: BuildOutcome, output: Output): JsonDocument | undefined {
  if (streamed) return undefined;
  if (!result) {
    for (const line of describePlannedFiles(plan)) output.result(line);
    return {dryRun: true, ...plannedDocument(plan)} satisfies Body<BundleBuildDocument>;
  }
  const {bundle, manifest, warnings} = result;
  const {format, path, size, sha256, contentSha256, message, rootDir, configPath, matchMode, config, files} = bundle;
  output.result(path);
  output.result(`sha256 ${sha256}`);
  output.result(`Push it with: ${commandLine('bundle:push', '--archive', path, ...(format === 'v1' ? [] : ['--v2']))}`);
  return {
    archive: {format, path, manifest, size, sha256, contentSha256, files: files.length},
    message,
    rootDir,
    configPath,
    matchMode,
    config,
    warnings,
  } satisfies Body<BundleBuildDocument>;
}
