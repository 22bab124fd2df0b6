import {commandLine} from '../../errors/suggest.js';
import type {BundlePlan} from '../../bundle/index.js';
import type {BuildBundleResult} from '../../operations/build-bundle.js';
import type {JsonDocument} from '../command/command-context.js';
import type {Body, BundleBuildDocument} from '../output/documents.js';
import type {Output} from '../output/output.js';
import {describePlannedFiles, plannedDocument} from './plan.js';

/** Tells what a build would contain, and gives the document of `--json`. */
export function renderPreview(plan: BundlePlan, output: Output): JsonDocument {
  for (const line of describePlannedFiles(plan)) output.result(line);
  return {dryRun: true, ...plannedDocument(plan)} satisfies Body<BundleBuildDocument>;
}

/** Tells what a build has made, and gives the document of `--json`. */
export function renderBuild({bundle, manifest, warnings}: BuildBundleResult, output: Output): JsonDocument {
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
