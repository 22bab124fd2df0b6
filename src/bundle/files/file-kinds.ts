import {constants} from 'node:fs';
import {open} from 'node:fs/promises';
import {createError} from '../../errors/index.js';
import type {Framework} from '../../frameworks/framework.js';
import {fileDetails, listPaths, listReasons, sourceOf} from '../../text/entry-names.js';
import type {BundleFile} from '../types.js';

/** A kind of files that are not for visitors. */
interface FileKind {
  /** Matches a path, the names in it whole. */
  readonly path: RegExp;
  readonly reason: string;
  /** Whether publishing one is refused. Of the others, a warning tells. */
  readonly isRefused?: boolean;
  /** A path in the same bundle that says that browsers load such files. */
  readonly unless?: RegExp;
}

/** Files that hold secrets: public ones are refused, of server-only ones a warning tells. */
interface SecretKind extends FileKind {
  /** Whether a file of that name does hold secrets, for names that other files have, too. */
  readonly isSecret?: (text: string) => boolean;
  /** Whether only the content tells, so that the name alone says nothing. */
  readonly byContent?: boolean;
}

const program = 'a program, which would be sent instead of run';
const phpFile = /^(?!(?:.*\/)?node_modules\/).*\.(?:php|phtml)$/i;

/** What to do about PHP. */
export function phpAdvice(paths: readonly string[]): readonly string[] {
  if (!paths.some((path) => phpFile.test(path))) return [];
  return ['Runtime does not run PHP. Push the pages that it generates, such as a static export.'];
}

/** Templates of such files are meant to be shared. */
const templates = 'example|sample|template|dist|defaults?';

