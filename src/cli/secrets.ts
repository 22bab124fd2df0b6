import {readFile} from 'node:fs/promises';
import {resolve} from 'node:path';
import type {Readable} from 'node:stream';
import {text as streamText} from 'node:stream/consumers';
import {createError} from '../errors/index.js';
import {environmentName} from './flags/environment-name.js';
import {Secret} from './secret.js';
import type {Setting} from './settings/settings.js';

/** What secrets are read with. */
export interface SecretReaderOptions {
  /** Absolute path that `@FILE` starts from. */
  readonly cwd: string;
  readonly stdin: Readable;
  /** Told once that a secret stands on the command line. */
  readonly warn: (message: string) => void;
}

/** Secrets as the settings name them, by the setting's key. */
type NamedSecrets<K extends string> = {readonly [P in K]?: Setting<string> | undefined};

/**
 * Reads secrets: the literal text, `@FILE`, or `-` for stdin on the command line; the text itself in the environment.
 * Space around a secret is dropped.
 * @throws RuntimeCliError `ERR_USAGE` when two secrets want stdin, `ERR_OPTION_INVALID` when one is empty or unreadable.
 */
export async function readSecrets<K extends string>(
  named: NamedSecrets<K>,
  keys: readonly K[],
  options: SecretReaderOptions,
): Promise<{readonly [P in K]?: Setting<Secret> | undefined}> {
  const set = keys.flatMap((key) => {
    const setting: Setting<string> | undefined = named[key];
    return setting === undefined ? [] : [{key, setting}];
  });
  const flags = set.filter(({setting}) => setting.source.kind === 'flag').map(({setting}) => setting);
  refuseSharedStdin(flags);
  warnOfLiterals(flags, options.warn);
  const secrets: {[P in K]?: Setting<Secret>} = {};
  for (const {key, setting} of set) {
    const value = checkedSecret(await read(setting, options), setting.source.name);
    secrets[key] = {value: new Secret(value), source: setting.source};
  }
  return secrets;
}

function refuseSharedStdin(flags: readonly Setting<string>[]): void {
  const wanting = flags.filter(({value}) => value === '-').map(({source}) => source.name);
  if (wanting.length > 1) {
    throw createError('ERR_USAGE', `${wanting.join(' and ')} cannot all be read from stdin.`, {
      suggestions: ['Give all but one as @FILE, or in the environment.'],
    });
  }
}

function warnOfLiterals(flags: readonly Setting<string>[], warn: (message: string) => void): void {
  const literal = flags.filter(({value}) => value !== '-' && !value.startsWith('@')).map(({source}) => source.name);
  if (literal.length === 0) return;
  const variables = literal.map((name) => environmentName(name.slice(2)));
  warn(
    `Other users can see the value of ${literal.join(', ')} in the list of processes: ` +
      `use ${variables.join(', ')}, @FILE or - (stdin).`,
  );
}

async function read({value, source}: Setting<string>, {cwd, stdin}: SecretReaderOptions): Promise<string> {
  if (source.kind !== 'flag') return value;
  if (value === '-') return streamText(stdin);
  if (!value.startsWith('@')) return value;
  const path = resolve(cwd, value.slice(1));
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw createError('ERR_OPTION_INVALID', `The file of ${source.name} cannot be read: ${reason}.`, {cause: error});
  }
}

/**
 * A secret that can be sent, without the space around it. `name`: what it is the value of.
 * @throws RuntimeCliError `ERR_OPTION_INVALID` when it is empty or no single line.
 */
export function checkedSecret(value: string, name: string): string {
  const secret = value.trim();
  if (secret === '') throw createError('ERR_OPTION_INVALID', `The value of ${name} is empty.`);
  // It becomes part of a header.
  if (/\p{Cc}/u.test(secret)) {
    throw createError('ERR_OPTION_INVALID', `The value of ${name} has several lines or control characters.`);
  }
  return secret;
}
