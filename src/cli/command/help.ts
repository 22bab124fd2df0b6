import type {Command} from '@oclif/core';
import {nearest, exitCodeMeanings} from '../../errors/index.js';
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

/**
 * oclif's help, plus pages about topics, a short form for `-h` and for `mycli` alone, and our own error for unknown
 * commands.
 */
export class PagedHelp extends Help {
  #isShort = false;

  override async showHelp(given: string[]): Promise<void> {
    this.#isShort = given.length === 0 || (given.includes('-h') && !given.includes('--help'));
    const words = given.filter((argument) => argument !== 'help' && !helpFlags.includes(argument));
    const argv = [...joinWords(words, this.config)];
    const [subject, ...more] = leadingWords(argv);
    const page = subject === undefined ? undefined : helpPages[subject];
    const isCommand =
      subject === undefined ||
      this.config.findCommand(subject) !== undefined ||
      (more.length === 0 && this.config.findTopic(subject) !== undefined);
    if (!isCommand && page === undefined) throw this.#unknown([subject, ...more]);
    // It is for users, even with --json.
    sessionOf(this.config)?.output.releaseStdout();
    if (isCommand) await super.showHelp(argv);
    if (page !== undefined) await this.#showPage(page);
  }

  #unknown(words: readonly string[]): Error {
    const {commandIDs, topics} = this.config;
    const id = words.join(':');
    const near = nearest(id, [...commandIDs, ...topics.map(({name}) => name), ...Object.keys(helpPages)]);
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
        [`${bin} --help`, 'List all commands and help pages.'],
        [`${bin} COMMAND -h`, 'Show the main flags of a command; --help shows more.'],
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

type NameList = readonly (readonly [name: string, meaning: string])[];

/** A section of a page: prose or a list, which can be loaded on demand. */
interface HelpSection {
  readonly title: string;
  readonly body: string | NameList | (() => Promise<NameList>);
}

export interface HelpPage {
  readonly summary: string;
  readonly sections: readonly HelpSection[];
}

// Loaded on demand, since other help needs no settings.
async function listSettings(): Promise<NameList> {
  const {definitions, settingKeys, variableOf} = await import('../../settings/definitions.js');
  return settingKeys.map((key) => {
    const {flag, config} = definitions[key];
    const names = [variableOf(key) ?? [], config ?? []].flat().join(', ');
    return flag === undefined ? [names, 'configuration file only'] : [`--${flag.name}`, names];
  });
}

/** The pages, by what follows `mycli help`. Commands and topics with the same name take precedence. */
export const helpPages: Readonly<Record<string, HelpPage>> = {
  config: {
    summary: 'Settings and their sources: flags, environment, configuration file, stored credentials.',
    sections: [
      {
        title: 'WHERE SETTINGS COME FROM',
        body:
          'Each setting comes from the first source that defines it: flag, environment variable, configuration file, stored ' +
          'credentials, default. An empty variable counts as unset, except that an empty Api variable is an error under auto: ' +
          'a secret may be missing. Run mycli config:show to see every setting and its source.',
      },
      {
        title: 'CONFIGURATION FILE',
        body:
          'mycli.config.ts, .mts, .js, .mjs or .json, or the key "mycli" in package.json. mycli looks in the working directory ' +
          'and its parents up to the repository root. Outside a repository, it only looks in the working directory. Pass ' +
          '--config FILE to use another file. Paths are relative to the file. Secrets are not allowed in it.',
      },
      {
        title: 'SECRETS',
        body:
          'Set secrets with environment variables or mycli auth:login. --api-key, --client-secret and --api-token also accept ' +
          '@FILE, or - for stdin. MYCLI_TRUSTED_ORIGINS, a comma-separated list, restricts which origins can receive credentials.',
      },
      {title: 'FLAGS, VARIABLES AND CONFIGURATION KEYS', body: listSettings},
    ],
  },
  'exit-codes': {
    summary: 'Exit codes and their meanings.',
    sections: [
      {title: 'EXIT CODES', body: exitCodeMeanings.map(([code, meaning]) => [String(code), meaning] as const)},
      {
        title: 'HOW THE CODE IS CHOSEN',
        body:
          "The server's answer decides: 4, 5 or 7. Without an answer, the code is 6 if the request was not fully sent, and 10 " +
          'if it was. With --json, the document contains the exit code and a more specific error code.',
      },
    ],
  },
  plugins: {
    summary: 'Backends from plugins.',
    sections: [
      {
        title: 'BACKENDS FROM PLUGINS',
        body:
          'A plugin adds a backend, a service that accepts bundles. Install it for your user with mycli plugins:install, or ' +
          "add a package named mycli-plugin-... next to mycli in a project's dependencies. Run mycli backend:list to see each " +
          'backend, its plugin and any missing settings.',
      },
      {
        title: 'SETTINGS OF A PLUGIN',
        body:
          'Choose the backend with --runtime-backend NAME. Set its options with --backend-option key=value, ' +
          'MYCLI_BACKEND_OPTION or backends.NAME in the configuration file.',
      },
      {
        title: 'TRUST',
        body:
          'A plugin is code that runs with your permissions and can see your credentials. Set MYCLI_SKIP_PLUGINS=1 to run ' +
          'without plugins, for example where changes run unreviewed, or when a plugin causes trouble.',
      },
    ],
  },
};
