import {createRequire} from 'node:module';

export function packageVersion(): string {
  // By its name, which every file of the package can ask for, wherever the build has put it.
  const manifest: unknown = createRequire(import.meta.url)('mycli/package.json');
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest
    ? String(manifest.version)
    : '0.0.0';
}
