import {createRequire} from 'node:module';
import {dirname} from 'node:path';

// By name, which works from any file of the package, wherever the build puts it.
const require = createRequire(import.meta.url);

/** The folder of this package. */
export function packageRoot(): string {
  return dirname(require.resolve('mycli/package.json'));
}

/** The version of this package. */
export function packageVersion(): string {
  const manifest: unknown = require('mycli/package.json');
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest
    ? String(manifest.version)
    : '0.0.0';
}
