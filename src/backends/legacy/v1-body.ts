import type {BackendContext, BodyOptions, Bundle, StreamedBundle} from '../contract.js';

/**
 * The JSON body of a v1 upload. The server takes lists of files, not patterns; the archive is encoded while it is sent.
 */
export function v1Body(bundle: Bundle | StreamedBundle, {bodies}: Pick<BackendContext, 'bodies'>): BodyOptions {
  const {message, config, files} = bundle;
  const dependencies = config.bundleMetadata?.dependencies;
  return bodies.base64Json({
    value: {
      message,
      encoding: 'base64',
      ssr_parameters: config.ssrParameters,
      ssr_only: files.filter((file) => file.ssrOnly).map(({path}) => path),
      ssr_shared: files.filter((file) => file.ssrShared).map(({path}) => path),
      ...(dependencies === undefined ? {} : {bundle_metadata: {dependencies}}),
    },
    field: 'data',
    source: bundle,
  });
}
