import {resolve} from 'node:path';
import {buffer} from 'node:stream/consumers';
import {createError, reasonOf} from '../../errors/index.js';
import {isDotenv, parseDotenv} from '../../text/dotenv.js';
import {isLikelySecret} from '../../http/redact.js';
import {decodeText, readText} from '../../files/read-file.js';
import {asSentence, count} from '../../text/sentence.js';
import type {CommandContext} from '../command/command-context.js';
import {readFlagSecrets} from '../settings/load-settings.js';
import type {Settings} from '../settings/settings.js';

type Variables = Readonly<Record<string, string>>;
type Sources = Pick<CommandContext, 'cwd' | 'stdin' | 'output' | 'signal'>;

/** Prefixes of the settings of the service's clients, some of which are secrets. They are not variables of an app. */
const clientPrefixes = ['MYCLI_', 'MRT_', 'SFCC_'];

/** Whether a variable of a file is one of the app. @param excluded more prefixes of those that are not */
function isOfApp(name: string, excluded: readonly string[] = []): boolean {
  return ![...clientPrefixes, ...excluded].some((prefix) => name.toUpperCase().startsWith(prefix.toUpperCase()));
}

export async function variableNamesIn(
  path: string,
  context: Omit<Sources, 'output' | 'signal'>,
): Promise<readonly string[]> {
  return Object.keys(await readDotenv(path, context)).filter((name) => isOfApp(name));
}

/** The variables of an app in a dotenv file. Warns of the others, which are skipped. */
async function readAppVariables(path: string, excluded: readonly string[], context: Sources): Promise<Variables> {
  const entries = Object.entries(await readDotenv(path, context));
  const others = entries.map(([name]) => name).filter((name) => !isOfApp(name, excluded));
  if (others.length > 0)
    context.output.warn(
      `Skipped in ${path === '-' ? 'stdin' : path}, because of their prefixes: ${others.join(', ')}.`,
      ['To set one anyway, pass NAME=@FILE'],
    );
  return Object.fromEntries(entries.filter(([name]) => !others.includes(name)));
}

/**
 * Reads the variables that a command line names: `NAME=VALUE`, `NAME=@FILE`, `NAME=-` for stdin, and those of a dotenv
 * file. Values are secrets, so no message has one.
 * @param from the dotenv file; `-` is stdin. Its variables with the prefixes `excluded`, or of clients, are skipped
 */
export async function readVariables(
  pairs: readonly string[],
  {from, excluded}: {readonly from?: string | undefined; readonly excluded: readonly string[]},
  context: Sources,
): Promise<Variables> {
  const typed = pairs.map((pair, at) => {
    const separator = pair.indexOf('=');
    if (separator > 0) return {name: pair.slice(0, separator), text: pair.slice(separator + 1)};
    throw createError('ERR_USAGE', `Argument ${String(at + 1)} does not have the form NAME=VALUE.`, {
      suggestions: [
        ...(/^[a-z][a-z\d-]*$/.test(pair) && pairs.some((other) => other.includes('=')) && !isLikelySecret(pair)
          ? [`If it is the target, pass --target ${pair}.`]
          : []),
        ...(/^[A-Z][A-Z_\d]*$/.test(pair) && !isLikelySecret(pair) ? [`Pass ${pair}=VALUE as one argument.`] : []),
        ...(/[./]/.test(pair) ? ['If it is a dotenv file, pass --from FILE.'] : []),
        'Pass NAME=@FILE to read the value from a file, or NAME=- to read it from stdin.',
      ],
    });
  });
  const twice = typed.find(({name}, at) => typed.findIndex((other) => other.name === name) !== at);
  if (twice !== undefined) throw createError('ERR_USAGE', `The variable ${twice.name} is given twice.`);
  const given = typed.map(({name, text}) => ({name, text, variable: '--from FILE'}));
  const read = await readFlagSecrets(given, context, from === '-' ? ['--from'] : []);
  const own = typed.map(({name, text}) => {
    if (text !== '-' && !text.startsWith('@')) return [name, text] as const;
    // A file ends with a line break that is no part of the value.
    const value = (read.get(name) ?? '').replace(/\r?\n$/, '');
    if (value !== '') return [name, value] as const;
    const message = `The value of ${name} from ${text === '-' ? 'stdin' : text.slice(1)} is empty.`;
    throw createError('ERR_OPTION_INVALID', `${message} Nothing was set.`, {
      suggestions: [`Check what writes it. To set an empty value, pass ${name}=.`],
    });
  });
  const ofFile = from === undefined ? {} : await readAppVariables(from, excluded, context);
  const all = {...ofFile, ...Object.fromEntries(own)};
  if (Object.keys(all).length > 0) return all;
  throw createError('ERR_OPTION_INVALID', 'No variables are left to set.');
}

/** The names of the variables that a target must have: those of the configuration, or of an example in the project. */
export async function wantedVariables({variables, projectDirectory}: Settings): Promise<readonly string[]> {
  if (variables !== undefined) return variables.value;
  const text = await readText(resolve(projectDirectory.value, '.env.example')).catch(() => '');
  if (!isDotenv(text)) return [];
  return [...new Set(parseDotenv(text).map(({name}) => name))].filter((name) => isOfApp(name));
}

export function describeMissing(names: readonly string[], target: string): string {
  return `${target} lacks ${count(names.length, 'variable')}: ${names.join(', ')}.`;
}

/** Reads a dotenv file; `-` is stdin. A value that parsers read differently is an error. */
async function readDotenv(path: string, {cwd, stdin}: Omit<Sources, 'output' | 'signal'>): Promise<Variables> {
  const name = path === '-' ? 'stdin' : path;
  if (path === '-' && stdin.isTTY)
    throw createError('ERR_USAGE', 'Variables are not read from a terminal, which would show them.', {
      suggestions: ['Pipe them, or name a file.'],
    });
  let text: string;
  try {
    text = path === '-' ? decodeText(await buffer(stdin)) : await readText(resolve(cwd, path));
  } catch (error) {
    throw createError('ERR_OPTION_INVALID', asSentence(`${name} cannot be read: ${reasonOf(error)}`), {cause: error});
  }
  const lines = parseDotenv(text);
  const other = lines.find((line) => line.name === '');
  const wrong = lines.find(({problem}) => problem !== undefined);
  if (other !== undefined || lines.length === 0) {
    const problem =
      other === undefined ? 'has no variables' : `is not a dotenv file: line ${String(other.line)} is not NAME=VALUE`;
    throw createError('ERR_OPTION_INVALID', `${name} ${problem}.`);
  }
  if (wrong === undefined) {
    const values = new Map(lines.map((line) => [line.name, line.value]));
    const replaced = lines.find((line) => values.get(line.name) !== line.value);
    if (replaced !== undefined)
      throw createError('ERR_OPTION_INVALID', `${name} gives the variable ${replaced.name} two values.`, {
        suggestions: ['Remove one of them.'],
      });
    return Object.fromEntries([...values].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
  const where = `Line ${String(wrong.line)} of ${name} (${wrong.name})`;
  throw createError('ERR_OPTION_INVALID', `${where} is read differently by dotenv parsers: ${String(wrong.problem)}.`, {
    suggestions: [`Put the value in single quotes, or pass ${wrong.name}=@FILE with a file that has only the value.`],
    details: {line: wrong.line, name: wrong.name},
  });
}
