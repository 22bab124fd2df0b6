import {readFile} from 'node:fs/promises';
import {join} from 'node:path';

/**
 * @typedef {object} Input a flag or an argument
 * @property {string} name
 * @property {'option' | 'boolean'} [type] none of an argument
 * @property {string} [summary]
 * @property {string} [description]
 * @property {boolean} [multiple]
 * @property {readonly string[]} [options]
 * @property {boolean} [required]
 * @property {boolean} [hidden]
 */
/**
 * @typedef {object} Command as oclif's manifest describes it
 * @property {string} id
 * @property {string} summary
 * @property {string} [description]
 * @property {boolean} strict whether it takes no more arguments than it names
 * @property {boolean} [hidden]
 * @property {'service' | 'machine'} [changes]
 * @property {boolean} [isEndless]
 * @property {Readonly<Record<string, Input>>} flags
 * @property {Readonly<Record<string, Input>>} args
 */
/** @typedef {{readonly command: Command, readonly schema: Readonly<Record<string, unknown>>}} Documented */

/** @typedef {string | number | boolean} Value */

/** How text looks, and what the server itself passes. */
const ownFlags = new Set(['json', 'quiet', 'debug', 'columns', 'events']);

/**
 * The commands of mycli that print a document with a schema, by the names of their tools.
 * @param {string} root where mycli is installed
 */
export async function readCommands(root) {
  const manifest = JSON.parse(await readFile(join(root, 'oclif.manifest.json'), 'utf8'));
  const all = /** @type {readonly Command[]} */ (Object.values(manifest.commands));
  /** @type {Map<string, Documented>} */
  const commands = new Map();
  for (const command of all.filter(({hidden}) => hidden !== true)) {
    const path = join(root, 'dist/schemas', `${command.id.replaceAll(':', '-')}.schema.json`);
    const text = await readFile(path, 'utf8').catch(() => undefined);
    if (text !== undefined) commands.set(command.id.replaceAll(':', '_'), {command, schema: JSON.parse(text)});
  }
  return commands;
}

/**
 * @param {string} name
 * @param {Documented} documented
 */
export function toolOf(name, {command, schema: {$schema: _dialect, ...document}}) {
  const {summary, description = '', changes, isEndless = false, flags} = command;
  const inputs = inputsOf(command);
  const properties = Object.fromEntries(inputs.map((input) => [input.name, inputSchema(input)]));
  const required = inputs.filter((input) => input.required).map((input) => input.name);
  const documents = {type: 'array', items: document};
  return {
    name,
    description: `${summary} ${description}`.trim(),
    annotations: {readOnlyHint: changes === undefined, destructiveHint: 'yes' in flags},
    inputSchema: {
      type: /** @type {const} */ ('object'),
      properties: {
        ...properties,
        ...(isEndless && {seconds: {type: 'number', description: 'How long to listen; default 10.'}}),
      },
      required,
      additionalProperties: false,
    },
    outputSchema: {
      ...(isEndless ? {properties: {documents}, required: ['documents']} : document),
      type: /** @type {const} */ ('object'),
    },
  };
}

/**
 * The command line of a call. No value is taken for a flag.
 * @param {Command} command
 * @param {Readonly<Record<string, Value | readonly Value[]>>} values
 */
export function commandLine(command, values) {
  const inputs = inputsOf(command);
  const unknown = Object.keys(values).find((name) => inputs.every((input) => input.name !== name));
  if (unknown !== undefined) throw new Error(`${command.id} has no input ${unknown}.`);
  /** @type {string[]} */
  const flags = [];
  /** @type {string[]} */
  const words = [];
  for (const {name, type} of inputs) {
    for (const value of [values[name] ?? []].flat()) {
      if (type === undefined) words.push(String(value));
      else if (type === 'option') flags.push(`--${name}=${String(value)}`);
      else flags.push(value === false ? `--no-${name}` : `--${name}`);
    }
  }
  return [command.id, ...flags, ...(words.length === 0 ? [] : ['--', ...words])];
}

/**
 * @param {Command} command
 * @returns {readonly Input[]}
 */
function inputsOf({args, flags, strict}) {
  const words = Object.values(args).map((input) => ({...input, multiple: !strict}));
  return [...words, ...Object.values(flags).filter(({name, hidden}) => hidden !== true && !ownFlags.has(name))];
}

/** @param {Input} input */
function inputSchema({type, summary, description = summary, multiple, options}) {
  if (type === 'boolean') return {type, description};
  const one = {type: 'string', ...(options && {enum: options})};
  return multiple === true ? {type: 'array', items: one, description} : {...one, description};
}
