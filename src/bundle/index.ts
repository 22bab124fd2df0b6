export {checkBundleOptions, optionProblemsError} from './config/check-options.js';
export {readDeclaredDependencies} from './config/defaults.js';
export {withReaders} from './prebuilt/read-archive.js';
export {bundleFingerprint} from './archive/manifest.js';
export {categoryOf, createManifest, manifestPathOf} from './archive/manifest.js';
export {openBundle} from './prebuilt/open-bundle.js';
export {packBundle, type PackOptions} from './archive/pack.js';
export {
  compilePatterns,
  countMatches,
  isExclusion,
  markFiles,
  matchPatterns,
  unmatchedPatterns,
  type PatternLists,
} from './files/patterns.js';
export {planBundle, type BundlePlan} from './plan.js';
export type {BundleContentOptions, BundlePlanOptions} from './config/check-options.js';
export {checkSlug, type OptionProblem} from './config/check-options.js';
export {verifyReplaceable} from './archive/write-bundle.js';
export {checkSensitiveFiles} from './files/sensitive-files.js';
export {streamBundle, type BundleStream} from './archive/write-bundle.js';
export type * from './types.js';
export {strictWarnings, unmatchedWarnings} from './files/build-warnings.js';
export {writeBundle} from './archive/write-bundle.js';
