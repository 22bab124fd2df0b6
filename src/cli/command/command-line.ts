/** The flags for help, full and short. oclif knows both from our package.json. */
export const helpFlags: readonly string[] = ['--help', '-h'];
/** The flags for the version. */
export const versionFlags: readonly string[] = ['--version', '-v'];

/** The available commands: oclif's configuration. */
interface Commands {
  findCommand(id: string): object | undefined;
  findTopic(name: string): object | undefined;
}

/** Turns `help push` into `push --help`, which loads no plugin of oclif. With flags, `help` stays a command. */
export function spellHelp(argv: readonly string[]): readonly string[] {
  const [first, ...rest] = argv;
  return first === 'help' && !rest.some(isFlag) ? [...rest, '--help'] : argv;
}

/** Turns `bundle push --wait` into `bundle:push --wait`: joins as many leading words as name a command. */
export function joinWords(argv: readonly string[], commands: Commands): readonly string[] {
  for (let count = leadingWords(argv).length; count > 1; count -= 1) {
    const id = argv.slice(0, count).join(':');
    if (commands.findCommand(id)) return [id, ...argv.slice(count)];
  }
  const [id = '', flag = ''] = argv;
  const isTopicOnly = commands.findCommand(id) === undefined && commands.findTopic(id) !== undefined;
  return isTopicOnly && versionFlags.includes(flag) ? [flag] : argv;
}

/** The arguments before the first flag. */
export function leadingWords(argv: readonly string[]): readonly string[] {
  const end = argv.findIndex(isFlag);
  return end === -1 ? argv : argv.slice(0, end);
}

/** Whether a flag asks for the version, instead of being the value of the previous flag. */
export function asksForVersion(argv: readonly string[], flags: FlagShapes): boolean {
  const end = argv.indexOf('--');
  const at = argv.findIndex((argument) => versionFlags.includes(argument));
  return at !== -1 && (end === -1 || at < end) && !takesValue(argv[at - 1], flags);
}

/** A switch that was given a value, such as `--wait=false`, which oclif would take for an argument. */
export function switchWithValue(
  argv: readonly string[],
  flags: FlagShapes,
): {readonly name: string; readonly value: string} | undefined {
  const end = argv.indexOf('--');
  const words = end === -1 ? argv : argv.slice(0, end);
  const given = words.flatMap((word) => {
    const [, name = '', value = ''] = /^--([^=]+)=(.*)$/s.exec(word) ?? [];
    return flags[name]?.type === 'boolean' ? [{name, value}] : [];
  });
  return given[0];
}

/** The value of a flag, before the command line is parsed. */
export function givenValue(argv: readonly string[], name: string, char?: string): string | undefined {
  const end = argv.indexOf('--');
  const words = end === -1 ? argv : argv.slice(0, end);
  const values = words.flatMap((word, at) => {
    if (word === name || word === char) return words[at + 1] ?? [];
    if (word.startsWith(`${name}=`)) return word.slice(name.length + 1);
    return char !== undefined && word.startsWith(char) ? word.slice(char.length).replace(/^=/, '') : [];
  });
  return values.at(-1);
}

/**
 * Turns `--message -h` into `--message=-h`. oclif takes any `-h` for a question, answers it and succeeds, having done
 * nothing.
 */
export function joinHelpValues(argv: readonly string[], flags: FlagShapes): readonly string[] {
  const end = argv.indexOf('--');
  const joined: string[] = [];
  for (const [at, argument] of argv.entries()) {
    const isValue = helpFlags.includes(argument) && (end === -1 || at < end) && takesValue(argv[at - 1], flags);
    if (isValue) joined.push(`${String(joined.pop())}=${argument}`);
    else joined.push(argument);
  }
  return joined;
}

/** Whether an argument is a flag, perhaps the last of several letters, that takes what follows as its value. */
function takesValue(argument: string | undefined, flags: FlagShapes): boolean {
  const [, name, letters] = /^(?:--([^=]+)|-([^-=]+))$/.exec(argument ?? '') ?? [];
  if (name !== undefined) return flags[name]?.type === 'option';
  const shapes = Object.values(flags);
  const types = Array.from(letters ?? '', (letter) => shapes.find(({char}) => char === letter)?.type);
  return types.pop() === 'option' && types.every((type) => type === 'boolean');
}

/** The flags of a command, by their names. */
type FlagShapes = Readonly<Record<string, {readonly type: string; readonly char?: string | undefined}>>;

function isFlag(argument: string): boolean {
  return argument.startsWith('-');
}
