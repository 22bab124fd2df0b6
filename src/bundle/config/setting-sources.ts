import {join} from 'node:path';
import {readDiskConfig, readServerConfigs, type ConfigSource} from './config-sources.js';
import type {BundlePlanOptions} from './plan-options.js';

/**
 * Reads what there is to say about a bundle's configuration, the strongest source first: options, the on-disk v2 file,
 * and without one (V2-4) the `config.server` files, as long as ssrOnly or ssrShared is not known.
 * @param configPath v2 only: of the on-disk file, below the build directory. v1 has none.
 * @throws RuntimeCliError `ERR_CONFIG_INVALID` naming file and field.
 */
export async function readSettingSources(
  options: BundlePlanOptions,
  directories: {readonly project: string; readonly build: string},
  configPath: string | undefined,
): Promise<readonly ConfigSource[]> {
  const {cwd, ssrOnly, ssrShared, ssrParameters, bundleMetadata} = options;
  const content = {ssrOnly, ssrShared, ssrParameters};
  if (configPath === undefined) {
    const metadata = {dependencies: bundleMetadata?.dependencies};
    return withServerConfigs({from: 'option', content: {...content, bundleMetadata: metadata}}, directories, cwd);
  }
  const explicit = {from: 'option', content: {...content, bundleMetadata}};
  const onDisk = await readDiskConfig(join(directories.build, configPath), cwd);
  return onDisk ? [explicit, onDisk] : withServerConfigs(explicit, directories, cwd);
}

async function withServerConfigs(
  explicit: ConfigSource,
  directories: {readonly project: string; readonly build: string},
  cwd: string,
): Promise<readonly ConfigSource[]> {
  const isComplete = (found: readonly ConfigSource[]): boolean => {
    const contents = [explicit, ...found].map(({content}) => content);
    return (
      contents.some(({ssrOnly}) => ssrOnly !== undefined) && contents.some(({ssrShared}) => ssrShared !== undefined)
    );
  };
  return [explicit, ...(await readServerConfigs(directories, cwd, isComplete))];
}
