import {Args, BaseCommand, Flags, type CommandContext} from '../cli/command/base-command.js';
import {flagsOf} from '../cli/command/flags.js';
import {createError} from '../errors/index.js';
import {flagValue, shellLine} from '../text/suggest.js';

export default class Open extends BaseCommand<typeof Open, 'open'> {
  static override readonly changes = 'machine';
  static override readonly summary = 'Open the URL of a target in the browser.';
  static override readonly description =
    'Prints the URL instead with --print or --json, or if there is no terminal or no display.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %> --project my-shop --target staging',
    '<%= config.bin %> <%= command.id %> /cart --project my-shop --target staging --print',
  ];
  static override readonly args = {path: Args.string({description: 'Path of a page there, such as /cart.'})};
  static override readonly flags = {
    ...flagsOf('connection', 'rateLimit'),
    print: Flags.boolean({summary: 'Print the URL without opening it.'}),
  };

  protected async execute(context: CommandContext) {
    const {env, output} = context;
    const {path = ''} = this.args;
    if (/^[^/?#]/.test(path)) {
      throw createError('ERR_USAGE', `The path must begin with a slash: /${path}`, {
        suggestions: [`If it is the target, run it with ${shellLine(...flagValue('--target', path))}.`],
      });
    }
    const {options, host} = await this.reach(context, ['projectSlug', 'targetSlug']);
    const {findTarget} = await import('../pipelines/read.js');
    const target = await findTarget({...options}, host);
    const url = pageUrl(target.url, path);
    const {openBrowser} = await import('../cli/setup/prompts.js');
    const opens = !this.flags.print && !output.json && output.interactive;
    const opened = opens && (await openBrowser(url, env));
    if (opens && !opened) output.info('No browser could be opened. Open this URL yourself:');
    output.showQuery(url);
    output.result(opened ? `Opened ${url}` : url);
    return {...target, url, opened};
  }
}

/** The URL of a page below that of a target, which may have a path of its own. */
function pageUrl(url: string, path: string): string {
  if (path === '') return url;
  const page = new URL(url);
  const [, pathname = '', rest = ''] = /^([^?#]*)(.*)/s.exec(path) ?? [];
  page.pathname = `${page.pathname.replace(/\/$/, '')}/${pathname.replace(/^\//, '')}`;
  return new URL(rest, page).href;
}
