import {readFile} from 'node:fs/promises';
import {basename, join} from 'node:path';
import {Args, BaseCommand, type CommandContext} from '../cli/command/base-command.js';
import {shells} from '../cli/command/complete.js';
import {createError} from '../errors/index.js';
import {onWindows} from '../text/platform.js';

export default class Completion extends BaseCommand<typeof Completion, 'completion'> {
  static override readonly summary = 'Print a script that completes commands in bash, zsh, fish or PowerShell.';
  static override readonly description =
    'Projects and targets come from the configuration file. Pressing Tab sends no request and runs no plugin: the ' +
    'commands of a plugin are completed if it has an oclif.manifest.json.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %> bash',
    '<%= config.bin %> <%= command.id %> zsh',
    '<%= config.bin %> <%= command.id %> fish',
    '<%= config.bin %> <%= command.id %> powershell',
  ];
  static override readonly args = {
    shell: Args.string({options: [...shells], description: 'The shell; default: from $SHELL.'}),
  };

  protected async execute({output, session}: CommandContext) {
    const requested = this.args.shell ?? basename(session.env['SHELL'] ?? (onWindows ? 'powershell' : ''));
    const shell = shells.find((name) => name === requested);
    if (shell === undefined) {
      const suggestions = [`Name one of them: ${shells.join(', ')}.`];
      throw createError('ERR_USAGE', 'No shell specified, and mycli has no completion for $SHELL.', {suggestions});
    }
    const script = await readFile(join(this.config.root, 'templates/completion', `mycli.${shell}`), 'utf8');
    output.result(script.trimEnd());
    return {shell, script};
  }
}
