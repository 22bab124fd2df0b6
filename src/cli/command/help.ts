import type {Command} from '@oclif/core';
import {nearest} from '../../errors/index.js';
import {noSuchCommand, seeHelp} from './error-report.js';
import {helpFlags, joinWords, leadingWords} from './command-line.js';
import {sessionOf} from './session.js';
import {isOclifCommand, CommandHelp, Help} from './oclif.js';

/** How many flags a command's short help shows: they fit a screen of 24 rows. */
const shownFlags = 8;

/** A command's help on one screen: its most common flags, two examples, and where to find more. */
class ShortCommandHelp extends CommandHelp {
  override generate(): string {
    const {args, flags, examples = [], aliases, id, usage} = this.command;
    const {bin} = this.config;
    const words = Object.values(args).map((arg) => `${this.arg(arg)}${arg.multiple === true ? '...' : ''}`);
    const usages =
      typeof usage === 'string'
        ? [this.render(usage)]
        : [id, ...aliases].map((name) => [name, ...words, '[FLAGS]'].join(' '));
    const rows = [
      ...(this.args(Object.values(args)) ?? []).map(([name, text = '']): [string, string] => [name, firstClause(text)]),
      ...mainFlags(flags).map((flag): [string, string] => [this.flagHelpLabel(flag, true), firstClause(flag.summary)]),
    ];
    // If no flag has a letter, leave no room for one.
    const lettered = rows.some(([name]) => /^-\w/.test(name));
    const list = rows.map(([name, text]): [string, string] => [lettered ? name : name.trimStart(), text]);
    const count = Object.values(flags).filter(({hidden}) => hidden !== true).length;
    return [
      this.section('USAGE', usages.map((line) => `$ ${bin} ${line}`).join('\n')),
      this.section('FLAGS', this.renderList(list, {indentation: 2, spacer: '\n'})),
      this.section('EXAMPLES', this.examples([examples].flat().slice(0, 2))?.replaceAll('\n\n', '\n') ?? ''),
      this.wrap(`Run ${bin} ${id} --help for all ${String(count)} flags.`, 0),
    ].join('\n\n');
  }
}

/** The most common flags: those with a letter, then those that are no settings; settings only if there are few. */
function mainFlags(flags: Command.Loadable['flags']): readonly Command.Flag.Any[] {
  const own = Object.entries(flags)
    .map(([name, flag]) => Object.assign(flag, {name}))
    .filter(({hidden, helpGroup}) => hidden !== true && helpGroup !== 'GLOBAL' && helpGroup !== 'OTHER');
  const lettered = own.filter(({char}) => char !== undefined);
  const others = own.filter(({char, helpGroup}) => {
    return char === undefined && (helpGroup === undefined || own.length <= shownFlags);
  });
  return [...lettered, ...others].slice(0, shownFlags);
}

