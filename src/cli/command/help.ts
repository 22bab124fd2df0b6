import type {Command, Config, Interfaces} from '@oclif/core';
import {nearest} from '../../errors/index.js';
import {noSuchCommand} from './oclif-errors.js';
import {wrapSentence} from '../output/wrap.js';
import {helpFlags, joinWords, leadingWords} from './command-line.js';
import {sessionOf} from './host-config.js';
import {isOclifCommand} from './oclif-commands.js';
import {CommandHelp, Help} from './oclif.js';
import {helpPages, type HelpPage} from './pages.js';

type Render = (text: string) => string;

/**
 * oclif compiles every line of help as a template, a hundred of them for one command. Most are plain, or only use two
 * variables.
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
 * What a command's short help may take of a screen of 24 rows: its summary, an empty row and the prompt are there, too.
 */
const shortHelpRows = 21;
/** How many flags it shows at least, on a terminal that is so narrow that they take several rows each. */
const leastFlags = 6;

/** A command's help on one screen: its own flags and those with a letter, two examples, and where to find more. */
class ShortCommandHelp extends QuickCommandHelp {
  override generate(): string {
    const main = mainFlags(this.command.flags);
    const excess = this.#page(main).split('\n').length - shortHelpRows;
    return this.#page(excess > 0 ? main.slice(0, Math.max(leastFlags, main.length - excess)) : main);
  }

  #page(shown: readonly Command.Flag.Any[]): string {
    const {args, flags, examples, aliases, id, usage: ownUsage} = this.command;
    const {bin} = this.config;
    const count = Object.values(flags).filter(({hidden}) => hidden !== true).length;
    const usage =
      typeof ownUsage === 'string'
        ? [`$ ${bin} ${this.render(ownUsage)}`]
        : [id, ...aliases].map((name) => {
            const names = Object.values(args).map((arg) => `${this.arg(arg)}${arg.multiple === true ? '...' : ''}`);
            return ['$', bin, name, ...names, '[FLAGS]'].join(' ');
          });
    const rows = [
      ...(this.args(Object.values(args)) ?? []).map(([name, text = '']): [string, string] => [name, firstClause(text)]),
      ...shown.map((flag): [string, string] => [this.flagHelpLabel(flag, true), firstClause(flag.summary)]),
    ];
    // If no flag has a letter, leave no room for one.
    const lettered = rows.some(([name]) => /^-\w/.test(name));
    const list = rows.map(([name, text]): [string, string] => [lettered ? name : name.trimStart(), text]);
    return [
      this.section('USAGE', usage.join('\n')),
      this.section('FLAGS', this.renderList(list, {indentation: 2, spacer: '\n'})),
      this.section('EXAMPLES', this.examples(asList(examples).slice(0, 2))?.replaceAll('\n\n', '\n') ?? ''),
      wrapSentence(`Run ${bin} ${id} --help for all ${String(count)} flags.`, this.opts.maxWidth).join('\n'),
    ].join('\n\n');
  }
}

/**
 * The most common flags: all of them if there are few, else those that are not settings or have a letter. They are in
 * the order in which a command lists them, those with a letter first.
 */
function mainFlags(flags: Command.Loadable['flags']): readonly Command.Flag.Any[] {
  const own = Object.entries(flags)
    .map(([name, flag]) => Object.assign(flag, {name}))
    .filter(({hidden, helpGroup}) => hidden !== true && helpGroup !== 'GLOBAL' && helpGroup !== 'OTHER');
  const main = own.length <= 8 ? own : own.filter(({char, helpGroup}) => char !== undefined || helpGroup === undefined);
  return [...main.filter(({char}) => char !== undefined), ...main.filter(({char}) => char === undefined)];
}

