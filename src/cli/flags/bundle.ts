import {listOption, option, switchOption} from './option.js';

const group = 'BUNDLE';
const globHelp = 'repeatable, comma-separated or a JSON array.';

/** What goes into a bundle, and how it is described. */
export const bundleFlags = {
  'build-directory': option(group, 'build-directory', {
    char: 'b',
    helpValue: 'DIR',
    summary: 'Build output; default build.',
  }),
  'project-directory': option(group, 'project-directory', {
    helpValue: 'DIR',
    summary: 'Folder of config.server.ts or .js; default the working directory.',
  }),
  message: option(group, 'message', {
    char: 'm',
    helpValue: 'TEXT',
    summary: 'Description of the bundle; default branch and commit, or the time.',
  }),
  'ssr-only': listOption(group, 'ssr-only', {helpValue: 'GLOB', summary: `Files for the server only; ${globHelp}`}),
  'ssr-shared': listOption(group, 'ssr-shared', {
    helpValue: 'GLOB',
    summary: `Files for server and client; ${globHelp}`,
  }),
  'ssr-param': listOption(group, 'ssr-param', {
    helpValue: 'KEY=VALUE',
    summary: 'SSR parameter; values may be JSON; repeatable.',
  }),
  'node-version': option(group, 'node-version', {
    char: 'n',
    helpValue: 'VERSION',
    summary: 'Node.js version on the server: the SSR parameter SSRFunctionNodeVersion.',
  }),
  'root-dir': option(group, 'root-dir', {
    helpValue: 'DIR',
    summary: 'Folder of the built files in the archive (v2); default bld.',
  }),
  'config-path': option(group, 'config-path', {
    helpValue: 'PATH',
    summary: 'Configuration in the archive, below the root folder (v2); default .runtime/config.json.',
  }),
  'match-mode': option(group, 'match-mode', {
    helpValue: 'strict|ignore_missing',
    summary: 'Whether patterns that match no file are refused (v2); default strict.',
  }),
  dependencies: option(group, 'dependencies', {
    helpValue: 'JSON|@FILE|auto',
    summary: "Dependencies for the bundle's metadata; auto takes all that package.json declares.",
  }),
  'cc-override': listOption(group, 'cc-override', {
    helpValue: 'ID',
    summary: "Override id for the bundle's metadata; repeatable.",
  }),
  ignore: listOption(group, 'ignore', {
    helpValue: 'GLOB',
    summary: `Files to leave out, as in .bundleignore; ${globHelp}`,
  }),
  'allow-sensitive-files': switchOption(group, 'allow-sensitive-files', {
    summary:
      'Take files that hold secrets by their name (.env*, .npmrc, private keys) although they are not server-only.',
  }),
  'compression-level': option(group, 'compression-level', {
    helpValue: '0-9',
    summary: 'Effort of gzip, from 0, none, to 9, the smallest archive (v2); default 6.',
  }),
};

/** How a bundle is pushed. */
export const pushFlags = {
  v2: switchOption(group, 'v2', {summary: 'Use the v2 format with the legacy backend; Api is always v2.'}),
  'if-changed': switchOption(group, 'if-changed', {
    summary: 'Upload nothing when the bundle is that of the last push to the same project and backend.',
  }),
};
