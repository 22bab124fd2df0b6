export {checkBundleOptions, optionProblemsError} from './config/check-options.js';
export {readDeclaredDependencies} from './config/read-dependencies.js';
export {withReaders} from './prebuilt/archive-reader.js';
export {bundleFingerprint} from './archive/fingerprint.js';
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
export type {BundleContentOptions, BundlePlanOptions} from './config/plan-options.js';
export {checkSlug, type OptionProblem} from './config/slug.js';
export {verifyReplaceable} from './archive/replaceable.js';
export {secretWarnings} from './files/sensitive-files.js';
export {streamBundle, type BundleStream} from './archive/stream-bundle.js';
export type * from './types.js';
export {strictWarnings, unmatchedWarnings} from './files/pattern-warnings.js';
export {writeBundle} from './archive/write-bundle.js';
