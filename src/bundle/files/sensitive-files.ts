import {constants} from 'node:fs';
import {open} from 'node:fs/promises';
import {join} from 'node:path';
import {createError} from '../../errors/index.js';
import {fileDetails, listPaths, listReasons} from '../../text/entry-names.js';
import type {BundleFile} from '../types.js';

/** Names of files that hold secrets. */
interface SensitiveName {
  /** Matches a path, the names in it whole. */
  readonly path: RegExp;
  readonly holds: string;
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
  return ['The Runtime runs no PHP. Push what it makes, such as the pages of a static export.'];
}

/** Templates of such files are meant to be shared. */
const templates = 'example|sample|template|dist|defaults?';

const sensitiveNames: readonly SensitiveName[] = [
  {
    path: new RegExp(`(?:^|/)(?:\\.env|\\.dev\\.vars)(?![^/]*\\.(?:${templates})$)[^/]*$`, 'i'),
    holds: "an application's settings",
  },
  {path: new RegExp(`(?:^|/)(?!(?:${templates})\\.)[^/]+\\.env$`, 'i'), holds: "an application's settings"},
  {path: /(?:^|\/)\.(?:npmrc|pypirc|git-credentials|gem\/credentials|vault-token)$/i, holds: 'access tokens'},
  {path: /(?:^|\/)(?:[._]netrc|\.pgpass|\.my\.cnf|\.htpasswd)$/i, holds: 'passwords of servers'},
  {path: /(?:^|\/)\.(?:aws\/credentials|boto|s3cfg)$/i, holds: 'keys of a cloud account'},
  {path: /^(?=.*credentials[^/]*$)(?:.*\/)?\.config\/gcloud\//i, holds: 'keys of a cloud account'},
  {path: /(?:^|\/)\.(?:docker\/config\.json|dockercfg)$/i, holds: 'logins of container registries'},
  {path: /(?:^|\/)(?:\.kube\/config|[^/]*\.?kubeconfig)$/i, holds: 'keys of a cluster'},
  {path: /(?:^|\/)(?:dw\.json|\.mobify(?:--[^/]*)?)$/i, holds: 'keys of the hosting service'},
  {
    path: /(?:^|\/)(?:\.vscode\/sftp\.json|sftp-config\.json|\.ftpconfig|\.remote-sync\.json|\.idea\/(?:dataSources|webServers)[^/]*\.xml)$/i,
    holds: 'passwords of servers',
  },
  {path: /\.(?:tfstate(?:\.backup)?|tfvars)$/i, holds: 'values of an infrastructure'},
  {path: phpFile, holds: program},
  {path: /\.(?:p12|pfx|jks|keystore|ppk|kdbx)$/i, holds: 'private keys or passwords'},
  {path: /(?:^|\/)id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?$/i, holds: 'a private key'},
  {
    path: /\.(?:pem|key)$/i,
    holds: 'a private key',
    // Certificates and public keys can have such names, too.
    isSecret: (text) => !text.includes('-----BEGIN ') || text.includes('PRIVATE KEY'),
  },
  {
    path: /(?:^|[-_./])(?:key|credentials?|account|adminsdk[^/]*|[0-9a-f]{12})\.json$/i,
    holds: 'the key of a service account',
    isSecret: (text) => text.includes('"private_key"'),
    byContent: true,
  },
];
/** Bytes of a file to read; no certificate chain has more. */
const looked = 256 * 1024;

function sensitiveName({path}: Pick<BundleFile, 'path'>): SensitiveName | undefined {
  return sensitiveNames.find((row) => row.path.test(path));
}

/** Whether the name of a file suggests secrets: `.env*`, `.npmrc`, private keys and others. */
export function hasSensitiveName(file: Pick<BundleFile, 'path'>): boolean {
  const found = sensitiveName(file);
  return found !== undefined && !found.byContent;
}

/** A warning about files whose names suggest secrets. */
export function secretWarnings(sensitive: readonly Pick<BundleFile, 'path'>[]): string[] {
  if (sensitive.length === 0) return [];
  return [
    `The bundle contains files that may hold secrets: ${listPaths(sensitive.map(({path}) => path))}. Exclude them with --ignore GLOB or in .bundleignore.`,
  ];
}

/** What is known about the files of a build or an archive. */
interface SensitiveFilesOptions {
  /** Where the files are. Undefined for an archive, of whose files only the names are known. */
  readonly buildDirectory?: string | undefined;
  /** Whether everything is just a warning. */
  readonly allowed: boolean;
  /** The flag that makes files server-only, if there is one. */
  readonly serverOnlyFlag?: ((paths: readonly string[]) => string | undefined) | undefined;
}

/**
 * Refuses a build or a prebuilt archive that would publish secrets. Server-only ones are just a warning.
 * @throws RuntimeCliError `ERR_SENSITIVE_FILES` naming the files.
 */
export async function checkSensitiveFiles(
  files: readonly BundleFile[],
  options: SensitiveFilesOptions,
): Promise<readonly string[]> {
  const {buildDirectory, allowed} = options;
  const sensitive: SensitiveFile[] = [];
  for (const file of files) {
    const name = sensitiveName(file);
    if (name === undefined) continue;
    const isSecret = buildDirectory === undefined ? !name.byContent : await holdsSecret(file, name, buildDirectory);
    if (isSecret) sensitive.push({...file, name});
  }
  const isKnown = ({name}: SensitiveFile) => buildDirectory !== undefined || name.isSecret === undefined;
  const exposed = sensitive.filter((file) => !file.ssrOnly && isKnown(file));
  if (exposed.length > 0 && !allowed) throw exposedError(exposed, options);
  return secretWarnings(sensitive);
}

type SensitiveFile = BundleFile & {readonly name: SensitiveName};

function exposedError(files: readonly SensitiveFile[], {buildDirectory, serverOnlyFlag}: SensitiveFilesOptions): Error {
  const isArchive = buildDirectory === undefined;
  const paths = files.map(({path}) => path);
  const flag = serverOnlyFlag?.(paths);
  const shown = listReasons(files.map(({path, name}) => ({path, reason: name.holds})));
  return createError(
    'ERR_SENSITIVE_FILES',
    `The ${isArchive ? 'archive' : 'build'} contains files that may hold secrets and are not server-only: ${shown}.`,
    {
      suggestions: [
        `${isArchive ? 'Build it again, and exclude' : 'Exclude'} them with --ignore GLOB or in .bundleignore.`,
        ...(flag === undefined ? [] : [`If the server needs them, make them server-only: pass ${flag}`]),
        ...phpAdvice(paths),
        ...(files.some(({name}) => name.holds !== program)
          ? ['If they contain no secrets, set allowSensitiveFiles: true in mycli.config.']
          : []),
      ],
      details: fileDetails(paths),
    },
  );
}

/** Whether a file holds what its name suggests. Links are not followed. */
async function holdsSecret(
  {path, size, linkTarget}: BundleFile,
  {isSecret = () => true, byContent = false}: SensitiveName,
  buildDirectory: string,
): Promise<boolean> {
  if (linkTarget !== undefined || size > looked) return !byContent;
  try {
    const flags = constants.O_RDONLY | (constants.O_NOFOLLOW || 0) | (constants.O_NONBLOCK || 0);
    const handle = await open(join(buildDirectory, path), flags);
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
