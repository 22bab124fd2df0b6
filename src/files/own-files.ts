import {closeSync, fstatSync, openSync, readSync} from 'node:fs';
import {createError, type RuntimeCliError} from '../errors/index.js';
import {isDotenv} from '../text/dotenv.js';

/** The folders and files of a local runtime's data folder. */
export const dataFolders = ['bundles', 'sites', 'temporary'] as const;
export const dataFiles: readonly string[] = ['credentials.json', 'port.json', 'state.json'];

/** What tells a data folder. */
export const dataMarks = [...dataFolders, 'credentials.json'] as const;

/** What mycli reads in the folder of a project: nobody else needs it. */
export const ownSource = /^(?:\.bundleignore|mycli\.config\.(?:[cm]?[jt]s|json))$/;

/** Names of scripts and assets, which mycli never writes: they are most of a build, and need not be read. */
const asset =
  /\.(?:[cm]?[jt]sx?|css|html?|map|svg|png|jpe?g|gif|webp|avif|ico|woff2?|ttf|otf|eot|wasm|mp[34]|webm|pdf)$/i;
/** Bytes that tell what a file is. */
const headBytes = 4096;

const manifest = /^\{\s*"schemaVersion": 1,\s*"format"/;
const events = /^\{"version":1,"sequence":\d+,/;
const variable = /^MYCLI_[A-Z_]+=/m;
/** What the value of an access header begins with, so that a file with one is known wherever it is. */
export const accessPrefix = 'mycli-access-';
const access = new RegExp(String.raw`^(?:\S+ )?${accessPrefix}[\w-]{32}$`, 'm');

/** What mycli writes into a user's folder: the manifest of an archive, `--events`, `--output-env` and access values. */
export type OwnFile = 'manifest' | 'events' | 'variables' | 'access';

/** Which of mycli's files begins so, if any. */
export function ownKind(head: string): OwnFile | undefined {
  if (manifest.test(head)) return 'manifest';
  if (events.test(head)) return 'events';
  if (access.test(head)) return 'access';
  // The last line may be cut off.
  const lines = head.slice(0, head.lastIndexOf('\n') + 1);
  return variable.test(lines) && isDotenv(lines) ? 'variables' : undefined;
}

/** Whether a file of a build may be one of mycli's. */
export function mayBeOwn(path: string): boolean {
  return !asset.test(path);
}

/** The first bytes of a regular file as text; empty for anything else. `head` can be used for many files. */
export function readHead(path: string, encoding: 'utf8' | 'latin1' = 'utf8', head = Buffer.alloc(headBytes)): string {
  const descriptor = openSync(path, 'r');
  try {
    if (!fstatSync(descriptor).isFile()) return '';
    return head.toString(encoding, 0, readSync(descriptor, head));
  } finally {
    closeSync(descriptor);
  }
}

/** Whether a file begins with certain bytes. One that can't be read does not, which is reported when it is packed. */
export function begins(path: string, bytes: RegExp): boolean {
  try {
    return bytes.test(readHead(path, 'latin1'));
  } catch {
    return false;
  }
}

/** The error about a file that mycli would change, but did not write. */
export function notOurs(path: string, flag: string): RuntimeCliError {
  return createError('ERR_OUTPUT', `${path} is not a file of ${flag}, so it was not changed.`, {
    suggestions: [`Pass ${flag} another file, or remove this one.`],
    details: {path},
  });
}