function firstClause(summary = ''): string {
  return summary.replace(/(?:;|,|:? \(|: |\. ).*$/s, '').replace(/\.$/, '');
}

/** The commands at the top of the start page, by their short names. */
const mainCommands = ['init', 'push', 'status', 'rollback'];
const examples = ['init', 'push --target staging --wait'];

const groupTitles = ['SHIP', 'BUNDLES', 'PROJECT', 'ADVANCED'] as const;
const shipping = ['init', 'bundle:push', 'bundle:deploy', 'status', 'open', 'bundle:rollback'];
const projectTopics = ['auth', 'config', 'doctor', 'runtime'];

function groupOf({id, pluginName}: Command.Loadable): (typeof groupTitles)[number] {
  if (pluginName !== 'mycli') return 'ADVANCED';
  if (shipping.includes(id)) return 'SHIP';
  if (id.startsWith('bundle:')) return 'BUNDLES';
  return projectTopics.includes(id.split(':')[0] ?? '') ? 'PROJECT' : 'ADVANCED';
}

/** oclif's help, plus a short form for `-h` and for `mycli` alone, and our own error for unknown commands. */
export class GroupedHelp extends Help {
  #isShort = false;

  override async showHelp(given: string[]): Promise<void> {
    this.#isShort = given.length === 0 || (given.includes('-h') && !given.includes('--help'));
    const words = given.filter((argument) => argument !== 'help' && !helpFlags.includes(argument));
    const argv = [...joinWords(words, this.config)];
    const [subject, ...more] = leadingWords(argv);
    const isCommand =
      subject === undefined ||
      this.config.findCommand(subject) !== undefined ||
      (more.length === 0 && this.config.findTopic(subject) !== undefined);
    if (!isCommand) throw this.#unknown([subject, ...more]);
    // It is for users, even with --json.
    sessionOf(this.config)?.output.releaseStdout();
    await super.showHelp(argv);
  }

  #unknown(words: readonly string[]): Error {
    const {commandIDs, topics} = this.config;
    const id = words.join(':');
    const near = nearest(id, [...commandIDs, ...topics.map(({name}) => name)]);
    // With `help `, which must not make all names look alike.
    const known = near === undefined ? [] : [`help ${near}`];
    return noSuchCommand({typed: words.join(' '), id: `help ${id}`, known, see: seeHelp});
  }

  protected override showRootHelp(): Promise<void> {
    const {bin, pjson} = this.config;
    const usage = this.section('USAGE', `$ ${bin} COMMAND [FLAGS]`);
    const sections = this.#isShort ? this.#start() : this.#all();
    this.#log([this.wrap(`${String(pjson.description)}.`, 0), usage, ...sections]);
    return Promise.resolve();
  }

  #start(): readonly string[] {
    const {bin, commands} = this.config;
    const main = mainCommands.flatMap((name) => commands.find(({id}) => id === name) ?? []);
    return [
      this.section('MAIN COMMANDS', this.#summaries(main)),
      this.section('EXAMPLES', examples.map((example) => `$ ${bin} ${example}`).join('\n')),
      this.section('MORE HELP', [
        [`${bin} --help`, 'List all commands.'],
        [`${bin} COMMAND -h`, 'Show the main flags of a command; --help shows more.'],
      ]),
    ];
  }

  #all(): readonly string[] {
    // List commands with aliases once, by what people type. Completion has a command of our own.
    const commands = this.sortedCommands.filter(({id, aliases}) => !aliases.includes(id) && id !== 'autocomplete');
    const name = ({id, aliases}: Command.Loadable) => (isOclifCommand(id) ? id : [...aliases, id].join(', '));
    const groups = new Map<string, Command.Loadable[]>(groupTitles.map((title) => [title, []]));
    for (const command of commands) groups.get(groupOf(command))?.push(command);
    return [...groups].map(([title, listed]) => this.section(title, this.#summaries(listed, name)));
  }

  #summaries(commands: readonly Command.Loadable[], name = ({id}: Command.Loadable) => id): string {
    const rows = commands.map((command): [string, string] => [
      name(command),
      // The only command of oclif without one.
      this.summary(command) ?? (command.id === 'version' ? 'Show the version of mycli and of Node.js.' : ''),
    ]);
    return this.renderList(rows, {indentation: 2, spacer: '\n'});
  }

  #log(sections: readonly string[]): void {
    this.log(sections.join('\n\n'));
  }

  override async showCommandHelp(given: Command.Loadable): Promise<void> {
    // Show the help of an alias as that of its command.
    const command =
      this.config.commands.find(({id, aliases}) => id !== given.id && aliases.includes(given.id)) ?? given;
    const help = new ShortCommandHelp(command, this.config, this.opts);
    if (this.#isShort && command.pluginName === this.config.name && !isOclifCommand(command.id))
      this.#log([this.wrap(this.summary(command) ?? '', 0), help.generate()]);
    else await super.showCommandHelp(command);
  }
}
