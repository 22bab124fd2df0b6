import {createError} from '../../errors/index.js';

/** The flags for help, full and short, and for the version. Our package.json names them for oclif, too. */
export const helpFlags: readonly string[] = ['--help', '-h'];
export const versionFlags: readonly string[] = ['--version', '-v', '-V'];

const globalSwitches: readonly string[] = ['--json', '--debug', '--quiet'];
const globalOptions: readonly string[] = ['--cwd', '-C', '--config'];

export function beforeEnd(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--');
  return end === -1 ? argv : argv.slice(0, end);
}

/** Turns `help push` into `push --help`, which loads no plugin of oclif. With flags, `help` stays a command. */
export function spellHelp(argv: readonly string[]): readonly string[] {
  const [first, ...rest] = argv;
  return first === 'help' && leadingWords(rest).length === rest.length ? [...rest, '--help'] : argv;
}

/** Turns `--json push` into `push --json`: moves the global flags before a command behind it. Alone, they go. */
export function commandFirst(argv: readonly string[]): readonly string[] {
  let count = 0;
  for (let flag = argv[0] ?? ''; isGlobal(flag); flag = argv[count] ?? '')
    count += globalOptions.includes(flag) ? 2 : 1;
  if (count >= argv.length) return [];
  const words = leadingWords(argv.slice(count));
  return [...words, ...argv.slice(0, count), ...argv.slice(count + words.length)];
}

export function isGlobal(argument: string): boolean {
  // `-Cweb`, too.
  if (globalSwitches.includes(argument) || argument.startsWith('-C')) return true;
  return globalOptions.some((flag) => argument.split('=', 1)[0] === flag);
}

/** Turns `bundle push --wait` into `bundle:push --wait`: joins as many leading words as name a command. */
export function joinWords(
  argv: readonly string[],
  commands: {findCommand(id: string): object | undefined},
): readonly string[] {
  for (let count = leadingWords(argv).length; count > 1; count -= 1) {
    const id = argv.slice(0, count).join(':');
    if (commands.findCommand(id)) return [id, ...argv.slice(count)];
  }
  return argv;
}

export function leadingWords(argv: readonly string[]): readonly string[] {
  const end = argv.findIndex((argument) => argument.startsWith('-'));
  return end === -1 ? argv : argv.slice(0, end);
}

/** Refuses a switch with a value, such as `--wait=false`: oclif would take `false` for an argument. */
export function rejectSwitchValues(argv: readonly string[], flags: FlagShapes): void {
  for (const word of beforeEnd(argv)) {
    const [, name = '', value = ''] = /^--([^=]+)=(.*)$/s.exec(word) ?? [];
    const flag = flags[name];
    if (flag?.type !== 'boolean') continue;
    const isNegated = flag.allowNo && /^(?:false|no|off|0)$/i.test(value);
    throw createError('ERR_USAGE', `--${name} takes no value.`, {
      suggestions: [isNegated ? `Pass --no-${name}.` : `Pass --${name} alone, or leave it out.`],
    });
  }
}

/** No argument can contain it. */
const valueMark = '\0';

/** Marks values that begin with a dash in the word of their flag, such as `-m=-wip`: oclif takes them for flags. */
export function markValues(argv: readonly string[], flags: FlagShapes): string[] {
  const end = beforeEnd(argv).length;
  const options = Object.entries(flags).filter(([, {type}]) => type === 'option');
  const spellings = new Set(options.flatMap(([name, {char}]) => [`--${name}`, `-${String(char)}`]));
  return argv.map((word, at) => {
    const [, spelling = '', equals = '', value = ''] = /^(--[^=]+(?==)|-[^-])(=?)(-.*)$/s.exec(word) ?? [];
    return at < end && spellings.has(spelling) ? spelling + equals + valueMark + value : word;
  });
}

export function withoutMarks(text: string): string {
  return text.replaceAll(valueMark, '');
}

/** Whether one of these flags is given, and is not the value of the flag before it, as in `--message -h`. */
export function asksFor(names: readonly string[], argv: readonly string[], flags: FlagShapes): boolean {
  const takingValue = Object.entries(flags)
    .filter(([, {type}]) => type === 'option')
    .flatMap(([name, {char}]) => [`--${name}`, `-${String(char)}`]);
  return beforeEnd(argv).some((argument, at) => names.includes(argument) && !takingValue.includes(argv[at - 1] ?? ''));
}

type FlagShapes = Readonly<
  Record<string, {readonly type: string; readonly char?: string | undefined; readonly allowNo?: boolean}>
>;

/** The value that counts of those given for a flag. */
export function givenValue(argv: readonly string[], name: string, char?: string): string | undefined {
  return givenValues(argv, name, char).at(-1);
}

export function givenValues(argv: readonly string[], name: string, char?: string): readonly string[] {
  const words = beforeEnd(argv);
  return words.flatMap((word, at) => {
    if (word === name || word === char) return words[at + 1] ?? [];
    if (word.startsWith(`${name}=`)) return word.slice(name.length + 1);
    return char !== undefined && word.startsWith(char) ? word.slice(char.length).replace(/^=/, '') : [];
  });
}

/** Whether a command of our package is oclif's: its output and its `--json` are oclif's, too. */
export function isOclifCommand(id: string): boolean {
  return id === 'plugins' || id.startsWith('plugins:');
}
