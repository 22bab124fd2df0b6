import type {Command} from '@oclif/core';
import {CommandHelp, Help} from '@oclif/core/help';
import {wrapAnsi} from 'fast-wrap-ansi';
import {shellLine} from '../../text/suggest.js';
import {isOclifCommand} from './command-line.js';
import type {HostConfig} from './host-config.js';

/** How many flags a command's short help shows, unless its examples use more: they fit a screen of 24 rows. */
const shownFlags = 6;

/** What the short help of a command says, on one screen: its most common flags and two examples. */
function shortened(command: Command.Loadable): Command.Loadable {
  const args = Object.entries(command.args).map(([name, {description: _, ...arg}]) => [name, arg] as const);
  const examples = [command.examples ?? []].flat().slice(0, 2);
  const used = examples.flatMap((example) => (typeof example === 'string' ? example.split(' ') : []));
  const flags = mainFlags(command.flags, used).map(([name, {helpGroup: _, ...flag}]) => {
    const value = flag.type === 'option' && flag.options && {helpValue: flag.options.join('|')};
    return [name, {...flag, ...value, summary: firstClause(flag.summary)}] as const;
  });
  return {
    ...command,
    description: '',
    args: Object.fromEntries(args),
    flags: Object.fromEntries(flags),
    examples,
  };
}

type Flags = Command.Loadable['flags'];

/** The most common flags: those with a letter or in the examples, then those that are no settings; settings if few. */
function mainFlags(flags: Flags, used: readonly string[]): readonly (readonly [string, Flags[string]])[] {
  const own = Object.entries(flags).filter(([, {helpGroup}]) => helpGroup !== 'GLOBAL' && helpGroup !== 'OTHER');
  const isMain = ([name, {char}]: (typeof own)[number]) => char !== undefined || used.includes(`--${name}`);
  const others = own.filter((flag) => !isMain(flag) && (flag[1].helpGroup === undefined || own.length <= shownFlags));
  const main = own.filter(isMain);
  return [...main, ...others.slice(0, Math.max(0, shownFlags - main.length))];
}

/** Flags of settings, each with its environment variable. In the command itself, oclif would read it. */
async function withVariables(flags: Flags): Promise<Flags> {
  const {definitions, headings, settingKeys, variableOf} = await import('../../settings/definitions.js');
  const variables = settingKeys.flatMap((key) => {
    const {flag: {name = ''} = {}, set} = definitions[key];
    const [flag, env] = [flags[name], variableOf(key)];
    return flag?.helpGroup === headings[set] && env ? [[name, {...flag, env}] as const] : [];
  });
  return {...flags, ...Object.fromEntries(variables)};
}

