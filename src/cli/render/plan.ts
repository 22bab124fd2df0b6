import {categoryOf, type BundlePlan} from '../../bundle/index.js';

/** What a dry run lists: each file with its size and what it is for. */
export function describePlannedFiles({files}: Pick<BundlePlan, 'files'>): readonly string[] {
  // Not Math.max(...): there may be more files than a call takes arguments.
  const width = files.reduce((widest, {size}) => Math.max(widest, String(size).length), 0);
  return files.map((file) => `${categoryOf(file).padEnd(7)}  ${String(file.size).padStart(width)}  ${file.path}`);
}

/** The same for programs, with the configuration that would be written. */
export function plannedDocument(plan: BundlePlan) {
  const {format, buildDirectory, rootDir, configPath, matchMode, message, config, totalBytes, sources} = plan;
  const files = plan.files.map((file) => ({path: file.path, size: file.size, category: categoryOf(file)}));
  return {format, buildDirectory, rootDir, configPath, matchMode, message, config, sources, totalBytes, files};
}
