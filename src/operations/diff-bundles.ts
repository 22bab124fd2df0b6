import {stat} from 'node:fs/promises';
import {resolve} from 'node:path';
import {amendError, createError, isRuntimeCliError} from '../errors/index.js';
import type {BundleSource, ComparedBundle, ReadSourceOptions} from './bundle-source.js';
import type {ContentsDiff} from './compare-contents.js';
import type {Host} from './host.js';

/** Options of `diffBundles`. The options for a bundle's content are those of the build directories to compare. */
export interface DiffBundlesOptions extends ReadSourceOptions {
  /** The bundle before. */
  readonly from: BundleSource;
  /** The bundle after. */
  readonly to: BundleSource;
}

/** What `diffBundles` resolves to. */
export interface DiffBundlesResult extends ContentsDiff {
  readonly before: ComparedBundle;
  readonly after: ComparedBundle;
  readonly warnings: readonly string[];
}

/** Without a download, an archive that was kept is all there is. What is no ID was perhaps meant as a path. */
export async function withAdvice(error: unknown, {cwd = '.'}: DiffBundlesOptions, host: Host): Promise<unknown> {
  if (!isRuntimeCliError(error)) return error;
  const {backend, capability, bundleId} = error.details ?? {};
  if (capability === 'download') {
    return createError(
      'ERR_CAPABILITY_UNSUPPORTED',
      `The ${String(backend)} backend cannot download bundles, so nothing can be compared with them.`,
      {
        suggestions: ['Keep the archive of each release (bundle:build), and compare with that.'],
        details: error.details,
        cause: error,
      },
    );
  }
  if (error.code !== 'ERR_OPTION_INVALID' || typeof bundleId !== 'string') return error;
  if (await stat(resolve(host.cwd, cwd, bundleId)).catch(() => undefined)) return error;
  return amendError(error, {
    suggestions: [`There is no file or folder named "${bundleId}". Pass one, running:TARGET, latest or bundle:ID.`],
  });
}
