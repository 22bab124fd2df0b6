/** The flags for help, full and short. oclif knows both from our package.json. */
export const helpFlags: readonly string[] = ['--help', '-h'];
/** The flags for the version. */
export const versionFlags: readonly string[] = ['--version', '-v'];

/** Shells call `mycli __complete -- WORDS`, the words of a command line up to the cursor. */
export const completionWord = '__complete';

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

/** Whether the command may consist of several words, as in `bundle push`, which only the known commands can tell. */
export function isSpaced([first, ...rest]: readonly string[]): boolean {
  return first !== undefined && rest.length > 0 && !isFlag(first) && !first.includes(':');
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
export function asksForVersion(argv: readonly string[], flags: Readonly<Record<string, FlagShape>>): boolean {
  const end = argv.indexOf('--');
  const at = argv.findIndex((argument) => versionFlags.includes(argument));
  if (at === -1 || (end !== -1 && at > end)) return false;
  const before = argv[at - 1];
  return !Object.entries(flags).some(
    ([name, {type, char}]) => type === 'option' && (before === `--${name}` || before === `-${String(char)}`),
  );
}

interface FlagShape {
  readonly type: string;
  readonly char?: string | undefined;
}

function isFlag(argument: string): boolean {
  return argument.startsWith('-');
}
