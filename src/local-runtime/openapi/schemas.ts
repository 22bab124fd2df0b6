import {matchModeSchema, maxPath, v2Defaults} from '../../settings/schemas.js';
import {apiSchemas} from './api-schemas.js';
import {legacySchemas} from './legacy-schemas.js';
import {message, text, texts, type Part} from './schema-parts.js';

const path = (description: string, fallback: string) =>
  text(
    `${description} A relative path with \`/\` between its parts, without \`.\` and \`..\`, at most ${String(maxPath)} characters.`,
    {
      default: fallback,
      maxLength: maxPath,
      pattern: '^(?!\\.{1,2}(?:/|$))[^/\\\\\\u0000]+(?:/(?!\\.{1,2}(?:/|$))[^/\\\\\\u0000]+)*$',
    },
  );

/** What both backends have in common. */
const common: Part = {
  BundleForm: {
    type: 'object',
    description: 'A v2 bundle as `multipart/form-data`. The same for both backends.',
    required: ['bundle'],
    additionalProperties: false,
    properties: {
      bundle: text(
        'The archive: a tar file, gzipped or not, sent as a file with a name. All its files are below `{rootDir}/`; a server ignores other entries. Exactly one entry is the configuration file `{rootDir}/{configPath}`, a `BundleConfig`. Entries are files, folders and symbolic links that stay inside `{rootDir}/`. Absolute paths, `..`, duplicates, hard links and devices make an archive invalid (422).',
        {format: 'binary', contentMediaType: 'application/octet-stream'},
      ),
      message: {...message, default: ''},
      rootDir: path('The folder of the archive that contains the files.', v2Defaults.rootDir),
      configPath: path('The configuration file, relative to `rootDir`.', v2Defaults.configPath),
      matchMode: text(
        'What happens if a pattern of the configuration matches no file: `strict` refuses the bundle (422), `ignore_missing` accepts it with a warning.',
        {enum: matchModeSchema.options, default: v2Defaults.matchMode},
      ),
    },
  },
  BundleConfig: {
    type: 'object',
    description:
      'The configuration file inside a v2 archive. The patterns are globs, matched by the server against paths relative to `rootDir`; one that starts with `!` excludes. Unknown keys are allowed here, but not in `bundleMetadata`.',
    required: ['ssrOnly', 'ssrShared', 'ssrParameters'],
    properties: {
      ssrOnly: texts('Files for the server only. They must never be served.'),
      ssrShared: texts('Files for the server and for browsers.'),
      ssrParameters: {type: 'object', description: 'Parameters of the server, such as `SSRFunctionNodeVersion`.'},
      bundleMetadata: {
        type: 'object',
        additionalProperties: false,
        properties: {
          dependencies: {
            type: 'object',
            description: 'Packages of the project and their versions.',
            additionalProperties: {type: 'string'},
          },
          ccOverrides: texts('Files that override those of a template.'),
        },
      },
    },
  },
  BundleMatches: {
    type: ['object', 'null'],
    description: 'The files that the patterns match, relative to `rootDir`.',
    properties: {ssrOnly: texts('Server-only files.'), ssrShared: texts('Shared files.')},
  },
};

const openApi: Part = {
  OpenApiDocument: {
    type: 'object',
    description: 'An OpenAPI document.',
    additionalProperties: true,
    required: ['openapi', 'info'],
    properties: {openapi: text('Version of the format.'), info: {type: 'object'}},
  },
};

/** The schemas of bodies. */
export const schemas: Part = {...common, ...apiSchemas, ...legacySchemas, ...openApi};
