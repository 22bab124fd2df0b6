export {checkBundleOptions, optionProblemsError} from './check-options.js';
export {readDeclaredDependencies} from './declared-dependencies.js';
export {
  categoryOf,
  createManifest,
  manifestPathOf,
  writeManifest,
  type BundleManifest,
  type ManifestFile,
} from './manifest.js';
export {openBundle, type OpenBundleOptions} from './open-bundle.js';
export {packBundle, type PackOptions, type PackResult} from './pack.js';
export {compilePatterns, matchFiles, matchPatterns, unmatchedPatterns, type CompiledPatterns} from './patterns.js';
export {planBundle, type BundlePlan} from './plan.js';
export type {BundlePlanOptions} from './plan-options.js';
export type {SettingSource} from './settings.js';
export {checkSlug, type OptionProblem} from './slug.js';
export {createTemporaryDirectory, sweepTemporaryDirectories, type TemporaryDirectory} from './temporary-directory.js';
export type * from './types.js';
export {patternWarnings} from './warnings.js';
export {writeBundle, type WriteBundleOptions} from './write-bundle.js';