const secretKinds: readonly SecretKind[] = [
  {
    path: new RegExp(`(?:^|/)(?:\\.env|\\.dev\\.vars)(?![^/]*\\.(?:${templates})$)[^/]*$`, 'i'),
    reason: "an application's settings",
  },
  {path: new RegExp(`(?:^|/)(?!(?:${templates})\\.)[^/]+\\.env$`, 'i'), reason: "an application's settings"},
  {path: /(?:^|\/)\.(?:npmrc|pypirc|git-credentials|gem\/credentials|vault-token)$/i, reason: 'access tokens'},
  {path: /(?:^|\/)(?:[._]netrc|\.pgpass|\.my\.cnf|\.htpasswd)$/i, reason: 'passwords of servers'},
  {path: /(?:^|\/)\.(?:aws\/credentials|boto|s3cfg)$/i, reason: 'cloud account keys'},
  {path: /^(?=.*credentials[^/]*$)(?:.*\/)?\.config\/gcloud\//i, reason: 'cloud account keys'},
  {path: /(?:^|\/)\.(?:docker\/config\.json|dockercfg)$/i, reason: 'container registry logins'},
  {path: /(?:^|\/)(?:\.kube\/config|[^/]*\.?kubeconfig)$/i, reason: 'cluster keys'},
  {path: /(?:^|\/)(?:dw\.json|\.mobify(?:--[^/]*)?)$/i, reason: 'keys of the hosting service'},
  {
    path: /(?:^|\/)(?:\.vscode\/sftp\.json|sftp-config\.json|\.ftpconfig|\.remote-sync\.json|\.idea\/(?:dataSources|webServers)[^/]*\.xml)$/i,
    reason: 'passwords of servers',
  },
  {path: /\.(?:tfstate(?:\.backup)?|tfvars)$/i, reason: 'infrastructure variables'},
  {path: phpFile, reason: program},
  {path: /\.(?:p12|pfx|jks|keystore|ppk|kdbx)$/i, reason: 'private keys or passwords'},
  {path: /(?:^|\/)id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?$/i, reason: 'a private key'},
  {
    path: /\.(?:pem|key)$/i,
    reason: 'a private key',
    // Certificates and public keys can have such names, too.
    isSecret: (text) => !text.includes('-----BEGIN ') || text.includes('PRIVATE KEY'),
  },
  {
    path: /(?:^|[-_./])(?:key|credentials?|account|adminsdk[^/]*|[0-9a-f]{12})\.json$/i,
    reason: 'a service account key',
    isSecret: (text) => text.includes('"private_key"'),
    byContent: true,
  },
];

const otherKinds: readonly FileKind[] = [
  {
    path: /\.(?:db|sqlite[23]?|mdb)$/i,
    reason: 'a database',
    isRefused: true,
    unless: /(?:^|\/)(?:sql-(?:wasm|asm)|sqlite3?|wa-sqlite)[^/]*\.(?:wasm|m?js)$/,
  },
  {path: /\.(?:sql|dump|pgdump)(?:\.(?:gz|bz2|xz|zip|zst))?$/i, reason: 'a database dump', isRefused: true},
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
  {path: /(?:^|\/)mycli\.config\.(?:[cm]?[jt]s|json)$/, reason: 'the configuration of mycli'},
  {path: /(?:^|\/)prisma\//, reason: 'a database schema'},
  // Packages of libraries have their types beside their scripts. Streams of video are in files of the same name.
  {path: /(?<!\.d)\.[cm]?ts$/i, reason: 'a source', unless: /\.m3u8$/i},
  {path: /\.(?:tsx|jsx|vue|svelte|astro|py|rb|go|rs|java|cs|sh|bash|ps1|bat)$/i, reason: 'a source'},
];
const sourceMap = /\.map$/;
/** Bytes of a file to read; no certificate chain has more. */
const looked = 256 * 1024;

function secretKind({path}: Pick<BundleFile, 'path'>): SecretKind | undefined {
  return secretKinds.find((kind) => kind.path.test(path));
}

/** Those of the files of a site that no visitor needs, but for secrets, source maps and packages. */
function unneededIn(files: readonly Pick<BundleFile, 'path'>[]) {
  const kinds = otherKinds.filter(({unless}) => unless === undefined || !files.some(({path}) => unless.test(path)));
  return files.flatMap((file) => {
    const kind = /(?:^|\/)node_modules\//.test(file.path) ? undefined : kinds.find(({path}) => path.test(file.path));
    return kind === undefined ? [] : [{path: file.path, kind, reason: kind.reason}];
  });
}

/** Whether the name of a file suggests secrets: `.env*`, `.npmrc`, private keys and others. */
export function hasSensitiveName(file: Pick<BundleFile, 'path'>): boolean {
  const kind = secretKind(file);
  return kind !== undefined && kind.byContent !== true;
}

/** The files of a folder that, by their names, are not for visitors. */
export function privateFilesIn(files: readonly Pick<BundleFile, 'path'>[]): readonly string[] {
  return [...unneededIn(files), ...files.filter(hasSensitiveName)].map(({path}) => path);
}

/** A warning about files whose names suggest secrets. */
export function secretWarnings(sensitive: readonly Pick<BundleFile, 'path'>[]): string[] {
  if (sensitive.length === 0) return [];
  return [`The bundle contains files that may hold secrets: ${listPaths(sensitive.map(({path}) => path))}. ${exclude}`];
}

// Its rules add to those of the configuration, which --ignore replaces.
const exclude = 'Exclude them in .bundleignore.';

interface CheckOptions {
  /** Where the files are. Undefined for an archive, of whose files only the names are known. */
  readonly buildDirectory?: string | undefined;
  /** Whether everything is just a warning. */
  readonly allowSensitiveFiles?: boolean | undefined;
  readonly allowSourceMaps?: boolean | undefined;
  /** Whose row may say that its builds have source maps, or whose own client publishes what its lists say. */
  readonly framework?: Framework | undefined;
  /** The flag that makes files server-only, if there is one. */
  readonly serverOnlyFlag?: ((paths: readonly string[]) => string | undefined) | undefined;
}

/** Refuses (`ERR_SENSITIVE_FILES`) to publish what is not for visitors. Warns of what is allowed, or may be meant. */
export async function checkFileKinds(files: readonly BundleFile[], options: CheckOptions): Promise<readonly string[]> {
  const {buildDirectory, allowSensitiveFiles = false, allowSourceMaps = false, framework, serverOnlyFlag} = options;
  const secrets: (BundleFile & FoundFile & {readonly kind: SecretKind})[] = [];
  for (const file of files) {
    const kind = secretKind(file);
    if (kind && (await mayHoldSecret(file, kind, buildDirectory))) secrets.push({...file, kind, reason: kind.reason});
  }
  const published = files.filter(({ssrOnly}) => !ssrOnly);
  const unneeded = unneededIn(published);
  const exposed = [
    ...secrets.filter(({ssrOnly, kind}) => !ssrOnly && (buildDirectory !== undefined || kind.isSecret === undefined)),
    ...unneeded.filter(({kind}) => kind.isRefused),
  ];
  if (exposed.length > 0 && !allowSensitiveFiles) throw exposedError(exposed, options);
  const told = framework?.lists === undefined ? unneeded : unneeded.filter(({kind}) => kind.isRefused === true);
  const flag = serverOnlyFlag?.(told.map(({path}) => path));
  const remedy =
    flag === undefined ? exclude : `Exclude them in .bundleignore, unless the server needs them: then pass ${flag}`;
  const isExpected = allowSourceMaps || framework?.sourceMaps === true;
  const maps = isExpected ? [] : published.filter(({path}) => sourceMap.test(path)).map(({path}) => path);
  return [
    ...secretWarnings(secrets),
    ...(told.length === 0 ? [] : [`The bundle publishes files that no visitor needs: ${listReasons(told)}. ${remedy}`]),
    ...(maps.length === 0
      ? []
      : [
          `The bundle publishes source maps (files: ${String(maps.length)}), from which anyone can read the sources: ` +
            `${listPaths(maps, 3)}. Add *.map to .bundleignore to exclude them, or set allowSourceMaps: true in mycli.config.`,
        ]),
  ];
}

interface FoundFile {
  readonly path: string;
  readonly reason: string;
}

function exposedError(files: readonly FoundFile[], {buildDirectory, serverOnlyFlag}: CheckOptions): Error {
  const what = buildDirectory === undefined ? 'archive' : 'build';
  const paths = files.map(({path}) => path);
  const flag = serverOnlyFlag?.(paths);
  const message = `The ${what} would publish files that are not for visitors: ${listReasons(files)}.`;
  return createError('ERR_SENSITIVE_FILES', message, {
    suggestions: [
      what === 'archive' ? 'Exclude them in .bundleignore, and build it again.' : exclude,
      ...(flag === undefined ? [] : [`If the server needs them, make them server-only: pass ${flag}`]),
      ...phpAdvice(paths),
      ...(files.some(({reason}) => reason !== program)
        ? ['If anyone may have them, set allowSensitiveFiles: true in mycli.config.']
        : []),
    ],
    details: fileDetails(paths),
  });
}

/** Whether a file holds what its name suggests, as far as that is known. Links are not followed. */
async function mayHoldSecret(
  {path, size, linkTarget}: BundleFile,
  {isSecret = () => true, byContent = false}: SecretKind,
  buildDirectory: string | undefined,
): Promise<boolean> {
  if (buildDirectory === undefined || linkTarget !== undefined || size > looked) return !byContent;
  try {
    const flags = constants.O_RDONLY | (constants.O_NOFOLLOW || 0) | (constants.O_NONBLOCK || 0);
    const handle = await open(sourceOf(buildDirectory, path), flags);
    try {
      const {buffer, bytesRead} = await handle.read(Buffer.alloc(size), 0, size, 0);
      return isSecret(buffer.toString('latin1', 0, bytesRead));
    } finally {
      await handle.close();
    }
  } catch {
    // Packing it will report what is wrong.
    return true;
  }
}