/** The first clause of a summary; the rest is for the full help. */
function firstClause(summary = ''): string {
  return summary.replace(/(?:;|,|:? \(|: |\. ).*$/s, '').replace(/\.$/, '');
}

function asList(examples: Command.Loadable['examples']): Command.Example[] {
  return typeof examples === 'string' ? [examples] : (examples ?? []);
}

/** oclif's help, byte for byte, but faster. */
class QuickHelp extends Help {
  override CommandHelpClass = QuickCommandHelp;

  constructor(config: Config, options?: Partial<Interfaces.HelpOptions>) {
    super(config, options);
    this.render = renderTemplates(this.render, [['config.bin', this.config.bin]]);
  }
}

/** The commands at the top of the start page, by their short names. */
const mainCommands = ['init', 'push', 'status', 'rollback'];
const examples = ['init', 'push --target staging --wait'];

/** The groups of the list of commands, in their order. */
const groupTitles = ['SHIP', 'BUNDLES', 'PROJECT', 'ADVANCED'] as const;
const shipping = ['init', 'bundle:push', 'bundle:deploy', 'status', 'open', 'bundle:rollback'];
const projectTopics = ['auth', 'config', 'doctor', 'runtime'];

/** The group of a command. */
function groupOf({id, pluginName}: Command.Loadable): (typeof groupTitles)[number] {
  if (pluginName !== 'mycli') return 'ADVANCED';
  if (shipping.includes(id)) return 'SHIP';
  if (id.startsWith('bundle:')) return 'BUNDLES';
  return projectTopics.includes(id.split(':')[0] ?? '') ? 'PROJECT' : 'ADVANCED';
}

/** Summaries for those of oclif's commands that have none. */
const oclifSummaries: Readonly<Record<string, string>> = {
  version: 'Show the version of mycli and of Node.js.',
};

/**
 * oclif's help, plus pages about topics, a short form for `-h` and for `mycli` alone, and our own error for unknown
 * commands.
 */
export class PagedHelp extends QuickHelp {
  #isShort = false;

  /** Shows the help of a command, a topic or a page, or of mycli as a whole. */
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
      // Without `help `, which would make all names look alike.
      const near = nearest(leadingWords(argv).join(':'), known);
      throw noSuchCommand({
        typed: leadingWords(argv).join(' '),
        id: `help ${leadingWords(argv).join(':')}`,
        known: near === undefined ? [] : [`help ${near}`],
        see: 'Run mycli help to list all commands.',
      });
    }
    // It is for users, even with --json.
    sessionOf(this.config)?.output.releaseStdout();
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
    // List commands with aliases once, by what people type. Completion has a command of our own.
    const commands = this.sortedCommands.filter(({id, aliases}) => !aliases.includes(id) && id !== 'autocomplete');
    const pages = Object.entries(helpPages).map(([name, {summary}]): [string, string] => [`help ${name}`, summary]);
    const name = ({id, aliases}: Command.Loadable) => (isOclifCommand(id) ? id : [...aliases, id].join(', '));
    const groups = new Map<string, Command.Loadable[]>(groupTitles.map((title) => [title, []]));
    for (const command of commands) groups.get(groupOf(command))?.push(command);
    return [
      ...[...groups].map(([title, listed]) => this.section(title, this.#summaries(listed, name))),
      this.section('MORE HELP', pages),
    ];
  }

  #summaries(commands: readonly Command.Loadable[], name: (command: Command.Loadable) => string): string {
    const rows = commands.map((command): [string, string] => [
      name(command),
      this.summary(command) ?? oclifSummaries[command.id] ?? '',
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

/** The first word that does not ask for help; undefined if a flag precedes it, as in oclif. */
function subjectOf(argv: readonly string[]): string | undefined {
  const first = argv.find((argument) => argument !== 'help' && argument !== '--help');
  return first?.startsWith('-') === true ? undefined : first;
}

/** Whether the first words name a command, or the only word a topic. */
function isKnown(subject: string, words: number, config: Interfaces.Config): boolean {
  return config.findCommand(subject) !== undefined || (words === 1 && config.findTopic(subject) !== undefined);
}
