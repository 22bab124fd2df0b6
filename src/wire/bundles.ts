import * as v from 'valibot';
import {matchModeSchema, v2Defaults} from '../settings/schemas.js';
import {message, object, objectOf, optional, relativePath, say, ssrParameters, text, texts} from './schema.js';

/** What uploads of both formats say of a bundle. */
export const describedFields = v.object({message: v.optional(message, '')});

export const bundleFields = v.strictObject({
  ...describedFields.entries,
  rootDir: v.optional(relativePath('The folder of the archive that contains the files.'), v2Defaults.rootDir),
  configPath: v.optional(relativePath('The configuration file, relative to `rootDir`.'), v2Defaults.configPath),
  matchMode: v.optional(
    v.pipe(
      matchModeSchema,
      say(
        'What happens if a pattern of the configuration matches no file: `strict` refuses the bundle (422), `ignore_missing` accepts it with a warning.',
      ),
    ),
    v2Defaults.matchMode,
  ),
});

const patterns = (description: string) =>
  v.pipe(v.array(v.pipe(v.string(), v.nonEmpty(), v.maxLength(4096))), say(description));

export const common = {
  BundleForm: v.pipe(
    v.strictObject({
      bundle: text(
        'The archive: a tar file, gzipped or not, sent as a file with a name. All its files are below `{rootDir}/`; a server ignores other entries. Exactly one entry is the configuration file `{rootDir}/{configPath}`, a `BundleConfig`. Entries are files, folders and symbolic links that stay inside `{rootDir}/`. Absolute paths, `..`, duplicates, hard links and devices make an archive invalid (422).',
        {format: 'binary', contentMediaType: 'application/octet-stream'},
      ),
      ...bundleFields.entries,
    }),
    say('A v2 bundle as `multipart/form-data`. The same for both backends.'),
  ),
  BundleConfig: object(
    'The configuration file inside a v2 archive. The patterns are globs, matched by the server against paths relative to `rootDir`; one that starts with `!` excludes. Unknown keys are allowed here, but not in `bundleMetadata`.',
    {
      ssrOnly: patterns('Files for the server only. They must never be served.'),
      ssrShared: patterns('Files for the server and for browsers.'),
      ssrParameters,
      bundleMetadata: v.optional(
        v.strictObject({
          dependencies: v.optional(
            objectOf(v.string(), 'Packages of the project and their versions.', {
              additionalProperties: {type: 'string'},
            }),
          ),
          ccOverrides: v.optional(texts('Files that override those of a template.')),
        }),
      ),
    },
  ),
  BundleMatches: optional(
    object('The files that the patterns match, relative to `rootDir`.', {
      ssrOnly: texts('Server-only files.'),
      ssrShared: texts('Shared files.'),
    }),
  ),
};

export const bundleForm = {type: 'multipart/form-data', schema: common.BundleForm};
