import {BaseCommand} from '../cli/command/base-command.js';
import type {CommandContext, JsonDocument} from '../cli/command/command-context.js';
import {scripts, shells} from '../cli/completion/scripts.js';
import type {Body, CompletionDocument} from '../cli/output/documents.js';
import {Args} from '../cli/process/oclif.js';

export default class Completion extends BaseCommand<typeof Completion> {
  static override readonly summary = 'Print a script that completes commands in your shell.';
  static override readonly description =
    'Completes commands, flags, their values, files, and the bundles and targets of your project. For bash, add ' +
    'eval "$(mycli completion bash)" to ~/.bashrc. For zsh, add eval "$(mycli completion zsh)" to ~/.zshrc. For fish, ' +
    'save the output as ~/.config/fish/completions/mycli.fish.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %> bash',
    '<%= config.bin %> <%= command.id %> zsh',
    '<%= config.bin %> <%= command.id %> fish',
  ];
  static override readonly args = {
    shell: Args.string({required: true, options: [...shells], description: 'bash, zsh or fish.'}),
  };

  protected execute({output}: CommandContext): Promise<JsonDocument> {
    const shell = shells.find((name) => name === this.args.shell) ?? 'bash';
    const script = scripts[shell];
    for (const line of script.trimEnd().split('\n')) output.result(line);
    return Promise.resolve({shell, script} satisfies Body<CompletionDocument>);
  }
}
