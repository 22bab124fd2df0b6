import type {Framework} from '../../frameworks/framework.js';
import {createError} from '../../errors/index.js';
import {fileDetails, listPaths, listReasons} from '../../text/entry-names.js';
import type {BundleFile} from '../types.js';

/** Files that no visitor needs. */
interface UnneededFiles {
  /** Matches a path, the names in it whole. */
  readonly path: RegExp;
  readonly reason: string;
  /** Whether publishing one is refused. Of the others, a warning tells. */
  readonly isRefused?: boolean;
  /** A path in the same bundle that says that browsers load such files. */
  readonly unless?: RegExp;
}

const unneededFiles: readonly UnneededFiles[] = [
  {
    path: /\.(?:db|sqlite[23]?|mdb)$/i,
    reason: 'a database',
    isRefused: true,
    unless: /(?:^|\/)(?:sql-(?:wasm|asm)|sqlite3?|wa-sqlite)[^/]*\.(?:wasm|m?js)$/,
  },
  {path: /\.(?:sql|dump|pgdump)(?:\.(?:gz|bz2|xz|zip|zst))?$/i, reason: 'a dump of a database', isRefused: true},
  {path: /\.(?:bak|backup)$/i, reason: 'a backup', isRefused: true},
  {path: /\.(?:old|orig|swp)$/i, reason: 'a backup'},
  {
    path: /(?:^|\/)(?:package(?:-lock)?\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-(?:lock|workspace)\.yaml|bun\.lockb?)$/,
    reason: 'the packages of the project',
  },
  {
    path: /(?:^|\/)(?:composer\.(?:json|lock)|Gemfile(?:\.lock)?|requirements\.txt|pyproject\.toml|go\.(?:mod|sum))$/,
    reason: 'the packages of the project',
  },
  {
    path: /(?:^|\/)(?:[tj]sconfig(?:\.[^/]*)?\.json|(?:vite|webpack|rollup|next|nuxt|svelte|astro|babel|jest|vitest|eslint|postcss|tailwind)\.config\.[^/]+|Makefile|Procfile)$/,
    reason: 'configuration of a build',
  },
  {
    path: /(?:^|\/)(?:Dockerfile[^/]*|(?:docker-)?compose[^/]*\.ya?ml|\.dockerignore)$/i,
    reason: 'configuration of containers',
  },
  {path: /(?:^|\/)\.(?:vscode|idea|vs|zed)\/|\.code-workspace$/, reason: 'configuration of an editor'},
  {
    path: /(?:^|\/)\.(?:editorconfig|(?:eslint|prettier|stylelint)(?:rc|ignore)[^/]*|babelrc[^/]*)$/,
    reason: 'configuration of an editor',
  },
  {
    path: /(?:^|\/)(?:\.(?:github|circleci|gitlab|husky)\/|\.(?:gitlab-ci|travis)\.yml$|Jenkinsfile$|(?:azure|bitbucket)-pipelines\.yml$)/,
    reason: 'configuration of CI',
  },
  {path: /(?:^|\/)prisma\//, reason: 'the schema of a database'},
  // Packages of libraries have their types beside their scripts. Streams of video are in files of the same name.
  {path: /(?<!\.d|mycli\.config)\.[cm]?ts$/i, reason: 'a source', unless: /\.m3u8$/i},
  {path: /\.(?:tsx|jsx|vue|svelte|astro|py|rb|go|rs|java|cs|sh|bash|ps1|bat)$/i, reason: 'a source'},
];
const sourceMap = /\.map$/;

interface Unneeded {
  readonly path: string;
  readonly reason: string;
  readonly isRefused: boolean;
}

/** Those of the files of a site that no visitor needs, but for source maps and packages. */
export function unneededIn(paths: readonly string[]): readonly Unneeded[] {
  const rows = unneededFiles.filter(({unless}) => unless === undefined || !paths.some((path) => unless.test(path)));
  return paths.flatMap((path) => {
    const row = /(?:^|\/)node_modules\//.test(path) ? undefined : rows.find((one) => one.path.test(path));
    return row === undefined ? [] : [{path, reason: row.reason, isRefused: row.isRefused === true}];
  });
}

interface UnneededOptions {
  readonly allowSensitiveFiles?: boolean | undefined;
  readonly allowSourceMaps?: boolean | undefined;
  /** Whose row may say that its builds have source maps, or whose own client publishes what its lists say. */
  readonly framework?: Framework | undefined;
}

/**
 * Warnings about public files that no visitor needs.
 * @throws RuntimeCliError `ERR_SENSITIVE_FILES` naming those that are refused.
 */
export function checkUnneeded(
  files: readonly BundleFile[],
  {allowSensitiveFiles = false, allowSourceMaps = false, framework}: UnneededOptions,
): readonly string[] {
  const published = files.filter(({ssrOnly}) => !ssrOnly);
  const found = unneededIn(published.map(({path}) => path));
  const refused = found.filter(({isRefused}) => isRefused && !allowSensitiveFiles);
  if (refused.length > 0) {
    const message = `The bundle would publish files that no visitor needs: ${listReasons(refused)}.`;
    throw createError('ERR_SENSITIVE_FILES', message, {
      suggestions: [
        'Exclude them with --ignore GLOB or in .bundleignore.',
        'If visitors need them, set allowSensitiveFiles: true in mycli.config.',
      ],
      details: fileDetails(refused.map(({path}) => path)),
    });
  }
  const told = framework?.lists === undefined ? found : found.filter(({isRefused}) => isRefused);
  const isExpected = allowSourceMaps || framework?.sourceMaps === true;
  const maps = isExpected ? [] : published.filter(({path}) => sourceMap.test(path)).map(({path}) => path);
  return [
    ...(told.length === 0
      ? []
      : [
          `The bundle publishes files that no visitor needs: ${listReasons(told)}. Exclude them with --ignore GLOB or in .bundleignore.`,
        ]),
    ...(maps.length === 0
      ? []
      : [
          `The bundle publishes source maps (files: ${String(maps.length)}), from which anyone can read the sources: ` +
            `${listPaths(maps, 3)}. Pass --ignore '*.map' to exclude them, or set allowSourceMaps: true in mycli.config.`,
        ]),
  ];
}
