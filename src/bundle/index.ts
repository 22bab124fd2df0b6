export {bundleFingerprint, manifestPathOf} from './archive/manifest.js';
export {archiveSize} from './archive/write-tar.js';
export {
  contentDigest,
  packBundle,
  streamBundle,
  verifyReplaceable,
  writeBundle,
  type BundleStream,
  type PackOptions,
} from './archive/write-bundle.js';
export {checkBundleOptions, type BundleContentOptions, type BundlePlanOptions} from './config/check-options.js';
export {readDeclaredDependencies} from './config/defaults.js';
export {strictWarnings, unmatchedWarnings} from './files/build-warnings.js';
export {
  categoryOf,
  categoryWords,
  compilePatterns,
  countMatches,
  isExclusion,
  markFiles,
  type PatternLists,
} from './files/patterns.js';
export {verifyMarks} from './files/public-files.js';
export {checkFileKinds, privateFilesIn} from './files/file-kinds.js';
export {readIgnoreRules, type FoundPath} from './files/ignore-rules.js';
export {debrisWarnings, isDebrisName, scanBuildDirectory} from './files/scan.js';
export {planBundle, type BundlePlan} from './plan.js';
export {checkArchivedScripts} from './files/server-code.js';
export {withReaders} from './prebuilt/bundle-readers.js';
export {archiveFormat, openBundle} from './prebuilt/open-bundle.js';
export type * from './types.js';
