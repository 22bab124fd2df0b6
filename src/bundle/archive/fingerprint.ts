import {createHash} from 'node:crypto';
import {configJson} from '../config/config-json.js';
import type {BundleContent, PackResult} from '../types.js';

/**
 * A digest of everything that makes a bundle what it is, hex: its format, the digest of its content, and what travels
 * beside the archive, which for v1 is the configuration. The message is not part of it, nor is the effort of gzip.
 */
export function bundleFingerprint(bundle: BundleContent & Pick<PackResult, 'contentSha256'>): string {
  const {format, contentSha256, rootDir, configPath, matchMode, config} = bundle;
  const beside = {rootDir, configPath, matchMode, config: format === 'v1' ? configJson(config) : undefined};
  return createHash('sha256')
    .update(JSON.stringify({format, contentSha256, ...beside}))
    .digest('hex');
}
