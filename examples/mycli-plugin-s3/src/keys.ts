import type {S3Context} from './options.js';

/** Where everything of a project lies in the bucket. */
export interface Keys {
  /** Prefix of the records of bundles. A bundle is there when its record is. */
  readonly records: string;
  /** Prefix of the pointers of targets. */
  readonly pointers: string;
  record(bundleId: string): string;
  archive(bundleId: string): string;
  pointer(targetSlug: string): string;
}

/** The keys of the project of a call. */
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

/** The name of an object below a prefix: a bundle's id or a target. */
export function nameOf(key: string, prefix: string): string {
  return key.slice(prefix.length, -'.json'.length);
}
