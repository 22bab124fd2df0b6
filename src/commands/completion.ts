import {Command} from '@oclif/core/command';
import * as Args from '@oclif/core/args';

export default class Completion extends Command {
  static override readonly summary = 'Show how to complete commands and flags in bash or zsh.';
  static override readonly description =
    'Another name for autocomplete. After installing or updating a plugin, run mycli autocomplete --refresh-cache.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %> bash',
    '<%= config.bin %> <%= command.id %> zsh',
  ];
  static override readonly args = {
    shell: Args.string({options: ['bash', 'zsh'], description: 'bash or zsh; default: the current shell.'}),
  };

  override async run(): Promise<void> {
    await this.parse(Completion);
    await this.config.runCommand('autocomplete', this.argv);
  }
}
