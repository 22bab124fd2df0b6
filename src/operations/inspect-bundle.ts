import type {BundleId} from '../backends/contract.js';
import type {RuntimeBackend} from '../backends/names.js';
import type {ArchiveLayoutOptions} from '../bundle/contents/bundle-contents.js';
import type {ArchiveInspection} from '../bundle/contents/inspect-archive.js';
import type {DownloadBundleOptions} from './download-bundle.js';
import type {CommonOptions} from './options.js';

/** Options of `inspectArchive`. */
export interface InspectArchiveOptions extends Pick<CommonOptions, 'signal' | 'onEvent'>, ArchiveLayoutOptions {}

/** Options of `inspectBundle`. */
export type InspectBundleOptions = Omit<DownloadBundleOptions, 'output' | 'force'> & InspectArchiveOptions;

/** The contents of an uploaded bundle. */
export interface BundleInspection extends ArchiveInspection {
  readonly backend: RuntimeBackend;
  readonly projectSlug: string;
  readonly bundleId: BundleId;
}
