/** Why each package that users get is worth it: the words of docs/reference/dependencies.md. */
export const reasons = {
  '@oclif/core': 'The framework of the command line: commands, flags, help, hooks for plugins.',
  '@oclif/plugin-help': 'The command `help`.',
  '@oclif/plugin-plugins':
    'The commands `plugins`, by which users install backends. As a dependency it would bring npm and Yarn: 155 packages and 24 MB.',
  '@oclif/plugin-version': 'The command `version`.',
  '@standard-schema/spec': 'The types of a schema, so that a plugin can use any validator for its options. Types only.',
  '@inquirer/prompts': 'Asks questions in a terminal: lines, secrets, choices.',
  open: 'Opens a URL in the browser, on every platform.',
  acorn: 'Recognizes server code: finds the packages that a script requires when it is loaded.',
  archiver: "Writes the archives of bundles. Most of its weight is tar-stream's.",
  busboy: 'Reads uploads in the local runtime, as a stream.',
  'ci-info': 'Knows whether this is a CI system, so that nothing is redrawn there.',
  'es-module-lexer':
    'Finds the imports of a build: modules that only a server can load, and packages that the bundle lacks.',
  'fast-glob': 'Finds the files of a build.',
  'fastest-levenshtein': 'Finds the nearest name to a misspelled one.',
  'get-tsconfig':
    'Finds the files of the TypeScript build of a project: `init` writes no configuration that would become one.',
  got: 'The HTTP client.',
  ignore: 'The rules of `.bundleignore`, which are those of gitignore.',
  jiti: 'Loads TypeScript without a build: `config.server.ts` and `mycli.config.ts`.',
  listr2: 'Runs the steps of a command, and shows how far they are.',
  minimatch: 'Part of `@oclif/core`. Our tests compare their globs with its.',
  hono: 'Routes the requests of the local runtime.',
  '@hono/node-server': 'Connects Hono to the servers of Node.',
  send: 'Sends files of the local runtime, with ranges and conditional requests.',
  picomatch: 'Says what the patterns for server-only and shared files mean.',
  'pretty-bytes': 'Sizes for people.',
  'fast-string-width':
    'How many columns of a terminal a text takes: Chinese letters take two. string-width takes 18 ms to load.',
  'fast-wrap-ansi': 'Wraps sentences and table cells for a terminal.',
  'tar-stream':
    'Reads tar archives: prebuilt ones, downloads, uploads to the local runtime. Archiver brings it anyway. Most of it is native ' +
    'modules for another runtime, which Node never loads.',
  semver: 'Part of the command `plugins`. Says whether a plugin is made for this version of mycli.',
  ws: 'The WebSocket for the logs of an app: Node 20 has none. No dependencies.',
  valibot: 'Checks what comes from outside: configuration files, answers, what plugins return.',
};
