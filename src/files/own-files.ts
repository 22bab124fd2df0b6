import {closeSync, fstatSync, openSync, readSync} from 'node:fs';
import {createError, type RuntimeCliError} from '../errors/index.js';
import {isDotenv} from '../text/dotenv.js';

/** The folders of a local runtime's data folder. */
export const dataFolders = ['bundles', 'sites', 'temporary'] as const;

/** What tells a data folder. */
export const dataMarks = [...dataFolders, 'credentials.json'] as const;

/** Names of files that may be one of mycli's: data and texts. */
const candidate = /(?:^|\/)(?:\.env[^/]*|[^./]+|[^/]+\.(?:env|json|jsonl|ndjson|log|txt))$/i;
/** Bytes that tell what a file is. */
const headBytes = 4096;

const manifest = /^\{\s*"schemaVersion": 1,\s*"format"/;
const events = /^\{"version":1,"sequence":\d+,/;
const variable = /^MYCLI_[A-Z_]+=/m;

/** What mycli writes into a folder of the user: the manifest of an archive, `--events` and `--output-env`. */
export type OwnFile = 'manifest' | 'events' | 'variables';

/** Which of mycli's files begins so, if any. */
export function ownKind(head: string): OwnFile | undefined {
  if (manifest.test(head)) return 'manifest';
  if (events.test(head)) return 'events';
  // The last line may be cut off.
  const lines = head.slice(0, head.lastIndexOf('\n') + 1);
  return variable.test(lines) && isDotenv(lines) ? 'variables' : undefined;
}

/** Whether a file of a build may be one of mycli's. */
export function mayBeOwn(path: string): boolean {
  return candidate.test(path);
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
