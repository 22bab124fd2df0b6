import type {S3Context} from './options.js';

/** Where a project's objects are in the bucket. */
export interface Keys {
  /** Prefix of bundle records. A bundle exists if its record does. */
  readonly records: string;
  /** Prefix of the pointers of targets. */
  readonly pointers: string;
  record(bundleId: string): string;
  archive(bundleId: string): string;
  pointer(targetSlug: string): string;
}

/** The keys of a call's project. */
export function keysOf({options, projectSlug}: Pick<S3Context, 'options' | 'projectSlug'>): Keys {
  const prefix = options.prefix.replace(/^\/+|\/+$/g, '');
  const root = prefix === '' ? projectSlug : `${prefix}/${projectSlug}`;
  const [records, pointers] = [`${root}/bundles/`, `${root}/targets/`];
  return {
    records,
    pointers,
    record: (bundleId) => `${records}${bundleId}.json`,
    archive: (bundleId) => `${root}/archives/${bundleId}.tar.gz`,
    pointer: (targetSlug) => `${pointers}${targetSlug}.json`,
  };
}

/** The name of an object below a prefix: a bundle ID or a target. */
export function nameOf(key: string, prefix: string): string {
  return key.slice(prefix.length, -'.json'.length);
}
