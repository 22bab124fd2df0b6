import type {BackendContext, BodyOptions, Bundle} from './contract.js';

/** The multipart body of a v2 upload: the same parts for both built-in backends. */
export function multipartBody(bundle: Bundle, {bodies}: Pick<BackendContext, 'bodies'>): BodyOptions {
  const {message, rootDir, configPath, matchMode} = bundle;
  return bodies.multipart({
    file: {name: 'bundle', filename: 'bundle.tar.gz', contentType: 'application/octet-stream', source: bundle},
    fields: {
      message,
      ...(rootDir === undefined ? {} : {rootDir}),
      ...(configPath === undefined ? {} : {configPath}),
      ...(matchMode === undefined ? {} : {matchMode}),
    },
  });
}
