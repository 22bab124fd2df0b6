import type {Command, Config, Interfaces} from '@oclif/core';
import {noSuchCommand} from '../errors/oclif-errors.js';
import {helpFlags, joinWords, leadingWords} from '../process/command-line.js';
import {isOclifCommand} from '../process/oclif-commands.js';
import {CommandHelp, Help} from '../process/oclif.js';
import {sessions} from '../process/session.js';
import {helpPages, type HelpPage} from './pages.js';

type Render = (text: string) => string;

/**
 * oclif compiles every line of help as a template, a hundred of them for one command. Most are plain, or name two
 * things.
 */
function renderTemplates(render: Render, known: readonly (readonly [name: string, value: string])[]): Render {
  const names = new Map(known);
  return (template) => {
    const text = template.replaceAll(/<%= ([\w.]+) %>/g, (tag, name: string) => names.get(name) ?? tag);
    return /<%|%>/.test(text) ? render(template) : text;
  };
}

class QuickCommandHelp extends CommandHelp {
  constructor(...args: ConstructorParameters<typeof CommandHelp>) {
    super(...args);
    this.render = renderTemplates(this.render, [
      ['config.bin', this.config.bin],
      ['command.id', this.command.id],
    ]);
  }
}

/**
 * The help of a command on one screen: its own flags and those with a letter, two examples, and where there is more.
 */
class ShortCommandHelp extends QuickCommandHelp {
  override generate(): string {
    const {args, flags, examples, aliases, id} = this.command;
    const {bin} = this.config;
    const usage = [id, ...aliases].map((name) => {
      const names = Object.values(args).map((arg) => `${this.arg(arg)}${arg.multiple === true ? '...' : ''}`);
      return ['$', bin, name, ...names, '[FLAGS]'].join(' ');
    });
    const rows = [
      ...(this.args(Object.values(args)) ?? []).map(([name, text = '']): [string, string] => [name, firstClause(text)]),
      ...mainFlags(flags).map((flag): [string, string] => [this.flagHelpLabel(flag, true), firstClause(flag.summary)]),
    ];
    // Where no flag has a letter, none leaves room for one.
    const lettered = rows.some(([name]) => /^-\w/.test(name));
    const list = rows.map(([name, text]): [string, string] => [lettered ? name : name.trimStart(), text]);
    return [
      this.section('USAGE', usage.join('\n')),
      this.section('FLAGS', this.renderList(list, {indentation: 2, spacer: '\n'})),
      this.section('EXAMPLES', this.examples(asList(examples).slice(0, 2))?.replaceAll('\n\n', '\n') ?? ''),
      `Run ${bin} ${id} --help for all ${String(Object.keys(flags).length)} flags.`,
    ].join('\n\n');
  }
}

/** What people type most: all flags of a command with few, or else those that are no settings or have a letter. */
function mainFlags(flags: Command.Loadable['flags']): readonly Command.Flag.Any[] {
  const own = Object.entries(flags)
    .map(([name, flag]) => Object.assign(flag, {name}))
    .filter(({hidden, helpGroup}) => hidden !== true && helpGroup !== 'GLOBAL' && helpGroup !== 'CI');
  const main = own.length <= 8 ? own : own.filter(({char, env}) => char !== undefined || env === undefined);
  return [...main.filter(({char}) => char !== undefined), ...main.filter(({char}) => char === undefined)];
}

