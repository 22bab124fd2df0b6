import {constants} from 'node:fs';
import {open} from 'node:fs/promises';
import {join} from 'node:path';
import {createError} from '../../errors/index.js';
import {listPaths} from '../../text/entry-names.js';
import type {BundleFile} from '../types.js';

/** Templates of `.env` files are meant to be shared. */
const sensitiveNames = [
  /^\.env(?!.*\.(?:example|sample|template|dist)$)/i,
  /^\.npmrc$/i,
  /\.(?:pem|key|p12|pfx|jks|keystore|ppk)$/i,
  /^id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?$/i,
];
/** Certificates and public keys can have such names, too. */
const ambiguousName = /\.(?:pem|key)$/i;
/** Bytes of a file to read; no certificate chain has more. */
const looked = 256 * 1024;
/** Maximum number of paths in the details of an error. */
const mostPaths = 100;

/** Whether the name of a file suggests secrets: `.env*`, `.npmrc` and private keys. */
export function hasSensitiveName({path}: Pick<BundleFile, 'path'>): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return sensitiveNames.some((pattern) => pattern.test(name));
}

/** A warning about files whose names suggest secrets. */
export function secretWarnings(sensitive: readonly Pick<BundleFile, 'path'>[]): string[] {
  if (sensitive.length === 0) return [];
  return [
    `The bundle contains files that may hold secrets: ${listPaths(sensitive.map(({path}) => path))}. Exclude them with --ignore GLOB or in .bundleignore.`,
  ];
}

/**
 * Refuses a build or a prebuilt archive that would publish secrets. Server-only ones are just a warning.
 * @param options.buildDirectory Where the files are. Undefined for an archive, whose certificates cannot be told from
 * keys.
 * @param options.allowed Whether everything is just a warning.
 * @throws RuntimeCliError `ERR_SENSITIVE_FILES` naming the files.
 */
export async function checkSensitiveFiles(
  files: readonly BundleFile[],
  {buildDirectory, allowed}: {readonly buildDirectory?: string; readonly allowed: boolean},
): Promise<readonly string[]> {
  const sensitive: BundleFile[] = [];
  for (const file of files) {
    if (!hasSensitiveName(file)) continue;
    const isHarmless = buildDirectory !== undefined && (await holdsOnlyPublicKeys(file, buildDirectory));
    if (!isHarmless) sensitive.push(file);
  }
  const isKnown = ({path}: BundleFile) => buildDirectory !== undefined || !ambiguousName.test(path);
  const exposed = sensitive.filter((file) => !file.ssrOnly && isKnown(file));
  if (exposed.length > 0 && !allowed) throw exposedError(exposed, buildDirectory === undefined);
  return secretWarnings(sensitive);
}

function exposedError(files: readonly BundleFile[], isArchive: boolean): Error {
  const paths = files.map(({path}) => path);
  return createError(
    'ERR_SENSITIVE_FILES',
    `The ${isArchive ? 'archive' : 'build'} contains files that may hold secrets and are not server-only: ${listPaths(paths)}.`,
    {
      suggestions: [
        ...(isArchive
          ? ['Build it again, and exclude them with --ignore GLOB or in .bundleignore.']
          : [
              'Exclude them with --ignore GLOB or in .bundleignore.',
              'If the server needs them, make them server-only with --ssr-only GLOB.',
            ]),
        'If they contain no secrets, pass --allow-sensitive-files.',
      ],
      details: {files: paths.slice(0, mostPaths), count: files.length},
    },
  );
}

/** Whether a file named like a private key is a certificate or a public key. Links are not followed. */
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
    // Packing it will report what is wrong.
    return false;
  }
}