function firstClause(summary = ''): string {
  return summary.replace(/(?:;|,|:? \(|: |\. ).*/s, '').replace(/\.$/, '');
}

const groupTitles = ['SHIP', 'TARGETS', 'BUNDLES', 'PROJECT', 'ADVANCED'] as const;
const shipping = ['init', 'bundle:push', 'bundle:deploy', 'status', 'open', 'bundle:rollback'];
const targetTopics = ['target', 'env', 'logs', 'preview'];
const projectTopics = ['auth', 'config', 'doctor', 'runtime'];

function groupOf({id, pluginName}: Command.Loadable): (typeof groupTitles)[number] {
  if (pluginName !== 'mycli') return 'ADVANCED';
  if (shipping.includes(id)) return 'SHIP';
  if (id.startsWith('bundle:')) return 'BUNDLES';
  const topic = id.split(':')[0] ?? '';
  if (targetTopics.includes(topic)) return 'TARGETS';
  return projectTopics.includes(topic) ? 'PROJECT' : 'ADVANCED';
}

type List = CommandHelp['renderList'];

/**
 * On a narrow terminal, what stands beside a flag or a command goes below it: oclif would break words. Its indent there
 * is two more than oclif counts.
 */
function listOptions(options: Parameters<List>[1], columns: number): Parameters<List>[1] {
  return columns < 60 ? {...options, multiline: true, indentation: options.indentation + 2} : options;
}

class AlignedHelp extends CommandHelp {
  /** Flags with a letter come first: oclif trims the start of a list, where the others have an indent. */
  protected override flags(flags: Parameters<CommandHelp['flags']>[0]): ReturnType<CommandHelp['flags']> {
    const isLettered = ({char}: (typeof flags)[number]) => char !== undefined;
    return super.flags([...flags.filter(isLettered), ...flags.filter((flag) => !isLettered(flag))]);
  }

  /** oclif's usage does not show that an argument can be repeated. */
  protected override arg(arg: Parameters<CommandHelp['arg']>[0]): string {
    return super.arg({...arg, name: `${arg.name}${arg.multiple ? '...' : ''}`});
  }

  override renderList(...[rows, options]: Parameters<List>): string {
    return super.renderList(rows, listOptions(options, this.opts.maxWidth));
  }

  /** oclif would break what is too wide, such as the values of a flag or the URL of an example. */
  override wrap(body: string, spacing = this.indentSpacing): string {
    return wrapAnsi(this.render(body), this.opts.maxWidth - spacing);
  }
}

/** oclif's help, plus a short form for `-h` and for `mycli` alone. */
export class GroupedHelp extends Help {
  #isShort = false;
  declare protected config: HostConfig;
  protected override CommandHelpClass = AlignedHelp;

  override renderList(...[rows, options]: Parameters<List>): string {
    return super.renderList(rows, listOptions(options, this.opts.maxWidth));
  }

  /** Wraps the first line, too, such as the summary of a topic or of a plugin's command. */
  protected override log(text: string): void {
    super.log(text.replace(/^.*/, (summary) => this.wrap(summary, 0)));
  }

  override async showHelp(argv: string[]): Promise<void> {
    this.#isShort = (argv.length === 0 && this.opts.all !== true) || (argv.includes('-h') && !argv.includes('--help'));
    // Here, because the command `help` makes a configuration of its own, of the same options.
    this.config.bin = shellLine(...this.config.options.session().output.program);
    await super.showHelp(argv);
  }

  protected override showRootHelp(): Promise<void> {
    const {bin, pjson} = this.config;
    const usage = this.section('USAGE', `$ ${bin} COMMAND [FLAGS]`);
    const sections = this.#isShort ? this.#start() : this.#all();
    this.log([this.wrap(`${String(pjson.description)}.`, 0), usage, ...sections].join('\n\n'));
    return Promise.resolve();
  }

  #start(): readonly string[] {
    const {bin, commands} = this.config;
    const main = ['init', 'push', 'status', 'rollback'].flatMap((name) => commands.find(({id}) => id === name) ?? []);
    return [
      this.section('MAIN COMMANDS', this.#summaries(main)),
      this.section('EXAMPLES', `$ ${bin} init\n$ ${bin} push --target staging --wait`),
      this.section('MORE HELP', [
        [`${bin} --help`, 'List all commands.'],
        [`${bin} COMMAND -h`, 'Show the main flags of a command; --help shows more.'],
      ]),
    ];
  }

  #all(): readonly string[] {
    // List commands with aliases once, by what people type.
    const commands = this.sortedCommands.filter(({id, aliases}) => !aliases.includes(id));
    const name = (command: Command.Loadable) =>
      isOclifCommand(command.id) ? command.id : [...this.#aliasesOf(command), command.id].join(', ');
    return groupTitles.map((title) => {
      const group = commands.filter((command) => groupOf(command) === title);
      return this.section(title, this.#summaries(group, name));
    });
  }

  /** Without those that are commands of ours, and run these. */
  #aliasesOf({aliases, pluginName}: Command.Loadable): string[] {
    return aliases.filter((alias) => this.config.findCommand(alias)?.pluginName === pluginName);
  }

  #summaries(commands: readonly Command.Loadable[], name = ({id}: Command.Loadable) => id): string {
    const rows = commands.map((command): [string, string] => [
      name(command),
      // The only command of oclif without one.
      this.summary(command) ?? (command.id === 'version' ? 'Show the version of mycli and of Node.js.' : ''),
    ]);
    return this.renderList(rows, {indentation: 2, spacer: '\n'});
  }

  override async showCommandHelp(given: Command.Loadable): Promise<void> {
    const {bin, commands, name} = this.config;
    // Show the help of an alias as that of its command.
    const isNamed = (one: Command.Loadable) => one.id !== given.id && this.#aliasesOf(one).includes(given.id);
    const found = commands.find(isNamed) ?? given;
    const command = {...found, aliases: this.#aliasesOf(found)};
    const {id, flags, pluginName} = command;
    if (pluginName !== name || isOclifCommand(id)) return super.showCommandHelp(command);
    const shown = this.#isShort ? shortened(command) : {...command, flags: await withVariables(flags)};
    this.log(`${this.wrap(this.summary(command) ?? '', 0)}\n\n${this.formatCommand(shown)}\n`);
    if (!this.#isShort) return;
    this.log(`Run ${bin} ${id} --help for all ${String(Object.keys(flags).length)} flags.`);
  }
}