/** What a summary says first: the rest is for those who want to know it all. */
function firstClause(summary = ''): string {
  return summary.replace(/(?:;|,|:? \(|: |\. ).*$/s, '').replace(/\.$/, '');
}

function asList(examples: Command.Loadable['examples']): Command.Example[] {
  return typeof examples === 'string' ? [examples] : (examples ?? []);
}

/** oclif's help, to the byte, in less time. */
class QuickHelp extends Help {
  override CommandHelpClass = QuickCommandHelp;

  constructor(config: Config, options?: Partial<Interfaces.HelpOptions>) {
    super(config, options);
    this.render = renderTemplates(this.render, [['config.bin', this.config.bin]]);
  }
}

/** The commands that the start page leads with, by the names that it gives them. */
const mainCommands = ['login', 'push', 'deploy', 'rollback'];
const examples = ['push --project my-shop --target staging --wait', 'rollback --project my-shop --target staging'];

/**
 * oclif's help with pages that are about no single command, with a short form of one screen for `-h` and for `mycli`
 * alone, and with our answer to a command that there is not.
 */
export class PagedHelp extends QuickHelp {
  #isShort = false;

  /** Shows the help of what the arguments name: a command, a topic, a page, or all of mycli. */
  override async showHelp(given: string[]): Promise<void> {
    this.#isShort = given.length === 0 || (given.includes('-h') && !given.includes('--help'));
    const words = given.filter((argument) => argument !== 'help' && !helpFlags.includes(argument));
    const argv = [...joinWords(words, this.config)];
    const subject = subjectOf(argv);
    const page = subject === undefined ? undefined : helpPages[subject];
    const isCommand = subject === undefined || isKnown(subject, leadingWords(argv).length, this.config);
    if (!isCommand && page === undefined) {
      const {commandIDs, topics} = this.config;
      const known = [...commandIDs, ...topics.map(({name}) => name), ...Object.keys(helpPages)];
      throw noSuchCommand({
        typed: leadingWords(argv).join(' '),
        id: `help ${leadingWords(argv).join(':')}`,
        known: known.map((name) => `help ${name}`),
        see: 'Run mycli help to list all commands.',
      });
    }
    // It is for people, with --json too.
    sessions.getStore()?.output.releaseStdout();
    if (isCommand) await super.showHelp(argv);
    if (page !== undefined) await this.#showPage(page);
  }

  protected override showRootHelp(): Promise<void> {
    const usage = this.section('USAGE', `$ ${this.config.bin} COMMAND [FLAGS]`);
    this.#log([
      this.wrap(`${String(this.config.pjson.description)}.`, 0),
      usage,
      ...(this.#isShort ? this.#start() : this.#all()),
    ]);
    return Promise.resolve();
  }

  #start(): readonly string[] {
    const {bin, commands} = this.config;
    const main = mainCommands.flatMap((name) => commands.find(({id}) => id === name) ?? []);
    return [
      this.section(
        'MAIN COMMANDS',
        this.#summaries(main, ({id}) => id),
      ),
      this.section('EXAMPLES', examples.map((example) => `$ ${bin} ${example}`).join('\n')),
      this.section('MORE HELP', [
        [`${bin} --help`, 'List all commands and help pages.'],
        [`${bin} COMMAND -h`, 'Show the main flags of a command; --help shows all.'],
      ]),
    ];
  }

  #all(): readonly string[] {
    // What has aliases is listed once, with them.
    const commands = this.sortedCommands.filter(({id, aliases}) => !aliases.includes(id));
    const pages = Object.entries(helpPages).map(([name, {summary}]): [string, string] => [`help ${name}`, summary]);
    return [
      this.section(
        'COMMANDS',
        this.#summaries(commands, ({id, aliases}) => [id, ...aliases].join(', ')),
      ),
      this.section('MORE HELP', pages),
    ];
  }

  #summaries(commands: readonly Command.Loadable[], name: (command: Command.Loadable) => string): string {
    const rows = commands.map((command): [string, string] => [name(command), this.summary(command) ?? '']);
    return this.renderList(rows, {indentation: 2, spacer: '\n'});
  }

  #log(sections: readonly string[]): void {
    this.log(sections.join('\n\n'));
  }

  override async showCommandHelp(given: Command.Loadable): Promise<void> {
    // What is said of an alias is said of its command.
    const command =
      this.config.commands.find(({id, aliases}) => id !== given.id && aliases.includes(given.id)) ?? given;
    const help = new ShortCommandHelp(command, this.config, this.opts);
    if (this.#isShort && command.pluginName === this.config.name && !isOclifCommand(command.id))
      this.#log([this.summary(command) ?? '', help.generate()]);
    else await super.showCommandHelp(command);
  }

  async #showPage({sections}: HelpPage): Promise<void> {
    for (const {title, body} of sections) {
      const content = typeof body === 'function' ? await body() : body;
      const text =
        typeof content === 'string'
          ? this.wrap(content)
          : content.map(([name, meaning]): [string, string] => [name, meaning]);
      this.log(this.section(title, text));
      this.log('');
    }
  }
}

/** The first word that does not ask for help; none when a flag comes before it, as oclif has it. */
function subjectOf(argv: readonly string[]): string | undefined {
  const first = argv.find((argument) => argument !== 'help' && argument !== '--help');
  return first?.startsWith('-') === true ? undefined : first;
}

/** Whether a command has the first of some words, or a topic the only one. */
function isKnown(subject: string, words: number, config: Interfaces.Config): boolean {
  return config.findCommand(subject) !== undefined || (words === 1 && config.findTopic(subject) !== undefined);
}
