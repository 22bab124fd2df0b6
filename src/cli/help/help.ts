import type {Config, Interfaces} from '@oclif/core';
import {noSuchCommand} from '../errors/oclif-errors.js';
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

/** oclif's help, to the byte, in less time. */
class QuickHelp extends Help {
  override CommandHelpClass = QuickCommandHelp;

  constructor(config: Config, options?: Partial<Interfaces.HelpOptions>) {
    super(config, options);
    this.render = renderTemplates(this.render, [['config.bin', this.config.bin]]);
  }
}

/** oclif's help with pages that are about no single command, and with our answer to a command that there is not. */
export class PagedHelp extends QuickHelp {
  /** Shows the help of what the arguments name: a command, a topic, a page, or all of mycli. */
  override async showHelp(argv: string[]): Promise<void> {
    const subject = subjectOf(argv);
    const page = subject === undefined ? undefined : helpPages[subject];
    const isCommand = subject === undefined || isKnown(subject, this.config);
    if (!isCommand && page === undefined) {
      const {commandIDs, topics} = this.config;
      const known = [...commandIDs, ...topics.map(({name}) => name), ...Object.keys(helpPages)];
      throw noSuchCommand({
        typed: subject,
        id: `help ${subject}`,
        known: known.map((name) => `help ${name}`),
        see: 'Run mycli help to list all commands.',
      });
    }
    // It is for people, with --json too.
    sessions.getStore()?.output.releaseStdout();
    if (isCommand) await super.showHelp(argv);
    if (page !== undefined) await this.#showPage(page);
  }

  protected override async showRootHelp(): Promise<void> {
    await super.showRootHelp();
    const pages = Object.entries(helpPages).map(([name, {summary}]): [string, string] => [`help ${name}`, summary]);
    this.log(this.section('MORE HELP', pages));
    this.log('');
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

function isKnown(subject: string, config: Interfaces.Config): boolean {
  return config.findCommand(subject) !== undefined || config.findTopic(subject) !== undefined;
}
