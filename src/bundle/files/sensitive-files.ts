import {constants} from 'node:fs';
import {open} from 'node:fs/promises';
import {join} from 'node:path';
import {createError} from '../../errors/index.js';
import {showPath} from './entry-names.js';
import type {BundleFile} from '../types.js';

/** Templates of `.env` files are made to be shared. */
const sensitiveNames = [
  /^\.env(?!.*\.(?:example|sample|template|dist)$)/i,
  /^\.npmrc$/,
  /\.(?:pem|key|p12|pfx|jks|keystore|ppk)$/i,
  /^id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?$/,
];
/** Names that certificates and public keys have, too. */
const ambiguousName = /\.(?:pem|key)$/i;
/** Bytes of a file that are looked at: no certificate chain has more. */
const looked = 256 * 1024;
/** How many paths a message lists. */
const listed = 10;

/** The paths whose names say that they hold secrets: `.env*`, `.npmrc` and private keys. */
export function sensitiveFiles(paths: readonly string[]): string[] {
  return paths.filter((path) => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    return sensitiveNames.some((pattern) => pattern.test(name));
  });
}

/** A warning that names the files whose names say that they hold secrets. */
export function secretWarnings(paths: readonly string[]): string[] {
  const sensitive = sensitiveFiles(paths);
  if (sensitive.length === 0) return [];
  return [
    `the bundle contains files that may hold secrets: ${showPaths(sensitive)}; leave them out with --ignore or .bundleignore`,
  ];
}

/**
 * Refuses a build whose files would show secrets to the world. What only the server reads is a warning.
 * @param allowed Whether all of it is only a warning.
 * @throws RuntimeCliError `ERR_SENSITIVE_FILES` that names the files.
 */
export async function checkSensitiveFiles(
  files: readonly BundleFile[],
  {buildDirectory, allowed}: {readonly buildDirectory: string; readonly allowed: boolean},
): Promise<readonly string[]> {
  const named = new Set(sensitiveFiles(files.map(({path}) => path)));
  if (named.size === 0) return [];
  const sensitive: BundleFile[] = [];
  for (const file of files) {
    if (named.has(file.path) && !(await holdsOnlyPublicKeys(file, buildDirectory))) sensitive.push(file);
  }
  const exposed = sensitive.filter(({ssrOnly}) => !ssrOnly).map(({path}) => path);
  if (exposed.length > 0 && !allowed) throw exposedError(exposed);
  return secretWarnings(sensitive.map(({path}) => path));
}

function exposedError(paths: readonly string[]): Error {
  return createError(
    'ERR_SENSITIVE_FILES',
    `the build holds files that may contain secrets and are not server-only: ${showPaths(paths)}`,
    {
      suggestions: [
        'Leave them out with --ignore GLOB or in .bundleignore.',
        'If the server needs them, make them server-only with --ssr-only GLOB.',
        'If they hold no secrets, pass --allow-sensitive-files.',
      ],
      details: {files: paths.slice(0, 10 * listed), count: paths.length},
    },
  );
}

/** Whether a file with the name of a private key is a certificate or a public key. A link is not followed. */
async function holdsOnlyPublicKeys({path, size, linkTarget}: BundleFile, buildDirectory: string): Promise<boolean> {
  if (!ambiguousName.test(path) || linkTarget !== undefined || size > looked) return false;
  try {
    const flags = constants.O_RDONLY | (constants.O_NOFOLLOW || 0) | (constants.O_NONBLOCK || 0);
    const handle = await open(join(buildDirectory, path), flags);
    try {
      const {buffer, bytesRead} = await handle.read(Buffer.alloc(size), 0, size, 0);
      const text = buffer.toString('latin1', 0, bytesRead);
      return text.includes('-----BEGIN ') && !text.includes('PRIVATE KEY');
    } finally {
      await handle.close();
    }
  } catch {
    // Packing it tells what is wrong.
    return false;
  }
}

function showPaths(paths: readonly string[]): string {
  const names = paths.slice(0, listed).map((path) => showPath(path));
  const more = paths.length > listed ? ` and ${String(paths.length - listed)} more` : '';
  return `${names.join(', ')}${more}`;
}
